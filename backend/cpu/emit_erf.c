/* erf for float32 vectors. With lookups in registers it is a polynomial around the nearest of PIECES points; otherwise 1 - exp of a polynomial (after N.
 * Juffa), which is 27 multiplications in place of 4. loops/ir/approximations.def has the errors. */
#include "backend/cpu/emit.h"

enum { PIECES = 32, TERMS = 5 };

/* Coefficient k of the polynomial around i / 8 is pieces[k][i]; the last piece is 1. Each has the least greatest relative error among those with a
 * rounded constant term. */
static const float pieces[TERMS][PIECES] = {{0,
					     0.140316203f,
					     0.276326388f,
					     0.404116899f,
					     0.520499885f,
					     0.623240888f,
					     0.711155653f,
					     0.784075081f,
					     0.842700779f,
					     0.888388216f,
					     0.92290014f,
					     0.948170066f,
					     0.966105163f,
					     0.978443742f,
					     0.986671686f,
					     0.99199003f,
					     0.995322287f,
					     0.997345984f,
					     0.998537302f,
					     0.999217033f,
					     0.999593019f,
					     0.999794602f,
					     0.999899387f,
					     0.999952137f,
					     0.999977887f,
					     0.999990106f,
					     0.999995708f,
					     0.999998212f,
					     0.999999285f,
					     0.999999702f,
					     0.999999881f,
					     1},
					    {1.12837911f,     1.11088479f,     1.06001377f,     0.980352759f,
					     0.87878257f,     0.763499558f,    0.642931104f,    0.524745047f,
					     0.415107489f,    0.318273962f,    0.236521125f,    0.170359775f,
					     0.118930295f,    0.0804722607f,   0.0527749956f,   0.0335458256f,
					     0.0206669848f,   0.0123408204f,   0.00714231888f,  0.00400647614f,
					     0.00217827875f,  0.00114787056f,  0.000586276874f, 0.000290226948f,
					     0.000139251119f, 6.47583583e-05f, 2.91884189e-05f, 1.27514213e-05f,
					     5.39926623e-06f, 2.2158431e-06f,  8.81396261e-07f, 0},
					    {6.86769363e-06f,  -0.138854593f,    -0.265000135f,    -0.367615163f,
					     -0.439403713f,    -0.477195203f,    -0.482231051f,    -0.45918411f,
					     -0.415091783f,    -0.358037442f,    -0.295668989f,    -0.234235778f,
					     -0.178427294f,    -0.130784586f,    -0.0923855454f,   -0.0628437325f,
					     -0.0413767323f,   -0.0262495019f,   -0.016106315f,    -0.00945918448f,
					     -0.00538890529f,  -0.00296949572f,  -0.0016306045f,   -0.00081908732f,
					     -0.000371818489f, -0.000207063495f, -0.000117497919f, -9.76809315e-05f,
					     -7.495311e-05f,   -2.22823087e-06f, 7.73177453e-06f,  0},
					    {-0.376676053f,   -0.358235121f,   -0.308788419f,   -0.234734237f,
					     -0.146457776f,   -0.0557570532f,  0.0266484581f,   0.0927381888f,
					     0.138154522f,    0.162274703f,    0.167398527f,    0.157845885f,
					     0.138719127f,    0.114833593f,    0.0901700333f,   0.0674654245f,
					     0.0482494459f,   0.0330634601f,   0.0217463337f,   0.0137493834f,
					     0.00836932473f,  0.00490449369f,  0.00276647508f,  0.0015077506f,
					     0.000793066109f, 0.000401625293f, 0.000197039379f, 9.32264884e-05f,
					     4.26183142e-05f, 1.8829347e-05f,  8.04188312e-06f, 0},
					    {0.0140823564f,  0.0669358745f,   0.126002863f,    0.162598044f,
					     0.185688034f,   0.17798546f,     0.157843173f,    0.119326115f,
					     0.0660899952f,  0.0237328541f,   -0.00234962231f, -0.0322376825f,
					     -0.0368022546f, -0.0453108847f,  -0.0408027545f,  -0.0558671057f,
					     -0.0239313021f, -0.0202908982f,  -0.0102067627f,  -0.0272558071f,
					     -0.0230366923f, -0.0165158678f,  0.00133775058f,  -0.00576698128f,
					     -0.0127632944f, 0.000626428926f, 0.0054850704f,   0.0137951886f,
					     0.014229632f,   -0.00151181826f, -0.00282909721f, 0}};

static LLVMValueRef emit_erf_num(struct emit *e, LLVMValueRef like, double v)
{
	return emit_splat(e, LLVMConstReal(e->f32, v), value_lanes(like));
}

static LLVMValueRef emit_erf_bits(struct emit *e, LLVMValueRef x)
{
	return LLVMBuildBitCast(e->builder, x, type_lanes(e->i32, value_lanes(x)), "");
}

static LLVMValueRef emit_erf_greater(struct emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef yes, LLVMValueRef no)
{
	return LLVMBuildSelect(e->builder, LLVMBuildFCmp(e->builder, LLVMRealOGT, a, b, ""), yes, no, "");
}

static LLVMValueRef emit_erf_copy_sign(struct emit *e, LLVMValueRef magnitude, LLVMValueRef sign)
{
	LLVMTypeRef t = LLVMTypeOf(sign);
	LLVMValueRef args[] = {magnitude, sign};
	return emit_intrinsic(e, "llvm.copysign", args, 2, &t, 1);
}

static LLVMValueRef erf_by_pieces(struct emit *e, LLVMValueRef x)
{
	const double magic = 1572864,
		     last = (PIECES - 1) / 8.0; /* adding magic rounds to a multiple of 1/8, whose number is then in the low bits */
	LLVMBuilderRef b = e->builder;
	LLVMValueRef t = emit_unary_intrinsic(e, "llvm.fabs", x);
	t = emit_erf_greater(e, t, emit_erf_num(e, x, last), emit_erf_num(e, x, last), t);
	LLVMValueRef shifted = LLVMBuildFAdd(b, t, emit_erf_num(e, x, magic), ""), i = emit_erf_bits(e, shifted);
	LLVMValueRef u = LLVMBuildFSub(b, t, LLVMBuildFSub(b, shifted, emit_erf_num(e, x, magic), ""), "");
	LLVMValueRef p = emit_lookup(e, pieces[TERMS - 1], PIECES, i);
	for (uint32_t k = TERMS - 1; k-- > 0;)
		p = emit_fma(e, p, u, emit_lookup(e, pieces[k], PIECES, i));
	return emit_erf_copy_sign(e, p, x);
}

/* ---- without them ---- */

/* c[0]·x^(n-1) + … + c[n-1] */
static LLVMValueRef emit_erf_poly(struct emit *e, LLVMValueRef x, const double *c, uint32_t n)
{
	LLVMValueRef p = emit_erf_num(e, x, c[0]);
	for (uint32_t k = 1; k < n; k++)
		p = emit_fma(e, p, x, emit_erf_num(e, x, c[k]));
	return p;
}
#define POLY(e, x, ...) emit_erf_poly(e, x, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static LLVMValueRef erf_by_exp(struct emit *e, LLVMValueRef x)
{
	LLVMBuilderRef b = e->builder;
	LLVMValueRef t = emit_unary_intrinsic(e, "llvm.fabs", x), s = LLVMBuildFMul(b, x, x, "");
	LLVMValueRef r = POLY(e, t, -1.72853470e-5, 3.83197126e-4);
	r = emit_fma(e, r, s, POLY(e, t, -3.88396438e-3, 2.42546219e-2));
	r = emit_fma(e, r, t, emit_erf_num(e, x, -1.06777877e-1));
	r = emit_fma(e, r, t, emit_erf_num(e, x, -6.34846687e-1));
	r = emit_fma(e, r, t, emit_erf_num(e, x, -1.28717512e-1));
	r = emit_fma(e, r, t, LLVMBuildFNeg(b, t, ""));
	/* For large |x| the polynomial does not fall any more: erf is 1 there. */
	r = emit_erf_greater(e, t, emit_erf_num(e, x, 4.0), emit_erf_num(e, x, -104.0), r);
	LLVMValueRef big = emit_erf_copy_sign(e, LLVMBuildFSub(b, emit_erf_num(e, x, 1.0), emit_exp(e, r, false), ""), x);
	LLVMValueRef p = POLY(e, s, -5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1);
	return emit_erf_greater(e, t, emit_erf_num(e, x, 0.927734375), big, emit_fma(e, p, x, x));
}

LLVMValueRef emit_erf(struct emit *e, LLVMValueRef x, bool lookup) { return lookup ? erf_by_pieces(e, x) : erf_by_exp(e, x); }
