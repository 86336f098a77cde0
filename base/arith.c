#include "base/arith.h"
#include <math.h>
#include <stdbool.h>

static bool signs_differ(double m, double y) { return m != 0 && (m < 0) != (y < 0); }

double arith_float_mod(double x, double y)
{
	double m = fmod(x, y);
	return signs_differ(m, y) ? m + y : m;
}

double arith_float_floordiv(double x, double y)
{
	double m = fmod(x, y), q = rint((x - m) / y) - signs_differ(m, y);
	return y == 0 ? x / y : q == 0 ? copysign(0, x / y) : q;
}

double arith_float_min(double x, double y) { return isnan(x) || x < y ? x : y; }
double arith_float_max(double x, double y) { return isnan(x) || x > y ? x : y; }

int64_t arith_int_mod(int64_t x, int64_t y)
{
	if (y == 0 || y == -1)
		return 0;
	int64_t m = x % y;
	return m && (m < 0) != (y < 0) ? m + y : m;
}

int64_t arith_int_floordiv(int64_t x, int64_t y)
{
	if (y == 0)
		return 0;
	if (y == -1)
		return (int64_t)(0 - (uint64_t)x);
	return x / y - (x % y && (x < 0) != (y < 0));
}

int64_t arith_int_pow(int64_t x, int64_t n)
{
	if (n < 0)
		return x == 1 ? 1 : x == -1 ? (n & 1 ? -1 : 1) : 0;
	uint64_t result = 1, square = (uint64_t)x;
	for (; n; n >>= 1, square *= square)
		if (n & 1)
			result *= square;
	return (int64_t)result;
}

int64_t arith_int_shl(int64_t x, int64_t n) { return n < 0 || n > 63 ? 0 : (int64_t)((uint64_t)x << n); }
int64_t arith_int_shr(int64_t x, int64_t n) { return x >> (n < 0 || n > 63 ? 63 : n); }
