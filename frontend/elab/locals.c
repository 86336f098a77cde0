/* Frames and their locals. */
#include "frontend/elab/locals.h"
#include <string.h>

void frame_push(struct elab *e, struct frame *fr)
{
	fr->up = e->frame;
	fr->base = e->locals.len;
	fr->site.up = e->em.report.site;
	fr->site.self = fr->self;
	e->frame = fr;
	e->em.report.site = &fr->site;
}

void frame_pop(struct elab *e)
{
	e->locals.len = e->frame->base;
	e->em.report.site = e->frame->site.up;
	e->frame = e->frame->up;
}

void local_push(struct elab *e, name_id name, struct value v, bool constant)
{
	struct local l = {.name = name, .constant = constant, .value = v, .at = SPAN_NONE};
	vec_push(&e->locals, l);
	while (e->em.f->elab.most_locals.len <= name)
		vec_push(&e->em.f->elab.most_locals, 0);
	if (e->em.f->elab.most_locals.at[name] < e->locals.len)
		e->em.f->elab.most_locals.at[name] = e->locals.len;
}

void local_note_type_error(struct elab *e, span at)
{
	const struct source *s = at.source == SPAN_NO_SOURCE ? NULL : sources_get(e->em.f->sources, at.source);
	for (uint32_t i = e->locals.len; s && e->em.checking && i-- > 0;) {
		struct local *l = &e->locals.at[i];
		const char *name = name_text(e->em.f, l->name);
		if (strlen(name) != at.end - at.start || memcmp(name, s->text + at.start, at.end - at.start) != 0)
			continue;
		if (++l->type_errors >= MOST_REPEATED)
			l->value = VALUE_POISON;
		return;
	}
}

struct local *local_find(struct elab *e, name_id name)
{
	uint32_t most = name < e->em.f->elab.most_locals.len ? e->em.f->elab.most_locals.at[name] : 0;
	for (uint32_t i = most < e->locals.len ? most : e->locals.len; i-- > e->frame->base;)
		if (e->locals.at[i].name == name)
			return &e->locals.at[i];
	return NULL;
}

void locals_snapshot(struct elab *e, struct local **copy, uint32_t *n)
{
	*n = e->locals.len - e->frame->base;
	*copy = ARENA_ARRAY(e->em.f->arena, struct local, *n + 1);
	if (*n)
		memcpy(*copy, e->locals.at + e->frame->base, *n * sizeof **copy);
}

void locals_restore(struct elab *e, const struct local *from, uint32_t n)
{
	if (n)
		memcpy(e->locals.at + e->frame->base, from, n * sizeof *from);
}
