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
		{"%1 = gather %0 %0 dims [0] windows [] : int8[2, 3]", "rank"},
		{"%1 = gather %0 %0 dims [] windows [] : int8[2, 3]", "no such dimension"},
		{"%1 = gather %0 %0 dims [2] windows [] : int8[2, 3]", "mask"},
		{"%1 = gather %0 %0 dims [0, 1] windows [] : int8[2, 3]", "an operand for each"},
		{"%1 = gather %0 %0 dims [0] windows [1] : int8[2, 3, 3]", "a window along"},
		{"%1 = gather %0 %0 %0 dims [0, 1] windows [] : int8[2, 4]", "shape"},
		{"%1 = reduce_sum %0 dims [2] : int8[2, 3]", "mask"},
		{"%1 = argmax %0 dims [1] : int8[2]", "element type"},
		{"%1 = input 1 : int8[2, 3]", "not declared"},
		{"%1 = result %0 0 : int8[2, 3]", "must be a call"},
		{"%1 = convert_layout %0 : int8[2, 3] as channels_last", "cannot have this layout"},
		{"%1 = convert_layout %0 : int8[2, 3] as trit2", "cannot have this layout"},
		{"%1 = convert_layout %0 : int8[2, 3] as nothing", "a layout expected"},
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

static void the_verifier_refuses_compound(void **state)
{
	struct fixture *x = *state;
	static const struct {
		const char *line, *why;
	} cases[] = {
		{"conv %0 %1 stride [0, 1] pad [0, 0, 0, 0] dilation [1, 1] groups 1 : float32[2, 3, 6, 6]", "range"},
		{"conv %0 %1 stride [1, 1] pad [0, 0, 0, 0] dilation [1, 1] groups 2 : float32[2, 3, 6, 6]", "channels"},
		{"conv %0 %1 stride [1, 1] pad [0, 0, 0, 0] dilation [1, 1] groups 1 : float32[2, 3, 7, 6]", "shape"},
		{"pool %0 max kernel [2, 2] stride [2, 2] pad [0, 0] dilation [1, 1] ceil 0 count_pad 0 divisor 1 : float32[2, 4, 4, 4]",
		 "divisor"},
		{"pool %0 max kernel [2, 2] stride [2, 2] pad [0, 0] dilation [1, 1] ceil 0 count_pad 0 divisor 0 : float32[2, 4, 4, 5]",
		 "shape"},
		{"softmax %0 dims [4] log 0 : float32[2, 4, 8, 8]", "mask"},
		{"softmax %2 dims [0] log 0 : trit[3]", "element type"},
		{"norm %0 layer dims [2] groups 0 eps 0 mean 0 variance 0 weight 0 bias 0 : float32[2, 4, 8, 8]", "dims"},
		{"norm %0 layer dims [3] groups 0 eps 0 mean 0 variance 0 weight 1 bias 0 : float32[2, 4, 8, 8]", "number of operands"},
		{"norm %0 %3 batch dims [] groups 0 eps 0 mean 0 variance 0 weight 1 bias 0 : float32[2, 4, 8, 8]", "parameter"},
		{"attention %0 %0 %1 causal 0 scaled 0 scale 0 : float32[2, 4, 8, 3]", "lengths"},
		{"attention %0 %0 %0 %2 causal 0 scaled 0 scale 0 : float32[2, 4, 8, 8]", "mask"},
		{"quantize %0 absmax dims [3] keep 0 factor 0 : int8[2, 4, 8, 8]", "keep"},
		{"quantize %0 absmax dims [3] keep 1 factor 0 : trit[2, 4, 8, 8]", "element type"},
		{"quantize %0 threshold dims [] keep 0 factor 0 : trit[2, 4, 8, 8]", "number of operands"},
		{"quant_scale %0 absmax dims [3] keep 1 factor 0 : float32[2, 4, 8]", "rank"},
		{"quant_scale %0 threshold dims [] keep 1 factor 0 : float32[2, 4, 8, 8]", "threshold"},
		{"dequantize %2 %2 : trit[3]", "element type"},
		{"resize %0 linear corners 0 scaled 0 scale [0, 0] : float32[2, 3, 9, 9]", "shape"},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		char text[512];
		snprintf(text, sizeof text,
			 "fn f()\nin 0 float32[2, 4, 8, 8]\nin 1 float32[3, 4, 3, 3]\nin 2 trit[3]\nin 3 float32[3]\n"
			 "%%0 = input 0 : float32[2, 4, 8, 8]\n%%1 = input 1 : float32[3, 4, 3, 3]\n%%2 = input 2 : trit[3]\n"
			 "%%3 = input 3 : float32[3]\n%%4 = %s\nout %%4\n",
			 cases[k].line);
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
					   TEST(the_verifier_refuses), TEST(the_verifier_refuses_compound)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
