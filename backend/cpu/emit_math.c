/* exp, log, tanh, sin and cos for float32 vectors by range reduction and polynomials (Cephes by S. Moshier).
 * loops/ir/approximations.def has the errors; infinities, NaN, overflow and underflow are exact. Only sin and cos of huge arguments call
 * the C library. */
#include "backend/cpu/emit.h"
#include "base/bug.h"

static LLVMValueRef emit_math_num(struct emit *e, LLVMValueRef like, double v)
{
	return emit_splat(e, LLVMConstReal(e->f32, v), value_lanes(like));
}

static LLVMValueRef emit_math_bits(struct emit *e, LLVMValueRef like, uint32_t v)
{
	return emit_splat(e, LLVMConstInt(e->i32, v, 0), value_lanes(like));
}

static LLVMValueRef emit_math_add(struct emit *e, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildFAdd(e->builder, a, b, ""); }
static LLVMValueRef sub(struct emit *e, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildFSub(e->builder, a, b, ""); }
static LLVMValueRef mul(struct emit *e, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildFMul(e->builder, a, b, ""); }

static LLVMValueRef to_bits(struct emit *e, LLVMValueRef x)
{
	return LLVMBuildBitCast(e->builder, x, type_lanes(e->i32, value_lanes(x)), "");
}

static LLVMValueRef to_float(struct emit *e, LLVMValueRef x)
{
	return LLVMBuildBitCast(e->builder, x, type_lanes(e->f32, value_lanes(x)), "");
}

static LLVMValueRef emit_math_pick(struct emit *e, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b, LLVMValueRef yes, LLVMValueRef no)
{
	return LLVMBuildSelect(e->builder, LLVMBuildFCmp(e->builder, p, a, b, ""), yes, no, "");
}

/* c[0]·x^(n-1) + … + c[n-1] */
static LLVMValueRef emit_math_poly(struct emit *e, LLVMValueRef x, const double *c, uint32_t n)
{
	LLVMValueRef p = emit_math_num(e, x, c[0]);
	for (uint32_t k = 1; k < n; k++)
		p = emit_fma(e, p, x, emit_math_num(e, x, c[k]));
	return p;
}
#define POLY(e, x, ...) emit_math_poly(e, x, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

enum { CURRENT_ROUNDING = 4, SIXTEENTHS = 16 };

/* Returns 2^k for a vector of integers -126 … 127. */
static LLVMValueRef power_of_two(struct emit *e, LLVMValueRef k)
{
	LLVMValueRef biased = LLVMBuildAdd(e->builder, k, emit_math_bits(e, k, 127), "");
	return to_float(e, LLVMBuildShl(e->builder, biased, emit_math_bits(e, k, 23), ""));
}

/* Rounds x to the nearest integer, as float and as int32, for |x| < 2^22. NaN gives NaN. */
static LLVMValueRef emit_math_nearest(struct emit *e, LLVMValueRef x, LLVMValueRef *as_int)
{
	const double magic = 12582912.0;
	LLVMValueRef t = emit_math_add(e, x, emit_math_num(e, x, magic));
	*as_int = LLVMBuildSub(e->builder, to_bits(e, t), emit_math_bits(e, x, 0x4b400000u), "");
	return sub(e, t, emit_math_num(e, x, magic));
}

/* Returns p·2^n, rounded once. k is a float, n the greatest integer that is not above it. */
static LLVMValueRef scale(struct emit *e, LLVMValueRef p, LLVMValueRef n, LLVMValueRef k)
{
	if (e->target->vector_bytes == 64 && value_lanes(p) == 16) {
		LLVMTypeRef mask = LLVMInt16TypeInContext(e->context);
		LLVMValueRef args[5] = {p, k, p, LLVMConstAllOnes(mask), LLVMConstInt(e->i32, CURRENT_ROUNDING, 0)};
		return emit_intrinsic(e, "llvm.x86.avx512.mask.scalef.ps.512", args, 5, NULL, 0);
	}
	LLVMValueRef half = LLVMBuildAShr(e->builder, n, emit_math_bits(e, n, 1), "");
	p = mul(e, p, power_of_two(e, half));
	return mul(e, p, power_of_two(e, LLVMBuildSub(e->builder, n, half, "")));
}

/* exp(x) = 2^k·exp(r), |r| <= ln(2)/32. k is a multiple of 1/16, and 2^(its fraction) is looked up. */
static LLVMValueRef exp_by_sixteenths(struct emit *e, LLVMValueRef x)
{
	static const float powers[SIXTEENTHS] = {1.0f,        1.04427373f, 1.09050775f, 1.13878858f, 1.1892071f,  1.24185777f,
						 1.29683959f, 1.35425556f, 1.41421354f, 1.47682619f, 1.54221082f, 1.61049032f,
						 1.68179286f, 1.75625217f, 1.83400810f, 1.91520655f};
	const double magic = 786432.0;
	LLVMValueRef shifted = emit_fma(e, x, emit_math_num(e, x, 1.44269504088896341), emit_math_num(e, x, magic)),
		     i = to_bits(e, shifted);
	LLVMValueRef k = sub(e, shifted, emit_math_num(e, x, magic));
	LLVMValueRef r = emit_fma(e, k, emit_math_num(e, x, -0.693147182464599609375), x);
	r = emit_fma(e, k, emit_math_num(e, x, 1.904654299957766e-9), r);
	LLVMValueRef q = emit_fma(e, r, emit_math_num(e, x, 1.66666671e-1), emit_math_num(e, x, 5.00016212e-1));
	q = emit_fma(e, mul(e, r, r), q, r);
	LLVMValueRef power = emit_lookup(e, powers, SIXTEENTHS, i);
	LLVMValueRef n = LLVMBuildSub(e->builder, i, emit_math_bits(e, x, 0x49400000u), "");
	return scale(e, emit_fma(e, power, q, power), LLVMBuildAShr(e->builder, n, emit_math_bits(e, x, 4), ""), k);
}

/* exp(x) = 2^n·exp(r), |r| <= ln(2)/2. */
static LLVMValueRef exp_by_polynomial(struct emit *e, LLVMValueRef x)
{
	LLVMValueRef n, k = emit_math_nearest(e, mul(e, x, emit_math_num(e, x, 1.44269504088896341)), &n);
	LLVMValueRef r = emit_fma(e, k, emit_math_num(e, x, -0.693359375), x);
	r = emit_fma(e, k, emit_math_num(e, x, 2.12194440e-4), r);
	LLVMValueRef p = POLY(e, r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1);
	p = emit_math_add(e, emit_fma(e, mul(e, p, r), r, r), emit_math_num(e, x, 1.0));
	return scale(e, p, n, k);
}

LLVMValueRef emit_exp(struct emit *e, LLVMValueRef x, bool lookup)
{
	LLVMValueRef lo = emit_math_num(e, x, -104.0), hi = emit_math_num(e, x, 89.0);
	x = emit_math_pick(e, LLVMRealOGT, lo, x, lo, x);
	x = emit_math_pick(e, LLVMRealOLT, hi, x, hi, x);
	return lookup ? exp_by_sixteenths(e, x) : exp_by_polynomial(e, x);
}

/* log(x) = k·ln 2 + log(m), sqrt(1/2) <= m < sqrt(2). */
static LLVMValueRef emit_log(struct emit *e, LLVMValueRef x)
{
	LLVMBuilderRef b = e->builder;
	LLVMValueRef tiny = LLVMBuildFCmp(b, LLVMRealOLT, x, emit_math_num(e, x, 0x1p-126), "");
	LLVMValueRef scaled = LLVMBuildSelect(b, tiny, mul(e, x, emit_math_num(e, x, 0x1p24)), x, "");
	LLVMValueRef i = LLVMBuildSub(b, to_bits(e, scaled), emit_math_bits(e, x, 0x3f3504f3), "");
	LLVMValueRef n = LLVMBuildAShr(b, i, emit_math_bits(e, x, 23), "");
	LLVMValueRef m = LLVMBuildAdd(b, LLVMBuildAnd(b, i, emit_math_bits(e, x, 0x7fffff), ""), emit_math_bits(e, x, 0x3f3504f3), "");
	LLVMValueRef k = LLVMBuildSIToFP(b, n, LLVMTypeOf(x), "");
	k = sub(e, k, LLVMBuildSelect(b, tiny, emit_math_num(e, x, 24.0), emit_math_num(e, x, 0.0), ""));
	LLVMValueRef f = sub(e, to_float(e, m), emit_math_num(e, x, 1.0)), z = mul(e, f, f);
	LLVMValueRef p = POLY(e, f, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
			      2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1);
	LLVMValueRef y = mul(e, mul(e, f, z), p);
	y = emit_fma(e, k, emit_math_num(e, x, -2.12194440e-4), y);
	y = emit_fma(e, z, emit_math_num(e, x, -0.5), y);
	y = emit_fma(e, k, emit_math_num(e, x, 0.693359375), emit_math_add(e, f, y));
	LLVMValueRef inf = emit_math_num(e, x, (double)__builtin_inff());
	y = emit_math_pick(e, LLVMRealOEQ, x, inf, inf, y);
	y = emit_math_pick(e, LLVMRealOEQ, x, emit_math_num(e, x, 0.0), emit_math_num(e, x, -(double)__builtin_inff()), y);
	return emit_math_pick(e, LLVMRealULT, x, emit_math_num(e, x, 0.0), emit_math_num(e, x, (double)__builtin_nanf("")), y);
}

static LLVMValueRef emit_math_copy_sign(struct emit *e, LLVMValueRef magnitude, LLVMValueRef sign)
{
	LLVMValueRef m = LLVMBuildAnd(e->builder, to_bits(e, magnitude), emit_math_bits(e, sign, 0x7fffffff), "");
	return to_float(
		e, LLVMBuildOr(e->builder, m, LLVMBuildAnd(e->builder, to_bits(e, sign), emit_math_bits(e, sign, 0x80000000u), ""), ""));
}

static LLVMValueRef emit_tanh(struct emit *e, LLVMValueRef x, bool lookup)
{
	LLVMValueRef a = emit_unary_intrinsic(e, "llvm.fabs", x), z = mul(e, x, x);
	LLVMValueRef p = POLY(e, z, -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1);
	LLVMValueRef small = emit_fma(e, mul(e, p, z), x, x);
	LLVMValueRef big = emit_math_add(e, emit_exp(e, emit_math_add(e, a, a), lookup), emit_math_num(e, x, 1.0));
	big = sub(e, emit_math_num(e, x, 1.0), LLVMBuildFDiv(e->builder, emit_math_num(e, x, 2.0), big, ""));
	return emit_math_pick(e, LLVMRealOLT, a, emit_math_num(e, x, 0.625), small, emit_math_copy_sign(e, big, x));
}

/* The polynomial of the quadrant for |x| < 8192: k·pi/2 is subtracted from x in three parts. */
static LLVMValueRef sin_reduced(struct emit *e, LLVMValueRef x, bool cosine)
{
	LLVMBuilderRef b = e->builder;
	LLVMValueRef q, k = emit_math_nearest(e, mul(e, x, emit_math_num(e, x, 0.636619772367581343)), &q);
	LLVMValueRef r = emit_fma(e, k, emit_math_num(e, x, -1.5703125), x);
	r = emit_fma(e, k, emit_math_num(e, x, -4.837512969970703125e-4), r);
	r = emit_fma(e, k, emit_math_num(e, x, -7.54978995489188216e-8), r);
	LLVMValueRef z = mul(e, r, r);
	LLVMValueRef s = emit_fma(e, mul(e, POLY(e, z, -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1), z), r, r);
	LLVMValueRef c = POLY(e, z, 2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2);
	c = emit_math_add(e, emit_fma(e, mul(e, c, z), z, mul(e, z, emit_math_num(e, x, -0.5))), emit_math_num(e, x, 1.0));
	if (cosine)
		q = LLVMBuildAdd(b, q, emit_math_bits(e, x, 1), "");
	LLVMValueRef odd = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, q, emit_math_bits(e, x, 1), ""), emit_math_bits(e, x, 0), "");
	LLVMValueRef sign = LLVMBuildShl(b, LLVMBuildAnd(b, q, emit_math_bits(e, x, 2), ""), emit_math_bits(e, x, 30), "");
	LLVMValueRef y = LLVMBuildSelect(b, odd, c, s, "");
	return to_float(e, LLVMBuildXor(b, to_bits(e, y), sign, ""));
}

static LLVMValueRef any_lane(struct emit *e, LLVMValueRef mask)
{
	if (value_lanes(mask) == 1)
		return mask;
	LLVMTypeRef t = LLVMTypeOf(mask);
	return emit_intrinsic(e, "llvm.vector.reduce.or", &mask, 1, &t, 1);
}

/* For huge arguments and infinities the C library computes all lanes. It differs in the last few bits at most. */
static LLVMValueRef emit_sin(struct emit *e, LLVMValueRef x, bool cosine)
{
	LLVMValueRef huge =
		LLVMBuildFCmp(e->builder, LLVMRealUGE, emit_unary_intrinsic(e, "llvm.fabs", x), emit_math_num(e, x, 8192.0), "");
	LLVMBasicBlockRef from[2] = {0}, slow = emit_block(e, "huge"), join = emit_block(e, "join");
	LLVMValueRef y[2];
	y[0] = sin_reduced(e, x, cosine);
	from[0] = LLVMGetInsertBlock(e->builder);
	LLVMBuildCondBr(e->builder, any_lane(e, huge), slow, join);
	LLVMPositionBuilderAtEnd(e->builder, slow);
	y[1] = cosine ? emit_libm(e, "cosf", "cos", &x, 1) : emit_libm(e, "sinf", "sin", &x, 1);
	from[1] = LLVMGetInsertBlock(e->builder);
	LLVMBuildBr(e->builder, join);
	LLVMPositionBuilderAtEnd(e->builder, join);
	LLVMValueRef phi = LLVMBuildPhi(e->builder, LLVMTypeOf(x), "");
	LLVMAddIncoming(phi, y, from, 2);
	return phi;
}

/* x to the power of 1, 2 or 3. */
static LLVMValueRef emit_products(struct emit *e, LLVMValueRef x, double exponent)
{
	LLVMValueRef y = exponent > 1.0 ? mul(e, x, x) : x;
	return exponent > 2.0 ? mul(e, y, x) : y;
}

LLVMValueRef emit_approximation(struct emit *e, const struct loop_nest *n, const struct loop_expr *x, LLVMValueRef *args)
{
	bool lookup = x->method == METHOD_LOOKUP;
	switch (x->op) {
	case OP_EXP: return emit_exp(e, args[0], lookup);
	case OP_LOG: return emit_log(e, args[0]);
	case OP_TANH: return emit_tanh(e, args[0], lookup);
	case OP_ERF: return emit_erf(e, args[0], lookup);
	case OP_SIN: return emit_sin(e, args[0], false);
	case OP_COS: return emit_sin(e, args[0], true);
	default: return emit_products(e, args[0], n->exprs[x->args[1]].f);
	}
}
