/* Which faster forms a device has, by what it says of itself. */
#include "gpu/runtime/fast_forms.h"
#include "tests/unit/unit.h"

static void forms_of_devices(void **state)
{
#define NVIDIA " -DTRI_SWAP_NVIDIA"
#define AMD " -DTRI_SWAP_AMD"
#define MMA_80 " -DTRI_DOT_NVIDIA -DTRI_MMA_NVIDIA=80"
#define MMA_75 " -DTRI_DOT_NVIDIA -DTRI_MMA_NVIDIA=75"
#define BOTH(form, swap) form swap, form
	static const struct {
		struct tri_cl_features of;
		const char *options[11];
	} devices[] = {
		{{0x10de, 8, 0, "NVIDIA A100", "cl_khr_fp64 cl_khr_integer_dot_product"},
		 {BOTH(MMA_80, NVIDIA), BOTH(MMA_75, NVIDIA), BOTH(" -DTRI_DOT_NVIDIA", NVIDIA), BOTH(" -DTRI_DOT_KHR", NVIDIA),
		  BOTH("", NVIDIA)}},
		{{0x10de, 7, 5, "Tesla T4", ""}, {BOTH(MMA_75, NVIDIA), BOTH(" -DTRI_DOT_NVIDIA", NVIDIA), BOTH("", NVIDIA)}},
		{{0x10de, 7, 0, "Tesla V100", ""}, {BOTH(" -DTRI_DOT_NVIDIA", NVIDIA), BOTH("", NVIDIA)}},
		{{0x10de, 6, 1, "GeForce GTX 1080", ""}, {BOTH(" -DTRI_DOT_NVIDIA", NVIDIA), BOTH("", NVIDIA)}},
		{{0x10de, 6, 0, "Tesla P100", ""}, {BOTH("", NVIDIA)}},
		{{0x1002, 0, 0, "gfx906:sramecc+:xnack-", ""}, {BOTH(" -DTRI_DOT_AMD", AMD), BOTH("", AMD)}},
		{{0x1002, 0, 0, "gfx1030", ""}, {BOTH(" -DTRI_DOT_AMD", AMD), BOTH("", AMD)}},
		{{0x1002, 0, 0, "gfx1010", ""}, {BOTH("", AMD)}},
		{{0x1002, 0, 0, "gfx1100", ""}, {BOTH(" -DTRI_DOT_AMD_11", AMD), BOTH("", AMD)}},
		{{0x1002, 0, 0, "Hawaii", ""}, {""}},
		{{0x8086, 0, 0, "Intel(R) Arc(TM) A770", "cl_khr_fp16 cl_khr_integer_dot_product"}, {" -DTRI_DOT_KHR", ""}},
		{{0x8086, 0, 0, "gfx906", "cl_khr_integer_dot_product"}, {" -DTRI_DOT_KHR", ""}},
	};
	char option[TRI_CL_FORM];
	for (uint32_t i = 0; i < sizeof devices / sizeof *devices; i++)
		for (uint32_t n = 0; n == 0 || *devices[i].options[n - 1]; n++) {
			tri_cl_form_option(&devices[i].of, n, option);
			assert_string_equal(option, devices[i].options[n]);
		}
}

int test_fast_forms(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(forms_of_devices)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
