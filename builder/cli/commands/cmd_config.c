/* trib config: prints the settings and their origins, and changes those of the user. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/print.h"
#include "base/source.h"
#include "builder/cache/config.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/cli/project.h"
#include "builder/manifest/foreign_words.h"
#include "builder/manifest/manifest.h"

static const char *setting_name(struct arena *a, enum cache_setting s)
{
	return arena_printf(a, "%s.%s", cache_setting_block(s), cache_setting_key(s));
}

static enum status config_list(struct arena *a, const struct options *o, bool json)
{
	struct cache_config c;
	struct buf out = {0};
	struct json_writer w = {.out = &out};
	enum status read = project_cache_config(a, o, &c);
	if (read != STATUS_OK)
		return read;
	json_open(&w, '[');
	for (uint32_t i = 0; i < SETTINGS; i++) {
		const struct setting *s = &c.at[i];
		const char *key = setting_name(a, (enum cache_setting)i);
		if (!json) {
			print(stdout, "%-18s %-28s %s%s%s\n", key, s->text, setting_origin_text(s->origin), *s->where ? ": " : "",
			      s->where);
			continue;
		}
		json_open(&w, '{');
		json_member_str(&w, "key", key);
		json_member_str(&w, "value", s->text);
		json_member_str(&w, "origin", setting_origin_text(s->origin));
		json_member_str(&w, "where", s->where);
		json_member_str(&w, "variable", cache_setting_variable((enum cache_setting)i));
		json_member_str(&w, "help", cache_setting_help((enum cache_setting)i));
		json_close(&w, '}');
	}
	json_close(&w, ']');
	if (json)
		print_json(&out);
	buf_free(&out);
	return STATUS_OK;
}

static enum status unknown_key(struct arena *a, const char *key)
{
	const char *names[SETTINGS], *rest = key;
	enum manifest_block_kind block = cache_setting_split(&rest);
	const struct foreign_word *w = foreign_word_find(FOREIGN_KEY, manifest_block_text(block), rest);
	if (w)
		return fail_usage("there is no setting `%s`: %s", key, w->text);
	if (manifest_key_find(BLOCK_PROJECT, key) != KEY_COUNT)
		return fail_usage("`%s` is no setting: it is a key of tri.build", key);
	for (uint32_t i = 0; i < SETTINGS; i++)
		names[i] = setting_name(a, (enum cache_setting)i);
	const char *near = diag_nearest(key, names, SETTINGS);
	if (near)
		return fail_usage("there is no setting `%s`; did you mean `%s`?", key, near);
	return fail_usage("there is no setting `%s`; `trib config list` shows all", key);
}

static enum status get(struct arena *a, const struct options *o, enum cache_setting s, bool json)
{
	struct cache_config c;
	enum status read = project_cache_config(a, o, &c);
	if (read != STATUS_OK)
		return read;
	if (!json) {
		print(stdout, "%s\n", c.at[s].text);
		return STATUS_OK;
	}
	struct buf out = {0};
	struct json_writer w = {.out = &out};
	json_open(&w, '{');
	json_member_str(&w, "value", c.at[s].text);
	json_member_str(&w, "origin", setting_origin_text(c.at[s].origin));
	json_member_str(&w, "where", c.at[s].where);
	json_close(&w, '}');
	print_json(&out);
	return STATUS_OK;
}

static enum status config_change(struct arena *a, const struct options *o, enum cache_setting s, const char *value)
{
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	enum status status = STATUS_OK;
	const char *path = cache_config_path(a);
	if (value && !cache_config_check(a, sources, s, value, diags)) {
		diags_print(diags, sources, stderr, terminal_has_color(2, o->color));
		status = STATUS_USAGE;
	} else if (!path) {
		status = fail_environment("there is no folder for the configuration: set HOME or XDG_CONFIG_HOME");
	} else if (!config_set_file(path, cache_setting_block(s), cache_setting_key(s), value)) {
		status = fail_environment("cannot write `%s`: %s", path, strerror(errno));
	}
	diags_free(diags);
	sources_free(sources);
	return status;
}

static enum status config_run(struct arena *a, const struct options *o, bool json)
{
	if (o->action == ACTION_CONFIG_LIST)
		return config_list(a, o, json);
	enum cache_setting s = cache_setting_find(o->operands[1]);
	if (s == SETTINGS)
		return unknown_key(a, o->operands[1]);
	return o->action == ACTION_CONFIG_GET ? get(a, o, s, json)
					      : config_change(a, o, s, o->action == ACTION_CONFIG_SET ? o->operands[2] : NULL);
}

enum status cmd_config(const struct options *o)
{
	bool json = o->format == PRINT_JSON;
	struct arena *a = arena_new(0);
	enum status s = config_run(a, o, json);
	arena_free(a);
	return s;
}
