/* Conversions of arrays of 16-bit floats against those of one element. */
#include "backend/ir/halves.h"
#include "tests/unit/unit.h"
#include <math.h>
#include <string.h>
#include "backend/ir/tensor.h"

enum { ALL = 1 << 16 };

static void every_half_is_widened(void **state)
{
	static uint16_t in[ALL];
	static float out[2][ALL];
	for (uint32_t k = 0; k < ALL; k++)
		in[k] = (uint16_t)k;
	halves_from_bfloat16(in, out[0], ALL);
	halves_from_float16(in, out[1], ALL);
	for (uint32_t k = 0; k < ALL; k++) {
		float want[2] = {(float)bfloat16_value((uint16_t)k), (float)float16_value((uint16_t)k)};
		assert_memory_equal(&out[0][k], &want[0], sizeof(float));
		assert_memory_equal(&out[1][k], &want[1], sizeof(float));
	}
}

/* Around each half, and midway between two. */
static void float32_is_rounded(void **state)
{
	enum { OFFSETS = 9 };
	static const uint32_t offsets[OFFSETS] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x4000, 0xc000, 2};
	static float in[OFFSETS];
	uint16_t out[OFFSETS];
	for (uint32_t k = 0; k < ALL; k++) {
		for (int i = 0; i < OFFSETS; i++) {
			uint32_t bits = (k << 16) + offsets[i];
			memcpy(&in[i], &bits, sizeof bits);
		}
		halves_to_bfloat16(in, out, OFFSETS);
		for (int i = 0; i < OFFSETS; i++)
			assert_int_equal(out[i], bfloat16_bits((double)in[i]));
	}
}

int test_halves(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_half_is_widened),
		cmocka_unit_test(float32_is_rounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
