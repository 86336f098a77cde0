/* Both formats differ only in the digits of the significand and the least exponent. */
#include "base/half.h"
#include <math.h>

/* The nearest float with `digits` bits of significand whose least exponent (of the lowest normal) is `low`; ties to even. */
static double round_to(double v, int digits, int low)
{
	int e;
	frexp(v, &e); /* |v| in [2^(e-1), 2^e) */
	if (e < low + 1)
		e = low + 1;
	double unit = ldexp(1.0, e - digits);
	return copysign(nearbyint(v / unit) * unit, v); /* the quotient is exact: a power of two */
}

/* Sign, then exponent and significand as one integer, for a value that the format can hold exactly. */
static uint16_t half_pack(double v, int digits, int low)
{
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	v = fabs(v);
	int e;
	frexp(v, &e);
	if (v == 0 || e < low + 1)
		return sign | (uint16_t)ldexp(v, digits - 1 - low);
	uint16_t fraction = (uint16_t)(ldexp(v, digits - e) - ldexp(1.0, digits - 1));
	return sign | (uint16_t)((e - low) << (digits - 1)) | fraction;
}

static uint16_t half_bits_of(double v, int digits, int low, uint16_t infinity, double limit)
{
	if (isnan(v))
		return (uint16_t)(infinity | 1 << (digits - 2));
	if (isinf(v))
		return (uint16_t)((v < 0 ? 0x8000 : 0) | infinity);
	double r = round_to(v, digits, low);
	if (fabs(r) > limit)
		return (uint16_t)((v < 0 ? 0x8000 : 0) | infinity);
	return half_pack(r, digits, low);
}

static double half_value_of(uint16_t bits, int digits, int low)
{
	int exponents = 16 - digits; /* bits of the exponent */
	int e = bits >> (digits - 1) & ((1 << exponents) - 1), fraction = bits & ((1 << (digits - 1)) - 1);
	double v;
	if (e == (1 << exponents) - 1)
		v = fraction ? NAN : INFINITY;
	else if (!e)
		v = ldexp(fraction, low - digits + 1);
	else
		v = ldexp(fraction + (1 << (digits - 1)), e - 1 + low - digits + 1);
	return bits & 0x8000 ? -v : v;
}

uint16_t float16_bits(double v) { return half_bits_of(v, 11, -14, 0x7c00, 65504.0); }
double float16_value(uint16_t bits) { return half_value_of(bits, 11, -14); }
uint16_t bfloat16_bits(double v) { return half_bits_of(v, 8, -126, 0x7f80, 3.3895313892515355e38); }
double bfloat16_value(uint16_t bits) { return half_value_of(bits, 8, -126); }
