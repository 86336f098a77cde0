/* A fragment says which statement each piece of its code belongs to. */
#include "tests/unit/unit.h"
#include "backend/link/elf/object.h"
#include "backend/loops/ir/loops.h"
#include "tests/unit/backend/cpu/codegen_native.h"
#include "tests/unit/backend/cpu/codegen_random.h"
#include "tests/unit/backend/plan_loops.h"

enum { FUNCTIONS = 20 };

static struct buf compile(const struct codegen_api *api, struct codegen *c, const struct loop_fn *f)
{
	struct buf object = {0}, error = {0};
	if (!api->compile(c, f, &object, &error))
		fail_msg("%s: %s", f->symbol, error.at);
	return object;
}

static uint32_t u32_at(const void *bytes, size_t at)
{
	uint32_t v;
	memcpy(&v, (const char *)bytes + at, sizeof v);
	return v;
}

static uint64_t text_size(const struct object *o)
{
	for (uint32_t i = 0; i < o->n_sections; i++)
		if (o->sections[i].kind == SECTION_TEXT && o->sections[i].size)
			return o->sections[i].size;
	return 0;
}

/* Every statement has code, and the places are in ascending order. */
static void check_places(const struct object *o, uint32_t n_statements)
{
	bool *seen = calloc(n_statements + 1, sizeof *seen);
	uint32_t last = 0;
	assert_int_equal(o->n_origins % 8, 0);
	assert_int_equal(u32_at(o->origins, 0), 0);
	for (size_t at = 0; at < o->n_origins; at += 8) {
		uint32_t offset = u32_at(o->origins, at), number = u32_at(o->origins, at + 4);
		assert_true(offset >= last && offset < text_size(o));
		assert_true(number <= n_statements);
		seen[number] = true;
		last = offset;
	}
	for (uint32_t i = 0; i <= n_statements; i++)
		assert_true(seen[i]);
	free(seen);
}

static void test_places(void **state)
{
	const struct codegen_api *api = native_api();
	struct buf error = {0};
	struct codegen *c = api->open(&(struct codegen_target){"x86-64-v3", "", 32, 1, false, false}, &error);
	assert_non_null(c);
	for (uint32_t k = 0; k < quick(FUNCTIONS, 4); k++) {
		struct arena *a = arena_new(0);
		struct random_fn r = random_function(a, 1000 + k, "unit");
		const struct loop_fn *f = plan_loops(a, &r.plan);
		struct buf bytes = compile(api, c, f);
		const char *why;
		struct object *o = object_parse(a, "unit", bytes.at, bytes.len, &why);
		assert_non_null(o);
		check_places(o, f->n_stmts);
		buf_free(&bytes);
		arena_free(a);
	}
	api->close(c);
}

int test_lines(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_places)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
