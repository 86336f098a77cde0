/* Applies suggested edits. */
#include "base/diag.h"
#include <stdlib.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/source.h"
#include "base/vec.h"

struct numbered_edit {
	const struct diag *diag;
	uint32_t number; /* of the diagnostic */
};

static int diag_fix_order(const void *pa, const void *pb)
{
	const struct numbered_edit *x = pa, *y = pb;
	span a = x->diag->edit, b = y->diag->edit;

	if (a.start != b.start)
		return a.start < b.start ? -1 : 1;
	if (a.end != b.end)
		return a.end > b.end ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

bool diag_is_fixable(const struct diag *g) { return g->replacement && !g->is_guess; }

uint32_t diags_fix(const struct diags *d, const struct source *s, struct buf *out) { return diags_fix_some(d, s, NULL, NULL, out); }

uint32_t diags_fix_some(const struct diags *d, const struct source *s, const bool *chosen, span *made, struct buf *out)
{
	VEC(struct numbered_edit) edits = {0};
	uint32_t done = 0, at = 0;
	size_t before = out->len;

	for (uint32_t i = 0; i < diags_count(d); i++) {
		const struct diag *g = diags_at(d, i);

		if (diag_is_fixable(g) && (!chosen || chosen[i]) && g->edit.source == s->id && g->edit.start <= g->edit.end &&
		    g->edit.end <= s->len)
			vec_push(&edits, ((struct numbered_edit){g, i}));
	}
	if (edits.len)
		qsort(edits.at, edits.len, sizeof *edits.at, diag_fix_order);
	for (uint32_t i = 0; i < edits.len; i++) {
		const struct diag *g = edits.at[i].diag;
		span e = g->edit;

		if (e.start < at ||
		    (i && e.start == edits.at[i - 1].diag->edit.start)) /* overlaps an edit that was made, or is at the same place */
			continue;
		buf_put(out, s->text + at, e.start - at);
		uint32_t start = (uint32_t)(out->len - before);
		buf_puts(out, g->replacement);
		if (made)
			made[edits.at[i].number] = (span){s->id, start, (uint32_t)(out->len - before)};
		at = e.end;
		done++;
	}
	buf_put(out, s->text + at, s->len - at);
	vec_free(&edits);
	return done;
}
