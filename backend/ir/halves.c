#include "backend/ir/halves.h"
#include <string.h>
#include "backend/ir/levels.h"

static inline float float_of(uint32_t bits)
{
	float v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

static inline uint32_t halves_bits_of(float v)
{
	uint32_t bits;
	memcpy(&bits, &v, sizeof bits);
	return bits;
}

/* NaN has one pattern, with either sign. */
FOR_EACH_LEVEL
void halves_from_bfloat16(const uint16_t *in, float *restrict out, int64_t n)
{
	for (int64_t k = 0; k < n; k++) {
		uint32_t bits = (uint32_t)in[k] << 16, size = bits & 0x7fffffffu;
		out[k] = float_of(size > 0x7f800000u ? (bits & 0x80000000u) | 0x7fc00000u : bits);
	}
}

/* With the exponent of a float32 the number is 2^-112 times as large. */
FOR_EACH_LEVEL
void halves_from_float16(const uint16_t *in, float *restrict out, int64_t n)
{
	for (int64_t k = 0; k < n; k++) {
		uint32_t size = in[k] & 0x7fffu, sign = (uint32_t)(in[k] & 0x8000u) << 16;
		uint32_t number = halves_bits_of(float_of(size << 13) * 0x1p112f), special = size > 0x7c00 ? 0x7fc00000u : 0x7f800000u;
		out[k] = float_of(sign | (size >= 0x7c00 ? special : number));
	}
}

/* Half to even: the lowest bit that stays decides a tie. */
FOR_EACH_LEVEL
void halves_to_bfloat16(const float *in, uint16_t *restrict out, int64_t n)
{
	for (int64_t k = 0; k < n; k++) {
		uint32_t bits = halves_bits_of(in[k]), rounded = bits + 0x7fffu + (bits >> 16 & 1);
		out[k] = (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded >> 16);
	}
}
