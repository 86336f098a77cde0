/* Hash and verifier of the tensor IR. Text and back is tested by the golden files and the fuzz target. */
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>
#include "backend/ir/ir.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/source.h"

struct fixture {
	struct arena *a;
	struct sources *s;
	struct diags *d;
};

static struct ir_fn *read(struct fixture *x, const char *text)
{
	return ir_read(x->a, sources_add(x->s, "t.ir", text, strlen(text)), x->d);
}

static hash128 hash_of(struct fixture *x, const char *text)
{
	struct ir_fn *f = read(x, text);
	if (!f)
		fail_msg("%s", diags_at(x->d, 0)->message);
	return ir_hash(f);
}

static void hash_knows_no_names_of_symbols(void **state)
{
	struct fixture *x = *state;
	hash128 n = hash_of(x, "fn f(N)\nin 0 int8[N, N + 1]\n%0 = input 0 : int8[N, N + 1]\nout %0\n");
	hash128 m = hash_of(x, "fn f(M)\nin 0 int8[M, M + 1]\n%0 = input 0 : int8[M, M + 1]\nout %0\n");
	hash128 other = hash_of(x, "fn f(M)\nin 0 int8[M, M + 2]\n%0 = input 0 : int8[M, M + 2]\nout %0\n");
	assert_true(hash_eq(n, m));
	assert_false(hash_eq(n, other));
}

static void hash_sees_every_attribute(void **state)
{
	struct fixture *x = *state;
	static const char *const texts[] = {
		"fn f()\n%0 = const {1, 2} : int8[2]\nout %0\n",
		"fn f()\n%0 = const {1, 3} : int8[2]\nout %0\n",
		"fn f()\n%0 = iota 0 : int8[2, 2]\nout %0\n",
		"fn f()\n%0 = iota 1 : int8[2, 2]\nout %0\n",
		"fn f()\n%0 = random normal seed 1 stream 0 params [0, 1] : float32[2]\nout %0\n",
		"fn f()\n%0 = random normal seed 1 stream 1 params [0, 1] : float32[2]\nout %0\n",
		"fn f()\n%0 = random normal seed 1 stream 0 params [0, 2] : float32[2]\nout %0\n",
		"fn f()\n%0 = iota 0 : int8[4]\n%1 = slice %0 start [0] step [1] : int8[2]\nout %1\n",
		"fn f()\n%0 = iota 0 : int8[4]\n%1 = slice %0 start [1] step [1] : int8[2]\nout %1\n",
		"fn f()\n%0 = iota 0 : int8[4]\n%1 = slice %0 start [0] step [2] : int8[2]\nout %1\n",
		"fn f()\n%0 = iota 0 : int8[2, 2]\n%1 = reduce_sum %0 dims [0] : int8[2]\nout %1\n",
		"fn f()\n%0 = iota 0 : int8[2, 2]\n%1 = reduce_sum %0 dims [1] : int8[2]\nout %1\n",
		"fn f()\n%0 = dim (3) : int64[]\nout %0\n",
		"fn f()\n%0 = dim (4) : int64[]\nout %0\n",
		"fn g()\n%0 = dim (4) : int64[]\nout %0\n",
	};
	enum { N = sizeof texts / sizeof *texts };
	hash128 seen[N];
	for (int k = 0; k < N; k++) {
		seen[k] = hash_of(x, texts[k]);
		for (int j = 0; j < k; j++)
			assert_false(hash_eq(seen[j], seen[k]));
	}
}

static void the_verifier_refuses(void **state)
{
	struct fixture *x = *state;
	static const struct {
		const char *line, *why;
	} cases[] = {
		{"%1 = add %0 %0 : int8[3]", "rank"},
		{"%1 = add %0 %0 : int16[2, 3]", "element type"},
		{"%1 = sqrt %0 : int8[2, 3]", "element type"},
		{"%1 = not %0 : int8[2, 3]", "element type"},
		{"%1 = lt %0 %0 : int8[2, 3]", "element type"},
		{"%1 = matmul %0 %0 : int32[2, 3]", "inner"},
		{"%1 = reshape %0 : int8[7]", "count"},
		{"%1 = transpose %0 perm [0, 0] : int8[2, 2]", "permutation"},
		{"%1 = transpose %0 perm [1, 0] : int8[2, 3]", "shape"},
		{"%1 = broadcast %0 : int8[3, 3]", "neither"},
		{"%1 = slice %0 start [0, 1] step [1, 2] : int8[2, 2]", "out of range"},
		{"%1 = concat %0 %0 1 : int8[2, 5]", "shape"},
		{"%1 = gather %0 %0 : int8[2, 3]", "rank"},
		{"%1 = reduce_sum %0 dims [2] : int8[2, 3]", "mask"},
		{"%1 = argmax %0 dims [1] : int8[2]", "element type"},
		{"%1 = input 1 : int8[2, 3]", "not declared"},
		{"%1 = result %0 0 : int8[2, 3]", "must be a call"},
		{"%1 = iota 2 : int8[2, 3]", "axis"},
		{"%1 = iota 0 : int8[1000000000000, 1000000000000]", "many"},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		char text[256];
		snprintf(text, sizeof text, "fn f()\nin 0 int8[2, 3]\n%%0 = input 0 : int8[2, 3]\n%s\nout %%1\n", cases[k].line);
		uint32_t before = diags_count(x->d);
		if (read(x, text))
			fail_msg("taken: %s", cases[k].line);
		const char *message = diags_at(x->d, before)->message;
		if (!strstr(message, cases[k].why))
			fail_msg("%s: %s", cases[k].line, message);
	}
}

static int setup(void **state)
{
	static struct fixture x;
	x = (struct fixture){arena_new(0), sources_new(), diags_new(0)};
	*state = &x;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *x = *state;
	diags_free(x->d);
	sources_free(x->s);
	arena_free(x->a);
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int test_ir(void)
{
	const struct CMUnitTest tests[] = {TEST(hash_knows_no_names_of_symbols), TEST(hash_sees_every_attribute),
					   TEST(the_verifier_refuses)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
