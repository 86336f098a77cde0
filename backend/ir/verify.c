/* The invariants of the tensor IR, as ops.def states them. Shapes must agree, or not be provably different: the value of a symbol is known only
 * at run time. */
#include "backend/ir/ir.h"
#include "base/buf.h"
#include "base/format.h"

struct verify {
	const struct ir_fn *f;
	struct buf *why;
	ir_ref at;
	bool ok;
	bool exact; /* shapes must agree whatever the symbols' values are; `why` is NULL */
};

enum shape_rule { SHAPE_same, SHAPE_attr, SHAPE_reduce, SHAPE_matmul };
static const enum shape_rule rules[OP_COUNT] = {
#define OP(id, text, ins, traits, shape) [OP_##id] = SHAPE_##shape,
#include "backend/ir/ops.def"
#undef OP
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
static bool whole(dtype t) { return dtype_class(t) != DTC_FLOAT; }

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

/* ---- element types ---- */

static bool bool_result(enum ir_op op) { return op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE; }
static bool float_only(enum ir_op op) { return (op >= OP_SQRT && op <= OP_ERF) || op == OP_DIV; }

static void check_ewise_elems(struct verify *v, const struct ir_inst *i)
{
	if (i->op == OP_CAST)
		return;
	if (i->op == OP_NOT || i->op == OP_AND || i->op == OP_OR)
		need(v, i->type.elem == DT_BOOL, "wants bool");
	uint32_t first = i->op == OP_SELECT;
	if (first)
		need(v, operand(v, 0)->elem == DT_BOOL, "operand 0 must be bool");
	for (uint32_t k = first + 1; k < i->n_operands; k++)
		need(v, operand(v, k)->elem == operand(v, first)->elem, "operands of different element types");
	if (bool_result(i->op))
		need(v, i->type.elem == DT_BOOL, "a comparison gives bool");
	else
		need(v, i->type.elem == operand(v, first)->elem, "result of another element type than the operands");
	if (float_only(i->op))
		need(v, !whole(i->type.elem), "floats only");
}

static dtype matmul_elem(dtype a, dtype b)
{
	if (!whole(a) && (b == a || b == DT_TRIT))
		return a;
	if (!whole(b) && a == DT_TRIT)
		return b;
	if ((a == DT_INT8 || a == DT_TRIT) && (b == DT_INT8 || b == DT_TRIT))
		return DT_INT32;
	return a == b && dtype_class(a) == DTC_INT ? a : DT_COUNT;
}

/* ---- shapes ---- */

static void check_matmul(struct verify *v, const struct ir_inst *i, const struct hir_type *a, const struct hir_type *b)
{
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

static void check_reduce(struct verify *v, const struct ir_inst *i, const struct hir_type *x)
{
	bool arg = i->op == OP_ARGMAX || i->op == OP_ARGMIN;
	need(v, x->rank == HIR_MAX_RANK || !(i->mask >> x->rank), "mask beyond the rank");
	uint32_t n = 0;
	for (uint32_t k = 0; v->ok && k < x->rank; k++) {
		if (i->mask >> k & 1)
			continue;
		need(v, n < i->type.rank && may_equal(v, x->dims[k], i->type.dims[n]), "wrong result shape");
		n++;
	}
	need(v, n == i->type.rank, "wrong result rank");
	if (arg) {
		need(v, i->mask && !(i->mask & (i->mask - 1)), "one masked dimension");
		need(v, i->type.elem == DT_INT64, "result must be int64");
		return;
	}
	bool adds = i->op == OP_REDUCE_SUM || i->op == OP_REDUCE_PROD;
	bool widened = adds && whole(x->elem) && dtype_class(i->type.elem) == DTC_INT && dtype_size(i->type.elem) >= dtype_size(x->elem);
	need(v, i->type.elem == x->elem || widened, "wrong element type");
}

static dim element_count(struct dims *d, const struct hir_type *t)
{
	dim n = dim_const(d, 1);
	for (uint32_t k = 0; k < t->rank; k++)
		n = dim_mul(d, n, t->dims[k]);
	return n;
}

static void check_broadcast(struct verify *v, const struct ir_inst *i, const struct hir_type *x)
{
	need(v, x->rank <= i->type.rank, "result of lower rank");
	for (uint32_t k = 0; v->ok && k < x->rank; k++) {
		dim to = i->type.dims[i->type.rank - x->rank + k];
		need(v, is_value(v, x->dims[k], 1) || may_equal(v, x->dims[k], to), "dimensions neither 1 nor equal");
	}
}

static void check_transpose(struct verify *v, const struct ir_inst *i, const struct hir_type *x)
{
	uint32_t seen = 0;
	need(v, x->rank == i->type.rank, "rank changes");
	for (uint32_t k = 0; v->ok && k < x->rank; k++) {
		int64_t from = i->ints[k];
		need(v, from >= 0 && from < x->rank && !(seen >> from & 1), "not a permutation");
		if (!v->ok)
			return;
		seen |= 1u << from;
		need(v, may_equal(v, x->dims[from], i->type.dims[k]), "wrong result shape");
	}
}

/* First and last element taken must lie inside, where known. */
static void check_slice(struct verify *v, const struct ir_inst *i, const struct hir_type *x)
{
	need(v, x->rank == i->type.rank, "rank changes");
	for (uint32_t k = 0; v->ok && k < x->rank; k++) {
		int64_t size, n, start, last;
		need(v, i->ints[k] != 0, "step 0");
		if (!dim_is_const(v->f->dims, x->dims[k], &size) || !dim_is_const(v->f->dims, i->type.dims[k], &n))
			continue;
		if (!dim_is_const(v->f->dims, i->starts[k], &start) || n == 0)
			continue;
		bool over = __builtin_mul_overflow(n - 1, i->ints[k], &last) || __builtin_add_overflow(last, start, &last);
		need(v, !over && start >= 0 && start < size && last >= 0 && last < size, "out of range");
	}
}

static void check_concat(struct verify *v, const struct ir_inst *i)
{
	need(v, i->n_operands > 0 && i->index < i->type.rank, "axis out of range");
	dim sum = dim_const(v->f->dims, 0);
	for (uint32_t n = 0; v->ok && n < i->n_operands; n++) {
		need(v, operand(v, n)->rank == i->type.rank, "operands of different rank");
		for (uint32_t k = 0; v->ok && k < i->type.rank; k++)
			need(v, k == i->index || may_equal(v, operand(v, n)->dims[k], i->type.dims[k]), "shapes differ beside the axis");
		if (v->ok)
			sum = dim_add(v->f->dims, sum, operand(v, n)->dims[i->index]);
	}
	if (v->ok)
		need(v, may_equal(v, sum, i->type.dims[i->index]), "wrong size along the axis");
}

static void check_gather(struct verify *v, const struct ir_inst *i, const struct hir_type *x, const struct hir_type *index)
{
	need(v, dtype_class(index->elem) == DTC_INT, "integer indices");
	need(v, x->rank >= 1 && i->type.rank == index->rank + x->rank - 1, "wrong result rank");
	for (uint32_t k = 0; v->ok && k < i->type.rank; k++)
		need(v, may_equal(v, i->type.dims[k], k < index->rank ? index->dims[k] : x->dims[k - index->rank + 1]),
		     "wrong result shape");
}

static void check_gather_dim(struct verify *v, const struct ir_inst *i, const struct hir_type *x, const struct hir_type *index)
{
	need(v, dtype_class(index->elem) == DTC_INT, "integer indices");
	need(v, x->rank == i->type.rank && index->rank == i->type.rank && i->index < i->type.rank, "wrong rank or axis");
	for (uint32_t k = 0; v->ok && k < i->type.rank; k++)
		need(v, may_equal(v, i->type.dims[k], index->dims[k]) && (k == i->index || may_equal(v, x->dims[k], index->dims[k])),
		     "wrong shape");
}

static bool ordered_elem(dtype t) { return t == DT_FLOAT32 || t == DT_FLOAT64 || t == DT_INT64; }

static void check_sort(struct verify *v, const struct ir_inst *i, const struct hir_type *x)
{
	need(v, ordered_elem(x->elem) && i->type.elem == DT_INT64, "wrong element types");
	need(v, x->rank >= 1 && i->index <= 1 && shapes_agree(v, x, &i->type), "wrong shape");
}

static void check_scan(struct verify *v, const struct ir_inst *i, const struct hir_type *x)
{
	need(v, ordered_elem(x->elem) && i->type.elem == x->elem, "wrong element types");
	need(v, i->index < x->rank && shapes_agree(v, x, &i->type), "wrong shape or axis");
}

static void check_scatter(struct verify *v, const struct ir_inst *i, const struct hir_type *x, const struct hir_type *index,
			  const struct hir_type *values)
{
	need(v, ordered_elem(x->elem) && i->type.elem == x->elem && values->elem == x->elem && index->elem == DT_INT64,
	     "wrong element types");
	need(v, i->index < x->rank && shapes_agree(v, x, &i->type) && shapes_agree(v, index, values) && index->rank == x->rank,
	     "wrong shape or axis");
	for (uint32_t k = 0; v->ok && k < x->rank; k++)
		need(v, k == i->index || may_equal(v, x->dims[k], index->dims[k]), "shapes differ beside the axis");
}

static void check_put(struct verify *v, const struct ir_inst *i, const struct hir_type *x, const struct hir_type *part,
		      const struct hir_type *at)
{
	need(v, x->elem == i->type.elem && part->elem == x->elem && at->elem == DT_INT64 && !at->rank, "wrong element types");
	need(v, i->index < x->rank && shapes_agree(v, x, &i->type) && part->rank + 1 == x->rank, "wrong shape or axis");
	for (uint32_t k = 0; v->ok && k < part->rank; k++)
		need(v, may_equal(v, part->dims[k], x->dims[k < i->index ? k : k + 1]), "shapes differ beside the axis");
}

/* Its own elements must fit in, where known. */
static void check_pad(struct verify *v, const struct ir_inst *i, const struct hir_type *x, const struct hir_type *value)
{
	need(v, x->rank == i->type.rank && value->rank == 0, "rank changes, or the value is no scalar");
	for (uint32_t k = 0; v->ok && k < x->rank; k++) {
		int64_t before, size, n;
		if (!dim_is_const(v->f->dims, i->starts[k], &before))
			continue;
		need(v, before >= 0, "negative padding");
		if (dim_is_const(v->f->dims, x->dims[k], &size) && dim_is_const(v->f->dims, i->type.dims[k], &n))
			need(v, before <= n - size, "the result is too small");
	}
}

/* The last element of the last window must lie inside, where known. */
static void check_window(struct verify *v, const struct ir_inst *i, const struct hir_type *x)
{
	uint32_t inside = x->rank;
	need(v, !(i->mask >> x->rank), "mask beyond the rank");
	for (uint32_t k = 0; v->ok && k < x->rank; k++) {
		if (!(i->mask >> k & 1)) {
			need(v, k < i->type.rank && i->ints[k] == 1 && may_equal(v, x->dims[k], i->type.dims[k]), "wrong result shape");
			continue;
		}
		int64_t size, n, m, last, step;
		need(v, inside < i->type.rank && i->ints[k] >= 0 && i->ints[inside] >= 0, "wrong rank or step");
		if (v->ok && dim_is_const(v->f->dims, x->dims[k], &size) && dim_is_const(v->f->dims, i->type.dims[k], &n) &&
		    dim_is_const(v->f->dims, i->type.dims[inside], &m) && n > 0 && m > 0) {
			bool over = __builtin_mul_overflow(n - 1, i->ints[k], &last) ||
				    __builtin_mul_overflow(m - 1, i->ints[inside], &step) || __builtin_add_overflow(last, step, &last);
			need(v, !over && last < size, "out of range");
		}
		inside++;
	}
	need(v, inside == i->type.rank, "wrong result rank");
}

static void check_numbered(struct verify *v, const struct ir_inst *i, const struct hir_type *types, uint32_t n)
{
	need(v, i->index < n, "no such number");
	if (v->ok)
		need(v, ir_type_same(&i->type, &types[i->index]), "not of the declared type");
}

static void check_call(struct verify *v, const struct ir_inst *i)
{
	need(v, i->callee != NULL, "no callee");
	if (!v->ok)
		return;
	uint32_t extra = i->op != OP_CALL;
	need(v, (i->op == OP_IF) == (i->other != NULL), "only a branch has another callee, and always");
	if (!v->ok)
		return;
	need(v, i->n_operands <= extra + i->callee->n_inputs + 1 + (i->other ? i->other->n_inputs + 1 : 0), /* and the tables */
	     "more operands than the callee has inputs");
	need(v, !extra || (i->n_operands && operand(v, 0)->elem == DT_BOOL && !operand(v, 0)->rank), "operand 0 must be a bool scalar");
	need(v, !i->other || dims_syms(i->other->dims) == dims_syms(i->callee->dims), "callees of different symbols");
	need(v, i->callee_syms || !dims_syms(i->callee->dims), "values of the callee's symbols are missing");
}

static void check_effect(struct verify *v, const struct ir_inst *i)
{
	uint32_t values = i->n_operands - (i->op == OP_ASSERT);
	need(v, i->op == OP_PRINT || i->n_operands, "no condition");
	if (v->ok && i->op == OP_ASSERT)
		need(v, operand(v, 0)->elem == DT_BOOL && operand(v, 0)->rank == 0, "the condition must be a bool of rank 0");
	need(v, i->text && format_places(i->text) == (int)values, "not a template for the operands");
	need(v, i->op == OP_PRINT || i->where, "no place");
}

static void check_attr(struct verify *v, const struct ir_inst *i)
{
	const struct ir_fn *f = v->f;
	bool moves = i->op == OP_BROADCAST || i->op == OP_RESHAPE || i->op == OP_TRANSPOSE || i->op == OP_SLICE || i->op == OP_CONCAT ||
		     i->op == OP_GATHER || i->op == OP_GATHER_DIM || i->op == OP_PAD || i->op == OP_WINDOW;
	for (uint32_t k = 0; moves && k < (i->op == OP_GATHER || i->op == OP_GATHER_DIM ? 1 : i->n_operands); k++)
		need(v, operand(v, k)->elem == i->type.elem, "element type changes");
	if (!v->ok)
		return;
	switch (i->op) {
	case OP_INPUT: check_numbered(v, i, f->inputs, f->n_inputs); return;
	case OP_WEIGHT: check_numbered(v, i, f->weights, f->n_weights); return;
	case OP_CONST: need(v, i->data && ir_type_const(f->dims, &i->type), "constant without data or of unknown size"); return;
	case OP_DIM: need(v, i->type.elem == DT_INT64 && i->type.rank == 0, "an int64 scalar"); return;
	case OP_CALL:
	case OP_IF:
	case OP_LOOP: check_call(v, i); return;
	case OP_PRINT:
	case OP_ASSERT: check_effect(v, i); return;
	case OP_RESULT: need(v, ir_calls(ir_at(f, ir_operand(f, v->at, 0))->op), "not of a call"); return;
	case OP_BROADCAST: check_broadcast(v, i, operand(v, 0)); return;
	case OP_RESHAPE:
		need(v, may_equal(v, element_count(f->dims, operand(v, 0)), element_count(f->dims, &i->type)), "element count changes");
		return;
	case OP_TRANSPOSE: check_transpose(v, i, operand(v, 0)); return;
	case OP_SLICE: check_slice(v, i, operand(v, 0)); return;
	case OP_CONCAT: check_concat(v, i); return;
	case OP_GATHER: check_gather(v, i, operand(v, 0), operand(v, 1)); return;
	case OP_GATHER_DIM: check_gather_dim(v, i, operand(v, 0), operand(v, 1)); return;
	case OP_SORT: check_sort(v, i, operand(v, 0)); return;
	case OP_SCAN_SUM:
	case OP_SCAN_PROD: check_scan(v, i, operand(v, 0)); return;
	case OP_PUT: check_put(v, i, operand(v, 0), operand(v, 1), operand(v, 2)); return;
	case OP_SCATTER:
	case OP_SCATTER_ADD: check_scatter(v, i, operand(v, 0), operand(v, 1), operand(v, 2)); return;
	case OP_PAD: check_pad(v, i, operand(v, 0), operand(v, 1)); return;
	case OP_WINDOW: check_window(v, i, operand(v, 0)); return;
	case OP_IOTA:
		need(v, i->index < i->type.rank && i->type.elem != DT_BOOL && i->type.elem != DT_TRIT,
		     "axis out of range, or not a number");
		return;
	case OP_RANDOM: need(v, i->index <= RANDOM_TRIT_BALANCED && ir_type_const(f->dims, &i->type), "unknown kind or size"); return;
	default: fail(v, "no rule"); return;
	}
}

static void check_operands(struct verify *v, ir_ref r)
{
	const struct ir_inst *i = ir_at(v->f, r);
	need(v, ir_op_ins(i->op) < 0 || (uint32_t)ir_op_ins(i->op) == i->n_operands, "wrong number of operands");
	for (uint32_t k = 0; v->ok && k < i->n_operands; k++) {
		ir_ref o = ir_operand(v->f, r, k);
		need(v, o < r, "an operand does not precede its user");
		if (v->ok)
			need(v, !ir_calls(ir_at(v->f, o)->op) || i->op == OP_RESULT, "a call is used without a result");
	}
}

static void check_inst(struct verify *v, ir_ref r)
{
	const struct ir_inst *i = ir_at(v->f, r);
	v->at = r;
	check_operands(v, r);
	if (v->ok)
		check_type(v, &i->type);
	if (!v->ok)
		return;
	switch (rules[i->op]) {
	case SHAPE_same:
		for (uint32_t k = 0; k < i->n_operands; k++)
			need(v, shapes_agree(v, operand(v, k), &i->type), "operands of different shapes");
		if (v->ok)
			check_ewise_elems(v, i);
		return;
	case SHAPE_reduce: check_reduce(v, i, operand(v, 0)); return;
	case SHAPE_matmul: check_matmul(v, i, operand(v, 0), operand(v, 1)); return;
	case SHAPE_attr: check_attr(v, i); return;
	}
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
		need(&v, f->outputs[k] < f->n_insts && !ir_calls(ir_at(f, f->outputs[k])->op), "an output is not a value");
	if (!v.ok)
		buf_printf(why, " in %s", f->name);
	return v.ok;
}
