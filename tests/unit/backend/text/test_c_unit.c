/* Units printed as C, compared with golden/c/<name>.c, which TRIB_BLESS=1 rewrites; and the parts that a text gets. */
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/loops/ir/loops.h"
#include "backend/text/c/parts.h"
#include "backend/text/c/unit.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/source.h"

static void assert_golden(const char *name, const char *text)
{
	char path[512], *want = NULL;
	size_t len;
	snprintf(path, sizeof path, "%s/tests/golden/c/%s.c", TRIB_SOURCE_DIR, name);
	if (getenv("TRIB_BLESS"))
		assert_true(os_write_atomic(path, text, strlen(text), 0644, false));
	assert_true(os_read_file(path, 0, &want, &len));
	assert_string_equal(text, want);
	free(want);
}

static void print_loops(const char *name)
{
	struct arena *a = arena_new(0);
	struct sources *sources = sources_new();
	struct diags *d = diags_new(0);
	struct buf out = {0};
	char path[512], *text;
	size_t len;
	snprintf(path, sizeof path, "%s/tests/golden/loops/%s.loops", TRIB_SOURCE_DIR, name);
	assert_true(os_read_file(path, 0, &text, &len));
	const struct loop_fn *f = loops_read(a, sources_add(sources, path, text, len), d);
	diags_print(d, sources, stderr, false);
	assert_non_null(f);
	c_unit_put(f, &out);
	assert_golden(name, out.at);
	buf_free(&out);
	free(text);
	diags_free(d);
	sources_free(sources);
	arena_free(a);
}

/* Nests and kernels with an epilogue; a block with a frame and an inner block; checks of sizes; a workspace in scratch memory. */
static void units(void **state)
{
	print_loops("several");
	print_loops("nested");
	print_loops("checks");
	print_loops("scratch");
}

static uint32_t count(const char *text, const char *word)
{
	uint32_t n = 0;
	for (const char *at = text; (at = strstr(at, word)); at++)
		n++;
	return n;
}

/* Only what is named, each once and before its users, for the types that are named. */
static void parts(void **state)
{
	struct buf out = {0};
	c_parts_put("v = tri_pow_int16_t(a, b) + tri_mod_float(c, d); /* tri_unknown */", NULL, &out);
	const char *mul = strstr(out.at, "static int16_t tri_mul_int16_t("), *power = strstr(out.at, "static int16_t tri_power_int16_t("),
		   *pow = strstr(out.at, "static int16_t tri_pow_int16_t(");
	assert_true(mul && power && pow && mul < power && power < pow);
	assert_non_null(strstr(out.at, "const float r = fmodf(a, b);"));
	assert_int_equal(count(out.at, "static "), 4);
	assert_null(strchr(out.at, '@'));
	buf_clear(&out);
	c_parts_put("tri_sort_f64(io[0], scratch, io[1], n0, 4, 0)", NULL, &out);
	assert_non_null(strstr(out.at, "const double *x = (const double *)px + m * length;"));
	assert_int_equal(count(out.at, "static "), 2);
	buf_free(&out);
}

/* The source of a kernel with an epilogue has no definitions of the hooks. */
static void source_of_a_kernel(void **state)
{
	struct buf out = {0};
	c_source(NULL, NULL, &(struct loop_kernel){.kernel = KERNEL_matmul_i8_trit2}, 0, &out);
	assert_int_equal(strncmp(out.at, "static void TRI_NAME(", 21), 0);
	assert_int_equal(count(out.at, "#define"), 0);
	assert_int_equal(count(out.at, "#undef"), 4);
	buf_free(&out);
}

int test_c_unit(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(units), cmocka_unit_test(parts), cmocka_unit_test(source_of_a_kernel)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
