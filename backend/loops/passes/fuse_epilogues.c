/* Epilogues: a nest without reductions that alone reads the result of a kernel, element by element, becomes the epilogue of the kernel. The
 * kernel passes each finished tile to it, so the result needs no memory. The loops of the nest become the axes of the kernel's result: batch,
 * row and column. The kernel moves to the place of the nest, because what it reads stays as it is. */
#include <string.h>
#include "backend/loops/build/build.h"
#include "backend/loops/ir/beside.h"
#include "backend/loops/passes/merge.h"
#include "backend/loops/passes/tile.h"
#include "backend/passes/options.h"
#include "backend/target/target.h"
#include "base/arena.h"

struct epilogue_search {
	struct loop_fn *f;
	struct dims *dims;
	uint32_t *kernel;  /* for each buffer: the statement whose kernel stores it as its result, or LOOP_NONE */
	uint32_t *touches; /* for each buffer: the number of statements that use it */
	uint32_t *last;    /* for each buffer: the last statement that was counted, plus 1 */
	uint32_t stmt;
};

static void count_touch(void *ctx, uint32_t buffer)
{
	struct epilogue_search *s = ctx;
	if (s->last[buffer] == s->stmt + 1)
		return;
	s->last[buffer] = s->stmt + 1;
	s->touches[buffer]++;
}

static uint32_t fuse_epilogues_result_of(const struct loop_kernel *k) { return k->buffers[k->n_buffers - 1]; }

static void count_buffers(struct epilogue_search *s)
{
	uint32_t n = s->f->n_buffers + 1;
	s->kernel = memset(ARENA_ARRAY(s->f->unit, uint32_t, n), 0xff, n * sizeof *s->kernel);
	s->touches = memset(ARENA_ARRAY(s->f->unit, uint32_t, n), 0, n * sizeof *s->touches);
	s->last = memset(ARENA_ARRAY(s->f->unit, uint32_t, n), 0, n * sizeof *s->last);
	for (s->stmt = 0; s->stmt < s->f->n_stmts; s->stmt++) {
		const struct loop_stmt *st = &s->f->stmts[s->stmt];
		loop_stmt_buffers(st, count_touch, s);
		if (st->kind == STMT_KERNEL && kernel_takes_epilogue(st->u.kernel.kernel))
			s->kernel[fuse_epilogues_result_of(&st->u.kernel)] = s->stmt;
	}
}

static void become_tile(struct dims *d, struct loop_expr *e)
{
	dim zero = dim_const(d, 0);
	e->kind = LOOP_TILE;
	e->access.buffer = 0;
	e->access.base = zero;
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		e->access.stride[k] = zero;
}

static bool fuse_epilogues_same_element(const struct loop_access *a, const struct loop_access *b)
{
	return dim_eq(a->base, b->base) && memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

/* Makes the epilogue from nest n, which reads `result` first in expression `at`. Returns NULL if it is not possible. */
static struct loop_nest *make_epilogue(const struct epilogue_search *s, const struct loop_nest *n, uint32_t at, struct tile_map *m)
{
	const struct loop_access *result = &n->exprs[at].access;
	struct arena *unit = s->f->unit;
	if (!dim_eq(result->base, dim_const(s->dims, 0)) || !tile_map_loops(s->dims, n, result, m))
		return NULL;
	struct loop_nest *e = ARENA_NEW(unit, struct loop_nest);
	*e = *n;
	e->n_parallel = TILE_AXES;
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		e->extent[k] = k < TILE_AXES ? m->size[k] : dim_const(s->dims, 0);
	e->exprs = memcpy(ARENA_ARRAY(unit, struct loop_expr, n->n_exprs), n->exprs, n->n_exprs * sizeof *e->exprs);
	e->stores = memcpy(ARENA_ARRAY(unit, struct loop_store, n->n_stores), n->stores, n->n_stores * sizeof *e->stores);
	for (uint32_t k = 0; k < n->n_exprs; k++) {
		struct loop_expr *x = &e->exprs[k];
		bool tile = x->kind == LOOP_LOAD && x->access.buffer == result->buffer;
		if (tile ? !fuse_epilogues_same_element(&x->access, result)
			 : x->kind == LOOP_LOAD && !tile_map_access(s->dims, n, m, &x->access))
			return NULL;
		if (tile)
			become_tile(s->dims, x);
	}
	for (uint32_t k = 0; k < n->n_stores; k++)
		if (!tile_map_access(s->dims, n, m, &e->stores[k].access))
			return NULL;
	return e;
}

/* Stores the sizes of the result: batch, rows, columns. */
static void tile_sizes(struct dims *d, const struct loop_kernel *k, dim size[TILE_AXES])
{
	dim dims[SHAPE_FIELDS];
	for (uint32_t i = 0; i < TILE_AXES; i++)
		size[i] = dim_product(d, dims, kernel_shape_dims(&kernel_record(k->kernel)->tile[i], k->dims, dims));
}

static const struct loop_stmt *product_of(const struct epilogue_search *s, const struct loop_expr *x)
{
	uint32_t k = x->kind == LOOP_LOAD ? s->kernel[x->access.buffer] : LOOP_NONE;
	return k == LOOP_NONE ? NULL : &s->f->stmts[k];
}

/* True if the nest reads two products of one row that a device computes in one launch: as the epilogue of one of them, it would wait for the other. */
static bool reads_products_beside(const struct epilogue_search *s, const struct loop_nest *n)
{
	const struct loop_stmt *first = NULL, *next;
	for (uint32_t k = 0; k < n->n_exprs; k++) {
		next = product_of(s, &n->exprs[k]);
		if (first && next && next != first && loops_are_alike(first, next) && loops_may_have_one_row(s->f, next))
			return true;
		first = first ? first : next;
	}
	return false;
}

/* Turns the nest into the kernel of one of its operands with the nest as epilogue. The kernel's statement stays, without a result. */
static bool fuse_epilogues_fuse(const struct epilogue_search *s, struct loop_stmt *st)
{
	const struct loop_nest *n = &st->u.nest;
	for (uint32_t k = 0; tile_is_plain(n) && k < n->n_exprs; k++) {
		uint32_t buffer = n->exprs[k].access.buffer;
		if (n->exprs[k].kind != LOOP_LOAD || s->kernel[buffer] == LOOP_NONE || s->touches[buffer] != 2 ||
		    s->f->buffers[buffer].kind != BUFFER_TEMP)
			continue;
		struct loop_stmt *from = &s->f->stmts[s->kernel[buffer]];
		struct tile_map m;
		tile_sizes(s->dims, &from->u.kernel, m.size);
		struct loop_nest *epilogue = make_epilogue(s, n, k, &m);
		if (!epilogue)
			continue;
		struct loop_stmt fused = *from;
		fused.u.kernel.epilogue = epilogue;
		fused.u.kernel.n_buffers--;
		loops_merge_values(s->f->unit, &fused, st);
		s->kernel[buffer] = LOOP_NONE;
		from->u.kernel.n_buffers = 0;
		*st = fused;
		return true;
	}
	return false;
}

uint32_t loop_pass_epilogues(struct loop_fn *f, struct loop_pass_context *c)
{
	struct epilogue_search s = {.f = f, .dims = c->dims};
	uint32_t n = 0, before = f->n_stmts;
	count_buffers(&s);
	for (uint32_t k = 0; k < f->n_stmts; k++)
		if (f->stmts[k].kind == STMT_NEST && !(c->options->target->group_size && reads_products_beside(&s, &f->stmts[k].u.nest)))
			fuse_epilogues_fuse(&s, &f->stmts[k]);
	for (uint32_t k = 0; k < f->n_stmts; k++)
		if (f->stmts[k].kind != STMT_KERNEL || f->stmts[k].u.kernel.n_buffers)
			f->stmts[n++] = f->stmts[k];
	f->n_stmts = n;
	return before - n;
}
