/* The back ends by what they emit, and the devices of their libraries. */
#include "builder/manifest/backends.h"
#include "tests/unit/unit.h"
#include "base/arena.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/outputs.h"

static void a_device_is_a_library_by_its_name(void **state)
{
	(void)state;
	assert_int_equal(emit_of_device("cpu"), EMIT_LIBRARY);
	assert_int_equal(emit_of_device("opencl"), EMIT_OPENCL);
	assert_int_equal(emit_of_device("opencl:1"), EMIT_OPENCL);
	assert_int_equal(emit_of_device("open"), EMIT_COUNT);
	assert_int_equal(emit_of_device("opencl2"), EMIT_COUNT);
	assert_int_equal(emit_of_device("pytorch"), EMIT_COUNT);
	assert_true(device_is_foreign("opencl:0"));
	assert_false(device_is_foreign("cpu") || device_is_foreign("header"));
}

/* Each emit has files, and their names are those of the model. */
static void an_emit_names_its_files(void **state)
{
	struct arena *a = arena_new(0);
	const struct model_spec s = {.name = "net", .out = "build"};
	(void)state;
	assert_string_equal(emit_path(a, EMIT_LIBRARY, 0, &s), "build/libnet.so");
	assert_string_equal(emit_path(a, EMIT_LIVE, 0, &s), "build/tri_live.h");
	assert_true(emit_is_shared(EMIT_LIVE, 0) && !emit_is_shared(EMIT_HEADER, 0));
	assert_int_equal(emit_files(EMIT_C), 2);
	assert_string_equal(emit_path(a, EMIT_C, 0, &s), "build/net.c");
	assert_string_equal(emit_path(a, EMIT_C, 1, &s), "build/net.h");
	for (enum emit e = 0; e < EMIT_COUNT; e++)
		assert_in_range(emit_files(e), 1, EMIT_FILES);
	arena_free(a);
}

/* A back end that reads plans chooses their target; one that reads the HIR has only text. */
static void a_stage_has_what_it_needs(void **state)
{
	(void)state;
	for (enum emit e = 0; e < EMIT_COUNT; e++) {
		const struct backend *b = emit_backend(e);
		assert_true(b->name && b->title && b->assemble);
		assert_int_equal(b->stage != BACKEND_HIR, b->target != NULL);
		assert_false(b->stage == BACKEND_HIR && (b->library || b->emit || b->weights != BACKEND_NO_WEIGHTS));
		assert_false(b->stage == BACKEND_IR && !b->emit); /* there are no loops to serialize */
	}
}

int test_backends(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_a_library_by_its_name),
		cmocka_unit_test(an_emit_names_its_files),
		cmocka_unit_test(a_stage_has_what_it_needs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
