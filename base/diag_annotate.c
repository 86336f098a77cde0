/* Diagnostics as CI services show them beside the changed lines: workflow commands of GitHub, the code quality report of GitLab. */
#include "base/diag.h"
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/foreign.h"
#include "base/hash.h"
#include "base/json.h"

/* The place of a diagnostic. file: NULL if it has none. */
struct annotated {
	const char *file;
	struct position first, end;
};

static struct annotated diag_annotate_place_of(const struct sources *s, const struct diag *g)
{
	span at = g->primary.at;
	if (!s || at.source >= sources_count(s))
		return (struct annotated){0};
	return (struct annotated){sources_get(s, at.source)->path, source_position(s, at.source, at.start),
				  source_position(s, at.source, at.end)};
}

static void diag_annotate_put_path(const char *folder, const char *file, struct buf *out)
{
	if (*folder && *file != '/')
		buf_printf(out, "%s/", folder);
	buf_puts(out, file);
}

static void put_github(const struct sources *s, const struct diag *g, const char *folder, struct buf *out)
{
	static const char *const commands[] = {[SEV_ERROR] = "error", [SEV_WARNING] = "warning", [SEV_NOTE] = "notice"};
	struct annotated at = diag_annotate_place_of(s, g);
	buf_printf(out, "::%s ", commands[diag_severity_of(g->code)]);
	if (at.file) {
		struct buf path = {0};
		diag_annotate_put_path(folder, at.file, &path);
		buf_puts(out, "file=");
		foreign_put(out, FOREIGN_PROPERTY, path.at, path.len);
		buf_printf(out, ",line=%u,col=%u,endLine=%u,endColumn=%u,", at.first.line, at.first.col, at.end.line, at.end.col);
		buf_free(&path);
	}
	buf_printf(out, "title=%s::", diag_code_text(g->code));
	foreign_puts(out, FOREIGN_WORKFLOW, g->message);
	if (g->help) {
		buf_puts(out, "%0A");
		foreign_puts(out, FOREIGN_WORKFLOW, g->help);
	}
	buf_putc(out, '\n');
}

void diags_print_github(const struct diags *d, const struct sources *s, const char *folder, struct buf *out)
{
	for (uint32_t i = 0; i < diags_count(d); i++)
		put_github(s, diags_at(d, i), folder, out);
}

/* Equal for the same problem in two reports, so it has no line numbers; `same` tells equal problems of a file apart. */
static void put_fingerprint(struct json_writer *w, const struct diag *g, const char *path, uint32_t same)
{
	char hex[33];
	struct buf text = {0};
	buf_printf(&text, "%s\n%s\n%s\n%u", diag_code_text(g->code), path, g->message, same);
	hash_hex(hash_bytes(text.at, text.len), hex);
	json_member_str(w, "fingerprint", hex);
	buf_free(&text);
}

static uint32_t equal_before(const struct diags *d, uint32_t i)
{
	const struct diag *g = diags_at(d, i);
	uint32_t n = 0;
	for (uint32_t k = 0; k < i; k++) {
		const struct diag *other = diags_at(d, k);
		n += other->code == g->code && other->primary.at.source == g->primary.at.source && strcmp(other->message, g->message) == 0;
	}
	return n;
}

void diags_print_gitlab(const struct diags *d, const struct sources *s, const char *folder, struct buf *out)
{
	static const char *const severities[] = {[SEV_ERROR] = "major", [SEV_WARNING] = "minor", [SEV_NOTE] = "info"};
	struct json_writer w = {.out = out};
	json_open(&w, '[');
	for (uint32_t i = 0; i < diags_count(d); i++) {
		const struct diag *g = diags_at(d, i);
		struct annotated at = diag_annotate_place_of(s, g);
		struct buf path = {0};
		diag_annotate_put_path(folder, at.file ? at.file : "tri.build", &path);
		json_open(&w, '{');
		json_member_str(&w, "description", g->message);
		json_member_str(&w, "check_name", diag_code_text(g->code));
		put_fingerprint(&w, g, path.at, equal_before(d, i));
		json_member_str(&w, "severity", severities[diag_severity_of(g->code)]);
		json_member_open(&w, "location", '{');
		json_member_str(&w, "path", path.at);
		json_member_open(&w, "lines", '{');
		json_member_int(&w, "begin", at.file ? at.first.line : 1);
		json_close(&w, '}');
		json_close(&w, '}');
		json_close(&w, '}');
		buf_free(&path);
	}
	json_close(&w, ']');
	buf_putc(out, '\n');
}
