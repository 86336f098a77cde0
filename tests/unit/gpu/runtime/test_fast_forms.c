/* Which faster forms a device has, by what it says of itself. */
#include "gpu/runtime/fast_forms.h"
#include "tests/unit/unit.h"

static void forms_of_devices(void **state)
{
#define NVIDIA " -DTRI_SWAP_NVIDIA"
#define AMD " -DTRI_SWAP_AMD"
#define KHR " -DTRI_SWAP_KHR -cl-std=CL3.0"
#define INTEL " -DTRI_SWAP_INTEL"
#define READ " -DTRI_READ_INTEL"
#define MMA_80 " -DTRI_DOT_NVIDIA -DTRI_MMA_NVIDIA=80"
#define MMA_75 " -DTRI_DOT_NVIDIA -DTRI_MMA_NVIDIA=75"
#define DOT " -DTRI_DOT_KHR"
#define C_3 " -cl-std=CL3.0"
#define BOTH(form, swap) form swap, form
#define SUB_GROUPS "cl_khr_fp16 cl_intel_subgroups cl_intel_subgroups_short cl_intel_required_subgroup_size "
	static const struct {
		struct tri_cl_features of;
		const char *options[13];
	} devices[] = {
		{{0x10de, 8, 0, "NVIDIA A100", "cl_khr_fp64 cl_khr_integer_dot_product", 12, 0},
		 {BOTH(MMA_80, NVIDIA), BOTH(MMA_75, NVIDIA), BOTH(" -DTRI_DOT_NVIDIA", NVIDIA), BOTH(DOT, NVIDIA), BOTH("", NVIDIA)}},
		{{0x10de, 7, 5, "Tesla T4", "", 30, 0}, {BOTH(MMA_75, NVIDIA), BOTH(" -DTRI_DOT_NVIDIA", NVIDIA), BOTH("", NVIDIA)}},
		{{0x10de, 7, 0, "Tesla V100", "", 30, 0}, {BOTH(" -DTRI_DOT_NVIDIA", NVIDIA), BOTH("", NVIDIA)}},
		{{0x10de, 6, 1, "GeForce GTX 1080", "", 12, 0}, {BOTH(" -DTRI_DOT_NVIDIA", NVIDIA), BOTH("", NVIDIA)}},
		{{0x10de, 6, 0, "Tesla P100", "", 12, 0}, {BOTH("", NVIDIA)}},
		{{0x1002, 0, 0, "gfx906:sramecc+:xnack-", "", 20, 0}, {BOTH(" -DTRI_DOT_AMD", AMD), BOTH("", AMD)}},
		{{0x1002, 0, 0, "gfx1030", "", 20, 0}, {BOTH(" -DTRI_DOT_AMD", AMD), BOTH("", AMD)}},
		{{0x1002, 0, 0, "gfx1010", "", 20, 0}, {BOTH("", AMD)}},
		{{0x1002, 0, 0, "gfx1100", "", 20, 0}, {BOTH(" -DTRI_DOT_AMD_11", AMD), BOTH("", AMD)}},
		{{0x1002, 0, 0, "Hawaii", "", 12, 0}, {""}},
		{{0x1002, 0, 0, "AMD Radeon RX 6800", "cl_khr_subgroup_shuffle", 30, 0}, {KHR, ""}},
		{{0x8086, 0, 0, "Intel(R) Arc(TM) A770", SUB_GROUPS "cl_khr_integer_dot_product cl_khr_subgroup_shuffle", 30, 8 | 16 | 32},
		 {DOT INTEL READ C_3, DOT INTEL C_3, DOT READ C_3, DOT C_3, BOTH(DOT INTEL, READ), BOTH(DOT, READ), BOTH(INTEL, READ),
		  BOTH("", READ)}},
		{{0x8086, 0, 0, "Intel(R) HD Graphics", SUB_GROUPS, 20, 8 | 16}, {BOTH(INTEL, READ), BOTH("", READ)}},
		{{0x8086, 0, 0, "of few lanes", SUB_GROUPS "cl_khr_subgroup_shuffle", 30, 4 | 8}, {KHR, ""}},
		{{0x8086, 0, 0, "of one size", "cl_intel_subgroups cl_intel_subgroups_short", 30, 16}, {""}},
		{{0x13b5, 0, 0, "Mali-G710", "cl_khr_subgroup_shuffle cl_khr_integer_dot_product", 30, 0},
		 {DOT KHR, DOT C_3, DOT KHR, DOT, KHR, ""}},
		{{0x13b5, 0, 0, "of relative ones", "cl_khr_subgroup_shuffle_relative", 30, 0}, {""}},
		{{0x5143, 0, 0, "of OpenCL 2.0", "cl_khr_subgroup_shuffle cl_khr_integer_dot_product", 20, 0}, {DOT, ""}},
		{{0x8086, 0, 0, "gfx906", "cl_khr_integer_dot_product", 12, 0}, {DOT, ""}},
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
