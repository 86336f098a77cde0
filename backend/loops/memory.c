/* Where temporaries lie in the scratch. Each is alive from the statement that first writes it to the last that reads it; a dead one's place is
 * taken over by the next that surely fits, else the scratch grows. Sizes are dims, rounded up to 64 bytes. Free places lie on a stack for each size, so
 * that the time grows with the number of buffers and not with its square. */
#include <string.h>
#include "backend/loops/build.h"
#include "base/arena.h"
#include "base/vec.h"

enum { SIZES_TRIED = 64 };
#define NONE UINT32_MAX

struct life {
	uint32_t first, last;
	dim size;
};
struct place {
	dim offset, size;
	uint32_t next; /* that is free and of its size, or whose tenant ends with the same statement */
};
struct size {
	dim size;
	uint32_t free; /* the last place that became so */
};
struct placer {
	struct loop_fn *f;
	struct life *lives;   /* per buffer */
	uint32_t *next_first; /* per buffer: the next with the same first statement */
	uint32_t *firsts;     /* per statement: the temporaries that it writes first */
	uint32_t *ends;       /* per statement: the places whose tenants end with it */
	uint32_t *size_at;    /* per dim: its number in `sizes` */
	VEC(struct place) places;
	VEC(struct size) sizes;
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

static dim rounded_size(struct dims *d, const struct hir_type *t)
{
	dim size = dim_const(d, (int64_t)dtype_size(t->elem));
	for (uint32_t k = 0; k < t->rank; k++)
		size = dim_mul(d, size, t->dims[k]);
	dim align = dim_const(d, 64);
	return dim_mul(d, dim_floordiv(d, dim_add(d, size, dim_const(d, 63)), align), align);
}

static bool fits(struct dims *d, dim size, dim room) { return dim_eq(size, room) || loops_never_negative(d, dim_sub(d, room, size)); }

static bool tighter(struct dims *d, dim a, dim b) { return fits(d, a, b) && !dim_eq(a, b); }

static struct size *size_of(struct placer *p, dim size)
{
	uint32_t *at = &p->size_at[size.idx];
	if (*at == NONE) {
		*at = p->sizes.len;
		vec_push(&p->sizes, ((struct size){size, NONE}));
	}
	return &p->sizes.at[*at];
}

/* Of this size, or else the tightest that it fits into among the sizes that came up last. NULL: there is none free. */
static struct size *find_free(struct placer *p, dim size)
{
	struct size *best = size_of(p, size);
	if (best->free != NONE)
		return best;
	best = NULL;
	for (uint32_t k = p->sizes.len, tried = 0; k-- > 0 && tried < SIZES_TRIED; tried++) {
		struct size *s = &p->sizes.at[k];
		if (s->free != NONE && fits(p->f->dims, size, s->size) && (!best || tighter(p->f->dims, s->size, best->size)))
			best = s;
	}
	return best;
}

static uint32_t take_place(struct placer *p, dim size)
{
	struct size *s = find_free(p, size);
	if (s) {
		uint32_t place = s->free;
		s->free = p->places.at[place].next;
		return place;
	}
	vec_push(&p->places, ((struct place){p->f->scratch, size, NONE}));
	p->f->scratch = dim_add(p->f->dims, p->f->scratch, size);
	return p->places.len - 1;
}

/* Buffers that statement s writes first. */
static void place_at(struct placer *p, uint32_t s)
{
	for (uint32_t k = p->firsts[s]; k != NONE; k = p->next_first[k]) {
		uint32_t place = take_place(p, p->lives[k].size), last = p->lives[k].last;
		p->f->buffers[k].offset = p->places.at[place].offset;
		p->places.at[place].next = p->ends[last];
		p->ends[last] = place;
	}
}

/* Those that it reads last leave their places behind it. */
static void free_after(struct placer *p, uint32_t s)
{
	for (uint32_t k = p->ends[s], next; k != NONE; k = next) {
		struct size *size = size_of(p, p->places.at[k].size);
		next = p->places.at[k].next;
		p->places.at[k].next = size->free;
		size->free = k;
	}
}

static uint32_t *nothing(struct arena *a, uint32_t n) { return memset(ARENA_ARRAY(a, uint32_t, n + 1), 0xff, (n + 1) * sizeof(uint32_t)); }

void loops_place(struct loop_fn *f)
{
	struct placer p = {.f = f, .lives = ARENA_ARRAY(f->unit, struct life, f->n_buffers + 1)};
	p.next_first = nothing(f->unit, f->n_buffers);
	p.firsts = nothing(f->unit, f->n_stmts);
	p.ends = nothing(f->unit, f->n_stmts);
	find_lives(f, p.lives);
	for (uint32_t k = f->n_buffers; k-- > 0;) {
		if (f->buffers[k].kind != BUFFER_TEMP)
			continue;
		p.lives[k].size = rounded_size(f->dims, &f->buffers[k].type);
		if (p.lives[k].first >= f->n_stmts)
			continue;
		p.next_first[k] = p.firsts[p.lives[k].first];
		p.firsts[p.lives[k].first] = k;
	}
	p.size_at = nothing(f->unit, dims_count(f->dims));
	f->scratch = dim_const(f->dims, 0);
	for (uint32_t s = 0; s < f->n_stmts; s++) {
		place_at(&p, s);
		free_after(&p, s);
	}
	vec_free(&p.places);
	vec_free(&p.sizes);
}
