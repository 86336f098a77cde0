/* A nest that only copies a dense [B, R, S] to a dense [B, S, R] becomes a call of the kernel that transposes through registers. A loop would read
 * or write one element of a cache line at a time. */
#include "backend/loops/build/build.h"
#include "backend/loops/loop_passes.h"
#include "backend/target/target.h"
#include "base/arena.h"

enum { LEAST_SIZE = 4, LEAST_ELEMENTS = 256 }; /* smaller ones are not worth a call */

/* The loops of a copy; LOOP_NONE: there is no batch. */
struct copy {
	uint32_t batch, row, column; /* of the source */
};

static bool is_plain_copy(const struct loop_fn *f, const struct loop_nest *n)
{
	const struct loop_expr *x = n->exprs;
	const struct loop_store *st = n->stores;
	return !n->n_outer && !n->n_reduce && !n->n_reductions && n->n_exprs == 1 && n->n_stores == 1 && x->kind == LOOP_LOAD &&
	       x->access.index == LOOP_NONE && x->elem == f->buffers[st->access.buffer].type.elem &&
	       x->elem == f->buffers[x->access.buffer].type.elem && x->access.buffer != st->access.buffer;
}

/* Finds the loops by their strides. */
static bool find_loops(struct dims *d, const struct loop_nest *n, struct copy *c)
{
	const dim *from = n->exprs[0].access.stride, *to = n->stores[0].access.stride, one = dim_const(d, 1);
	*c = (struct copy){LOOP_NONE, LOOP_NONE, LOOP_NONE};
	for (uint32_t k = 0; k < n->n_parallel; k++) {
		uint32_t *of = dim_eq(from[k], one) ? &c->column : dim_eq(to[k], one) ? &c->row : &c->batch;
		if (*of != LOOP_NONE)
			return false;
		*of = k;
	}
	return c->row != LOOP_NONE && c->column != LOOP_NONE;
}

/* True if the access is to a whole buffer of `size` elements, not to a part of a larger one. */
static bool transposes_is_whole(const struct loop_fn *f, struct dims *d, const struct loop_access *a, dim size)
{
	const struct hir_type *t = &f->buffers[a->buffer].type;
	return dim_eq(a->base, dim_const(d, 0)) && dim_eq(dim_product(d, t->dims, t->rank), size);
}

static bool transposes_is_dense(const struct loop_fn *f, struct dims *d, const struct loop_nest *n, const struct copy *c)
{
	const struct loop_access *from = &n->exprs[0].access, *to = &n->stores[0].access;
	dim rows = n->extent[c->row], columns = n->extent[c->column], matrix = dim_mul(d, rows, columns);
	dim size = c->batch == LOOP_NONE ? matrix : dim_mul(d, n->extent[c->batch], matrix);
	return transposes_is_whole(f, d, from, size) && transposes_is_whole(f, d, to, size) && dim_eq(from->stride[c->row], columns) &&
	       dim_eq(to->stride[c->column], rows) &&
	       (c->batch == LOOP_NONE || (dim_eq(from->stride[c->batch], matrix) && dim_eq(to->stride[c->batch], matrix)));
}

static bool transposes_pays(struct dims *d, const struct loop_nest *n, const struct copy *c)
{
	int64_t rows, columns;
	bool known_rows = dim_is_const(d, n->extent[c->row], &rows), known_columns = dim_is_const(d, n->extent[c->column], &columns);
	bool three = known_rows && rows == 3 && dtype_size(n->exprs[0].elem) == 4; /* the kernel has code of its own for them */
	return (!known_rows || three || rows >= LEAST_SIZE) && (!known_columns || columns >= LEAST_SIZE) &&
	       (!known_rows || !known_columns || rows * columns >= LEAST_ELEMENTS);
}

static void transposes_replace(struct loop_fn *f, struct dims *d, struct loop_stmt *s, const struct copy *c)
{
	struct loop_nest n = s->u.nest;
	struct loop_kernel k = {.kernel = KERNEL_transpose, .n_buffers = 2};
	k.buffers = ARENA_ARRAY(f->unit, uint32_t, k.n_buffers);
	struct transpose_dims *dims = ARENA_NEW(f->unit, struct transpose_dims);
	k.buffers[0] = n.exprs[0].access.buffer;
	k.buffers[1] = n.stores[0].access.buffer;
	dims->batch = c->batch == LOOP_NONE ? dim_const(d, 1) : n.extent[c->batch];
	dims->rows = n.extent[c->row];
	dims->columns = n.extent[c->column];
	dims->size = dim_const(d, dtype_size(n.exprs[0].elem));
	k.dims = (void *)dims;
	s->kind = STMT_KERNEL;
	s->u.kernel = k;
}

uint32_t loop_pass_transposes(struct loop_fn *f, struct loop_pass_context *c)
{
	uint32_t changes = 0;
	struct copy loops;
	if (!kernel_is_of(KERNEL_transpose, c->options->target))
		return 0;
	for (uint32_t i = 0; i < f->n_stmts; i++) {
		struct loop_stmt *s = &f->stmts[i];
		if (s->kind != STMT_NEST || !is_plain_copy(f, &s->u.nest) || !find_loops(c->dims, &s->u.nest, &loops) ||
		    !transposes_is_dense(f, c->dims, &s->u.nest, &loops) || !transposes_pays(c->dims, &s->u.nest, &loops))
			continue;
		transposes_replace(f, c->dims, s, &loops);
		changes++;
	}
	return changes;
}
