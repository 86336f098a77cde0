/* Element-wise operations on values of any width. Without fast-math: every operation follows IEEE 754. */
#include "backend/cpu/emit.h"
#include <string.h>
#include "base/bug.h"

static bool emit_op_is_float(dtype t) { return dtype_class(t) == DTC_FLOAT; }

LLVMValueRef emit_number(struct emit *e, dtype elem, uint32_t width, double f, int64_t i)
{
	LLVMTypeRef t = type_register(e, elem);
	return emit_splat(e, emit_op_is_float(elem) ? LLVMConstReal(t, f) : LLVMConstInt(t, (unsigned long long)i, 1), width);
}

LLVMValueRef emit_intrinsic(struct emit *e, const char *name, LLVMValueRef *args, uint32_t n, LLVMTypeRef *types, uint32_t n_types)
{
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	BUG_ON(id == 0);
	LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->module, id, types, n_types);
	return LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(f), f, args, n, "");
}

LLVMValueRef emit_unary_intrinsic(struct emit *e, const char *name, LLVMValueRef x)
{
	LLVMTypeRef t = LLVMTypeOf(x);
	return emit_intrinsic(e, name, &x, 1, &t, 1);
}

LLVMValueRef emit_fma(struct emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
	if (!e->fma)
		return LLVMBuildFAdd(e->builder, LLVMBuildFMul(e->builder, a, b, ""), c, "");
	LLVMValueRef args[3] = {a, b, c};
	LLVMTypeRef t = LLVMTypeOf(a);
	return emit_intrinsic(e, "llvm.fma", args, 3, &t, 1);
}

static LLVMTypeRef scalar_type(LLVMValueRef v)
{
	LLVMTypeRef t = LLVMTypeOf(v);
	return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}

LLVMValueRef emit_libm(struct emit *e, const char *name_f32, const char *name_f64, LLVMValueRef *args, uint32_t n)
{
	LLVMTypeRef t = scalar_type(args[0]), params[2] = {t, t};
	const char *name = t == e->f32 ? name_f32 : name_f64;
	LLVMTypeRef type = LLVMFunctionType(t, params, n, 0);
	LLVMValueRef f = LLVMGetNamedFunction(e->module, name);
	if (!f)
		f = LLVMAddFunction(e->module, name, type);
	uint32_t width = value_lanes(args[0]);
	LLVMValueRef result = LLVMGetPoison(LLVMTypeOf(args[0]));
	for (uint32_t k = 0; k < width; k++) {
		LLVMValueRef lane[2];
		for (uint32_t j = 0; j < n; j++)
			lane[j] = emit_lane(e, args[j], k);
		result = emit_set_lane(e, result, LLVMBuildCall2(e->builder, type, f, lane, n, ""), k);
	}
	return result;
}

/* NaN wins. The x86 instruction returns its second operand if either is NaN, so a constant as first operand suffices. */
static LLVMValueRef float_max(struct emit *e, LLVMValueRef a, LLVMValueRef b, bool max)
{
	LLVMRealPredicate p = max ? LLVMRealOGT : LLVMRealOLT;
	if (LLVMIsConstant(b)) {
		LLVMValueRef t = a;
		a = b;
		b = t;
	}
	LLVMValueRef r = LLVMBuildSelect(e->builder, LLVMBuildFCmp(e->builder, p, a, b, ""), a, b, "");
	return LLVMBuildSelect(e->builder, LLVMBuildFCmp(e->builder, LLVMRealUNO, a, a, ""), a, r, "");
}

LLVMValueRef emit_max(struct emit *e, dtype elem, LLVMValueRef a, LLVMValueRef b, bool max)
{
	if (emit_op_is_float(elem))
		return float_max(e, a, b, max);
	LLVMIntPredicate p = dtype_is_unsigned(elem) ? (max ? LLVMIntUGT : LLVMIntULT) : (max ? LLVMIntSGT : LLVMIntSLT);
	return LLVMBuildSelect(e->builder, LLVMBuildICmp(e->builder, p, a, b, ""), a, b, "");
}

static LLVMValueRef zero_like(LLVMValueRef v) { return LLVMConstNull(LLVMTypeOf(v)); }

static LLVMValueRef float_like(struct emit *e, LLVMValueRef v, double f)
{
	return emit_splat(e, LLVMConstReal(scalar_type(v), f), value_lanes(v));
}

static LLVMValueRef int_like(struct emit *e, LLVMValueRef v, int64_t i)
{
	return emit_splat(e, LLVMConstInt(scalar_type(v), (unsigned long long)i, 1), value_lanes(v));
}

static LLVMValueRef emit_sign(struct emit *e, dtype elem, LLVMValueRef x)
{
	LLVMBuilderRef b = e->builder;
	LLVMValueRef z = zero_like(x);
	if (dtype_is_unsigned(elem))
		return LLVMBuildZExt(b, LLVMBuildICmp(b, LLVMIntNE, x, z, ""), LLVMTypeOf(x), "");
	if (!emit_op_is_float(elem)) {
		LLVMValueRef up = LLVMBuildZExt(b, LLVMBuildICmp(b, LLVMIntSGT, x, z, ""), LLVMTypeOf(x), "");
		return LLVMBuildAdd(b, up, LLVMBuildSExt(b, LLVMBuildICmp(b, LLVMIntSLT, x, z, ""), LLVMTypeOf(x), ""), "");
	}
	LLVMValueRef low = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, x, z, ""), float_like(e, x, -1.0), z, "");
	return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOGT, x, z, ""), float_like(e, x, 1.0), low, "");
}

/* Replaces a divisor that traps by 1: zero, or -1 for the lowest number. */
static LLVMValueRef safe_divisor(struct emit *e, LLVMValueRef x, LLVMValueRef y)
{
	LLVMBuilderRef b = e->builder;
	uint32_t bits = LLVMGetIntTypeWidth(scalar_type(x));
	LLVMValueRef lowest = int_like(e, x, bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1)));
	LLVMValueRef over =
		LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntEQ, x, lowest, ""), LLVMBuildICmp(b, LLVMIntEQ, y, int_like(e, y, -1), ""), "");
	LLVMValueRef bad = LLVMBuildOr(b, over, LLVMBuildICmp(b, LLVMIntEQ, y, zero_like(y), ""), "");
	return LLVMBuildSelect(b, bad, int_like(e, y, 1), y, "");
}

static LLVMValueRef unsigned_division(struct emit *e, LLVMValueRef x, LLVMValueRef y, bool want_mod)
{
	LLVMBuilderRef b = e->builder;
	LLVMValueRef by_zero = LLVMBuildICmp(b, LLVMIntEQ, y, zero_like(y), "");
	LLVMValueRef d = LLVMBuildSelect(b, by_zero, int_like(e, y, 1), y, "");
	LLVMValueRef result = want_mod ? LLVMBuildURem(b, x, d, "") : LLVMBuildUDiv(b, x, d, "");
	return LLVMBuildSelect(b, by_zero, zero_like(x), result, "");
}

/* Floor division and its remainder. By zero both are 0, as in the interpreter; the lowest number by -1 wraps. */
static LLVMValueRef int_division(struct emit *e, dtype elem, LLVMValueRef *a, bool want_mod)
{
	LLVMBuilderRef b = e->builder;
	LLVMValueRef x = a[0], y = a[1];
	if (dtype_is_unsigned(elem))
		return unsigned_division(e, x, y, want_mod);
	LLVMValueRef d = safe_divisor(e, x, y), q = LLVMBuildSDiv(b, x, d, ""), z = zero_like(x);
	LLVMValueRef r = LLVMBuildSub(b, x, LLVMBuildMul(b, q, d, ""), "");
	LLVMValueRef by_zero = LLVMBuildICmp(b, LLVMIntEQ, y, z, "");
	LLVMValueRef apart = LLVMBuildICmp(b, LLVMIntSLT, LLVMBuildXor(b, r, d, ""), z, "");
	LLVMValueRef adjust = LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntNE, r, z, ""), apart, "");
	LLVMValueRef result = want_mod ? LLVMBuildSelect(b, adjust, LLVMBuildAdd(b, r, d, ""), r, "")
				       : LLVMBuildAdd(b, q, LLVMBuildSExt(b, adjust, LLVMTypeOf(q), ""), "");
	return LLVMBuildSelect(b, by_zero, z, result, "");
}

/* fmod(x, y). *apart: it is not 0 and has not the sign of y. */
static LLVMValueRef float_remainder(struct emit *e, LLVMValueRef x, LLVMValueRef y, LLVMValueRef *apart)
{
	LLVMBuilderRef b = e->builder;
	LLVMValueRef args[2] = {x, y}, r = emit_libm(e, "fmodf", "fmod", args, 2), z = zero_like(x);
	LLVMValueRef lower = LLVMBuildFCmp(b, LLVMRealOLT, r, z, ""), y_lower = LLVMBuildFCmp(b, LLVMRealOLT, y, z, "");
	*apart = LLVMBuildAnd(b, LLVMBuildFCmp(b, LLVMRealONE, r, z, ""), LLVMBuildXor(b, lower, y_lower, ""), "");
	return r;
}

static LLVMValueRef float_mod(struct emit *e, LLVMValueRef x, LLVMValueRef y)
{
	LLVMValueRef apart, r = float_remainder(e, x, y, &apart);
	return LLVMBuildSelect(e->builder, apart, LLVMBuildFAdd(e->builder, r, y, ""), r, "");
}

/* As base/arith.c. A zero has the sign of x / y, which is also the result for y = 0. */
static LLVMValueRef float_floordiv(struct emit *e, LLVMValueRef x, LLVMValueRef y)
{
	LLVMBuilderRef b = e->builder;
	LLVMValueRef apart, r = float_remainder(e, x, y, &apart), z = zero_like(y), ratio = LLVMBuildFDiv(b, x, y, "");
	LLVMValueRef q = emit_unary_intrinsic(e, "llvm.roundeven", LLVMBuildFDiv(b, LLVMBuildFSub(b, x, r, ""), y, ""));
	q = LLVMBuildSelect(b, apart, LLVMBuildFSub(b, q, float_like(e, q, 1.0), ""), q, "");
	LLVMTypeRef t = LLVMTypeOf(x);
	LLVMValueRef signs[2] = {z, ratio}, zero = emit_intrinsic(e, "llvm.copysign", signs, 2, &t, 1);
	q = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOEQ, q, z, ""), zero, q, "");
	return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOEQ, y, z, ""), ratio, q, "");
}

/* Square and multiply. Negative exponents give 0, 1 or -1, as in integer arithmetic. */
static LLVMValueRef emit_op_int_pow(struct emit *e, dtype elem, LLVMValueRef x, LLVMValueRef n)
{
	LLVMBuilderRef b = e->builder;
	LLVMValueRef one = int_like(e, x, 1), zero = zero_like(x), result = one, square = x;
	for (uint32_t k = 0; k < LLVMGetIntTypeWidth(scalar_type(n)); k++) {
		LLVMValueRef bit = LLVMBuildAnd(b, LLVMBuildLShr(b, n, int_like(e, n, k), ""), int_like(e, n, 1), "");
		LLVMValueRef odd = LLVMBuildICmp(b, LLVMIntNE, bit, zero_like(n), "");
		result = LLVMBuildSelect(b, odd, LLVMBuildMul(b, result, square, ""), result, "");
		square = LLVMBuildMul(b, square, square, "");
	}
	if (dtype_is_unsigned(elem))
		return result;
	LLVMValueRef odd = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, n, int_like(e, n, 1), ""), zero_like(n), "");
	LLVMValueRef minus = int_like(e, x, -1);
	LLVMValueRef inverse = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, x, one, ""), one, zero, "");
	inverse = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, x, minus, ""), LLVMBuildSelect(b, odd, minus, one, ""), inverse, "");
	return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, n, zero_like(n), ""), inverse, result, "");
}

static LLVMValueRef emit_op_compare(struct emit *e, dtype from, LLVMRealPredicate f, LLVMIntPredicate s, LLVMIntPredicate u,
				    LLVMValueRef *a)
{
	if (emit_op_is_float(from))
		return LLVMBuildFCmp(e->builder, f, a[0], a[1], "");
	return LLVMBuildICmp(e->builder, dtype_is_unsigned(from) ? u : s, a[0], a[1], "");
}

static LLVMValueRef transcendental(struct emit *e, enum ir_op op, LLVMValueRef *a)
{
	switch (op) {
	case OP_EXP: return emit_libm(e, "expf", "exp", a, 1);
	case OP_LOG: return emit_libm(e, "logf", "log", a, 1);
	case OP_TANH: return emit_libm(e, "tanhf", "tanh", a, 1);
	case OP_ERF: return emit_libm(e, "erff", "erf", a, 1);
	case OP_SIN: return emit_libm(e, "sinf", "sin", a, 1);
	default: return emit_libm(e, "cosf", "cos", a, 1);
	}
}

static LLVMValueRef emit_op_unary(struct emit *e, enum ir_op op, dtype elem, LLVMValueRef x)
{
	LLVMBuilderRef b = e->builder;
	bool flt = emit_op_is_float(elem);
	switch (op) {
	case OP_NEG: return flt ? LLVMBuildFNeg(b, x, "") : LLVMBuildNeg(b, x, "");
	case OP_ABS:
		if (flt)
			return emit_unary_intrinsic(e, "llvm.fabs", x);
		if (dtype_is_unsigned(elem))
			return x;
		return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, x, zero_like(x), ""), LLVMBuildNeg(b, x, ""), x, "");
	case OP_SIGN: return emit_sign(e, elem, x);
	case OP_CEIL: return flt ? emit_unary_intrinsic(e, "llvm.ceil", x) : x;
	case OP_FLOOR: return flt ? emit_unary_intrinsic(e, "llvm.floor", x) : x;
	case OP_ROUND: return flt ? emit_unary_intrinsic(e, "llvm.roundeven", x) : x;
	case OP_SQRT: return emit_unary_intrinsic(e, "llvm.sqrt", x);
	case OP_RSQRT: return LLVMBuildFDiv(b, float_like(e, x, 1.0), emit_unary_intrinsic(e, "llvm.sqrt", x), "");
	case OP_NOT: return LLVMBuildNot(b, x, "");
	default: return transcendental(e, op, &x);
	}
}

static LLVMValueRef arithmetic(struct emit *e, enum ir_op op, dtype elem, LLVMValueRef *a)
{
	LLVMBuilderRef b = e->builder;
	bool flt = emit_op_is_float(elem);
	switch (op) {
	case OP_ADD: return flt ? LLVMBuildFAdd(b, a[0], a[1], "") : LLVMBuildAdd(b, a[0], a[1], "");
	case OP_SUB: return flt ? LLVMBuildFSub(b, a[0], a[1], "") : LLVMBuildSub(b, a[0], a[1], "");
	case OP_MUL: return flt ? LLVMBuildFMul(b, a[0], a[1], "") : LLVMBuildMul(b, a[0], a[1], "");
	case OP_DIV: return flt ? LLVMBuildFDiv(b, a[0], a[1], "") : int_division(e, elem, a, false);
	case OP_FLOORDIV: return flt ? float_floordiv(e, a[0], a[1]) : int_division(e, elem, a, false);
	case OP_MOD: return flt ? float_mod(e, a[0], a[1]) : int_division(e, elem, a, true);
	default: return flt ? emit_libm(e, "powf", "pow", a, 2) : emit_op_int_pow(e, elem, a[0], a[1]);
	}
}

/* Shifts out all bits by amounts that are negative or too large, for which the instructions give no value. */
static LLVMValueRef shift(struct emit *e, enum ir_op op, dtype elem, LLVMValueRef x, LLVMValueRef n)
{
	LLVMBuilderRef b = e->builder;
	int64_t bits = LLVMGetIntTypeWidth(scalar_type(x));
	LLVMValueRef inside = LLVMBuildICmp(b, LLVMIntULT, n, int_like(e, n, bits), "");
	LLVMValueRef amount = LLVMBuildSelect(b, inside, n, int_like(e, n, bits - 1), "");
	if (op == OP_SHR && !dtype_is_unsigned(elem))
		return LLVMBuildAShr(b, x, amount, "");
	LLVMValueRef shifted = op == OP_SHR ? LLVMBuildLShr(b, x, amount, "") : LLVMBuildShl(b, x, amount, "");
	return LLVMBuildSelect(b, inside, shifted, zero_like(x), "");
}

LLVMValueRef emit_op(struct emit *e, enum ir_op op, dtype elem, dtype from, LLVMValueRef *a)
{
	LLVMBuilderRef b = e->builder;
	switch (op) {
	case OP_CAST: return emit_cast(e, a[0], from, elem);
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_DIV:
	case OP_FLOORDIV:
	case OP_MOD:
	case OP_POW: return arithmetic(e, op, elem, a);
	case OP_MIN: return emit_max(e, elem, a[0], a[1], false);
	case OP_MAX: return emit_max(e, elem, a[0], a[1], true);
	case OP_EQ: return emit_op_compare(e, from, LLVMRealOEQ, LLVMIntEQ, LLVMIntEQ, a);
	case OP_NE: return emit_op_compare(e, from, LLVMRealUNE, LLVMIntNE, LLVMIntNE, a);
	case OP_LT: return emit_op_compare(e, from, LLVMRealOLT, LLVMIntSLT, LLVMIntULT, a);
	case OP_LE: return emit_op_compare(e, from, LLVMRealOLE, LLVMIntSLE, LLVMIntULE, a);
	case OP_AND: return LLVMBuildAnd(b, a[0], a[1], "");
	case OP_OR: return LLVMBuildOr(b, a[0], a[1], "");
	case OP_XOR: return LLVMBuildXor(b, a[0], a[1], "");
	case OP_SHL:
	case OP_SHR: return shift(e, op, elem, a[0], a[1]);
	case OP_SELECT: return LLVMBuildSelect(b, a[0], a[1], a[2], "");
	default: return emit_op_unary(e, op, elem, a[0]);
	}
}

/* Truncates and saturates; NaN gives 0. (LLVM expands the intrinsic for this lane by lane.) The bounds are exact in any float; a value
 * outside is converted as 0 and replaced. Small integers are clamped as floats and converted through int32. */
static LLVMValueRef emit_op_float_to_int(struct emit *e, LLVMValueRef v, dtype elem)
{
	LLVMBuilderRef b = e->builder;
	LLVMTypeRef to = type_register(e, elem);
	uint32_t width = value_lanes(v), bits = LLVMGetIntTypeWidth(to);
	int64_t least = dtype_least_int(elem), most = dtype_largest_int(elem);
	LLVMValueRef zero = zero_like(v), low = float_like(e, v, (double)least);
	if (bits < 32) {
		LLVMValueRef high = float_like(e, v, (double)most);
		v = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealUNO, v, v, ""), zero, v, "");
		v = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOGT, low, v, ""), low, v, "");
		v = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, high, v, ""), high, v, "");
		return LLVMBuildTrunc(b, LLVMBuildFPToSI(b, v, type_lanes(e->i32, width), ""), type_lanes(to, width), "");
	}
	LLVMValueRef under = LLVMBuildFCmp(b, LLVMRealOLT, v, low, ""),
		     over = LLVMBuildFCmp(b, LLVMRealOGE, v, float_like(e, v, -(double)least), "");
	LLVMValueRef inside = LLVMBuildAnd(b, LLVMBuildFCmp(b, LLVMRealOGE, v, low, ""), LLVMBuildNot(b, over, ""), "");
	LLVMValueRef i = LLVMBuildFPToSI(b, LLVMBuildSelect(b, inside, v, zero, ""), type_lanes(to, width), "");
	i = LLVMBuildSelect(b, under, int_like(e, i, least), i, "");
	return LLVMBuildSelect(b, over, int_like(e, i, most), i, "");
}

static LLVMValueRef float_to_float(struct emit *e, LLVMValueRef v, dtype from, dtype to)
{
	LLVMTypeRef t = type_lanes(type_register(e, to), value_lanes(v));
	if (from != DT_FLOAT64 && to == DT_FLOAT64)
		return LLVMBuildFPExt(e->builder, v, t, "");
	if (from == DT_FLOAT64 && to != DT_FLOAT64)
		v = LLVMBuildFPTrunc(e->builder, v, t, "");
	if (to == DT_FLOAT16 || to == DT_BFLOAT16)
		v = emit_from_half(e, to, emit_to_half(e, to, v));
	return v;
}

static LLVMValueRef int_to_float(struct emit *e, LLVMValueRef v, dtype from, dtype to)
{
	LLVMTypeRef t = type_lanes(type_register(e, to), value_lanes(v));
	v = dtype_is_unsigned(from) ? LLVMBuildUIToFP(e->builder, v, t, "") : LLVMBuildSIToFP(e->builder, v, t, "");
	return float_to_float(e, v, DT_FLOAT32, to == DT_FLOAT64 ? DT_FLOAT32 : to);
}

/* Clamps to -1 … 1. */
static LLVMValueRef to_trit(struct emit *e, LLVMValueRef v, dtype from)
{
	if (from == DT_BOOL)
		return LLVMBuildZExt(e->builder, v, type_lanes(e->i8, value_lanes(v)), "");
	if (emit_op_is_float(from))
		v = emit_op_float_to_int(e, v, DT_INT8);
	if (!dtype_is_unsigned(from))
		v = emit_max(e, DT_INT8, v, int_like(e, v, -1), true);
	v = emit_max(e, dtype_is_unsigned(from) ? from : DT_INT8, v, int_like(e, v, 1), false);
	return LLVMBuildIntCast2(e->builder, v, type_lanes(e->i8, value_lanes(v)), 1, "");
}

LLVMValueRef emit_cast(struct emit *e, LLVMValueRef v, dtype from, dtype to)
{
	LLVMBuilderRef b = e->builder;
	LLVMTypeRef t = type_lanes(type_register(e, to), value_lanes(v));
	if (from == to)
		return v;
	if (to == DT_TRIT)
		return to_trit(e, v, from);
	if (to == DT_BOOL)
		return emit_op_is_float(from) ? LLVMBuildFCmp(b, LLVMRealUNE, v, zero_like(v), "")
					      : LLVMBuildICmp(b, LLVMIntNE, v, zero_like(v), "");
	if (emit_op_is_float(from))
		return emit_op_is_float(to) ? float_to_float(e, v, from, to) : emit_op_float_to_int(e, v, to);
	if (emit_op_is_float(to))
		return int_to_float(e, v, from, to);
	return LLVMBuildIntCast2(b, v, t, !dtype_is_unsigned(from), "");
}
