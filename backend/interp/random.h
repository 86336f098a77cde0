/* The numbers that random tensors consist of. Element k is a hash of (seed, stream, k), as in SplitMix64. There is no state, so elements may
 * be computed in any order. Only operations that IEEE 754 rounds correctly are used, in one order: so every machine has the same numbers. */
#ifndef TRIB_BACKEND_INTERP_RANDOM_H
#define TRIB_BACKEND_INTERP_RANDOM_H
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "backend/ir/ir.h"

static inline uint64_t random_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ x >> 27) * 0x94D049BB133111EBull;
	return x ^ x >> 31;
}

static inline uint64_t random_bits(uint64_t key, uint64_t counter) { return random_mix(key + (counter + 1) * 0x9E3779B97F4A7C15ull); }

static inline double random_double_of(uint64_t bits)
{
	double v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

static inline uint64_t random_bits_of(double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof bits);
	return bits;
}

/* x < 2^53 as a double, exact: its halves are the last bits of 2^84 and of 2^52. */
static inline double random_whole(uint64_t x)
{
	double high = random_double_of(x >> 32 | random_bits_of(0x1p84)) - (0x1p84 + 0x1p52);
	return high + random_double_of((x & 0xffffffffu) | random_bits_of(0x1p52));
}

/* log x for a normal number x > 0: x = 2^e m with m between sqrt(1/2) and sqrt(2), log m = 2 atanh((m - 1) / (m + 1)). */
static inline double random_log(double x)
{
	const uint64_t root = 0x3fe6a09e667f3bcdu; /* sqrt(1/2) */
	uint64_t power = (random_bits_of(x) - root + (UINT64_C(2048) << 52)) >> 52;
	double m = random_double_of(random_bits_of(x) - ((power - 2048) << 52)), s = (m - 1) / (m + 1), z = s * s;
	double sum =
		1 + z * (1. / 3 +
			 z * (1. / 5 +
			      z * (1. / 7 +
				   z * (1. / 9 +
					z * (1. / 11 + z * (1. / 13 + z * (1. / 15 + z * (1. / 17 + z * (1. / 19 + z * (1. / 21))))))))));
	return (random_double_of(power | random_bits_of(0x1p52)) - (0x1p52 + 2048)) * 0x1.62e42fefa39efp-1 + 2 * s * sum;
}

/* cos x for 0 <= x < 8. x - q pi/2 is exact up to its last part: two parts of pi/2 have 33 bits each. */
static inline double random_cos(double x)
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
	uint64_t quarter = random_bits_of(shifted), odd = 0 - (quarter & 1), sign = ((quarter + 1) & 2) << 62;
	return random_double_of(((random_bits_of(c) & ~odd) | (random_bits_of(s) & odd)) ^ sign);
}

/* Returns a number in [0, 1) with so many bits. */
static inline double random_uniform(uint64_t key, uint64_t counter, int bits)
{
	return random_whole(random_bits(key, counter) >> (64 - bits)) * (1.0 / (double)(UINT64_C(1) << bits)); /* exact: a power of two */
}

/* Returns number k of the standard normal distribution, by the Box-Muller transform. */
static inline double random_normal(uint64_t key, uint64_t k)
{
	double u = 1 - random_uniform(key, 2 * k, 53), v = random_uniform(key, 2 * k + 1, 53);
	return sqrt(-2 * random_log(u)) * random_cos(2 * 3.14159265358979323846 * v);
}

/* Returns the key of the numbers of one RANDOM. */
uint64_t random_key(const struct ir_random *r, uint64_t seed);
/* Stores elements first … first+n-1. Balanced trits: all of them. */
void random_elements(const struct ir_random *r, uint64_t seed, int64_t first, int64_t n, dtype elem, void *out);
#endif
