/* Diagnostics for tools: one object a line. Lines and columns count from 1, columns in bytes; `end`, `end_line` and `end_col` are
 * exclusive. */
#include "base/diag.h"
#include <stdlib.h>
#include "base/json.h"
#include "base/print.h"

static const char *const severity_words[] = {[SEV_ERROR] = "error", [SEV_WARNING] = "warning", [SEV_NOTE] = "note"};

static bool diag_json_has_place(const struct sources *s, span at) { return s && at.source < sources_count(s); }

static void diag_json_put_span(struct json_writer *w, const struct sources *s, const struct diag_label *label, bool primary)
{
	struct position first, end;

	if (!diag_json_has_place(s, label->at))
		return;
	first = source_position(s, label->at.source, label->at.start);
	end = source_position(s, label->at.source, label->at.end);
	json_open(w, '{');
	json_member_str(w, "file", sources_get(s, label->at.source)->path);
	json_member_int(w, "line", first.line);
	json_member_int(w, "col", first.col);
	json_member_int(w, "end_line", end.line);
	json_member_int(w, "end_col", end.col);
	json_member_int(w, "start", label->at.start);
	json_member_int(w, "end", label->at.end);
	json_member_str(w, "label", label->text);
	json_member_bool(w, "primary", primary);
	json_close(w, '}');
}

static void diag_json_put_edit(struct json_writer *w, const struct sources *s, const struct diag *g)
{
	json_key(w, "edit");
	if (!g->replacement || !diag_json_has_place(s, g->edit)) {
		json_none(w);
		return;
	}
	json_open(w, '{');
	json_member_str(w, "file", sources_get(s, g->edit.source)->path);
	json_member_int(w, "start", g->edit.start);
	json_member_int(w, "end", g->edit.end);
	json_member_str(w, "replacement", g->replacement);
	json_member_str(w, "applicability", g->is_guess ? "maybe-incorrect" : "machine-applicable");
	json_close(w, '}');
}

/* The other places of the same error. */
static void diag_json_put_places(struct json_writer *w, const struct sources *s, const struct diags *d, const struct diag_repeat *all,
				 uint32_t i)
{
	json_member_open(w, "places", '[');
	while ((i = all[i].next) != UINT32_MAX) {
		json_open(w, '{');
		json_key(w, "span");
		diag_json_put_span(w, s, &diags_at(d, i)->primary, true);
		diag_json_put_edit(w, s, diags_at(d, i));
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void put_diag(struct buf *out, const struct sources *s, const struct diags *d, const struct diag_repeat *all, uint32_t at)
{
	const struct diag *g = diags_at(d, at);
	struct json_writer w = {.out = out};

	json_open(&w, '{');
	json_member_str(&w, "type", "diagnostic");
	json_member_str(&w, "code", diag_code_text(g->code));
	json_member_str(&w, "severity", severity_words[diag_severity_of(g->code)]);
	json_member_str(&w, "message", g->message);
	json_member_open(&w, "spans", '[');
	diag_json_put_span(&w, s, &g->primary, true);
	for (uint32_t i = 0; i < g->n_secondary; i++)
		diag_json_put_span(&w, s, &g->secondary[i], false);
	json_close(&w, ']');
	json_member_open(&w, "notes", '[');
	for (uint32_t i = 0; i < g->n_notes; i++)
		json_str(&w, g->notes[i]);
	json_close(&w, ']');
	json_member_str(&w, "help", g->help);
	diag_json_put_edit(&w, s, g);
	diag_json_put_places(&w, s, d, all, at);
	json_close(&w, '}');
	buf_putc(out, '\n');
}

void diags_print_json(const struct diags *d, const struct sources *s, FILE *out)
{
	struct diag_repeat *all = diags_repeats(d);
	struct buf text = {0};

	for (uint32_t i = 0; i < diags_count(d); i++)
		if (!all[i].repeats)
			put_diag(&text, s, d, all, i);
	free(all);
	print_text(out, &text);
	buf_free(&text);
}
