/* Checks the invariants of the tensor IR. ops.def names the check of each operation. Shapes may differ if they can be equal: the values
 * of symbols are known only at run time. */
#include "backend/ir/ir.h"
#include <stdio.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/format.h"

struct verify {
	const struct ir_fn *f;
	struct buf *why;
	ir_ref at;
	bool ok;
	bool exact; /* shapes must agree for all values of the symbols; `why` is NULL */
};

static const struct hir_type *operand(const struct verify *v, uint32_t k) { return &ir_at(v->f, ir_operand(v->f, v->at, k))->type; }

static void fail(struct verify *v, const char *what)
{
	if (v->ok && v->why && v->at != IR_NONE)
		buf_printf(v->why, "%%%u (%s): %s", v->at, ir_op_text(ir_at(v->f, v->at)->op), what);
	if (v->ok && v->why && v->at == IR_NONE)
		buf_puts(v->why, what);
	v->ok = false;
}

static void need(struct verify *v, bool ok, const char *what)
{
	if (!ok)
		fail(v, what);
}

static bool may_equal(struct verify *v, dim a, dim b) { return v->exact ? dim_eq(a, b) : dim_compare(v->f->dims, a, b) >= 0; }

static bool is_value(struct verify *v, dim x, int64_t want)
{
	int64_t have;
	return dim_is_const(v->f->dims, x, &have) && have == want;
}

static bool shapes_agree(struct verify *v, const struct hir_type *a, const struct hir_type *b)
{
	if (a->rank != b->rank)
		return false;
	for (uint32_t k = 0; k < a->rank; k++)
		if (!may_equal(v, a->dims[k], b->dims[k]))
			return false;
	return true;
}
static bool is_float(dtype t) { return dtype_class(t) == DTC_FLOAT; }

static void check_type(struct verify *v, const struct hir_type *t)
{
	need(v, (unsigned)t->elem < DT_COUNT, "unknown element type");
	need(v, t->rank <= HIR_MAX_RANK, "rank above 8");
	int64_t n = 1, size;
	bool empty = false;
	for (uint32_t k = 0; v->ok && k < t->rank; k++) {
		if (!dim_is_const(v->f->dims, t->dims[k], &size))
			continue;
		need(v, size >= 0, "negative dimension");
		empty = empty || !size;
		need(v, empty || !__builtin_mul_overflow(n, size, &n), "too many elements");
	}
	need(v, n <= INT64_MAX / 16, "too many elements");
}

/* ---- element types and shapes ---- */

/* The first n operands have the element type of the result. */
static void keeps_elem(struct verify *v, const struct ir_inst *i, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		need(v, operand(v, k)->elem == i->type.elem, "operands and result must have the same element type");
}

static void check_ewise(struct verify *v, const struct ir_inst *i)
{
	uint32_t traits = ir_op_traits(i->op), first = i->op == OP_SELECT;
	for (uint32_t k = 0; k < i->n_operands; k++)
		need(v, shapes_agree(v, operand(v, k), &i->type), "operands of different shapes");
	if (!v->ok || i->op == OP_CAST)
		return;
	if (first)
		need(v, operand(v, 0)->elem == DT_BOOL, "operand 0 must be bool");
	for (uint32_t k = first + 1; k < i->n_operands; k++)
		need(v, operand(v, k)->elem == operand(v, first)->elem, "operands of different element types");
	if (traits & (BOOLS | COMPARES))
		need(v, i->type.elem == DT_BOOL, "the result must be bool");
	if (!(traits & COMPARES))
		need(v, i->type.elem == operand(v, first)->elem, "operands and result must have the same element type");
	if (traits & FLOATS)
		need(v, is_float(i->type.elem), "the element type must be a float");
}

static dtype matmul_elem(dtype a, dtype b)
{
	if (is_float(a) && (b == a || b == DT_TRIT))
		return a;
	if (is_float(b) && a == DT_TRIT)
		return b;
	if ((a == DT_INT8 || a == DT_TRIT) && (b == DT_INT8 || b == DT_TRIT))
		return DT_INT32;
	return a == b && dtype_class(a) == DTC_INT ? a : DT_COUNT;
}

static void check_matmul(struct verify *v, const struct ir_inst *i)
{
	const struct hir_type *a = operand(v, 0), *b = operand(v, 1);
	uint32_t r = i->type.rank;
	need(v, r >= 2 && a->rank == r && b->rank == r, "operands and result must have the same rank, at least 2");
	if (!v->ok)
		return;
	for (uint32_t k = 0; k + 2 < r; k++)
		need(v, may_equal(v, a->dims[k], b->dims[k]) && may_equal(v, a->dims[k], i->type.dims[k]), "different batch dimensions");
	need(v, may_equal(v, a->dims[r - 1], b->dims[r - 2]), "inner dimensions differ");
	need(v, may_equal(v, a->dims[r - 2], i->type.dims[r - 2]) && may_equal(v, b->dims[r - 1], i->type.dims[r - 1]),
	     "wrong result shape");
	need(v, matmul_elem(a->elem, b->elem) == i->type.elem, "wrong element types");
}

static void check_reduced_shape(struct verify *v, const struct ir_inst *i)
{
	uint32_t mask = ir_axes(i)->mask;
	const struct hir_type *x = operand(v, 0);
	need(v, x->rank == HIR_MAX_RANK || !(mask >> x->rank), "mask beyond the rank");
	uint32_t n = 0;
	for (uint32_t k = 0; v->ok && k < x->rank; k++) {
		if (mask >> k & 1)
			continue;
		need(v, n < i->type.rank && may_equal(v, x->dims[k], i->type.dims[n]), "wrong result shape");
		n++;
	}
	need(v, n == i->type.rank, "wrong result rank");
}

static void check_reduce(struct verify *v, const struct ir_inst *i)
{
	dtype x = operand(v, 0)->elem;
	check_reduced_shape(v, i);
	bool adds = i->op == OP_REDUCE_SUM || i->op == OP_REDUCE_PROD;
	bool widened = adds && !is_float(x) && dtype_class(i->type.elem) == DTC_INT && dtype_size(i->type.elem) >= dtype_size(x);
	need(v, i->type.elem == x || widened, "wrong element type");
}

static void check_arg(struct verify *v, const struct ir_inst *i)
{
	uint32_t mask = ir_axes(i)->mask;
	check_reduced_shape(v, i);
	need(v, mask && !(mask & (mask - 1)), "the mask must have one dimension");
	need(v, i->type.elem == DT_INT64, "the result must be int64");
}

static void check_broadcast(struct verify *v, const struct ir_inst *i)
{
	const struct hir_type *x = operand(v, 0);
	keeps_elem(v, i, 1);
	need(v, x->rank <= i->type.rank, "result of lower rank");
	for (uint32_t k = 0; v->ok && k < x->rank; k++) {
		dim to = i->type.dims[i->type.rank - x->rank + k];
		need(v, is_value(v, x->dims[k], 1) || may_equal(v, x->dims[k], to), "dimensions neither 1 nor equal");
	}
}

static void check_transpose(struct verify *v, const struct ir_inst *i)
{
	const int64_t *perm = ir_perm(i)->perm;
	const struct hir_type *x = operand(v, 0);
	keeps_elem(v, i, 1);
	uint32_t seen = 0;
	need(v, x->rank == i->type.rank, "rank changes");
	for (uint32_t k = 0; v->ok && k < x->rank; k++) {
		int64_t from = perm[k];
		need(v, from >= 0 && from < x->rank && !(seen >> from & 1), "not a permutation");
		if (!v->ok)
			return;
		seen |= 1u << from;
		need(v, may_equal(v, x->dims[from], i->type.dims[k]), "wrong result shape");
	}
}

/* The first and the last element must be inside the operand, if that is known. */
static void check_slice(struct verify *v, const struct ir_inst *i)
{
	const struct ir_slice *slice = ir_slice(i);
	const struct hir_type *x = operand(v, 0);
	keeps_elem(v, i, 1);
	need(v, x->rank == i->type.rank, "rank changes");
	for (uint32_t k = 0; v->ok && k < x->rank; k++) {
		int64_t size, n, start, last;
		need(v, slice->step[k] != 0, "a step is 0");
		if (!dim_is_const(v->f->dims, x->dims[k], &size) || !dim_is_const(v->f->dims, i->type.dims[k], &n))
			continue;
		if (!dim_is_const(v->f->dims, slice->start[k], &start) || n == 0)
			continue;
		bool over = __builtin_mul_overflow(n - 1, slice->step[k], &last) || __builtin_add_overflow(last, start, &last);
		need(v, !over && start >= 0 && start < size && last >= 0 && last < size, "out of range");
	}
}

static void check_concat(struct verify *v, const struct ir_inst *i)
{
	uint32_t axis = ir_axis(i)->axis;
	keeps_elem(v, i, i->n_operands);
	need(v, i->n_operands > 0 && axis < i->type.rank, "axis out of range");
	dim sum = dim_const(v->f->dims, 0);
	for (uint32_t n = 0; v->ok && n < i->n_operands; n++) {
		need(v, operand(v, n)->rank == i->type.rank, "operands of different rank");
		for (uint32_t k = 0; v->ok && k < i->type.rank; k++)
			need(v, k == axis || may_equal(v, operand(v, n)->dims[k], i->type.dims[k]), "shapes differ outside the axis");
		if (v->ok)
			sum = dim_add(v->f->dims, sum, operand(v, n)->dims[axis]);
	}
	if (v->ok)
		need(v, may_equal(v, sum, i->type.dims[axis]), "wrong size along the axis");
}

static void check_gather(struct verify *v, const struct ir_inst *i)
{
	const struct hir_type *x = operand(v, 0), *index = operand(v, 1);
	keeps_elem(v, i, 1);
	need(v, dtype_class(index->elem) == DTC_INT, "the indices must be integers");
	need(v, x->rank >= 1 && i->type.rank == index->rank + x->rank - 1, "wrong result rank");
	for (uint32_t k = 0; v->ok && k < i->type.rank; k++)
		need(v, may_equal(v, i->type.dims[k], k < index->rank ? index->dims[k] : x->dims[k - index->rank + 1]),
		     "wrong result shape");
}

static void check_gather_dim(struct verify *v, const struct ir_inst *i)
{
	uint32_t axis = ir_axis(i)->axis;
	const struct hir_type *x = operand(v, 0), *index = operand(v, 1);
	keeps_elem(v, i, 1);
	need(v, dtype_class(index->elem) == DTC_INT, "the indices must be integers");
	need(v, x->rank == i->type.rank && index->rank == i->type.rank && axis < i->type.rank, "wrong rank or axis");
	for (uint32_t k = 0; v->ok && k < i->type.rank; k++)
		need(v, may_equal(v, i->type.dims[k], index->dims[k]) && (k == axis || may_equal(v, x->dims[k], index->dims[k])),
		     "wrong shape");
}

static bool ordered_elem(dtype t) { return t == DT_FLOAT32 || t == DT_FLOAT64 || t == DT_INT64; }

static void check_sort(struct verify *v, const struct ir_inst *i)
{
	const struct hir_type *x = operand(v, 0);
	need(v, ordered_elem(x->elem) && i->type.elem == DT_INT64, "wrong element types");
	need(v, x->rank >= 1 && shapes_agree(v, x, &i->type), "wrong shape");
}

static void check_scan(struct verify *v, const struct ir_inst *i)
{
	const struct hir_type *x = operand(v, 0);
	need(v, ordered_elem(x->elem) && i->type.elem == x->elem, "wrong element types");
	need(v, ir_axis(i)->axis < x->rank && shapes_agree(v, x, &i->type), "wrong shape or axis");
}

static void check_scatter(struct verify *v, const struct ir_inst *i)
{
	uint32_t axis = ir_axis(i)->axis;
	const struct hir_type *x = operand(v, 0), *index = operand(v, 1), *values = operand(v, 2);
	need(v, ordered_elem(x->elem) && i->type.elem == x->elem && values->elem == x->elem && index->elem == DT_INT64,
	     "wrong element types");
	need(v, axis < x->rank && shapes_agree(v, x, &i->type) && shapes_agree(v, index, values) && index->rank == x->rank,
	     "wrong shape or axis");
	for (uint32_t k = 0; v->ok && k < x->rank; k++)
		need(v, k == axis || may_equal(v, x->dims[k], index->dims[k]), "shapes differ outside the axis");
}

static void check_put(struct verify *v, const struct ir_inst *i)
{
	uint32_t axis = ir_axis(i)->axis;
	const struct hir_type *x = operand(v, 0), *part = operand(v, 1), *at = operand(v, 2);
	need(v, x->elem == i->type.elem && part->elem == x->elem && at->elem == DT_INT64 && !at->rank, "wrong element types");
	need(v, axis < x->rank && shapes_agree(v, x, &i->type) && part->rank + 1 == x->rank, "wrong shape or axis");
	for (uint32_t k = 0; v->ok && k < part->rank; k++)
		need(v, may_equal(v, part->dims[k], x->dims[k < axis ? k : k + 1]), "shapes differ outside the axis");
}

/* The elements of the operand must fit into the result, if that is known. */
static void check_pad(struct verify *v, const struct ir_inst *i)
{
	const struct ir_pad *pad = ir_pad(i);
	const struct hir_type *x = operand(v, 0), *value = operand(v, 1);
	keeps_elem(v, i, 2);
	need(v, x->rank == i->type.rank && value->rank == 0, "rank changes, or the value is no scalar");
	for (uint32_t k = 0; v->ok && k < x->rank; k++) {
		int64_t before, size, n;
		if (!dim_is_const(v->f->dims, pad->before[k], &before))
			continue;
		need(v, before >= 0, "negative padding");
		if (dim_is_const(v->f->dims, x->dims[k], &size) && dim_is_const(v->f->dims, i->type.dims[k], &n))
			need(v, before <= n - size, "the result is too small");
	}
}

/* The last element of the last window must be inside the operand, if that is known. */
static void check_window(struct verify *v, const struct ir_inst *i)
{
	const struct ir_window *window = ir_window(i);
	const struct hir_type *x = operand(v, 0);
	keeps_elem(v, i, 1);
	uint32_t inside = x->rank;
	need(v, !(window->mask >> x->rank), "mask beyond the rank");
	for (uint32_t k = 0; v->ok && k < x->rank; k++) {
		if (!(window->mask >> k & 1)) {
			need(v, k < i->type.rank && window->step[k] == 1 && may_equal(v, x->dims[k], i->type.dims[k]),
			     "wrong result shape");
			continue;
		}
		int64_t size, n, m, last, step;
		need(v, inside < i->type.rank && window->step[k] >= 0 && window->step[inside] >= 0, "wrong rank or step");
		if (v->ok && dim_is_const(v->f->dims, x->dims[k], &size) && dim_is_const(v->f->dims, i->type.dims[k], &n) &&
		    dim_is_const(v->f->dims, i->type.dims[inside], &m) && n > 0 && m > 0) {
			bool over = __builtin_mul_overflow(n - 1, window->step[k], &last) ||
				    __builtin_mul_overflow(m - 1, window->step[inside], &step) || __builtin_add_overflow(last, step, &last);
			need(v, !over && last < size, "out of range");
		}
		inside++;
	}
	need(v, inside == i->type.rank, "wrong result rank");
}

static void check_declared(struct verify *v, const struct ir_inst *i, const struct hir_type *types, uint32_t n)
{
	need(v, ir_number(i)->number < n, "the number is not declared");
	if (v->ok)
		need(v, ir_type_same(&i->type, &types[ir_number(i)->number]), "the type differs from the declared one");
}
static void check_input(struct verify *v, const struct ir_inst *i) { check_declared(v, i, v->f->inputs, v->f->n_inputs); }
static void check_weight(struct verify *v, const struct ir_inst *i) { check_declared(v, i, v->f->weights, v->f->n_weights); }

static void check_const(struct verify *v, const struct ir_inst *i)
{
	need(v, ir_data(i)->data && ir_type_const(v->f->dims, &i->type), "constant without data or of unknown size");
}

static void check_dim(struct verify *v, const struct ir_inst *i)
{
	need(v, i->type.elem == DT_INT64 && i->type.rank == 0, "the result must be an int64 scalar");
}

static void check_iota(struct verify *v, const struct ir_inst *i)
{
	need(v, ir_axis(i)->axis < i->type.rank, "axis out of range");
	need(v, i->type.elem != DT_BOOL && i->type.elem != DT_TRIT, "the element type must be a number");
}

static void check_random(struct verify *v, const struct ir_inst *i)
{
	need(v, ir_random(i)->kind <= RANDOM_TRIT_BALANCED && ir_type_const(v->f->dims, &i->type), "unknown distribution or size");
}

static void check_reshape(struct verify *v, const struct ir_inst *i)
{
	const struct hir_type *x = operand(v, 0);
	dim before = dim_product(v->f->dims, x->dims, x->rank), after = dim_product(v->f->dims, i->type.dims, i->type.rank);
	keeps_elem(v, i, 1);
	need(v, may_equal(v, before, after), "element count changes");
}

static void check_call(struct verify *v, const struct ir_inst *i)
{
	const struct ir_call *c = ir_call(i);
	need(v, c->callee != NULL, "no callee");
	if (!v->ok)
		return;
	uint32_t extra = i->op != OP_CALL;
	need(v, (i->op == OP_IF) == (c->other != NULL), "an IF has two callees, CALL and LOOP have one");
	if (!v->ok)
		return;
	need(v, i->n_operands <= extra + c->callee->n_inputs + 1 + (c->other ? c->other->n_inputs + 1 : 0), /* and the weight tables */
	     "more operands than the callee has inputs");
	need(v, !extra || (i->n_operands && operand(v, 0)->elem == DT_BOOL && !operand(v, 0)->rank), "operand 0 must be a bool scalar");
	need(v, !c->other || dims_syms(c->other->dims) == dims_syms(c->callee->dims), "the callees have different symbols");
	need(v, c->syms || !dims_syms(c->callee->dims), "values of the callee's symbols are missing");
}

static void check_effect(struct verify *v, const struct ir_inst *i)
{
	uint32_t values = i->n_operands - (i->op == OP_ASSERT);
	need(v, i->op == OP_PRINT || i->n_operands, "no condition");
	if (v->ok && i->op == OP_ASSERT)
		need(v, operand(v, 0)->elem == DT_BOOL && operand(v, 0)->rank == 0, "the condition must be a bool of rank 0");
	const char *text = i->op == OP_PRINT ? ir_text(i)->text : ir_claim(i)->text;
	need(v, text && format_placeholders(text) == (int)values, "the template does not match the operands");
	need(v, i->op == OP_PRINT || ir_claim(i)->where, "no source position");
}

static void check_result(struct verify *v, const struct ir_inst *i)
{
	(void)i;
	need(v, ir_calls(ir_at(v->f, ir_operand(v->f, v->at, 0))->op), "operand 0 must be a call");
}

/* ---- functions ---- */

static void check_operands(struct verify *v, ir_ref r)
{
	const struct ir_inst *i = ir_at(v->f, r);
	need(v, ir_op_operands(i->op) < 0 || (uint32_t)ir_op_operands(i->op) == i->n_operands, "wrong number of operands");
	for (uint32_t k = 0; v->ok && k < i->n_operands; k++) {
		ir_ref o = ir_operand(v->f, r, k);
		need(v, o < r, "an operand must precede its user");
		if (v->ok)
			need(v, !ir_calls(ir_at(v->f, o)->op) || i->op == OP_RESULT, "only RESULT may use a call");
	}
}

static void check_inst(struct verify *v, ir_ref r)
{
	const struct ir_inst *i = ir_at(v->f, r);
	v->at = r;
	check_operands(v, r);
	if (v->ok)
		check_type(v, &i->type);
	need(v, ir_op_record(i->op) == IR_RECORD_none || i->attributes, "no attributes");
	if (!v->ok)
		return;
	static void (*const rules[OP_COUNT])(struct verify *v, const struct ir_inst *i) = {
#define OP(id, text, operands, traits, attributes, rule) [OP_##id] = check_##rule,
#include "backend/ir/ops.def"
#undef OP
	};
	rules[i->op](v, i);
}

bool ir_shapes_proven(const struct ir_fn *f, ir_ref r)
{
	struct verify v = {.f = f, .at = IR_NONE, .ok = true, .exact = true};
	check_inst(&v, r);
	return v.ok;
}

bool ir_verify(const struct ir_fn *f, struct buf *why)
{
	struct verify v = {.f = f, .why = why, .at = IR_NONE, .ok = true};
	for (uint32_t k = 0; v.ok && k < f->n_inputs; k++)
		check_type(&v, &f->inputs[k]);
	for (uint32_t k = 0; v.ok && k < f->n_weights; k++)
		check_type(&v, &f->weights[k]);
	for (ir_ref r = 0; v.ok && r < f->n_insts; r++)
		check_inst(&v, r);
	v.at = IR_NONE;
	for (uint32_t k = 0; v.ok && k < f->n_outputs; k++)
		need(&v, f->outputs[k] < f->n_insts && !ir_calls(ir_at(f, f->outputs[k])->op), "an output must be a value");
	if (!v.ok)
		buf_printf(why, " in %s", f->name);
	return v.ok;
}

void ir_verify_or_abort(const struct ir_fn *f, const char *after)
{
	struct buf why = {0};
	if (!ir_verify(f, &why)) {
		buf_putc(&why, '\n');
		ir_print(f, &why);
		fprintf(stderr, "after %s: %s", after, why.at);
		BUG("the IR is not valid");
	}
	buf_free(&why);
}
