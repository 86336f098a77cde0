/* Where temporaries lie in the scratch. Each is alive from the statement that first writes it to the last that reads it; a dead one's place is
 * taken over by the next that surely fits, else the scratch grows. Sizes are dims, rounded up to 64 bytes. */
#include "backend/loops_build.h"
#include "base/arena.h"

struct life {
	uint32_t first, last;
	dim size;
};
struct place {
	dim offset, size;
	uint32_t free_after; /* last statement of its present tenant */
};

static void touch(struct life *lives, uint32_t buffer, uint32_t stmt)
{
	if (lives[buffer].first > stmt)
		lives[buffer].first = stmt;
	if (lives[buffer].last < stmt)
		lives[buffer].last = stmt;
}

static void find_lives(const struct loop_fn *f, struct life *lives)
{
	for (uint32_t k = 0; k < f->n_buffers; k++)
		lives[k] = (struct life){.first = UINT32_MAX};
	for (uint32_t s = 0; s < f->n_stmts; s++) {
		const struct loop_stmt *st = &f->stmts[s];
		for (uint32_t k = 0; k < st->n_buffers; k++)
			touch(lives, st->buffers[k], s);
		for (uint32_t k = 0; k < st->nest.n_exprs; k++)
			if (st->nest.exprs[k].kind == LOOP_LOAD)
				touch(lives, st->nest.exprs[k].access.buffer, s);
		for (uint32_t k = 0; k < st->nest.n_stores; k++)
			touch(lives, st->nest.stores[k].access.buffer, s);
	}
}

static dim rounded_size(struct dims *d, const struct core_type *t)
{
	dim size = dim_const(d, (int64_t)dtype_size(t->elem));
	for (uint32_t k = 0; k < t->rank; k++)
		size = dim_mul(d, size, t->dims[k]);
	dim align = dim_const(d, 64);
	return dim_mul(d, dim_floordiv(d, dim_add(d, size, dim_const(d, 63)), align), align);
}

static bool fits(struct dims *d, dim size, dim room)
{
	return dim_eq(size, room) || loops_never_negative(d, dim_sub(d, room, size));
}

static bool tighter(struct dims *d, dim a, dim b)
{
	return fits(d, a, b) && !dim_eq(a, b);
}

static struct place *find_place(struct dims *d, struct place *places, uint32_t n, const struct life *l)
{
	struct place *best = NULL;
	for (uint32_t k = 0; k < n; k++)
		if (places[k].free_after < l->first && fits(d, l->size, places[k].size) && (!best || tighter(d, places[k].size, best->size)))
			best = &places[k];
	return best;
}

/* Buffers that statement s writes first. */
static void place_at(struct loop_fn *f, const struct life *lives, uint32_t s, struct place *places, uint32_t *n)
{
	for (uint32_t k = 0; k < f->n_buffers; k++) {
		struct loop_buffer *buf = &f->buffers[k];
		if (buf->kind != BUFFER_TEMP || lives[k].first != s)
			continue;
		struct place *p = find_place(f->dims, places, *n, &lives[k]);
		if (!p) {
			p = &places[(*n)++];
			*p = (struct place){.offset = f->scratch, .size = lives[k].size};
			f->scratch = dim_add(f->dims, f->scratch, lives[k].size);
		}
		p->free_after = lives[k].last;
		buf->offset = p->offset;
	}
}

void loops_place(struct loop_fn *f)
{
	struct life *lives = ARENA_ARRAY(f->unit, struct life, f->n_buffers);
	struct place *places = ARENA_ARRAY(f->unit, struct place, f->n_buffers);
	uint32_t n = 0;
	find_lives(f, lives);
	for (uint32_t k = 0; k < f->n_buffers; k++)
		if (f->buffers[k].kind == BUFFER_TEMP)
			lives[k].size = rounded_size(f->dims, &f->buffers[k].type);
	f->scratch = dim_const(f->dims, 0);
	for (uint32_t s = 0; s < f->n_stmts; s++)
		place_at(f, lives, s, places, &n);
}
