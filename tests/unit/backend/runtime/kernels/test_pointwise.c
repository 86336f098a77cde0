/* Convolutions with windows of one element at every processor level: the bits of the kernel for any window, for several images, numbers of threads and
 * with an epilogue. */
#include "tests/unit/backend/runtime/kernels/kernels_fixture.h"

static void check_shape(const struct kernels *k, void *const *ctx, struct tri_conv_dims c)
{
	const int64_t *dims = (const void *)&c;
	int64_t positions = c.height * c.width;
	size_t bytes = (size_t)(4 * c.batch * positions * c.out);
	struct problem p = problem_new(c.batch * positions, c.channels, c.out);
	struct guarded want = guarded(bytes), y = guarded(bytes);
	call(k->conv_f32, ctx[0], (void *[]){p.f32.at, p.panels.at, want.at}, dims, NULL);
	for (int i = 0; i < 3; i++) {
		memset(y.at, 0x5a, bytes);
		call(k->pointwise_f32, ctx[i], (void *[]){p.f32.at, p.panels.at, y.at}, dims, NULL);
		assert_memory_equal(y.at, want.at, bytes);
		check_epilogue(k->pointwise_f32, ctx[i], (void *[]){p.f32.at, p.panels.at}, dims, want.at, c.batch, positions, c.out);
	}
	release(want), release(y);
	problem_free(&p);
}

static void check_all(const struct kernels *k, void *const *ctx)
{
	static const int64_t images[] = {1, 1, 2, 3, 9};
	for (int i = 0; i < 60; i++) {
		int64_t height = 1 + rnd() % 20, width = 1 + rnd() % 30, channels = 1 + rnd() % 48;
		check_shape(k, ctx,
			    (struct tri_conv_dims){.batch = images[i % 5],
						   .channels = channels,
						   .height = height,
						   .width = width,
						   .out = 1 + rnd() % (rnd() % 4 ? 40 : 300),
						   .kernel_height = 1,
						   .kernel_width = 1,
						   .out_height = height,
						   .out_width = width,
						   .stride_height = 1,
						   .stride_width = 1,
						   .dilation_height = 1,
						   .dilation_width = 1,
						   .group_channels = channels});
	}
}

static void base_level(void **state) { on_level(RUNTIME_BASE, check_all); }
static void v3_level(void **state) { on_level(RUNTIME_V3, check_all); }
static void vnni_level(void **state) { on_level(RUNTIME_VNNI, check_all); }

int test_pointwise(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(base_level), cmocka_unit_test(v3_level), cmocka_unit_test(vnni_level)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
