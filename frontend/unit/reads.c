#include "frontend/unit/reads.h"
#include <string.h>
#include "frontend/unit/emit.h"

static bool is_recording(const struct emitter *e) { return e->f->is_refreshable || (e->f->records_reads && e->checking); }

void reads_open(struct emitter *e, struct reads *r)
{
	if (!is_recording(e))
		return;
	*r = (struct reads){.outer = e->reads, .serial = ++e->f->elab.n_recordings};
	e->reads = r;
}

struct item_reads reads_close(struct emitter *e)
{
	struct reads *r = e->reads;
	if (!is_recording(e))
		return (struct item_reads){0};
	struct item_read *list = ARENA_ARRAY(e->f->session, struct item_read, r->found.len + 1);
	struct item_reads out = {list, r->found.len};
	if (out.n)
		memcpy(list, r->found.at, out.n * sizeof *list);
	vec_free(&r->found);
	e->reads = r->outer;
	return out;
}

/* Each item stores the last recording that contains it, so that a recording rarely lists an item twice. */
void reads_note(struct emitter *e, struct item *it, enum read_depth of)
{
	if (!e->reads || (it->checked.last_read.recording == e->reads->serial && it->checked.last_read.depth >= of))
		return;
	it->checked.last_read.recording = e->reads->serial;
	it->checked.last_read.depth = of;
	vec_push(&e->reads->found, ((struct item_read){it, of}));
}

bool reads_changed(const struct item_reads *reads)
{
	for (uint32_t i = 0; i < reads->n; i++)
		if (reads->at[i].item->refresh.change > (reads->at[i].depth == READ_WHOLE ? CHANGE_NONE : CHANGE_BODY))
			return true;
	return false;
}
