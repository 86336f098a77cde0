/* Compiled build functions against the interpreter: quantizers and random functions of parameters, equal bit by bit. */
#include "backend/buildtime/host_code.h"
#include <math.h>
#include "backend/interp/interp.h"
#include "tests/unit/backend/cpu/codegen_native.h"
#include "tests/unit/backend/buildtime/stream_fixture.h"

enum { MOST_CODE = 10000 };
struct compiling {
	struct arena *a;
	const struct codegen_api *api;
	const struct target *target;
	struct codegen *generator;
	struct stream_code *code[MOST_CODE];
	uint32_t compiled;
};

static const struct stream_code *compile(void *ctx, const struct ir_fn *f, double interpreting_ns)
{
	struct compiling *c = ctx;
	struct buf object = {0}, error = {0};
	assert_true(interpreting_ns >= 0);
	if (!host_code_emit(f->unit, f, c->target, c->api, c->generator, &object, &error))
		fail_msg("%s", error.at);
	struct stream_code *code = host_code_load(object.at, object.len);
	assert_non_null(code);
	assert_true(c->compiled < MOST_CODE);
	c->code[c->compiled++] = code;
	buf_free(&object);
	buf_free(&error);
	return code;
}

static int open_compiler(void **state)
{
	static struct compiling c;
	struct buf error = {0};
	c = (struct compiling){.a = arena_new(0), .api = native_api()};
	c.target = host_code_target(c.a);
	if (!c.api || !c.target)
		return -1;
	struct codegen_target t = codegen_target_for(c.target, HOST_CODE_OPT, false, false);
	c.generator = c.api->open(&t, &error);
	buf_free(&error);
	*state = &c;
	return c.generator ? 0 : -1;
}

static int close_compiler(void **state)
{
	struct compiling *c = *state;
	c->api->close(c->generator);
	for (uint32_t k = 0; k < c->compiled; k++)
		free(c->code[k]);
	arena_free(c->a);
	return 0;
}

/* Runs both ways. Returns true if the function was compiled. */
static bool check_fixture(struct compiling *c, struct fixture *x, bool in_blocks)
{
	struct stream_result got[8];
	struct tensor want[8];
	const char *error = NULL;
	uint32_t before = c->compiled;
	struct stream_compiler compiler = {compile, host_code_run, c};
	struct stream_weight w = {.tensor = x->weight, .read = read_block, .reader = x};
	struct stream *s = stream_plan(x->a, x->f);
	if (in_blocks)
		w.tensor.data = NULL;
	assert_non_null(s);
	assert_true(stream_run(s, &w, &compiler, x->a, got, &error));
	assert_true(interp_run(x->f, NULL, &x->weight, NULL, 0, x->a, want, &error));
	for (uint32_t k = 0; k < x->f->n_outputs; k++)
		compare(&got[k], &want[k]);
	return c->compiled > before;
}

static bool check(struct compiling *c, const char *text, dtype elem, int rows, int cols, bool in_blocks)
{
	struct fixture x;
	open_fixture(&x, text, elem, rows, cols);
	bool compiled = check_fixture(c, &x, in_blocks);
	close_fixture(&x);
	return compiled;
}

/* The result depends on the order: large numbers that cancel, a sum midway between two float32, zeros of both signs, NaN. */
static void order_is_that_of_the_interpreter(void **state)
{
	static const float terms[][3] = {{1e16f, 1, -1e16f}, {-3e15f, 0.5f, 3e15f}, {1, 2, 3}, {-0.0f, 0, -0.0f}, {0, -0.0f, 0}};
	struct fixture x;
	open_fixture(&x,
		     "%1 = reduce_sum %0 dims [1] : ELEM$\n%2 = reduce_max %0 dims [1] : ELEM$\n%3 = reduce_min %0 dims [1] : ELEM$\n"
		     "out %1 %2 %3\n",
		     DT_FLOAT32, 7, 4998);
	float *data = x.weight.data;
	for (int k = 0; k < 5 * 4998; k++)
		data[k] = terms[k / 4998][k % 3];
	for (int k = 0; k < 4998; k++)
		data[5 * 4998 + k] = k == 0 ? 16777216 : k == 4997;
	data[6 * 4998 + 400] = NAN, data[6 * 4998 + 500] = NAN;
	assert_true(check_fixture(*state, &x, false));
	close_fixture(&x);
}

static void quantizers_equal_the_interpreter(void **state)
{
	static const char *const texts[] = {STREAM_ABSMEAN, STREAM_ABSMAX, STREAM_ADAPTIVE, STREAM_FOLDED};
	static const int shapes[][2] = {{96, 300}, {7, 5000}, {1, 40001}, {20001, 1}, {4096, 5}, {8, 2048}};
	static const dtype elems[] = {DT_FLOAT32, DT_BFLOAT16, DT_FLOAT16, DT_FLOAT64};
	for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
		for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
			for (size_t e = 0; e < quick(4, 1); e++)
				assert_true(check(*state, texts[t], elems[e], shapes[k][0], shapes[k][1], (t + k + e) % 2) ||
					    elems[e] != DT_FLOAT32);
}

/* ---- random functions ---- */

enum { VALUES = 60 };
/* Scalars and vectors are not operands. `constant` does not depend on the weight, `full` does, `small` is a reduction. */
enum value_kind { NOT_USED, CONSTANT_VALUE, FULL_VALUE, SMALL_VALUE };
struct writer {
	struct buf text;
	uint64_t seed;
	enum value_kind kind[VALUES];
	dtype elem[VALUES];
	uint32_t n;
	bool is_whole; /* reductions are of all elements */
};

static uint32_t pick(struct writer *w, uint32_t n)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->seed >> 33) % n;
}

static uint32_t add(struct writer *w, enum value_kind kind, dtype elem)
{
	w->kind[w->n] = kind;
	w->elem[w->n] = elem;
	return w->n++;
}

/* A full value of the type: there is one, or the weight is cast. */
static uint32_t full(struct writer *w, dtype elem)
{
	for (int k = 0; k < 20; k++) {
		uint32_t v = pick(w, w->n);
		if (w->kind[v] == FULL_VALUE && w->elem[v] == elem)
			return v;
	}
	buf_printf(&w->text, "%%%u = cast %%0 : %s@\n", w->n, dtype_text(elem));
	return add(w, FULL_VALUE, elem);
}

/* The same, or a constant. */
static uint32_t other(struct writer *w, dtype elem)
{
	static const char *const floats[] = {"0", "1", "-1", "0.5", "127", "1e-05", "3.7"};
	if (pick(w, 3) || elem == DT_BOOL)
		return full(w, elem);
	buf_printf(&w->text, "%%%u = const {%s} : %s[]\n%%%u = broadcast %%%u : %s@\n", w->n,
		   dtype_class(elem) == DTC_FLOAT ? floats[pick(w, 7)]
		   : pick(w, 2)                   ? "1"
						  : "0",
		   dtype_text(elem), w->n + 1, w->n, dtype_text(elem));
	add(w, NOT_USED, elem);
	return add(w, CONSTANT_VALUE, elem);
}

static void add_reduction(struct writer *w)
{
	static const char *const ops[] = {"reduce_sum", "reduce_max", "reduce_min"};
	uint32_t x = full(w, DT_FLOAT32);
	buf_printf(&w->text, "%%%u = %s %%%u dims %s\n", w->n, ops[pick(w, 3)], x, w->is_whole ? "[0, 1] : float32[]" : "[1] : float32$");
	add(w, SMALL_VALUE, DT_FLOAT32);
	if (!w->is_whole) {
		buf_printf(&w->text, "%%%u = reshape %%%u : float32&\n", w->n, w->n - 1);
		add(w, SMALL_VALUE, DT_FLOAT32);
	}
	buf_printf(&w->text, "%%%u = broadcast %%%u : float32@\n", w->n, w->n - 1);
	add(w, CONSTANT_VALUE, DT_FLOAT32);
	buf_printf(&w->text, "%%%u = %s %%0 %%%u : float32@\n", w->n, pick(w, 2) ? "div" : "sub", w->n - 1);
	add(w, FULL_VALUE, DT_FLOAT32);
}

static void add_operation(struct writer *w)
{
	static const dtype elems[] = {DT_FLOAT32, DT_FLOAT32, DT_FLOAT32, DT_FLOAT64, DT_INT8, DT_INT32, DT_INT64, DT_TRIT};
	static const char *const ones[] = {"neg", "abs", "sign", "ceil", "floor", "round", "sqrt"};
	static const char *const twos[] = {"add", "sub", "mul", "min", "max", "div"};
	static const char *const comparisons[] = {"eq", "ne", "lt", "le"};
	static const char *const bools[] = {"and", "or"};
	uint32_t what = pick(w, 7);
	dtype elem = what == 5 ? DT_BOOL : elems[pick(w, 8)], result = elem;
	bool floats = dtype_class(elem) == DTC_FLOAT;
	uint32_t condition = what == 4 ? full(w, DT_BOOL) : 0, x = full(w, elem), y = what > 1 ? other(w, elem) : 0;
	const char *text = dtype_text(elem);
	if (what == 0)
		buf_printf(&w->text, "%%%u = %s %%%u : %s@\n", w->n, ones[pick(w, floats ? 7 : 6)], x, text);
	else if (what == 1)
		buf_printf(&w->text, "%%%u = cast %%%u : %s@\n", w->n, x, dtype_text(result = elems[pick(w, 8)]));
	else if (what == 3)
		buf_printf(&w->text, "%%%u = %s %%%u %%%u : %s@\n", w->n, comparisons[pick(w, 4)], x, y, dtype_text(result = DT_BOOL));
	else if (what == 4)
		buf_printf(&w->text, "%%%u = select %%%u %%%u %%%u : %s@\n", w->n, condition, x, y, text);
	else if (what == 5)
		buf_printf(&w->text, "%%%u = %s %%%u %%%u : bool@\n", w->n, bools[pick(w, 2)], x, y);
	else
		buf_printf(&w->text, "%%%u = %s %%%u %%%u : %s@\n", w->n, twos[pick(w, floats ? 6 : 5)], x, y, text);
	add(w, FULL_VALUE, result);
}

static void write_random(struct writer *w, uint64_t seed)
{
	*w = (struct writer){.seed = seed * 0x9E3779B97F4A7C15u + 1};
	w->is_whole = pick(w, 2);
	add(w, FULL_VALUE, DT_FLOAT32);
	for (uint32_t n = 3 + pick(w, 10); n > 0 && w->n < VALUES - 12; n--)
		if (pick(w, 4))
			add_operation(w);
		else
			add_reduction(w);
	uint32_t last = w->n - 1;
	buf_printf(&w->text, "%%%u = transpose %%%u perm [1, 0] : %s~\nout %%%u %%%u", w->n, last, dtype_text(w->elem[last]), w->n, last);
	for (uint32_t k = 0, n = 0; k < last && n < 4; k++)
		if (w->kind[k] == SMALL_VALUE || (w->kind[k] == FULL_VALUE && pick(w, 4) == 0))
			n++, buf_printf(&w->text, " %%%u", k);
	buf_puts(&w->text, "\n");
}

static void random_functions_equal_the_interpreter(void **state)
{
	static const int shapes[][2] = {{96, 300}, {3, 9000}, {2, 8192}, {1, 20001}, {4096, 5}};
	uint32_t compiled = 0, n = (uint32_t)quick(150, 15);
	uint64_t first = getenv("TRIB_SEED") ? strtoull(getenv("TRIB_SEED"), NULL, 10) : 1;
	for (uint64_t seed = first; seed < first + n; seed++) {
		struct writer w;
		const int *shape = shapes[seed % 5];
		write_random(&w, seed);
		printf("seed %llu, %d x %d\n%s", (unsigned long long)seed, shape[0], shape[1], getenv("TRIB_VERBOSE") ? w.text.at : "");
		compiled += check(*state, w.text.at, DT_FLOAT32, shape[0], shape[1], seed / 5 % 2);
		buf_free(&w.text);
	}
	assert_true(compiled == n);
}

int test_host_code(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantizers_equal_the_interpreter),
		cmocka_unit_test(order_is_that_of_the_interpreter),
		cmocka_unit_test(random_functions_equal_the_interpreter),
	};
	return cmocka_run_group_tests(tests, open_compiler, close_compiler);
}
