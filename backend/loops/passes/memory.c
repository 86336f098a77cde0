/* Allocates temporaries in the scratch memory. A temporary lives from the statement that first writes it to the last that reads it, and what takes
 * its memory lives on there; statements of one launch count as one. Afterwards its region is given to the next temporary that fits for all values of the symbols; if none is free, the scratch grows.
 * Local temporaries of a block are placed in its frame in the same way.
 * Sizes are dims, rounded up to 64 bytes. Each size has a list of free regions, so the time grows with the number of buffers and not
 * with its square. */
#include <string.h>
#include "backend/loops/build/build.h"
#include "backend/loops/ir/grow.h"
#include "backend/loops/ir/in_place.h"
#include "backend/loops/passes/memory.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/vec.h"

enum { SIZES_TRIED = 64 };
#define NONE UINT32_MAX

struct region {
	dim offset, size;
	uint32_t next; /* in the list of free regions, or of regions that become free after the same statement */
};
struct size_class {
	dim size;
	uint32_t free; /* the first free region */
};
struct allocator {
	struct loop_fn *f;
	struct dims *dims;
	const struct loop_stmt *stmts; /* of the unit or a block */
	uint32_t n_stmts;
	enum buffer_scope scope; /* of the buffers that are placed */
	dim room;                /* bytes so far */
	bool *used;              /* of each buffer: true if it is placed here */
	uint32_t *end;           /* for each buffer: the end of its lifetime, or of the last one that has its memory */
	dim *size_of;            /* for each temporary */
	uint32_t *next_first;    /* for each buffer: the next with the same first statement */
	uint32_t *firsts;        /* for each statement: the temporaries that it writes first */
	uint32_t *ends;          /* for each statement: the regions that become free after it */
	uint32_t *size_at;       /* for each dim: its number in `sizes` */
	VEC(struct region) regions;
	VEC(struct size_class) sizes;
};

/* The statements of one launch, from `first` to `end` - 1. */
struct extension {
	const struct allocator *p;
	uint32_t first, end;
};

static void extend_lifetime(void *ctx, uint32_t buffer)
{
	const struct extension *e = ctx;
	struct loop_buffer *b = &e->p->f->buffers[buffer];
	if (b->scope != e->p->scope)
		return;
	e->p->used[buffer] = b->kind == BUFFER_TEMP;
	if (!b->end)
		b->first = e->first;
	b->end = e->end; /* statements are visited in order */
}

static void find_lifetimes(const struct allocator *p)
{
	for (uint32_t s = 0, end; s < p->n_stmts; s = end) {
		for (end = s + 1; end < p->n_stmts && p->stmts[end].beside;)
			end++;
		for (uint32_t k = s; k < end; k++)
			loop_stmt_buffers(&p->stmts[k], extend_lifetime, &(struct extension){p, s, end});
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

static bool memory_fits(struct dims *d, dim size, dim room)
{
	return dim_eq(size, room) || loops_is_nonnegative(d, dim_sub(d, room, size));
}

static bool is_smaller(struct dims *d, dim a, dim b) { return memory_fits(d, a, b) && !dim_eq(a, b); }

static struct size_class *size_class_of(struct allocator *p, dim size)
{
	uint32_t *at = &p->size_at[size.idx];
	if (*at == NONE) {
		*at = p->sizes.len;
		vec_push(&p->sizes, ((struct size_class){size, NONE}));
	}
	return &p->sizes.at[*at];
}

/* Returns this size if it has a free region, else the smallest larger size among the latest ones that has one, or NULL. */
static struct size_class *find_free(struct allocator *p, dim size)
{
	struct size_class *best = size_class_of(p, size);
	if (best->free != NONE)
		return best;
	best = NULL;
	for (uint32_t k = p->sizes.len, tried = 0; k-- > 0 && tried < SIZES_TRIED; tried++) {
		struct size_class *s = &p->sizes.at[k];
		if (s->free != NONE && memory_fits(p->dims, size, s->size) && (!best || is_smaller(p->dims, s->size, best->size)))
			best = s;
	}
	return best;
}

static uint32_t take_region(struct allocator *p, dim size)
{
	struct size_class *s = find_free(p, size);
	if (s) {
		uint32_t region = s->free;
		s->free = p->regions.at[region].next;
		return region;
	}
	vec_push(&p->regions, ((struct region){p->room, size, NONE}));
	p->room = dim_add(p->dims, p->room, size);
	return p->regions.len - 1;
}

/* Allocates the temporaries that statement s writes first. */
static void allocate_at(struct allocator *p, uint32_t s)
{
	for (uint32_t k = p->firsts[s]; k != NONE; k = p->next_first[k]) {
		uint32_t region = take_region(p, p->size_of[k]), last = p->end[k] - 1;
		p->f->buffers[k].offset = p->regions.at[region].offset;
		p->regions.at[region].next = p->ends[last];
		p->ends[last] = region;
	}
}

/* Frees the regions of the temporaries that statement s reads last. */
static void free_after(struct allocator *p, uint32_t s)
{
	for (uint32_t k = p->ends[s], next; k != NONE; k = next) {
		struct size_class *size = size_class_of(p, p->regions.at[k].size);
		next = p->regions.at[k].next;
		p->regions.at[k].next = size->free;
		size->free = k;
	}
}

static uint32_t *array_of_none(struct arena *a, uint32_t n)
{
	return memset(ARENA_ARRAY(a, uint32_t, n + 1), 0xff, (n + 1) * sizeof(uint32_t));
}

static void find_ends(struct allocator *p)
{
	p->end = ARENA_ARRAY(p->f->unit, uint32_t, p->f->n_buffers + 1);
	for (uint32_t k = 0; k < p->f->n_buffers; k++) {
		uint32_t origin = loops_owner(p->f, k), end = p->f->buffers[k].end;
		p->end[k] = p->end[k] < end ? end : p->end[k];
		p->end[origin] = p->end[origin] < end ? end : p->end[origin];
	}
}

static void place_aliases(struct loop_fn *f)
{
	for (uint32_t k = 0; k < f->n_buffers; k++)
		f->buffers[k].offset = f->buffers[loops_owner(f, k)].offset;
}

/* Returns for the first buffer of each chain the last one, for which it has room. */
static const uint32_t *last_of_chains(const struct loop_fn *f)
{
	bool *grown = ARENA_ARRAY(f->unit, bool, f->n_buffers + 1);
	uint32_t *last = ARENA_ARRAY(f->unit, uint32_t, f->n_buffers + 1);
	loops_mark_grown(f, grown);
	for (uint32_t k = 0; k < f->n_buffers; k++)
		if (!grown[k])
			last[loops_root(f, k)] = k;
	return last;
}

/* Lists the temporaries that are used, by their first statement. */
static void list_temporaries(struct allocator *p)
{
	struct loop_fn *f = p->f;
	p->next_first = array_of_none(f->unit, f->n_buffers);
	p->firsts = array_of_none(f->unit, p->n_stmts);
	p->ends = array_of_none(f->unit, p->n_stmts);
	p->size_of = ARENA_ARRAY(f->unit, dim, f->n_buffers + 1);
	const uint32_t *last = last_of_chains(f);
	for (uint32_t k = f->n_buffers; k-- > 0;) {
		if (!p->used[k] || f->buffers[k].alias != LOOP_NONE || f->buffers[k].grows != LOOP_NONE)
			continue;
		p->size_of[k] = rounded_size(p->dims, &f->buffers[last[k]].type);
		p->next_first[k] = p->firsts[f->buffers[k].first];
		p->firsts[f->buffers[k].first] = k;
	}
	p->size_at = array_of_none(f->unit, dims_count(f->dims));
}

/* Places the temporaries of one scope that the statements use. Returns the number of regions. */
static uint32_t memory_allocate(struct allocator *p)
{
	p->room = dim_const(p->dims, 0);
	find_ends(p);
	list_temporaries(p);
	for (uint32_t s = 0; s < p->n_stmts; s++) {
		allocate_at(p, s);
		free_after(p, s);
	}
	uint32_t n = p->regions.len;
	vec_free(&p->regions);
	vec_free(&p->sizes);
	return n;
}

/* Forgets the lifetimes, and sets those of buffers that no block has. */
static struct allocator open_unit(struct loop_fn *f)
{
	struct allocator all = {.f = f, .stmts = f->stmts, .n_stmts = f->n_stmts, .used = ARENA_ARRAY(f->unit, bool, f->n_buffers + 1)};
	for (uint32_t k = 0; k < f->n_buffers; k++)
		f->buffers[k].first = f->buffers[k].end = 0;
	find_lifetimes(&all);
	return all;
}

void loops_find_lifetimes(struct loop_fn *f) { open_unit(f); }

uint32_t loop_pass_allocate(struct loop_fn *f, struct loop_pass_context *c)
{
	struct allocator all = open_unit(f);
	int64_t frame;
	all.dims = c->dims;
	uint32_t n = memory_allocate(&all);
	f->scratch = all.room;
	for (uint32_t s = 0; s < f->n_stmts; s++) {
		struct loop_block *x = &f->stmts[s].u.block;
		if (f->stmts[s].kind != STMT_BLOCK)
			continue;
		struct allocator own = {.f = f, .dims = c->dims, .stmts = x->stmts, .n_stmts = x->n_stmts, .scope = SCOPE_LOCAL};
		own.used = ARENA_ARRAY(f->unit, bool, f->n_buffers + 1);
		find_lifetimes(&own);
		n += memory_allocate(&own);
		x->frame = own.room;
		x->on_stack = !c->options->target->group_size && dim_is_const(c->dims, x->frame, &frame) && frame <= LOOP_MOST_ON_STACK;
	}
	place_aliases(f);
	return n;
}
