/* Random float32 numbers with vectors: a model without a weights file has billions of them.
 *
 * random_normal rounds sqrt(-2 log u) cos(2 pi v) to double, with the functions of the C library, and an element rounds that to float32. Here the
 * functions are series whose error is below 2^-46 of the result, in any order of operations. If all numbers within 2^-44 round to one float32, it is
 * the element. Otherwise, once in half a million elements, random_normal decides. */
#include <math.h>
#include <string.h>
#include "backend/ir/levels.h"
#include "backend/interp/random.h"

enum { BLOCK = 256 };

static inline double double_of(uint64_t bits)
{
	double v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

static inline uint64_t bits_of(double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof bits);
	return bits;
}

/* x < 2^53 as a double, exact: its halves are the last bits of 2^84 and of 2^52. */
static inline double whole(uint64_t x)
{
	double high = double_of(x >> 32 | bits_of(0x1p84)) - (0x1p84 + 0x1p52);
	return high + double_of((x & 0xffffffffu) | bits_of(0x1p52));
}

/* log x for a normal number x > 0: x = 2^e m with m between sqrt(1/2) and sqrt(2), log m = 2 atanh((m - 1) / (m + 1)). */
static inline double log_of(double x)
{
	const uint64_t root = 0x3fe6a09e667f3bcdu; /* sqrt(1/2) */
	uint64_t power = (bits_of(x) - root + (UINT64_C(2048) << 52)) >> 52;
	double m = double_of(bits_of(x) - ((power - 2048) << 52)), s = (m - 1) / (m + 1), z = s * s;
	double sum =
		1 + z * (1. / 3 +
			 z * (1. / 5 +
			      z * (1. / 7 +
				   z * (1. / 9 +
					z * (1. / 11 + z * (1. / 13 + z * (1. / 15 + z * (1. / 17 + z * (1. / 19 + z * (1. / 21))))))))));
	return (double_of(power | bits_of(0x1p52)) - (0x1p52 + 2048)) * 0x1.62e42fefa39efp-1 + 2 * s * sum;
}

/* cos x for 0 <= x < 8. x - q pi/2 is exact up to its last part: two parts of pi/2 have 33 bits each. */
static inline double cos_of(double x)
{
	double shifted = x * (2 / 3.14159265358979323846) + 0x1.8p52, q = shifted - 0x1.8p52;
	double r = ((x - q * 0x1.921fb544p+0) - q * 0x1.0b4611a6p-34) - q * 0x1.3198a2e037073p-69, z = r * r;
	double c = 1 - z * (1. / 2 -
			    z * (1. / 24 -
				 z * (1. / 720 -
				      z * (1. / 40320 - z * (1. / 3628800 -
							     z * (1. / 479001600 - z * (1. / 87178291200 - z * (1. / 20922789888000))))))));
	double s = r * (1 - z * (1. / 6 -
				 z * (1. / 120 -
				      z * (1. / 5040 - z * (1. / 362880 - z * (1. / 39916800 - z * (1. / 6227020800 -
												    z * (1. / 1307674368000 -
													 z * (1. / 355687428096000)))))))));
	uint64_t quarter = bits_of(shifted), odd = 0 - (quarter & 1), sign = ((quarter + 1) & 2) << 62;
	return double_of(((bits_of(c) & ~odd) | (bits_of(s) & odd)) ^ sign);
}

/* Sets unsure[k] if element k may round to another float32. */
FOR_EACH_LEVEL
static void normals(uint64_t key, uint64_t first, int64_t n, double mean, double deviation, float *restrict out, uint8_t *restrict unsure)
{
	for (int64_t k = 0; k < n; k++) {
		uint64_t counter = 2 * (first + (uint64_t)k);
		double u = 1 - whole(random_bits(key, counter) >> 11) * 0x1p-53, v = whole(random_bits(key, counter + 1) >> 11) * 0x1p-53;
		double part = deviation * (sqrt(-2 * log_of(u)) * cos_of(2 * 3.14159265358979323846 * v)), x = mean + part;
		double error = fabs(part) * 0x1p-44 + fabs(x) * 0x1p-50;
		out[k] = (float)x;
		unsure[k] = (float)(x - error) != (float)(x + error);
	}
}

FOR_EACH_LEVEL
static void uniforms(uint64_t key, uint64_t first, int64_t n, double low, double size, float *restrict out)
{
	for (int64_t k = 0; k < n; k++)
		out[k] = (float)(low + size * (whole(random_bits(key, first + (uint64_t)k) >> 40) * 0x1p-24));
}

void random_normals_float32(uint64_t key, uint64_t first, int64_t n, double mean, double deviation, float *out)
{
	uint8_t unsure[BLOCK];
	for (int64_t done = 0; done < n; done += BLOCK) {
		int64_t some = n - done < BLOCK ? n - done : BLOCK;
		normals(key, first + (uint64_t)done, some, mean, deviation, out + done, unsure);
		for (const uint8_t *at = memchr(unsure, 1, (size_t)some); at; at = memchr(at + 1, 1, (size_t)(unsure + some - at - 1)))
			out[done + (at - unsure)] =
				(float)(mean + deviation * random_normal(key, first + (uint64_t)(done + (at - unsure))));
	}
}

void random_uniforms_float32(uint64_t key, uint64_t first, int64_t n, double low, double high, float *out)
{
	uniforms(key, first, n, low, high - low, out);
}
