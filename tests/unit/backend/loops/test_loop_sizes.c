/* Sizes of kernels that fit their buffers, but not each other: the reader refuses them. */
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include "backend/loops/ir/loops.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"

#define ATTENTION(keys, heads, mask)                                                                                        \
	"unit attention() inputs 4 outputs 1 slots 0 scratch 0\nb0 = input 0 float32[2, 4, 3, 8]\n"                         \
	"b1 = input 1 float32[2, " keys ", 5, 8]\nb2 = input 2 float32[2, " keys ", 5, 6]\nb3 = input 3 float32[4, 1, 5]\n" \
	"b4 = output 0 float32[2, 4, 3, 6]\nkernel tri_attention_mask_f32(b0, b1, b2, b3, b4) "                             \
	"dims (2, 4, " heads ", 3, 5, 8, 6, 0, 0, " mask ", 0)\n"

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
		{ATTENTION("2", "2", "80, 40, 8, 60, 30, 6, 0, 0, 1, 4, 1, 5"), NULL},
		{ATTENTION("3", "3", "120, 40, 8, 90, 30, 6, 0, 0, 1, 4, 1, 5"), "heads of queries that do not share keys"},
		{ATTENTION("2", "2", "80, 40, 8, 60, 30, 6, 0, 0, 4, 1, 1, 5"), "a mask of another size"},
		{ATTENTION("2", "2", "80, 40, 8, 60, 30, 6, 0, 0, 1, 4, 5, 1"), "a mask of another size"},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		char *error = read_error(cases[k].text);
		assert_true(cases[k].why ? strstr(error, cases[k].why) != NULL : !*error);
		free(error);
	}
}

int test_loop_sizes(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(attention)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
