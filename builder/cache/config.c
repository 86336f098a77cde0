#include "builder/cache/config.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"

#define SERVER_DEFAULT_IDLE 600 /* seconds */

static const struct {
	const char *variable, *otherwise;
	enum manifest_block_kind block;
	enum manifest_key manifest;
} settings[] = {
#define SETTING(id, block, key, variable, otherwise) {variable, otherwise, BLOCK_##block, KEY_##key},
#include "builder/cache/settings.def"
};

static const enum manifest_block_kind blocks[] = {BLOCK_CACHE, BLOCK_SERVER, BLOCK_BUILD};
enum { N_BLOCKS = sizeof blocks / sizeof *blocks };

const char *cache_setting_block(enum cache_setting s) { return manifest_block_text(settings[s].block); }
const char *cache_setting_key(enum cache_setting s) { return manifest_key_text(settings[s].manifest); }
const char *cache_setting_variable(enum cache_setting s) { return settings[s].variable; }
const char *cache_setting_help(enum cache_setting s) { return manifest_key_help(settings[s].manifest); }

enum manifest_block_kind cache_setting_split(const char **key)
{
	for (uint32_t i = 0; i < N_BLOCKS; i++) {
		const char *block = manifest_block_text(blocks[i]);
		size_t n = strlen(block);
		if (strncmp(*key, block, n) == 0 && (*key)[n] == '.') {
			*key += n + 1;
			return blocks[i];
		}
	}
	return BLOCK_CACHE;
}

enum cache_setting cache_setting_find(const char *key)
{
	enum manifest_block_kind block = cache_setting_split(&key);
	for (uint32_t i = 0; i < SETTINGS; i++)
		if (settings[i].block == block && settings[i].manifest == manifest_key_find(block, key))
			return (enum cache_setting)i;
	return SETTINGS;
}

const char *setting_origin_text(enum setting_origin o)
{
	static const char *const texts[] = {"default", "user", "project", "environment", "flag"};
	return texts[o];
}

static const char *below_home(struct arena *a, const char *variable, const char *otherwise, const char *rest)
{
	const char *xdg = secure_getenv(variable), *home = secure_getenv("HOME");
	if (xdg && *xdg == '/')
		return path_join(a, xdg, rest);
	return home && *home ? path_join(a, path_join(a, home, otherwise), rest) : NULL;
}

const char *cache_config_path(struct arena *a) { return below_home(a, "XDG_CONFIG_HOME", ".config", "trib/config"); }

const char *cache_default_dir(struct arena *a)
{
	const char *dir = below_home(a, "XDG_CACHE_HOME", ".cache", "trib");
	return dir ? dir : ".trib/cache";
}

/* ---- the sources of settings, the weakest first ---- */

struct reader {
	struct arena *a;
	struct sources *sources;
	struct diags *diags;
	struct cache_config *out;
};

static bool config_refuse(struct reader *r, span at, const char *what, const char *help)
{
	diag_help(r->diags, diag_add(r->diags, DIAG_MANIFEST_VALUE, at, "%s", what), "%s", help);
	return false;
}

static bool config_take(struct reader *r, enum cache_setting s, const struct manifest_value *value, enum setting_origin origin,
			const char *where)
{
	const char *text = value->text;
	if (s == SETTING_MAX_SIZE && value->number < CACHE_LEAST_SIZE)
		return config_refuse(r, value->at, "`max_size` is too small for a cache",
				     "give at least 16MiB, or switch the cache off with `enabled = false`");
	if (s == SETTING_DIR && strncmp(text, "~/", 2) == 0 && secure_getenv("HOME"))
		text = path_join(r->a, secure_getenv("HOME"), text + 2);
	if (s == SETTING_DIR && origin == ORIGIN_USER && *text != '/')
		return config_refuse(r, value->at, "`dir` is not an absolute path",
				     "start it with `/` or `~/`: the user's cache is not inside a project");
	r->out->at[s] = (struct setting){text, value->number, origin, where};
	return true;
}

static bool take_block(struct reader *r, const struct manifest_block *b, enum setting_origin origin)
{
	bool ok = true;
	for (uint32_t i = 0; i < SETTINGS; i++) {
		const struct manifest_value *v = b && settings[i].block == b->kind ? manifest_get(b, settings[i].manifest) : NULL;
		if (!v)
			continue;
		uint32_t line = source_position(r->sources, v->at.source, v->at.start).line;
		const char *where = arena_printf(r->a, "%s:%u", sources_get(r->sources, v->at.source)->path, line);
		ok = config_take(r, (enum cache_setting)i, v, origin, where) && ok;
	}
	return ok;
}

static bool take_blocks(struct reader *r, const struct manifest *m, enum setting_origin origin)
{
	bool ok = true;
	for (uint32_t i = 0; m && i < N_BLOCKS; i++)
		ok = take_block(r, manifest_find(m, blocks[i], NULL), origin) && ok;
	return ok;
}

static const struct source *config_load(void *ctx, const char *path)
{
	char *text;
	size_t len;
	return os_read_file(path, INT32_MAX, &text, &len) ? sources_add_owned(ctx, path, text, len) : NULL;
}

static bool take_user_blocks(struct reader *r, const struct manifest *m, uint32_t errors)
{
	for (uint32_t i = 0; i < m->n_blocks; i++)
		if (m->blocks[i].kind != BLOCK_CACHE && m->blocks[i].kind != BLOCK_SERVER && m->blocks[i].kind != BLOCK_BUILD)
			diag_help(r->diags,
				  diag_add(r->diags, DIAG_MANIFEST_BLOCK, m->blocks[i].at,
					   "the user's configuration has only the blocks `cache`, `server` and `build`"),
				  "projects and models are described in a tri.build");
	return diags_errors(r->diags) == errors && take_blocks(r, m, ORIGIN_USER);
}

static bool take_user(struct reader *r)
{
	const char *path = cache_config_path(r->a);
	struct file_stamp stamp;
	if (!path || !os_stamp(path, &stamp))
		return true;
	uint32_t errors = diags_errors(r->diags);
	return take_user_blocks(r, manifest_read(r->a, (struct frontend_host){config_load, r->sources}, path, r->diags), errors);
}

static const struct source *load_new(void *ctx, const char *path)
{
	struct sources *sources = ctx;
	(void)path;
	return sources_get(sources, sources_count(sources) - 1);
}

bool cache_config_check(struct arena *a, struct sources *sources, enum cache_setting s, const char *value, struct diags *diags)
{
	struct cache_config out = {0};
	struct reader r = {a, sources, diags, &out};
	struct buf text = {0};
	config_set_text("", cache_setting_block(s), cache_setting_key(s), value, &text);
	sources_add(sources, "the new setting", text.at, text.len);
	buf_free(&text);
	uint32_t errors = diags_errors(diags);
	const struct manifest *m = manifest_read(a, (struct frontend_host){load_new, sources}, "", diags);
	if (!take_user_blocks(&r, m, errors))
		return false;
	const struct manifest_value *v = manifest_get(manifest_find(m, settings[s].block, NULL), settings[s].manifest);
	if (v && strcmp(v->text, value) == 0)
		return true;
	return config_refuse(&r, v ? v->at : SPAN_NONE, "this value cannot be stored in a configuration file",
			     "remove line breaks, blanks at the ends, and ` #`");
}

/* Checks text that is not from a file like a value of a manifest. Errors show it as the source `name`. */
static bool config_take_text(struct reader *r, enum cache_setting s, const char *name, const char *text, enum setting_origin origin)
{
	const char *line = arena_printf(r->a, "%s=%s", name, text);
	const struct source *src = sources_add(r->sources, setting_origin_text(origin), line, strlen(line));
	struct manifest_value v = {.key = settings[s].manifest, .text = text, .at = {src->id, (uint32_t)strlen(name) + 1, src->len}};
	return manifest_value_parse(r->a, &v, manifest_key_type(v.key), NULL, r->diags) && config_take(r, s, &v, origin, name);
}

static bool take_environment(struct reader *r)
{
	bool ok = true;
	for (uint32_t i = 0; i < SETTINGS; i++) {
		const char *text = secure_getenv(settings[i].variable);
		if (text && *text)
			ok = config_take_text(r, (enum cache_setting)i, settings[i].variable, text, ORIGIN_ENVIRONMENT) && ok;
	}
	return ok;
}

bool cache_config_read(struct arena *a, struct sources *sources, const struct manifest *project, const struct options *o,
		       struct cache_config *out, struct diags *diags)
{
	struct reader r = {a, sources, diags, out};
	for (uint32_t i = 0; i < SETTINGS; i++)
		out->at[i] = (struct setting){.text = settings[i].otherwise, .where = ""};
	out->at[SETTING_ENABLED].number = out->at[SETTING_L2].number = out->at[SETTING_L3].number = out->at[SETTING_SERVER].number = 1;
	out->at[SETTING_SERVER_IDLE].number = SERVER_DEFAULT_IDLE;
	out->at[SETTING_DIR].text = cache_default_dir(a);
	out->at[SETTING_MAX_SIZE].number = CACHE_DEFAULT_SIZE;
	out->at[SETTING_COMPRESS].number = (uint64_t)CACHE_DEFAULT_COMPRESS;
	const struct manifest_block *own = project ? manifest_find(project, BLOCK_BUILD, NULL) : NULL;
	bool ok = take_user(&r);
	if (own) /* only the user may allow this, never a project */
		ok = config_refuse(&r, own->at, "the block `build` belongs to the user's configuration",
				   "remove it, and run `trib config set build.KEY VALUE`");
	ok = take_blocks(&r, project, ORIGIN_PROJECT) && ok;
	ok = take_environment(&r) && ok;
	if (o->cache_dir)
		ok = config_take_text(&r, SETTING_DIR, "--cache-dir", o->cache_dir, ORIGIN_FLAG) && ok;
	if (o->no_cache > 0)
		out->at[SETTING_ENABLED] = (struct setting){"false", 0, ORIGIN_FLAG, "--no-cache"};
	return ok;
}

struct cache_options cache_config_options(struct arena *a, const struct cache_config *c)
{
	const struct setting *s = c->at;
	char *dir = cache_folder(s[SETTING_DIR].text);
	struct cache_options o = {
		.dir = arena_strdup(a, dir),
		.limits = {s[SETTING_MAX_SIZE].number, s[SETTING_MAX_ENTRIES].number, s[SETTING_MAX_AGE].number},
		.compress = (int)(int64_t)s[SETTING_COMPRESS].number,
		.levels = (unsigned)(s[SETTING_L2].number << CACHE_L2 | s[SETTING_L3].number << CACHE_L3),
		.read_only = s[SETTING_READ_ONLY].number != 0,
	};
	free(dir);
	return o;
}
