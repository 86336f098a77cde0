/* Sizes of kernels that fit their buffers, but not each other: the reader refuses them. */
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include "backend/loops/ir/loops.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"

#define ATTENTION(keys, heads, elem, mask)                                                                                   \
	"unit attention() inputs 4 outputs 1 slots 0 scratch 0\nb0 = input 0 float32[2, 4, 3, 8]\n"                          \
	"b1 = input 1 float32[2, " keys ", 5, 8]\nb2 = input 2 float32[2, " keys ", 5, 6]\nb3 = input 3 " elem "[4, 1, 5]\n" \
	"b4 = output 0 float32[2, 4, 3, 6]\nkernel tri_attention_mask_f32(b0, b1, b2, b3, b4) "                              \
	"dims (batch=2, heads=4, kv_heads=" heads ", queries=3, keys=5, features=8, values=6, " mask ")\n"

#define STEPS "k_batch=80, k_head=40, k_row=8, v_batch=60, v_head=30, v_row=6"

#define CONV(kernel, group, stride, more)                                                                               \
	"unit conv() inputs 1 outputs 1 slots 1 scratch 0\nb0 = input 0 float32[1, 4, 6, 6] as channels_last\n"         \
	"b1 = weight 0 float32[8, " group ", 1, 1] as window_panels\n"                                                  \
	"b2 = output 0 float32[1, 8, 6, 6] as channels_last\nkernel " kernel "(b0, b1, b2) dims (batch=1, channels=4, " \
	"height=6, width=6, out=8, kernel_height=1, kernel_width=1, out_height=6, out_width=6" stride ", group_channels=" group more ")\n"

/* Reads the text. Returns the error, or an empty text. */
static char *read_error(const char *text)
{
	struct arena *a = arena_new(0);
	struct sources *sources = sources_new();
	struct diags *d = diags_new(0);
	char *error = NULL;
	size_t n;
	FILE *out = open_memstream(&error, &n);
	const struct loop_fn *f = loops_read(a, sources_add(sources, "text", text, strlen(text)), d);
	diags_print(d, sources, out, false);
	fclose(out);
	assert_int_equal(f == NULL, n > 0);
	diags_free(d);
	sources_free(sources);
	arena_free(a);
	return error;
}

static void attention(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ATTENTION("2", "2", "float32", STEPS ", mask_heads=4, mask_keys=5"), NULL},
		{ATTENTION("3", "3", "float32",
			   "k_batch=120, k_head=40, k_row=8, v_batch=90, v_head=30, v_row=6, mask_heads=4, mask_keys=5"),
		 "a size that is no multiple of another"},
		{ATTENTION("2", "2", "float32", STEPS ", mask_batch=4, mask_keys=5"), "a size that is neither 1 nor"},
		{ATTENTION("2", "2", "float32", STEPS ", mask_heads=4, mask_queries=5"), "a size that is neither 1 nor"},
		{ATTENTION("2", "2", "bool", STEPS ", mask_heads=4, mask_keys=5, mask_elem=1"), NULL},
		{ATTENTION("2", "2", "float16", STEPS ", mask_heads=4, mask_keys=5, mask_elem=2"),
		 "a mask that is neither float32 nor bool"},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		char *error = read_error(cases[k].text);
		assert_true(cases[k].why ? strstr(error, cases[k].why) != NULL : !*error);
		free(error);
	}
}

/* A case of a record: kernels of one record take other convolutions. */
static void cases_of_record(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{CONV("tri_pointwise_f32", "4", "", ""), NULL},
		{CONV("tri_pointwise_f32", "4", ", stride_width=2", ""), "a kernel for another size"},
		{CONV("tri_conv_f32", "4", ", stride_width=2", ""), NULL},
		{CONV("tri_pointwise_f32", "2", "", ""), "two sizes that should be equal"},
		{CONV("tri_conv_f32", "2", "", ""), NULL},
		{CONV("tri_conv_f32", "4", ", stride_width=0", ""), "a dim of a kernel that cannot be"},
		{CONV("tri_conv_f32", "4", "", ", K=3"), "expected"},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		char *error = read_error(cases[k].text);
		assert_true(cases[k].why ? strstr(error, cases[k].why) != NULL : !*error);
		free(error);
	}
}

int test_loop_sizes(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(attention), cmocka_unit_test(cases_of_record)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
