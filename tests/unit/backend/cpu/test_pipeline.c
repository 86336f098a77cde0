/* One pass manager for many modules: whatever was compiled before, even in vain, a unit's object is that of a new code generator. Nor
 * does it matter whether its loops were built or read. */
#include "tests/unit/unit.h"
#include "backend/loops/ir/loops.h"
#include "backend/loops/ir/serialize.h"
#include "base/diag.h"
#include "tests/unit/backend/cpu/codegen_native.h"
#include "tests/unit/backend/cpu/codegen_random.h"
#include "tests/unit/backend/plan_loops.h"

enum { FUNCTIONS = 25, TARGETS = 4 };
static const struct codegen_target targets[TARGETS] = {{"x86-64-v2", "", 16, 1, false, false},
						       {"x86-64-v3", "", 32, 2, false, false},
						       {"x86-64-v4", "", 64, 1, true, false},
						       {"x86-64-v3", "", 32, 0, false, false}};

static uint32_t n_functions(void) { return quick(FUNCTIONS, 4); }

static struct codegen *open_generator(const struct codegen_api *api, const struct codegen_target *t)
{
	struct buf error = {0};
	struct codegen *c = api->open(t, &error);
	if (!c)
		fail_msg("%s", error.at);
	return c;
}

static struct buf compile(const struct codegen_api *api, struct codegen *c, const struct loop_fn *f)
{
	struct buf object = {0}, error = {0};
	if (!api->compile(c, f, &object, &error))
		fail_msg("%s: %s", f->symbol, error.at);
	return object;
}

static const struct loop_fn **random_functions(struct arena *a)
{
	const struct loop_fn **fns = ARENA_ARRAY(a, const struct loop_fn *, FUNCTIONS);
	for (uint32_t k = 0; k < n_functions(); k++) {
		struct random_fn *r = ARENA_NEW(a, struct random_fn);
		*r = random_function(a, 1000 + k, arena_printf(a, "seed%u", k));
		fns[k] = plan_loops(a, &r->plan);
	}
	return fns;
}

static void compare(const struct loop_fn *f, struct buf got, const struct buf *want)
{
	if (got.len != want->len || memcmp(got.at, want->at, got.len) != 0)
		fail_msg("%s is compiled differently", f->symbol);
	buf_free(&got);
}

static void test_order(void **state)
{
	const struct codegen_api *api = native_api();
	struct arena *a = arena_new(0);
	const struct loop_fn **fns = random_functions(a);
	assert_non_null(api);
	for (uint32_t t = 0; t < TARGETS; t++) {
		struct buf fresh[FUNCTIONS];
		struct codegen *used = open_generator(api, &targets[t]);
		api->warm(used);
		for (uint32_t k = 0; k < n_functions(); k++) {
			struct codegen *c = open_generator(api, &targets[t]);
			fresh[k] = compile(api, c, fns[k]);
			api->close(c);
			compare(fns[k], compile(api, used, fns[k]), &fresh[k]);
		}
		for (uint32_t k = 0; k < n_functions(); k++) /* in another order, and again */
			compare(fns[k * 7 % n_functions()], compile(api, used, fns[k * 7 % n_functions()]), &fresh[k * 7 % n_functions()]);
		api->close(used);
		for (uint32_t k = 0; k < n_functions(); k++)
			buf_free(&fresh[k]);
	}
	arena_free(a);
}

static const struct loop_fn *read_bytes(struct arena *a, const struct loop_fn *f)
{
	const char *error = NULL;
	struct buf bytes = {0};
	loops_serialize(f, &bytes);
	size_t n = bytes.len;
	void *copy = arena_alloc(a, n, 16); /* constants stay in the bytes */
	memcpy(copy, bytes.at, n);
	buf_free(&bytes);
	return loops_deserialize(a, copy, n, &error);
}

static const struct loop_fn *read_text(struct arena *a, const struct loop_fn *f)
{
	struct buf text = {0};
	struct sources *s = sources_new();
	struct diags *d = diags_new(0);
	loops_print(f, &text);
	const struct loop_fn *read = loops_read(a, sources_add(s, "f.loops", text.at, text.len), d);
	diags_print(d, s, stderr, false);
	diags_free(d);
	sources_free(s);
	buf_free(&text);
	return read;
}

/* Loop IR that was read compiles to the same code. */
static void test_read_loops(void **state)
{
	const struct codegen_api *api = native_api();
	struct arena *a = arena_new(0);
	const struct loop_fn **fns = random_functions(a);
	assert_non_null(api);
	for (uint32_t t = 0; t < TARGETS; t++) {
		struct codegen *c = open_generator(api, &targets[t]);
		for (uint32_t k = 0; k < n_functions(); k++) {
			struct buf want = compile(api, c, fns[k]);
			const struct loop_fn *read[] = {read_bytes(a, fns[k]), read_text(a, fns[k])};
			for (uint32_t i = 0; i < 2; i++) {
				assert_non_null(read[i]);
				compare(fns[k], compile(api, c, read[i]), &want);
			}
			buf_free(&want);
		}
		api->close(c);
	}
	arena_free(a);
}

static const struct loop_fn *power(struct arena *a)
{
	struct dims *d = dims_new(a);
	struct hir_type x = {.elem = DT_FLOAT32, .rank = 1, .dims = {dim_const(d, 5)}}, t[2] = {x, x};
	struct random_fn r = one_op(a, d, "power", OP_POW, t, t, 2);
	return plan_loops(a, &r.plan);
}

/* A processor without registers to pass floats in: powf cannot be called. */
static void test_failure(void **state)
{
	static const struct codegen_target poor = {"x86-64", "-sse", 16, 1, false, false};
	const struct codegen_api *api = native_api();
	struct arena *a = arena_new(0);
	const struct loop_fn **fns = random_functions(a), *bad = power(a), *good = NULL;
	assert_non_null(api);
	struct codegen *used = open_generator(api, &poor);
	struct buf object = {0}, error = {0};
	buf_puts(&object, "before");
	for (uint32_t k = 0; k < 3; k++) {
		assert_false(api->compile(used, bad, &object, &error));
		assert_int_equal(object.len, 6);
		assert_non_null(strstr(error.at, "SSE"));
		buf_clear(&error);
		for (uint32_t i = 0; i < n_functions(); i++) {
			struct codegen *c = open_generator(api, &poor);
			struct buf fresh = {0};
			if (api->compile(c, fns[i], &fresh, &error)) {
				compare(fns[i], compile(api, used, fns[i]), &fresh);
				good = fns[i];
			}
			buf_clear(&error);
			buf_free(&fresh);
			api->close(c);
		}
	}
	assert_non_null(good);
	api->close(used);
	buf_free(&object);
	buf_free(&error);
	arena_free(a);
}

int test_pipeline(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_read_loops), cmocka_unit_test(test_failure)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
