/* Applies suggested edits. */
#include "base/diag.h"
#include <stdlib.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/source.h"
#include "base/vec.h"

static int order(const void *pa, const void *pb)
{
	const struct diag *a = *(const struct diag *const *)pa, *b = *(const struct diag *const *)pb;

	if (a->edit.start != b->edit.start)
		return a->edit.start < b->edit.start ? -1 : 1;
	return (a->edit.end > b->edit.end) - (a->edit.end < b->edit.end);
}

bool diag_is_fixable(const struct diag *g) { return g->replacement && !g->is_guess; }

uint32_t diags_fix(const struct diags *d, const struct source *s, struct buf *out)
{
	VEC(const struct diag *) edits = {0};
	uint32_t done = 0, at = 0;

	for (uint32_t i = 0; i < diags_count(d); i++) {
		const struct diag *g = diags_at(d, i);

		if (diag_is_fixable(g) && g->edit.source == s->id && g->edit.start <= g->edit.end && g->edit.end <= s->len)
			vec_push(&edits, g);
	}
	if (edits.len)
		qsort(edits.at, edits.len, sizeof *edits.at, order);
	for (uint32_t i = 0; i < edits.len; i++) {
		span e = edits.at[i]->edit;

		if (e.start < at ||
		    (i && e.start == edits.at[i - 1]->edit.start)) /* overlaps an edit that was made, or is at the same place */
			continue;
		buf_put(out, s->text + at, e.start - at);
		buf_puts(out, edits.at[i]->replacement);
		at = e.end;
		done++;
	}
	buf_put(out, s->text + at, s->len - at);
	vec_free(&edits);
	return done;
}
