/* Merges a nest and the next one into a nest with several outputs, if both have the same loops and the later one profits. It profits if
 * it reads an element that the earlier one stores in the same iteration, or if both load the same elements. */
#include "backend/loops/build/build.h"
#include <string.h>
#include "backend/loops/ir/grow.h"
#include "backend/loops/passes/merge.h"
#include "backend/target/target.h"
#include "base/arena.h"

enum { MERGED_EXPRS = 96 };

static bool same_loops(const struct loop_nest *a, const struct loop_nest *b)
{
	return a->n_parallel == b->n_parallel && a->n_reduce == b->n_reduce && memcmp(a->extent, b->extent, sizeof a->extent) == 0;
}

static bool same_address(const struct loop_access *a, const struct loop_access *b)
{
	return a->buffer == b->buffer && a->index == LOOP_NONE && b->index == LOOP_NONE && dim_eq(a->base, b->base) &&
	       memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

/* Returns the store of `a` to the buffer, or NULL. */
static const struct loop_store *store_to(const struct loop_nest *a, uint32_t buffer)
{
	for (uint32_t k = 0; k < a->n_stores; k++)
		if (a->stores[k].access.buffer == buffer)
			return &a->stores[k];
	return NULL;
}

static bool shares_load(const struct loop_nest *a, const struct loop_access *access)
{
	for (uint32_t k = 0; k < a->n_exprs; k++)
		if (a->exprs[k].kind == LOOP_LOAD && same_address(&a->exprs[k].access, access))
			return true;
	return false;
}

/* True if a store rounds the value, so that a load of it returns another value. */
static bool store_rounds(dtype t) { return t == DT_FLOAT16 || t == DT_BFLOAT16; }

/* Finds the column at which the base of an access is. */
static bool merge_column_of(const struct dims *d, dim base, int64_t row, int64_t *column)
{
	*column = 0; /* of a multiple of rows that only a run knows */
	return dim_is_const(d, base, column) || dim_common_factor(d, base) % row == 0;
}

/* True if two stores with the same strides never meet: all strides but that of the innermost loop are multiples of a row, in which both have
 * columns of their own, as the parts of a concatenation have. */
static bool stores_apart(struct dims *d, const struct loop_nest *n, const struct loop_access *a, const struct loop_access *b)
{
	int64_t from, to, apart, inner, columns, row = INT64_MAX;
	uint32_t last = n->n_parallel - 1u;
	if (n->n_parallel == 0 || memcmp(a->stride, b->stride, sizeof a->stride) != 0 || a->index != LOOP_NONE || b->index != LOOP_NONE ||
	    !dim_is_const(d, a->stride[last], &inner) || inner != 1 || !dim_is_const(d, dim_sub(d, b->base, a->base), &apart) ||
	    !dim_is_const(d, n->extent[last], &columns))
		return false;
	for (uint32_t k = 0; k < last; k++) {
		int64_t stride = dim_common_factor(d, a->stride[k]);
		row = stride && stride < row ? stride : row;
	}
	for (uint32_t k = 0; k < last; k++)
		if (dim_common_factor(d, a->stride[k]) % row != 0)
			return false;
	if (merge_column_of(d, a->base, row, &from))
		to = from + apart;
	else if (merge_column_of(d, b->base, row, &to))
		from = to - apart;
	else
		return false;
	int64_t low = from < to ? from : to, high = from < to ? to : from;
	return low >= 0 && low + columns <= high && high + columns <= row;
}

static bool has_conflict(struct dims *d, const struct loop_nest *a, const struct loop_nest *b)
{
	for (uint32_t k = 0; k < b->n_exprs; k++) {
		const struct loop_expr *e = &b->exprs[k];
		const struct loop_store *s = e->kind == LOOP_LOAD ? store_to(a, e->access.buffer) : NULL;
		if (s && (e->in_reduction || store_rounds(e->elem) || !same_address(&s->access, &e->access)))
			return true;
	}
	for (uint32_t i = 0; i < a->n_stores; i++)
		for (uint32_t k = 0; k < b->n_stores; k++)
			if (a->stores[i].access.buffer == b->stores[k].access.buffer &&
			    !stores_apart(d, a, &a->stores[i].access, &b->stores[k].access))
				return true;
	return false;
}

static bool is_profitable(const struct loop_nest *a, const struct loop_nest *b)
{
	for (uint32_t k = 0; k < b->n_exprs; k++) {
		const struct loop_expr *e = &b->exprs[k];
		if (e->kind == LOOP_LOAD && (store_to(a, e->access.buffer) || shares_load(a, &e->access)))
			return true;
	}
	return false;
}

/* A device starts a kernel for each nest, so two of the same loops are always worth one. */
static bool can_merge(const struct loop_pass_context *c, const struct loop_nest *a, const struct loop_nest *b)
{
	return same_loops(a, b) && a->n_exprs + b->n_exprs <= MERGED_EXPRS &&
	       (c->options->target->arch == ARCH_OPENCL || is_profitable(a, b)) && !has_conflict(c->dims, a, b);
}

static bool expr_equal(const struct loop_expr *x, const struct loop_expr *y)
{
	return x->kind == LOOP_LOAD && y->kind == LOOP_LOAD && x->in_reduction == y->in_reduction && same_address(&x->access, &y->access);
}

static uint32_t find_equal(const struct loop_nest *a, uint32_t n, const struct loop_expr *e)
{
	for (uint32_t k = 0; k < n; k++)
		if (expr_equal(&a->exprs[k], e))
			return k;
	return LOOP_NONE;
}

static void append_exprs(struct loop_nest *a, const struct loop_nest *b, uint32_t *map)
{
	uint32_t old = a->n_exprs;
	for (uint32_t k = 0; k < b->n_exprs; k++) {
		struct loop_expr e = b->exprs[k];
		const struct loop_store *s = e.kind == LOOP_LOAD ? store_to(a, e.access.buffer) : NULL;
		uint32_t equal = s ? s->value : find_equal(a, old, &e);
		if (equal != LOOP_NONE) {
			map[k] = equal;
			continue;
		}
		for (uint32_t j = 0; j < 3; j++)
			if (e.args[j] != LOOP_NONE)
				e.args[j] = map[e.args[j]];
		if (e.access.index != LOOP_NONE)
			e.access.index = map[e.access.index];
		if (e.kind == LOOP_ACC)
			e.var += a->n_reductions;
		map[k] = a->n_exprs;
		a->exprs[a->n_exprs++] = e;
	}
}

static void merge_merge(struct arena *unit, struct loop_nest *a, const struct loop_nest *b)
{
	uint32_t *map = ARENA_ARRAY(unit, uint32_t, b->n_exprs);
	struct loop_expr *exprs = ARENA_ARRAY(unit, struct loop_expr, a->n_exprs + b->n_exprs);
	struct loop_reduction *reductions = ARENA_ARRAY(unit, struct loop_reduction, a->n_reductions + b->n_reductions);
	struct loop_store *stores = ARENA_ARRAY(unit, struct loop_store, a->n_stores + b->n_stores);
	memcpy(exprs, a->exprs, a->n_exprs * sizeof *exprs);
	memcpy(stores, a->stores, a->n_stores * sizeof *stores);
	for (uint32_t k = 0; k < a->n_reductions; k++)
		reductions[k] = a->reductions[k];
	a->exprs = exprs;
	append_exprs(a, b, map);
	a->reductions = reductions;
	a->stores = stores;
	for (uint32_t k = 0; k < b->n_reductions; k++) {
		a->reductions[a->n_reductions] = b->reductions[k];
		a->reductions[a->n_reductions++].value = map[b->reductions[k].value];
	}
	for (uint32_t k = 0; k < b->n_stores; k++) {
		a->stores[a->n_stores] = b->stores[k];
		a->stores[a->n_stores++].value = map[b->stores[k].value];
	}
}

struct search {
	uint32_t buffer;
	bool found;
};

static void compare_buffer(void *ctx, uint32_t buffer)
{
	struct search *s = ctx;
	s->found |= buffer == s->buffer;
}

static bool reads_buffer(const struct loop_stmt *s, uint32_t buffer)
{
	struct search search = {buffer, false};
	if (s->kind != STMT_NEST)
		loop_stmt_buffers(s, compare_buffer, &search);
	for (uint32_t k = 0; s->kind == STMT_NEST && k < s->u.nest.n_exprs; k++)
		search.found |= s->u.nest.exprs[k].kind == LOOP_LOAD && s->u.nest.exprs[k].access.buffer == buffer;
	return search.found;
}

/* A temporary that only merged nests read needs no store any more. */
static void drop_unread(const struct loop_fn *f, const bool *grown, struct loop_nest *n)
{
	uint32_t kept = 0;
	for (uint32_t k = 0; k < n->n_stores; k++) {
		uint32_t buffer = n->stores[k].access.buffer;
		bool read = f->buffers[buffer].kind != BUFFER_TEMP || grown[buffer];
		for (uint32_t s = 0; s < f->n_stmts && !read; s++)
			read = reads_buffer(&f->stmts[s], buffer);
		if (read)
			n->stores[kept++] = n->stores[k];
	}
	n->n_stores = kept;
}

void loops_merge_values(struct arena *unit, struct loop_stmt *a, const struct loop_stmt *b)
{
	uint32_t *all = ARENA_ARRAY(unit, uint32_t, a->n_values + b->n_values), n = a->n_values;
	memcpy(all, a->values, n * sizeof *all);
	for (uint32_t k = 0; k < b->n_values && n < MOST_VALUES; k++) {
		uint32_t i = 0;
		while (i < a->n_values && a->values[i] != b->values[k])
			i++;
		if (i == a->n_values)
			all[n++] = b->values[k];
	}
	a->values = all;
	a->n_values = n;
}

static void merge_stmt(struct arena *unit, struct loop_stmt *a, const struct loop_stmt *b)
{
	merge_merge(unit, &a->u.nest, &b->u.nest);
	loops_merge_values(unit, a, b);
}

uint32_t loop_pass_merge(struct loop_fn *f, struct loop_pass_context *c)
{
	uint32_t n = 0, before = f->n_stmts;
	for (uint32_t s = 0; s < f->n_stmts; s++) {
		struct loop_stmt *st = &f->stmts[s];
		if (n > 0 && st->kind == STMT_NEST && f->stmts[n - 1].kind == STMT_NEST &&
		    can_merge(c, &f->stmts[n - 1].u.nest, &st->u.nest))
			merge_stmt(f->unit, &f->stmts[n - 1], st);
		else
			f->stmts[n++] = *st;
	}
	f->n_stmts = n;
	bool *grown = ARENA_ARRAY(f->unit, bool, f->n_buffers + 1);
	loops_mark_grown(f, grown);
	for (uint32_t s = 0; s < n; s++)
		if (f->stmts[s].kind == STMT_NEST && f->stmts[s].u.nest.n_stores > 1)
			drop_unread(f, grown, &f->stmts[s].u.nest);
	return before - n;
}
