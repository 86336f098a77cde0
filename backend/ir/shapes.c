/* The rules of shapes. A rule states the rank and the dims of the result if operands and attributes determine them, and what must be true of
 * the operands. Shapes may differ if they can be equal: the values of symbols are known only at run time. */
#include "backend/ir/shapes.h"
#include "backend/ir/gather.h"

bool ir_shapes_agree(const struct ir_shape *v, const struct hir_type *a, const struct hir_type *b)
{
	if (a->rank != b->rank)
		return false;
	for (uint32_t k = 0; k < a->rank; k++)
		if (!may_equal(v, a->dims[k], b->dims[k]))
			return false;
	return true;
}

bool ir_result_rank(struct ir_shape *v, const struct ir_inst *i, uint32_t rank)
{
	if (need(v, rank <= HIR_MAX_RANK, "rank above 8") && v->computed)
		v->computed->rank = (uint8_t)rank;
	return need(v, i->type.rank == rank, "wrong result rank");
}

bool ir_result_dim(struct ir_shape *v, const struct ir_inst *i, uint32_t k, dim d)
{
	if (v->computed)
		v->computed->dims[k] = d;
	return need(v, may_equal(v, d, i->type.dims[k]), "wrong result shape");
}

bool ir_result_shape(struct ir_shape *v, const struct ir_inst *i, const struct hir_type *t)
{
	ir_result_rank(v, i, t->rank);
	for (uint32_t k = 0; !v->fault && k < t->rank; k++)
		ir_result_dim(v, i, k, t->dims[k]);
	return !v->fault;
}

static bool shapes_is_value(const struct ir_shape *v, dim x, int64_t want)
{
	int64_t have;
	return dim_is_const(v->f->dims, x, &have) && have == want;
}

/* Stores the constants of two dims and returns true, or returns false. */
static bool both_known(const struct ir_shape *v, dim a, dim b, int64_t *x, int64_t *y)
{
	return dim_is_const(v->f->dims, a, x) && dim_is_const(v->f->dims, b, y);
}

void ir_shape_same(struct ir_shape *v, const struct ir_inst *i)
{
	ir_result_shape(v, i, operand(v, 0));
	for (uint32_t k = 1; k < i->n_operands; k++)
		need(v, ir_shapes_agree(v, operand(v, k), &i->type), "operands of different shapes");
}

void ir_shape_broadcast(struct ir_shape *v, const struct ir_inst *i)
{
	const struct hir_type *x = operand(v, 0);
	need(v, x->rank <= i->type.rank, "result of lower rank");
	for (uint32_t k = 0; !v->fault && k < x->rank; k++) {
		dim to = i->type.dims[i->type.rank - x->rank + k];
		need(v, shapes_is_value(v, x->dims[k], 1) || may_equal(v, x->dims[k], to), "dimensions neither 1 nor equal");
	}
}

void ir_shape_reshape(struct ir_shape *v, const struct ir_inst *i)
{
	const struct hir_type *x = operand(v, 0);
	dim before = dim_product(v->f->dims, x->dims, x->rank), after = dim_product(v->f->dims, i->type.dims, i->type.rank);
	need(v, may_equal(v, before, after), "element count changes");
}

void ir_shape_transpose(struct ir_shape *v, const struct ir_inst *i)
{
	const int64_t *perm = ir_perm(i)->perm;
	const struct hir_type *x = operand(v, 0);
	uint32_t seen = 0;
	ir_result_rank(v, i, x->rank);
	for (uint32_t k = 0; !v->fault && k < x->rank; k++) {
		if (!need(v, perm[k] >= 0 && perm[k] < x->rank && !(seen >> perm[k] & 1), "not a permutation"))
			return;
		seen |= 1u << perm[k];
		ir_result_dim(v, i, k, x->dims[perm[k]]);
	}
}

/* The first and the last element must be inside the operand, if that is known. */
void ir_shape_slice(struct ir_shape *v, const struct ir_inst *i)
{
	const struct ir_slice *slice = ir_slice(i);
	const struct hir_type *x = operand(v, 0);
	ir_result_rank(v, i, x->rank);
	for (uint32_t k = 0; !v->fault && k < x->rank; k++) {
		int64_t size, n, start, last;
		need(v, slice->step[k] != 0, "a step is 0");
		if (!both_known(v, x->dims[k], i->type.dims[k], &size, &n) || !dim_is_const(v->f->dims, slice->start[k], &start) || n == 0)
			continue;
		bool over = __builtin_mul_overflow(n - 1, slice->step[k], &last) || __builtin_add_overflow(last, start, &last);
		need(v, !over && start >= 0 && start < size && last >= 0 && last < size, "out of range");
	}
}

void ir_shape_concat(struct ir_shape *v, const struct ir_inst *i)
{
	uint32_t axis = ir_axis(i)->axis;
	if (!need(v, i->n_operands > 0 && axis < operand(v, 0)->rank, "axis out of range"))
		return;
	struct hir_type t = *operand(v, 0);
	for (uint32_t n = 1; !v->fault && n < i->n_operands; n++) {
		const struct hir_type *x = operand(v, n);
		need(v, x->rank == t.rank, "operands of different rank");
		for (uint32_t k = 0; !v->fault && k < t.rank; k++)
			need(v, k == axis || may_equal(v, x->dims[k], i->type.dims[k]), "shapes differ outside the axis");
		if (!v->fault)
			t.dims[axis] = dim_add(v->f->dims, t.dims[axis], x->dims[axis]);
	}
	ir_result_shape(v, i, &t);
}

static void shapes_check_gather(struct ir_shape *v, const struct ir_inst *i, struct ir_gather g)
{
	const struct hir_type *x = operand(v, 0), *index = operand(v, 1);
	uint32_t chosen = (uint32_t)__builtin_popcount(g.mask), kept = x->rank - chosen + (uint32_t)__builtin_popcount(g.windows);
	need(v, g.mask && !(g.mask >> x->rank), "no such dimension");
	need(v, !(g.windows & ~g.mask), "a window along a dimension without an index");
	need(v, i->n_operands == chosen + 1, "an operand for each dimension of the mask expected");
	for (uint32_t k = 2; !v->fault && k < i->n_operands; k++)
		need(v, ir_shapes_agree(v, operand(v, k), index), "indices of different shapes");
	if (v->fault || !ir_result_rank(v, i, index->rank + kept))
		return;
	struct ir_table_dim dims[HIR_MAX_RANK];
	ir_table_dims(i, x->rank, index->rank, dims);
	for (uint32_t k = 0; !v->fault && k < index->rank; k++)
		ir_result_dim(v, i, k, index->dims[k]);
	for (uint32_t k = 0; !v->fault && k < x->rank; k++)
		if (!dims[k].index)
			ir_result_dim(v, i, dims[k].at, x->dims[k]);
}

void ir_shape_gather(struct ir_shape *v, const struct ir_inst *i) { shapes_check_gather(v, i, *ir_gather(i)); }
void ir_shape_embedding(struct ir_shape *v, const struct ir_inst *i) { shapes_check_gather(v, i, (struct ir_gather){.mask = 1}); }

/* Operand 0 has the shape of `like` outside of the axis. */
static void check_outside(struct ir_shape *v, const struct ir_inst *i, const struct hir_type *like)
{
	const struct hir_type *x = operand(v, 0);
	uint32_t axis = ir_axis(i)->axis;
	need(v, x->rank == like->rank && axis < x->rank, "wrong rank or axis");
	for (uint32_t k = 0; !v->fault && k < x->rank; k++)
		need(v, k == axis || may_equal(v, x->dims[k], like->dims[k]), "shapes differ outside the axis");
}

void ir_shape_gather_dim(struct ir_shape *v, const struct ir_inst *i)
{
	if (ir_result_shape(v, i, operand(v, 1)))
		check_outside(v, i, operand(v, 1));
}

void ir_shape_sort(struct ir_shape *v, const struct ir_inst *i)
{
	need(v, operand(v, 0)->rank >= 1, "a scalar has no last dimension");
	ir_result_shape(v, i, operand(v, 0));
}

void ir_shape_scatter(struct ir_shape *v, const struct ir_inst *i)
{
	ir_result_shape(v, i, operand(v, 0));
	need(v, ir_shapes_agree(v, operand(v, 1), operand(v, 2)), "indices and values of different shapes");
	check_outside(v, i, operand(v, 1));
}

void ir_shape_put(struct ir_shape *v, const struct ir_inst *i)
{
	uint32_t axis = ir_axis(i)->axis;
	const struct hir_type *x = operand(v, 0), *part = operand(v, 1);
	ir_result_shape(v, i, x);
	need(v, part->rank + 1 == x->rank, "wrong rank");
	for (uint32_t k = 0; !v->fault && k < part->rank; k++)
		need(v, may_equal(v, part->dims[k], x->dims[k < axis ? k : k + 1]), "shapes differ outside the axis");
}

/* The elements of the operand must fit into the result, if that is known. */
void ir_shape_pad(struct ir_shape *v, const struct ir_inst *i)
{
	const struct ir_pad *pad = ir_pad(i);
	const struct hir_type *x = operand(v, 0);
	ir_result_rank(v, i, x->rank);
	for (uint32_t k = 0; !v->fault && k < x->rank; k++) {
		int64_t before, size, n;
		if (!dim_is_const(v->f->dims, pad->before[k], &before))
			continue;
		need(v, before >= 0, "negative padding");
		need(v, !both_known(v, x->dims[k], i->type.dims[k], &size, &n) || before <= n - size, "the result is too small");
	}
}

/* The last element of the last window must be inside the operand, if that is known. */
static void check_last_window(struct ir_shape *v, const struct ir_inst *i, uint32_t k, uint32_t inside)
{
	const struct ir_window *window = ir_window(i);
	int64_t size, n, m, last, step;
	if (!both_known(v, operand(v, 0)->dims[k], i->type.dims[k], &size, &n) || !dim_is_const(v->f->dims, i->type.dims[inside], &m) ||
	    n <= 0 || m <= 0)
		return;
	bool over = __builtin_mul_overflow(n - 1, window->step[k], &last) || __builtin_mul_overflow(m - 1, window->step[inside], &step) ||
		    __builtin_add_overflow(last, step, &last);
	need(v, !over && last < size, "out of range");
}

static bool shapes_is_step(int64_t n) { return n >= 0 && n <= INT32_MAX; }

void ir_shape_window(struct ir_shape *v, const struct ir_inst *i)
{
	const struct ir_window *window = ir_window(i);
	const struct hir_type *x = operand(v, 0);
	uint32_t inside = x->rank;
	ir_result_rank(v, i, x->rank + (uint32_t)__builtin_popcount(window->mask));
	for (uint32_t k = 0; !v->fault && k < x->rank; k++) {
		if (!(window->mask >> k & 1)) {
			need(v, window->step[k] == 1, "a step outside of the windows");
			ir_result_dim(v, i, k, x->dims[k]);
			continue;
		}
		if (need(v, shapes_is_step(window->step[k]) && shapes_is_step(window->step[inside]), "a step is out of range"))
			check_last_window(v, i, k, inside++);
	}
}

void ir_shape_iota(struct ir_shape *v, const struct ir_inst *i) { need(v, ir_axis(i)->axis < i->type.rank, "axis out of range"); }

void ir_shape_reduce(struct ir_shape *v, const struct ir_inst *i)
{
	uint32_t mask = ir_axes(i)->mask;
	const struct hir_type *x = operand(v, 0);
	struct hir_type t = {0};
	for (uint32_t k = 0; k < x->rank; k++)
		if (!(mask >> k & 1))
			t.dims[t.rank++] = x->dims[k];
	ir_result_shape(v, i, &t);
}

void ir_shape_arg(struct ir_shape *v, const struct ir_inst *i)
{
	uint32_t mask = ir_axes(i)->mask;
	need(v, mask && !(mask & (mask - 1)), "the mask must have one dimension");
	ir_shape_reduce(v, i);
}

void ir_shape_matmul(struct ir_shape *v, const struct ir_inst *i)
{
	const struct hir_type *a = operand(v, 0), *b = operand(v, 1);
	uint32_t r = a->rank;
	if (!need(v, r >= 2 && b->rank == r, "operands must have the same rank, at least 2"))
		return;
	struct hir_type t = *a;
	t.dims[r - 1] = b->dims[r - 1];
	for (uint32_t k = 0; k + 2 < r; k++)
		need(v, may_equal(v, a->dims[k], b->dims[k]), "different batch dimensions");
	need(v, may_equal(v, a->dims[r - 1], b->dims[r - 2]), "inner dimensions differ");
	ir_result_shape(v, i, &t);
}
