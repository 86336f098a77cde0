#include "builder/build/fix.h"
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/line_diff.h"
#include "base/os.h"
#include "base/path.h"
#include "base/source.h"
#include "builder/build/context.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"

/* True for files of the project, and for those that the options name. */
static bool may_change(const struct build_context *c, const struct source *s)
{
	for (uint32_t i = 0; i < c->request.options->n_operands; i++)
		if (!strcmp(c->request.options->operands[i], s->path))
			return true;
	return s->path[0] != '/' && outputs_is_inside(c->arena, s->path) && strncmp(s->path, "../", 3) != 0 &&
	       strcmp(s->path, "tri.build") != 0;
}

/* True if the file has the text that was checked. The modules of the standard library have no file. */
static bool unchanged(const struct source *s)
{
	char *text;
	size_t len;
	if (!os_read_file(s->path, INT32_MAX, &text, &len))
		return false;
	bool same = len == s->len && memcmp(text, s->text, len) == 0;
	free(text);
	return same;
}

static void count(struct fixes *f, const char *path, uint32_t n)
{
	uint32_t i = 0;
	while (i < f->files.len && strcmp(f->files.at[i].path, path) != 0)
		i++;
	if (i == f->files.len)
		vec_push(&f->files, ((struct fixed_file){strdup(path), 0}));
	if (!f->files.at[i].path)
		bug_no_memory();
	f->files.at[i].changes += n;
}

static void print_json(const struct fixed_file *file, FILE *out)
{
	struct buf line = {0};
	struct json_writer w = {.out = &line};
	json_open(&w, '{');
	json_member_str(&w, "type", "fix");
	json_member_str(&w, "file", file->path);
	json_member_int(&w, "changes", file->changes);
	json_close(&w, '}');
	fprintf(out, "%s\n", line.at);
	buf_free(&line);
}

void fixes_print(struct fixes *f, bool json, FILE *out)
{
	for (uint32_t i = 0; i < f->files.len; i++) {
		struct fixed_file *file = &f->files.at[i];
		if (json)
			print_json(file, out);
		else
			fprintf(out, "fixed %s: %u change%s\n", file->path, file->changes, file->changes == 1 ? "" : "s");
		free(file->path);
	}
	vec_free(&f->files);
}

static void print_diff(const struct build_context *c, const struct source *s, const struct buf *text)
{
	struct buf diff = {0};
	line_diff(s->path, s->text, s->len, text->at ? text->at : "", text->len, &diff);
	fwrite(diff.at, 1, diff.len, c->request.out);
	buf_free(&diff);
}

static uint32_t fix_source(struct build_context *c, const struct source *s, struct fixes *f)
{
	struct buf text = {0};
	uint32_t n = diags_fix(c->diags, s, &text);
	if (n && !unchanged(s))
		n = 0;
	if (n && c->request.options->diff) {
		print_diff(c, s, &text);
		buf_free(&text);
		return n;
	}
	if (n && !os_rewrite(s->path, text.at ? text.at : "", text.len)) {
		diag_add(c->diags, DIAG_FILE_WRITE, SPAN_NONE, "cannot write `%s`", s->path);
		c->environment = true;
		n = 0;
	}
	if (n) {
		os_remove_temporaries(path_dir(c->arena, s->path)); /* temporary files of killed processes */
		count(f, s->path, n);
	}
	buf_free(&text);
	return n;
}

uint32_t fix_sources(struct build_context *c, struct fixes *f)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < sources_count(c->sources); i++)
		if (may_change(c, sources_get(c->sources, i)))
			n += fix_source(c, sources_get(c->sources, i), f);
	return n;
}
