/* A setting is added to any text as the user's configuration. A valid text stays valid, has the new value, and loses it when the setting
 * is removed. The first byte chooses the setting; the rest of the first line is the value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "builder/cache/config.h"
#include "builder/manifest/manifest.h"
#include "tests/fuzz/fuzz.h"

struct file {
	struct arena *a;
	struct sources *sources;
	const char *text;
};

static const struct source *load(void *ctx, const char *path)
{
	const struct file *f = ctx;
	return strcmp(path, "config") ? NULL : sources_add(f->sources, path, f->text, strlen(f->text));
}

/* What the text says of the setting, "" for nothing; NULL: the text is not sound. */
static const char *value_in(struct file *f, const char *text, enum cache_setting s)
{
	const char *key = cache_setting_key(s);
	struct diags *d = diags_new(0);
	f->text = text;
	const struct manifest *m = manifest_read(f->a, (struct frontend_host){load, f}, "config", d);
	const struct manifest_block *b = manifest_find(m,
						       cache_setting_block(s)[0] == 's'   ? BLOCK_SERVER
						       : cache_setting_block(s)[0] == 'b' ? BLOCK_BUILD
											  : BLOCK_CACHE,
						       NULL);
	const char *value = diags_errors(d) ? NULL : "";
	for (uint32_t i = 0; value && b && i < b->n_values; i++)
		if (!strcmp(manifest_key_text(b->values[i].key), key))
			value = b->values[i].text;
	diags_free(d);
	return value;
}

static void require(bool ok, const char *what, const char *before, const char *after)
{
	if (!ok)
		fprintf(stderr, "%s\n--- before\n%s\n--- after\n%s\n", what, before, after);
	BUG_ON(!ok);
}

static void edit(struct file *f, const char *text, enum cache_setting s, const char *value)
{
	const char *block = cache_setting_block(s), *key = cache_setting_key(s);
	struct buf with = {0}, again = {0}, without = {0};
	config_set_text(text, block, key, value, &with);
	const char *now = value_in(f, with.at, s);
	require(now && !strcmp(now, value), "the value is missing", text, with.at);
	config_set_text(with.at, block, key, value, &again);
	require(!strcmp(with.at, again.at), "the same once more changes it", with.at, again.at);
	config_set_text(with.at, block, key, NULL, &without);
	now = value_in(f, without.at ? without.at : "", s);
	require(now && !*now, "the value is still there", with.at, without.at ? without.at : "");
	buf_free(&with);
	buf_free(&again);
	buf_free(&without);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct arena *a = arena_new(0);
	struct file f = {a, sources_new(), NULL};
	struct diags *d = diags_new(0);
	enum cache_setting s = (enum cache_setting)(data[0] % SETTINGS);
	char *value = arena_strndup(a, (const char *)data + 1, size - 1), *line = strchr(value, '\n');
	const char *text = line ? line + 1 : "";
	if (line)
		*line = 0;
	if (cache_config_check(a, f.sources, s, value, d) && value_in(&f, text, s))
		edit(&f, text, s, value);
	diags_free(d);
	sources_free(f.sources);
	arena_free(a);
	return 0;
}
