/* Private to this folder: the numbers that random tensors consist of. Element k is a hash of (seed, stream, k), as in SplitMix64. There is no state,
 * so elements may be computed in any order. */
#ifndef TRIB_BACKEND_INTERP_RANDOM_H
#define TRIB_BACKEND_INTERP_RANDOM_H
#include <stdint.h>

static inline uint64_t random_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ x >> 27) * 0x94D049BB133111EBull;
	return x ^ x >> 31;
}

static inline uint64_t random_bits(uint64_t key, uint64_t counter) { return random_mix(key + (counter + 1) * 0x9E3779B97F4A7C15ull); }

/* Returns number k of the standard normal distribution, by the Box-Muller transform. */
double random_normal(uint64_t key, uint64_t k);
/* Store elements first … first+n-1 of tensors of float32 or trits, with vectors. The result is that of one element at a time. */
void random_normals_float32(uint64_t key, uint64_t first, int64_t n, double mean, double deviation, float *out);
void random_trits(uint64_t key, uint64_t first, int64_t n, double zeros, int8_t *out);
void random_uniforms_float32(uint64_t key, uint64_t first, int64_t n, double low, double high, float *out);
#endif
