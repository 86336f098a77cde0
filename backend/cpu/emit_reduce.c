/* Accumulators of reductions: scalars or vectors, combined in a fixed order so that results are deterministic. */
#include "backend/cpu/emit.h"
#include <math.h>
#include "base/bug.h"

static bool emit_reduce_is_arg(const struct loop_reduction *r) { return r->op == OP_ARGMAX || r->op == OP_ARGMIN; }

uint32_t reduce_values(const struct loop_reduction *r) { return emit_reduce_is_arg(r) ? 2 : 1; }

static int64_t int_extreme(dtype t, bool lowest)
{
	if (dtype_class(t) == DTC_FLOAT)
		return 0;
	return lowest ? dtype_least_int(t) : dtype_largest_int(t);
}

static LLVMValueRef identity(struct emit *e, const struct loop_reduction *r, dtype compared, uint32_t width)
{
	bool max = r->op == OP_REDUCE_MAX || r->op == OP_ARGMAX;
	switch (r->op) {
	case OP_REDUCE_SUM: return emit_number(e, r->elem, width, 0.0, 0);
	case OP_REDUCE_PROD: return emit_number(e, r->elem, width, 1.0, 1);
	default: return emit_number(e, compared, width, max ? -INFINITY : INFINITY, int_extreme(compared, max));
	}
}

void reduce_identity(struct emit *e, const struct loop_reduction *r, dtype compared, uint32_t width, LLVMValueRef *acc)
{
	acc[0] = identity(e, r, compared, width);
	if (emit_reduce_is_arg(r)) /* correct even if it wins: no element is better than the extreme, and the first of equals wins */
		acc[1] = emit_number(e, DT_INT64, width, 0, 0);
}

/* True if better, or equal and earlier. NaN is better than any number. */
static void arg_combine(struct emit *e, bool max, dtype compared, LLVMValueRef *acc, LLVMValueRef value, LLVMValueRef index)
{
	LLVMBuilderRef b = e->builder;
	LLVMValueRef better, equal;
	if (dtype_class(compared) == DTC_FLOAT) {
		LLVMValueRef nan = LLVMBuildFCmp(b, LLVMRealUNO, value, value, ""), had = LLVMBuildFCmp(b, LLVMRealUNO, acc[0], acc[0], "");
		better = LLVMBuildFCmp(b, max ? LLVMRealOGT : LLVMRealOLT, value, acc[0], "");
		better = LLVMBuildOr(b, better, LLVMBuildAnd(b, nan, LLVMBuildNot(b, had, ""), ""), "");
		equal = LLVMBuildFCmp(b, LLVMRealOEQ, value, acc[0], "");
		equal = LLVMBuildOr(b, equal, LLVMBuildAnd(b, nan, had, ""), "");
	} else {
		bool u = dtype_is_unsigned(compared);
		LLVMIntPredicate p = u ? (max ? LLVMIntUGT : LLVMIntULT) : (max ? LLVMIntSGT : LLVMIntSLT);
		better = LLVMBuildICmp(b, p, value, acc[0], "");
		equal = LLVMBuildICmp(b, LLVMIntEQ, value, acc[0], "");
	}
	LLVMValueRef earlier = LLVMBuildICmp(b, LLVMIntSLT, index, acc[1], "");
	LLVMValueRef take = LLVMBuildOr(b, better, LLVMBuildAnd(b, equal, earlier, ""), "");
	acc[0] = LLVMBuildSelect(b, take, value, acc[0], "");
	acc[1] = LLVMBuildSelect(b, take, index, acc[1], "");
}

void reduce_step(struct emit *e, const struct loop_reduction *r, dtype compared, LLVMValueRef *acc, LLVMValueRef value, LLVMValueRef index)
{
	LLVMValueRef args[2] = {acc[0], value};
	switch (r->op) {
	case OP_REDUCE_SUM: acc[0] = emit_op(e, OP_ADD, r->elem, r->elem, args); break;
	case OP_REDUCE_PROD: acc[0] = emit_op(e, OP_MUL, r->elem, r->elem, args); break;
	case OP_REDUCE_MAX: acc[0] = emit_max(e, r->elem, acc[0], value, true); break;
	case OP_REDUCE_MIN: acc[0] = emit_max(e, r->elem, acc[0], value, false); break;
	default: arg_combine(e, r->op == OP_ARGMAX, compared, acc, value, index);
	}
}

void reduce_combine(struct emit *e, const struct loop_reduction *r, dtype compared, LLVMValueRef *acc, LLVMValueRef *other)
{
	reduce_step(e, r, compared, acc, other[0], emit_reduce_is_arg(r) ? other[1] : NULL);
}

/* Returns the upper half of the lanes. */
static LLVMValueRef half(struct emit *e, LLVMValueRef v, uint32_t width, bool upper)
{
	LLVMValueRef mask[256];
	BUG_ON(width > 256);
	for (uint32_t k = 0; k < width / 2; k++)
		mask[k] = LLVMConstInt(e->i32, k + (upper ? width / 2 : 0), 0);
	if (width == 2)
		return emit_lane(e, v, upper);
	return LLVMBuildShuffleVector(e->builder, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(mask, width / 2), "");
}

void reduce_lanes(struct emit *e, const struct loop_reduction *r, dtype compared, LLVMValueRef *acc)
{
	for (uint32_t width = value_lanes(acc[0]); width > 1; width /= 2) {
		LLVMValueRef other[2];
		for (uint32_t k = 0; k < reduce_values(r); k++) {
			other[k] = half(e, acc[k], width, true);
			acc[k] = half(e, acc[k], width, false);
		}
		reduce_combine(e, r, compared, acc, other);
	}
}

LLVMValueRef reduce_mask(struct emit *e, const struct loop_reduction *r, dtype compared, LLVMValueRef value, uint32_t dead)
{
	LLVMValueRef mask[256];
	uint32_t width = value_lanes(value);
	if (emit_reduce_is_arg(r) || r->op == OP_REDUCE_MAX || r->op == OP_REDUCE_MIN)
		return value; /* combining an element twice changes no result */
	for (uint32_t k = 0; k < width; k++)
		mask[k] = LLVMConstInt(e->i1, k >= dead, 0);
	return LLVMBuildSelect(e->builder, LLVMConstVector(mask, width), value, identity(e, r, compared, width), "");
}
