#include "frontend/unit/reads.h"
#include <string.h>
#include "frontend/unit/elab.h"

static bool wanted(const struct elab *e) { return e->f->keeps || (e->f->traces && e->checking); }

void reads_open(struct elab *e, struct reads *r)
{
	if (!wanted(e))
		return;
	*r = (struct reads){.outer = e->reads, .serial = ++e->f->recordings};
	e->reads = r;
}

struct read_list reads_close(struct elab *e)
{
	struct reads *r = e->reads;
	if (!wanted(e))
		return (struct read_list){0};
	struct read *list = ARENA_ARRAY(e->f->lasting, struct read, r->found.len + 1);
	struct read_list out = {list, r->found.len};
	if (out.n)
		memcpy(list, r->found.at, out.n * sizeof *list);
	vec_free(&r->found);
	e->reads = r->outer;
	return out;
}

/* The item remembers by which recording it was seen last, so that the list grows only by what is new (or was forgotten over a nested recording). */
void reads_note(struct elab *e, struct item *it, enum read_of of)
{
	if (!e->reads || (it->seen.by == e->reads->serial && it->seen.of >= of))
		return;
	it->seen.by = e->reads->serial;
	it->seen.of = of;
	vec_push(&e->reads->found, ((struct read){it, of}));
}

bool reads_changed(const struct read_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->at[i].item->change > (l->at[i].of == READ_WHOLE ? CHANGE_NONE : CHANGE_BODY))
			return true;
	return false;
}
