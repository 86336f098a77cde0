#include "backend/loops/ir/cost.h"
#include "backend/loops/ir/in_place.h"
#include "backend/kernels/kernel.h"
#include "base/arena.h"

struct counter {
	const struct loop_fn *f;
	loop_cost_fn *term;
	void *ctx;
	uint32_t *seen, n_seen;
};

/* The size of an element as it is stored: bytes / per. */
struct element_size {
	int64_t bytes, per;
};

static struct element_size stored_size(const struct loop_buffer *b)
{
	switch (b->layout) {
	case LAYOUT_TRIT2:
	case LAYOUT_TRIT2_WINDOWS:
	case LAYOUT_TRIT_BLOCKS:
	case LAYOUT_TRIT_LISTS:
	case LAYOUT_PLANES: return (struct element_size){1, 4};
	case LAYOUT_TRIT1_6: return (struct element_size){1, 5};
	default: return (struct element_size){(int64_t)dtype_size(b->type.elem), 1};
	}
}

static void count_buffer(void *ctx, uint32_t buffer)
{
	struct counter *c = ctx;
	const struct loop_buffer *b = &c->f->buffers[buffer];
	for (uint32_t k = 0; k < c->n_seen; k++)
		if (c->seen[k] == buffer)
			return;
	c->seen[c->n_seen++] = buffer;
	struct element_size size = stored_size(b);
	if (b->scope == SCOPE_GLOBAL)
		c->term(c->ctx, LOOP_BYTES, size.bytes, size.per, b->type.dims, b->type.rank);
}

/* A nest that looks up elements reads only those. */
static void cost_count_lookups(struct counter *c, const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_exprs; k++) {
		const struct loop_expr *e = &n->exprs[k];
		if (e->kind != LOOP_LOAD || e->access.index == LOOP_NONE)
			continue;
		c->seen[c->n_seen++] = e->access.buffer;
		c->term(c->ctx, LOOP_BYTES, (int64_t)dtype_size(e->elem), 1, n->extent,
			n->n_parallel + (e->in_reduction ? n->n_reduce : 0u));
	}
}

/* A bounded cast clamps twice. */
static int64_t operations_of(const struct loop_expr *x) { return x->kind == LOOP_BOUNDED ? 3 + x->nearest : x->kind == LOOP_OP; }

static void count_nest(void *ctx, const struct loop_nest *n)
{
	struct counter *c = ctx;
	int64_t outside = 0, inside = n->n_reductions;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		*(n->exprs[k].in_reduction ? &inside : &outside) += operations_of(&n->exprs[k]);
	if (outside)
		c->term(c->ctx, LOOP_OPERATIONS, outside, 1, n->extent, n->n_parallel);
	if (inside)
		c->term(c->ctx, LOOP_OPERATIONS, inside, 1, n->extent, n->n_parallel + n->n_reduce);
	cost_count_lookups(c, n);
}

static void count_kernel(struct counter *c, const struct loop_kernel *k)
{
	dim dims[SHAPE_FIELDS];
	for (const struct kernel_term *t = kernel_record(k->kernel)->operations; t->factor; t++)
		c->term(c->ctx, LOOP_OPERATIONS, t->factor, 1, dims, kernel_shape_dims(&t->of, k->dims, dims));
}

static void add_one(void *ctx, uint32_t buffer)
{
	(void)buffer;
	++*(uint32_t *)ctx;
}
static uint32_t count_accesses(const struct loop_stmt *s)
{
	uint32_t n = 0;
	loop_stmt_buffers(s, add_one, &n);
	return n;
}

/* Returns loops_owner of each buffer. */
static uint32_t *owners_of(struct arena *a, const struct loop_fn *f)
{
	uint32_t *owner = ARENA_ARRAY(a, uint32_t, f->n_buffers + 1);
	for (uint32_t k = 0; k < f->n_buffers; k++) {
		const struct loop_buffer *b = &f->buffers[k];
		owner[k] = b->grows != LOOP_NONE ? b->grows : b->alias != LOOP_NONE ? b->alias : k;
	}
	for (uint32_t k = 0; k < f->n_buffers; k++) {
		uint32_t last = k, next;
		while (owner[last] != last)
			last = owner[last];
		for (uint32_t i = k; i != last; i = next) {
			next = owner[i];
			owner[i] = last;
		}
	}
	return owner;
}

static bool counts_memory(const struct loop_buffer *b) { return b->kind == BUFFER_TEMP && b->scope == SCOPE_GLOBAL; }

/* Makes room in the lists: each buffer has a place in those of the statements of its life. */
static void open_lists(struct arena *a, const struct loop_fn *f, struct live_buffers *live)
{
	uint32_t n = 0;
	for (uint32_t k = 0; k < f->n_buffers; k++)
		for (uint32_t s = f->buffers[k].first; counts_memory(&f->buffers[k]) && s < f->buffers[k].end; s++)
			live->end[s]++;
	for (uint32_t s = 0; s < f->n_stmts; s++) {
		live->first[s] = n;
		n += live->end[s];
		live->end[s] = live->first[s];
	}
	live->buffers = ARENA_ARRAY(a, uint32_t, n + 1);
}

struct live_buffers loops_live_buffers(struct arena *a, const struct loop_fn *f)
{
	struct live_buffers live = {ARENA_ARRAY(a, uint32_t, f->n_stmts + 1), ARENA_ARRAY(a, uint32_t, f->n_stmts + 1), NULL};
	const uint32_t *owner = owners_of(a, f);
	uint32_t *seen = ARENA_ARRAY(a, uint32_t, f->n_buffers + 1); /* of each owner: the last statement, from 1 on */
	open_lists(a, f, &live);
	for (uint32_t k = 0; k < f->n_buffers; k++)
		for (uint32_t s = f->buffers[k].first; counts_memory(&f->buffers[k]) && s < f->buffers[k].end; s++)
			live.buffers[live.end[s]++] = k;
	for (uint32_t s = 0; s < f->n_stmts; s++) {
		uint32_t n = live.first[s];
		for (uint32_t i = n; i < live.end[s]; i++) {
			uint32_t k = live.buffers[i];
			if (seen[owner[k]] != s + 1)
				live.buffers[n++] = k;
			seen[owner[k]] = s + 1;
		}
		live.end[s] = n;
	}
	return live;
}

static void count_memory(struct counter *c, const struct live_buffers *live, uint32_t stmt)
{
	for (uint32_t i = live->first[stmt]; i < live->end[stmt]; i++) {
		const struct loop_buffer *b = &c->f->buffers[live->buffers[i]];
		c->term(c->ctx, LOOP_MEMORY, (int64_t)dtype_size(b->type.elem), 1, b->type.dims, b->type.rank);
	}
}

void loops_cost(const struct loop_fn *f, const struct live_buffers *live, uint32_t stmt, loop_cost_fn *term, void *ctx)
{
	const struct loop_stmt *s = &f->stmts[stmt];
	struct arena *a = arena_new(0);
	struct counter c = {f, term, ctx, ARENA_ARRAY(a, uint32_t, 2 * count_accesses(s) + 1), 0};
	count_memory(&c, live, stmt);
	if (s->kind == STMT_NEST || s->kind == STMT_KERNEL || s->kind == STMT_BLOCK) {
		loop_stmt_nests(s, count_nest, &c);
		if (s->kind == STMT_KERNEL)
			count_kernel(&c, &s->u.kernel);
		loop_stmt_buffers(s, count_buffer, &c);
	}
	arena_free(a);
}

static void find_computing(void *ctx, const struct loop_nest *n)
{
	*(bool *)ctx |= n->n_reductions > 0;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		*(bool *)ctx |= operations_of(&n->exprs[k]) > 0;
}

bool loops_computes(const struct loop_stmt *s)
{
	bool found = s->kind == STMT_KERNEL && kernel_record(s->u.kernel.kernel)->operations->factor;
	if (s->kind == STMT_NEST || s->kind == STMT_KERNEL || s->kind == STMT_BLOCK)
		loop_stmt_nests(s, find_computing, &found);
	return found;
}
