/* Random functions of the tensor IR, for differential tests. */
#ifndef TRIB_TESTS_CODEGEN_RANDOM_H
#define TRIB_TESTS_CODEGEN_RANDOM_H
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "backend/ir/ir.h"
#include "backend/ir/tensor.h"
#include "backend/plan/plan.h"
#include "base/arena.h"

enum { RANDOM_VALUES = 40 };
struct random_fn {
	struct arena *a;
	struct ir_fn *f;
	struct plan plan;
	uint64_t seed;
	int64_t sym_value; /* of the one symbol */
	dim n;
	bool *exact; /* per instruction: every operation correctly rounded, so that nothing may differ from the interpreter; else a little */
	uint32_t cap_exact;
	struct slot *slots;
};

static uint64_t next_random(struct random_fn *r)
{
	r->seed ^= r->seed << 13;
	r->seed ^= r->seed >> 7;
	r->seed ^= r->seed << 17;
	return r->seed * 0x2545F4914F6CDD1Dull >> 11;
}
static uint32_t pick(struct random_fn *r, uint32_t n) { return (uint32_t)(next_random(r) % n); }

static ir_ref emit(struct random_fn *r, enum ir_op op, const struct hir_type *t, const ir_ref *ops, uint32_t n, bool exact)
{
	ir_ref v = ir_emit(r->f, op, t, ops, n, ORIGINS_NONE);
	for (uint32_t k = 0; k < n; k++)
		exact = exact && r->exact[ops[k]];
	if (v >= r->cap_exact) {
		bool *more = ARENA_ARRAY(r->a, bool, 2 * v + 64);
		if (r->cap_exact)
			memcpy(more, r->exact, r->cap_exact);
		r->exact = more;
		r->cap_exact = 2 * v + 64;
	}
	r->exact[v] = exact;
	return v;
}

static const struct hir_type *type_of(const struct random_fn *r, ir_ref v) { return &ir_at(r->f, v)->type; }
static bool is_half(dtype t) { return t == DT_FLOAT16 || t == DT_BFLOAT16; }
static bool is_float(dtype t) { return dtype_class(t) == DTC_FLOAT; }

static dim random_dim(struct random_fn *r)
{
	static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 10, 16, 17, 31, 33, 64, 70};
	if (pick(r, 5) == 0)
		return r->n;
	return dim_const(r->f->dims, sizes[pick(r, sizeof sizes / sizeof *sizes)]);
}

static struct hir_type random_type(struct random_fn *r)
{
	static const dtype elems[] = {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32, DT_FLOAT32, DT_INT8,     DT_INT32, DT_INT64,
				      DT_TRIT,    DT_BOOL,    DT_FLOAT64, DT_FLOAT16, DT_BFLOAT16, DT_INT16, DT_UINT8};
	struct hir_type t = {.elem = elems[pick(r, sizeof elems / sizeof *elems)], .rank = (uint8_t)pick(r, 4)};
	for (uint32_t k = 0; k < t.rank; k++)
		t.dims[k] = random_dim(r);
	return t;
}

static ir_ref any_value(struct random_fn *r)
{
	ir_ref v = pick(r, r->f->n_insts);
	while (ir_at(r->f, v)->layout != LAYOUT_PLAIN)
		v--; /* the first value is plain */
	return v;
}

static ir_ref add_input(struct random_fn *r, const struct hir_type *t)
{
	r->f->inputs[r->f->n_inputs] = *t;
	ir_ref v = emit(r, OP_INPUT, t, NULL, 0, true);
	ir_set_number(r->f, v, (struct ir_number){r->f->n_inputs++});
	return v;
}

/* A value of this type: an old one, a broadcast of one, or a new input. */
static ir_ref value_like(struct random_fn *r, const struct hir_type *t)
{
	for (uint32_t tries = 0; tries < 20; tries++) {
		ir_ref v = any_value(r);
		if (ir_at(r->f, v)->op != OP_WEIGHT && ir_type_same(type_of(r, v), t))
			return v;
	}
	if (t->rank > 0 && pick(r, 2)) {
		struct hir_type small = *t;
		for (uint32_t k = 0; k < small.rank; k++)
			if (pick(r, 2))
				small.dims[k] = dim_const(r->f->dims, 1);
		uint32_t cut = pick(r, 2) ? pick(r, small.rank) : 0;
		small.rank = (uint8_t)(small.rank - cut);
		memmove(small.dims, small.dims + cut, small.rank * sizeof small.dims[0]);
		ir_ref v = r->f->n_inputs < 12 ? add_input(r, &small) : IR_NONE;
		if (v != IR_NONE)
			return emit(r, OP_BROADCAST, t, &v, 1, true);
	}
	if (r->f->n_inputs < 16)
		return add_input(r, t);
	struct hir_type scalar = {.elem = t->elem};
	ir_ref c = emit(r, OP_CONST, &scalar, NULL, 0, true);
	ir_set_const(r->f, c, ARENA_ARRAY(r->a, uint64_t, 1));
	return emit(r, OP_BROADCAST, t, &c, 1, true);
}

static ir_ref cast_to(struct random_fn *r, ir_ref v, dtype elem)
{
	struct hir_type t = *type_of(r, v);
	if (t.elem == elem)
		return v;
	t.elem = elem;
	return emit(r, OP_CAST, &t, &v, 1, true);
}

static ir_ref random_unary(struct random_fn *r, ir_ref v)
{
	static const enum ir_op floats[] = {OP_NEG,   OP_ABS, OP_SIGN, OP_CEIL, OP_FLOOR, OP_ROUND, OP_SQRT,
					    OP_RSQRT, OP_EXP, OP_LOG,  OP_SIN,  OP_COS,   OP_TANH,  OP_ERF};
	static const enum ir_op ints[] = {OP_NEG, OP_ABS, OP_SIGN};
	const struct hir_type *t = type_of(r, v);
	if (t->elem == DT_BOOL)
		return emit(r, OP_NOT, t, &v, 1, true);
	if (!is_float(t->elem))
		return emit(r, ints[pick(r, 3)], t, &v, 1, true);
	enum ir_op op = floats[pick(r, sizeof floats / sizeof *floats)];
	if (!r->exact[v]) /* nothing that makes small differences large */
		op = pick(r, 2) ? OP_NEG : OP_ABS;
	if (op == OP_RSQRT) /* the sign of a zero that min or max chose is anyone's */
		v = emit(r, OP_ABS, t, &v, 1, true);
	t = type_of(r, v);
	bool exact = op <= OP_SQRT || op == OP_RSQRT;
	return emit(r, op, t, &v, 1, exact && !(is_half(t->elem) && (op == OP_SQRT || op == OP_RSQRT)));
}

static ir_ref random_binary(struct random_fn *r, ir_ref v)
{
	static const enum ir_op all[] = {OP_ADD, OP_SUB, OP_MUL, OP_MIN, OP_MAX, OP_DIV, OP_FLOORDIV, OP_MOD, OP_POW};
	static const enum ir_op compares[] = {OP_EQ, OP_NE, OP_LT, OP_LE}, bits[] = {OP_AND, OP_OR, OP_XOR, OP_SHL, OP_SHR};
	struct hir_type t = *type_of(r, v);
	ir_ref ops[3] = {v, value_like(r, &t)};
	bool exact = r->exact[ops[0]] && r->exact[ops[1]];
	struct hir_type b = t;
	b.elem = DT_BOOL;
	if (t.elem == DT_BOOL)
		return emit(r, bits[pick(r, 3)], &t, ops, 2, true);
	if (dtype_class(t.elem) == DTC_INT && pick(r, 4) == 0)
		return emit(r, bits[pick(r, 5)], &t, ops, 2, true);
	if (exact && pick(r, 5) == 0) {
		ir_ref c = emit(r, compares[pick(r, 4)], &b, ops, 2, true), args[3] = {c, ops[0], ops[1]};
		return pick(r, 2) ? c : emit(r, OP_SELECT, &t, args, 3, true);
	}
	enum ir_op op = all[pick(r, sizeof all / sizeof *all)];
	if (op == OP_DIV && !is_float(t.elem))
		op = OP_MUL;
	if ((op == OP_FLOORDIV || op == OP_MOD || op == OP_DIV || op == OP_POW) && !exact)
		op = OP_ADD;
	if (op == OP_DIV)
		ops[1] = emit(r, OP_ABS, &t, &ops[1], 1, true);
	if (op == OP_POW && is_float(t.elem))
		return emit(r, op, &t, ops, 2, false);
	if ((op == OP_FLOORDIV || op == OP_MOD) && is_half(t.elem))
		op = OP_MAX;
	return emit(r, op, &t, ops, 2, !is_half(t.elem) || op == OP_MIN || op == OP_MAX);
}

static ir_ref random_reduce(struct random_fn *r, ir_ref v)
{
	static const enum ir_op ops[] = {OP_REDUCE_SUM, OP_REDUCE_SUM, OP_REDUCE_MAX, OP_REDUCE_MIN, OP_REDUCE_PROD, OP_ARGMAX, OP_ARGMIN};
	enum ir_op op = ops[pick(r, sizeof ops / sizeof *ops)];
	struct hir_type t = *type_of(r, v), out = {.elem = t.elem};
	bool arg = op == OP_ARGMAX || op == OP_ARGMIN, adds = op == OP_REDUCE_SUM || op == OP_REDUCE_PROD;
	if (t.rank == 0)
		return v;
	if (arg && !r->exact[v])
		return v;
	if (adds && (t.elem == DT_BOOL || t.elem == DT_TRIT)) {
		v = cast_to(r, v, DT_INT32);
		out.elem = t.elem = DT_INT32;
	}
	if (op == OP_REDUCE_PROD && is_float(t.elem))
		op = OP_REDUCE_SUM;
	uint32_t mask = arg ? 1u << pick(r, t.rank) : 1 + pick(r, (1u << t.rank) - 1);
	if (arg) {
		int64_t size;
		out.elem = DT_INT64;
		for (uint32_t k = 0; k < t.rank; k++) /* of nothing there is no largest */
			if ((mask >> k & 1) && !dim_is_const(r->f->dims, t.dims[k], &size))
				return v;
	}
	for (uint32_t k = 0; k < t.rank; k++)
		if (!(mask >> k & 1))
			out.dims[out.rank++] = t.dims[k];
	ir_ref s = emit(r, op, &out, &v, 1, !(adds && is_float(t.elem)));
	ir_set_axes(r->f, s, (struct ir_axes){mask});
	return s;
}

static ir_ref random_view(struct random_fn *r, ir_ref v)
{
	struct hir_type t = *type_of(r, v), out = t;
	ir_ref w;
	int64_t size;
	switch (pick(r, 5)) {
	case 0: { /* new leading or inner dimensions */
		struct hir_type keep = t;
		if (t.rank >= 4)
			return v;
		if (pick(r, 2)) {
			uint32_t at = pick(r, t.rank + 1u);
			memmove(keep.dims + at + 1, keep.dims + at, (t.rank - at) * sizeof keep.dims[0]);
			keep.dims[at] = dim_const(r->f->dims, 1);
			keep.rank++;
			v = emit(r, OP_RESHAPE, &keep, &v, 1, true);
			out = keep;
			out.dims[at] = random_dim(r);
			return emit(r, OP_BROADCAST, &out, &v, 1, true);
		}
		memmove(out.dims + 1, out.dims, t.rank * sizeof out.dims[0]);
		out.dims[0] = random_dim(r);
		out.rank++;
		return emit(r, OP_BROADCAST, &out, &v, 1, true);
	}
	case 1: /* flat, or two dimensions of one */
		out.rank = 1;
		out.dims[0] = dim_const(r->f->dims, 1);
		for (uint32_t k = 0; k < t.rank; k++)
			out.dims[0] = dim_mul(r->f->dims, out.dims[0], t.dims[k]);
		if (t.rank >= 2 && pick(r, 2)) {
			out.rank = (uint8_t)(t.rank - 1);
			out.dims[0] = dim_mul(r->f->dims, t.dims[0], t.dims[1]);
			memcpy(out.dims + 1, t.dims + 2, (t.rank - 2u) * sizeof out.dims[0]);
		} else if (t.rank >= 1 && dim_is_const(r->f->dims, t.dims[t.rank - 1u], &size) && size % 2 == 0 && size) {
			out = t;
			out.dims[t.rank - 1u] = dim_const(r->f->dims, size / 2);
			out.dims[out.rank++] = dim_const(r->f->dims, 2);
		}
		return emit(r, OP_RESHAPE, &out, &v, 1, true);
	case 2: {
		struct ir_perm p = {0};
		int64_t *perm = p.perm;
		for (uint32_t k = 0; k < t.rank; k++)
			perm[k] = k;
		for (uint32_t k = t.rank; k-- > 1;) {
			uint32_t j = pick(r, k + 1);
			int64_t x = perm[k];
			perm[k] = perm[j];
			perm[j] = x;
		}
		for (uint32_t k = 0; k < t.rank; k++)
			out.dims[k] = t.dims[perm[k]];
		w = emit(r, OP_TRANSPOSE, &out, &v, 1, true);
		ir_set_perm(r->f, w, p);
		return w;
	}
	case 3: {
		int64_t starts[HIR_MAX_RANK], steps[HIR_MAX_RANK];
		for (uint32_t k = 0; k < t.rank; k++) {
			starts[k] = 0;
			steps[k] = 1;
			if (!dim_is_const(r->f->dims, t.dims[k], &size) || size == 0)
				continue;
			starts[k] = pick(r, (uint32_t)size);
			steps[k] = pick(r, 2) ? 1 : pick(r, 2) ? 2 : -1;
			int64_t most = steps[k] > 0 ? (size - starts[k] + steps[k] - 1) / steps[k] : starts[k] + 1;
			out.dims[k] = dim_const(r->f->dims, 1 + pick(r, (uint32_t)most));
		}
		w = emit(r, OP_SLICE, &out, &v, 1, true);
		struct ir_slice slice = {0};
		for (uint32_t k = 0; k < t.rank; k++) {
			slice.start[k] = dim_const(r->f->dims, starts[k]);
			slice.step[k] = steps[k];
		}
		ir_set_slice(r->f, w, slice);
		return w;
	}
	default: {
		if (t.rank == 0)
			return v;
		uint32_t axis = pick(r, t.rank), n = 2 + pick(r, 2);
		ir_ref parts[3];
		struct hir_type part = t;
		out.dims[axis] = t.dims[axis];
		parts[0] = v;
		for (uint32_t k = 1; k < n; k++) {
			part.dims[axis] = random_dim(r);
			parts[k] = value_like(r, &part);
			out.dims[axis] = dim_add(r->f->dims, out.dims[axis], part.dims[axis]);
		}
		w = emit(r, OP_CONCAT, &out, parts, n, true);
		ir_set_axis(r->f, w, (struct ir_axis){axis});
		return w;
	}
	}
}

static ir_ref random_matmul(struct random_fn *r, ir_ref v)
{
	struct hir_type x = *type_of(r, v), w, out;
	dtype elem = x.elem == DT_TRIT || x.elem == DT_INT8 || is_float(x.elem) ? x.elem : DT_FLOAT32;
	v = cast_to(r, v, elem);
	x = *type_of(r, v);
	if (x.rank < 2)
		return v;
	w = out = x;
	w.dims[x.rank - 2u] = x.dims[x.rank - 1u];
	w.dims[x.rank - 1u] = out.dims[x.rank - 1u] = random_dim(r);
	w.elem = pick(r, 2) ? DT_TRIT : elem;
	bool trit = w.elem == DT_TRIT && (elem == DT_INT8 || elem == DT_FLOAT32);
	out.elem = is_float(elem) ? elem : DT_INT32;
	ir_ref ops[2] = {v};
	int64_t k, n;
	if (trit && dim_is_const(r->f->dims, w.dims[x.rank - 2u], &k) && dim_is_const(r->f->dims, w.dims[x.rank - 1u], &n) && k &&
	    pick(r, 2) && r->f->n_weights < 4) {
		struct hir_type flat = {.elem = DT_TRIT, .rank = 2, .dims = {w.dims[x.rank - 2u], w.dims[x.rank - 1u]}};
		r->slots[r->f->n_weights] = (struct slot){.kind = SLOT_DATA, .layout = LAYOUT_TRIT2, .type = flat};
		r->f->weights[r->f->n_weights] = flat;
		ops[1] = emit(r, OP_WEIGHT, &flat, NULL, 0, true);
		ir_set_number(r->f, ops[1], (struct ir_number){r->f->n_weights++});
		ir_at(r->f, ops[1])->layout = LAYOUT_TRIT2;
		if (x.rank > 2)
			ops[1] = emit(r, OP_BROADCAST, &w, ops + 1, 1, true);
	} else {
		ops[1] = value_like(r, &w);
	}
	return emit(r, OP_MATMUL, &out, ops, 2, !is_float(elem));
}

/* A constant or iota, modulo `bound`: always in range. */
static ir_ref random_places(struct random_fn *r, const struct hir_type *index, int64_t bound)
{
	ir_ref i;
	if (index->rank) {
		i = emit(r, OP_IOTA, index, NULL, 0, true);
		ir_set_axis(r->f, i, (struct ir_axis){pick(r, index->rank)});
	} else {
		i = emit(r, OP_DIM, index, NULL, 0, true);
		ir_set_extent(r->f, i, (struct ir_extent){r->n});
	}
	struct hir_type scalar = {.elem = DT_INT64};
	ir_ref c = emit(r, OP_CONST, &scalar, NULL, 0, true);
	int64_t *data = ARENA_ARRAY(r->a, int64_t, 1);
	*data = bound;
	ir_set_const(r->f, c, data);
	ir_ref ops[2] = {i, emit(r, OP_BROADCAST, index, &c, 1, true)};
	return emit(r, OP_MOD, index, ops, 2, true);
}

/* Indices of some dims whose size is constant; single elements or windows. */
static ir_ref random_gather(struct random_fn *r, ir_ref v)
{
	struct hir_type t = *type_of(r, v), index = {.elem = DT_INT64, .rank = (uint8_t)pick(r, 3)}, out = {.elem = t.elem};
	struct ir_gather g = {0};
	ir_ref args[1 + HIR_MAX_RANK] = {v};
	uint32_t n = 1;
	if (t.rank + index.rank > 4)
		return v;
	for (uint32_t k = 0; k < index.rank; k++)
		out.dims[out.rank++] = index.dims[k] = random_dim(r);
	for (uint32_t k = 0; k < t.rank; k++) {
		int64_t size, window = 1;
		if (pick(r, 3) == 0 || !dim_is_const(r->f->dims, t.dims[k], &size) || size == 0) {
			out.dims[out.rank++] = t.dims[k];
			continue;
		}
		g.mask |= 1u << k;
		if (pick(r, 4) == 0) {
			g.windows |= 1u << k;
			window = 1 + (int64_t)pick(r, (uint32_t)size);
			out.dims[out.rank++] = dim_const(r->f->dims, window);
		}
		args[n++] = random_places(r, &index, size - window + 1);
	}
	if (!g.mask)
		return v;
	ir_ref gathered = emit(r, OP_GATHER, &out, args, n, true);
	ir_set_gather(r->f, gathered, g);
	return gathered;
}

/* softmax or a normalisation along the last dimension: what fusion has to get right */
static ir_ref random_norm(struct random_fn *r, ir_ref v)
{
	struct hir_type t = *type_of(r, v), row, keep;
	if (t.elem != DT_FLOAT32 || t.rank == 0)
		return v;
	row = keep = t;
	row.rank--;
	keep.dims[t.rank - 1u] = dim_const(r->f->dims, 1);
	bool soft = pick(r, 2);
	for (int k = 0; k < 2; k++) {
		ir_ref in = v;
		if (!soft && k == 1)
			in = emit(r, OP_MUL, &t, (ir_ref[]){v, v}, 2, true);
		ir_ref s = emit(r, soft && k == 0 ? OP_REDUCE_MAX : OP_REDUCE_SUM, &row, &in, 1, soft && k == 0);
		ir_set_axes(r->f, s, (struct ir_axes){1u << (t.rank - 1)});
		if (!soft && k == 1)
			s = emit(r, OP_ADD, &row, (ir_ref[]){emit(r, OP_ABS, &row, &s, 1, true), value_like(r, &row)}, 2, true);
		s = emit(r, OP_RESHAPE, &keep, &s, 1, true);
		ir_ref b = emit(r, OP_BROADCAST, &t, &s, 1, true);
		v = emit(r, soft && k == 1 ? OP_MUL : OP_SUB, &t, (ir_ref[]){v, b}, 2, true);
		if (soft && k == 0)
			v = emit(r, OP_EXP, &t, &v, 1, false);
	}
	return v;
}

static ir_ref convert_layout(struct random_fn *r, ir_ref v, enum layout layout)
{
	ir_ref c = emit(r, OP_CONVERT_LAYOUT, type_of(r, v), &v, 1, r->exact[v]);
	ir_at(r->f, c)->layout = (uint8_t)layout;
	return c;
}

/* One with strides that fits the type, or plain. */
static enum layout random_layout(struct random_fn *r, const struct hir_type *t)
{
	enum layout l = (enum layout)pick(r, LAYOUT_COUNT);
	return !ir_layout_is_packed(l) && ir_layout_fits(l, t) ? l : LAYOUT_PLAIN;
}

static ir_ref random_conversion(struct random_fn *r, ir_ref v)
{
	enum layout layout = random_layout(r, type_of(r, v));
	if (layout == LAYOUT_PLAIN)
		return v;
	ir_ref c = convert_layout(r, v, layout);
	if (pick(r, 2)) {
		c = random_unary(r, c);
		ir_at(r->f, c)->layout = (uint8_t)layout;
	}
	return convert_layout(r, c, LAYOUT_PLAIN);
}

/* Stores some values in another layout: those that have strides whatever they are, and whose users read any. */
static void random_layouts(struct random_fn *r)
{
	struct ir_fn *f = r->f;
	bool *fixed = ARENA_ARRAY(r->a, bool, f->n_insts);
	for (uint32_t k = 0; k < f->n_outputs; k++)
		fixed[f->outputs[k]] = true;
	for (ir_ref v = 0; v < f->n_insts; v++)
		for (uint32_t k = 0; k < ir_at(f, v)->n_operands; k++)
			fixed[ir_operand(f, v, k)] |= ir_at(f, v)->op == OP_MATMUL || !ir_reads_any_layout(ir_at(f, v), k);
	for (ir_ref v = 0; v < f->n_insts; v++) {
		const struct ir_inst *i = ir_at(f, v);
		if (!fixed[v] && i->n_operands && i->op != OP_RESHAPE && i->op != OP_MATMUL)
			ir_at(f, v)->layout = (uint8_t)random_layout(r, &i->type);
	}
}

static ir_ref random_step(struct random_fn *r)
{
	ir_ref v;
	do
		v = any_value(r);
	while (ir_at(r->f, v)->op == OP_WEIGHT ||
	       (ir_at(r->f, v)->op == OP_BROADCAST && ir_at(r->f, ir_operand(r->f, v, 0))->op == OP_WEIGHT));
	switch (pick(r, 15)) {
	case 0:
	case 1:
	case 2: return random_unary(r, v);
	case 3:
	case 4:
	case 5: return random_binary(r, v);
	case 6:
	case 7: return random_reduce(r, v);
	case 8:
	case 9: return random_view(r, v);
	case 10: return random_matmul(r, v);
	case 11: return random_gather(r, v);
	case 12: return random_norm(r, v);
	case 13: return random_conversion(r, v);
	default: {
		static const dtype to[] = {DT_FLOAT32,  DT_INT8,    DT_INT32, DT_INT64, DT_FLOAT16,
					   DT_BFLOAT16, DT_FLOAT64, DT_BOOL,  DT_TRIT,  DT_UINT8};
		dtype t = to[pick(r, sizeof to / sizeof *to)];
		/* intermediate halves are not rounded when fused: too coarse for a wider type's tolerance */
		if (!r->exact[v] && (!is_float(t) || is_half(type_of(r, v)->elem)))
			return v;
		return cast_to(r, v, t);
	}
	}
}

static bool too_big(const struct random_fn *r, ir_ref v)
{
	int64_t n = 1;
	for (uint32_t k = 0; k < type_of(r, v)->rank; k++)
		n *= dim_eval(r->f->dims, type_of(r, v)->dims[k], &r->sym_value);
	return n > 40000;
}

/* A function with outputs; its plan is ready for plan_loops. */
static struct random_fn random_function(struct arena *a, uint64_t seed, const char *name)
{
	static const int64_t sizes[] = {0, 1, 2, 3, 5, 8, 16, 19, 32, 40, 65};
	struct random_fn r = {.a = a, .seed = seed * 0x9E3779B97F4A7C15ull + 1};
	struct dims *d = dims_new(a);
	r.f = ir_fn_new(a, name, d);
	r.n = dim_new_sym(d, "N");
	for (int k = 0; k < 8; k++)
		next_random(&r);
	r.sym_value = sizes[pick(&r, sizeof sizes / sizeof *sizes)];
	r.f->inputs = ARENA_ARRAY(a, struct hir_type, 64);
	r.f->weights = ARENA_ARRAY(a, struct hir_type, 8);
	r.slots = ARENA_ARRAY(a, struct slot, 8);
	for (uint32_t k = 0; k < 2; k++) {
		struct hir_type t = random_type(&r);
		if (k == 0)
			t.elem = DT_FLOAT32;
		add_input(&r, &t);
	}
	uint32_t steps = 2 + pick(&r, RANDOM_VALUES / 2);
	for (uint32_t k = 0; k < steps && !too_big(&r, r.f->n_insts - 1); k++)
		random_step(&r);
	r.f->n_outputs = 1 + pick(&r, 3);
	r.f->outputs = ARENA_ARRAY(a, ir_ref, r.f->n_outputs);
	for (uint32_t k = 0; k < r.f->n_outputs; k++) {
		ir_ref v = k == 0 ? r.f->n_insts - 1 : any_value(&r);
		while (ir_at(r.f, v)->op == OP_WEIGHT || ir_at(r.f, v)->layout != LAYOUT_PLAIN ||
		       (ir_at(r.f, v)->op == OP_BROADCAST && ir_at(r.f, ir_operand(r.f, v, 0))->op == OP_WEIGHT))
			v--;
		r.f->outputs[k] = v;
	}
	random_layouts(&r);
	r.plan = (struct plan){.options.target = target_get(TARGET_X86_64_V3), .run_fn = r.f, .slots = r.slots, .n_slots = r.f->n_weights};
	return r;
}

/* The function name(inputs) = op(inputs); its plan is ready for plan_loops. */
static inline struct random_fn one_op(struct arena *a, struct dims *d, const char *name, enum ir_op op, const struct hir_type *out,
				      const struct hir_type *inputs, uint32_t n)
{
	struct random_fn r = {.a = a, .f = ir_fn_new(a, name, d), .sym_value = 1};
	ir_ref x[2];
	r.f->inputs = ARENA_ARRAY(a, struct hir_type, n);
	for (uint32_t k = 0; k < n; k++)
		x[k] = add_input(&r, &inputs[k]);
	r.f->n_outputs = 1;
	r.f->outputs = ARENA_ARRAY(a, ir_ref, 1);
	r.f->outputs[0] = emit(&r, op, out, x, n, true);
	r.plan = (struct plan){.options.target = target_get(TARGET_X86_64_V3), .run_fn = r.f};
	return r;
}

/* Host data of a type: small numbers, a few special ones in floats. */
static inline void random_fill(struct random_fn *r, dtype elem, void *data, int64_t n)
{
	for (int64_t k = 0; k < n; k++) {
		double x = (double)((int64_t)pick(r, 4001) - 2000) / 500.0;
		if (pick(r, 40) == 0)
			x = (double[]){0.0, -0.0, 1.0, 1e-3, -3.5, 100.0, 0.5, 2.5}[pick(r, 8)];
		int64_t i = (int64_t)pick(r, 255) - 127;
		switch (elem) {
		case DT_BOOL: ((uint8_t *)data)[k] = i & 1; break;
		case DT_TRIT: ((int8_t *)data)[k] = (int8_t)((int64_t)pick(r, 3) - 1); break;
		case DT_UINT8: ((uint8_t *)data)[k] = (uint8_t)i; break;
		case DT_INT8: ((int8_t *)data)[k] = (int8_t)i; break;
		case DT_INT16: ((int16_t *)data)[k] = (int16_t)(i * 200); break;
		case DT_INT32: ((int32_t *)data)[k] = (int32_t)(i * (pick(r, 8) ? 1 : 10000000)); break;
		case DT_INT64: ((int64_t *)data)[k] = i * (pick(r, 8) ? 1 : 10000000000); break;
		case DT_FLOAT16:
		case DT_BFLOAT16: elem_put_float(elem, data, k, x); break;
		case DT_FLOAT32: ((float *)data)[k] = (float)x; break;
		case DT_FLOAT64: ((double *)data)[k] = x; break;
		default: abort();
		}
	}
}
#endif
