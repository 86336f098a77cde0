/* Which units an edit compiles, and how a build that cannot go on ends. */
#include "tests/unit/unit.h"
#include "steps_fixture.h"

#define SQUASH "fn squash(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n    return sigmoid(x) - 0.5\n}\n"
#define SCALE(local) \
	"fn scale(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n    let " local " = x * 2.0\n    return " local "\n}\n"

/* ---- what is compiled ---- */

static void name_of_a_local_is_in_no_key(void **state)
{
	struct fixture *f = *state;
	save(f, "src/blocks.tri", SCALE("y") SQUASH);
	assert_int_equal(build(f).compiled, 3);
	save(f, "src/blocks.tri", SCALE("z") SQUASH);
	struct outcome out = build(f);
	assert_false(out.ended_early); /* tokens changed */
	assert_int_equal(out.compiled, 0);
	assert_int_equal(out.reused, 3);
}

static void definition_that_nothing_uses_is_not_compiled(void **state)
{
	struct fixture *f = *state;
	build(f);
	save(f, "src/blocks.tri", BLOCKS("2.0") "fn spare(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {\n    return x\n}\n");
	struct outcome out = build(f);
	assert_int_equal(out.compiled, 0);
	assert_int_equal(out.reused, 3);
}

static void unit_of_two_models_is_compiled_once(void **state)
{
	struct fixture *f = *state;
	save(f, "tri.build", MANIFEST "\nmodel twin\n    sources = src/*.tri\n    entry = Net\n    input x = float32 [?, 8]\n");
	struct outcome out = build(f);
	assert_int_equal(out.compiled, 3);
	assert_int_equal(out.reused, 3);
}

static void edit_that_is_undone_needs_no_compiler(void **state)
{
	struct fixture *f = *state;
	build(f);
	fragments_free(f->session.fragments); /* as in another process: the project has the fragments */
	f->session.fragments = NULL;
	save(f, "src/blocks.tri", BLOCKS("3.0"));
	assert_int_equal(build(f).compiled, 1);
	save(f, "src/blocks.tri", BLOCKS("2.0"));
	assert_int_equal(build(f).compiled, 0);
}

static void flags_have_records_of_their_own(void **state)
{
	struct fixture *f = *state;
	build(f);
	f->args.options.opt = 2;
	struct outcome out = build(f);
	assert_int_equal(out.state, RECORD_NONE);
	assert_true(out.compiled > 0);
	assert_int_equal(build(f).state, RECORD_FRESH);
	f->args.options.opt = -1;
	out = build(f);
	assert_int_equal(out.state, RECORD_STALE); /* the other flags made the output */
	assert_int_equal(out.compiled, 0);
}

static void dry_run_says_and_changes_nothing(void **state)
{
	struct fixture *f = *state;
	build(f);
	save(f, "src/blocks.tri", BLOCKS("3.0"));
	f->args.options.dry_run = true;
	for (int i = 0; i < 2; i++) {
		struct outcome out = build(f);
		assert_true(out.ok);
		assert_int_equal(out.state, RECORD_NONE); /* it looks at each unit */
		assert_string_equal(out.said,
				    "would compile scale [N, 8]: its body changed (src/blocks.tri:1)\nwould link build/libnet.so\n");
	}
	f->args.options.dry_run = false;
	assert_int_equal(build(f).compiled, 1);
}

static void interface_is_reported_when_it_changes(void **state)
{
	struct fixture *f = *state;
	f->args.options.quiet = false;
	assert_string_equal(build(f).said, "net: input x: float32[N, 8]; no parameters; no states\n");
	save(f, "src/blocks.tri", BLOCKS("3.0"));
	assert_string_equal(build(f).said, "");
}

/* ---- how it ends ---- */

static void fails(struct fixture *f, enum status status, const char *error)
{
	struct outcome out = build(f);
	assert_false(out.ok);
	assert_int_equal(out.status, status);
	assert_string_equal(out.error, error);
}

static void error_leaves_the_last_record(void **state)
{
	struct fixture *f = *state;
	build(f);
	save(f, "src/blocks.tri", "fn scale(");
	assert_false(build(f).ok);
	save(f, "src/blocks.tri", BLOCKS("2.0"));
	assert_int_equal(build(f).state, RECORD_FRESH);
}

static void warning_is_repeated(void **state)
{
	struct fixture *f = *state;
	save(f, "src/blocks.tri", BLOCKS("2.0") "fn spare(x: int) -> int {\n    let unused = x\n    return x\n}\n");
	for (int i = 0; i < 2; i++) {
		struct outcome out = build(f);
		assert_int_equal(out.status, STATUS_OK);
		assert_int_equal(out.state, RECORD_NONE); /* so the next build checks it again */
		assert_int_equal(out.n_diags, 1);
	}
	f->args.options.deny_warnings = true;
	assert_int_equal(build(f).status, STATUS_FAILED);
}

static void missing_files_are_named(void **state)
{
	struct fixture *f = *state;
	fake_remove(&f->files, "src/blocks.tri");
	fails(f, STATUS_FAILED, "there is no file `src/blocks.tri`");
	fake_remove(&f->files, "src/net.tri");
	fails(f, STATUS_FAILED, "no file matches `src/*.tri`");
	fake_remove(&f->files, "tri.build");
	assert_int_equal(build(f).status, STATUS_USAGE);
}

static bool always_superseded(void *read_before, const struct inputs *read, bool failed)
{
	*(uint32_t *)read_before = inputs_count(read);
	return true;
}

static void newer_save_ends_the_build_after_a_step(void **state)
{
	struct fixture *f = *state;
	uint32_t n_read = 0;
	f->session.superseded = always_superseded;
	f->session.ctx = &n_read;
	assert_int_equal(build(f).status, STATUS_INTERRUPTED);
	assert_true(n_read > 0 && n_read < 4); /* the manifest; no source */
	f->session.superseded = NULL;
	assert_int_equal(build(f).state, RECORD_NONE);
}

static void error_decides_the_exit_code(void **state)
{
	struct fixture *f = *state;
	static const struct {
		enum diag_code code;
		enum status status;
	} cases[] = {{DIAG_UNUSED_LOCAL, STATUS_FAILED}, {DIAG_FILE_READ, STATUS_ENVIRONMENT},   {DIAG_FETCH, STATUS_ENVIRONMENT},
		     {DIAG_NO_MANIFEST, STATUS_USAGE},   {DIAG_MANIFEST_NO_MODEL, STATUS_USAGE}, {DIAG_MANIFEST_TARGET, STATUS_FAILED}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct diags *d = diags_new(0);
		diag_add(d, cases[i].code, SPAN_NONE, "x");
		assert_int_equal(build_diags_status(d, &f->args.options), cases[i].status);
		diags_free(d);
	}
	f->args.options.cpu = "no-such-cpu"; /* the flag is wrong, not the manifest */
	struct diags *d = diags_new(0);
	diag_add(d, DIAG_MANIFEST_TARGET, SPAN_NONE, "x");
	assert_int_equal(build_diags_status(d, &f->args.options), STATUS_USAGE);
	diags_free(d);
}

int test_compile_set(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(name_of_a_local_is_in_no_key, setup, teardown),
		cmocka_unit_test_setup_teardown(definition_that_nothing_uses_is_not_compiled, setup, teardown),
		cmocka_unit_test_setup_teardown(unit_of_two_models_is_compiled_once, setup, teardown),
		cmocka_unit_test_setup_teardown(edit_that_is_undone_needs_no_compiler, setup, teardown),
		cmocka_unit_test_setup_teardown(flags_have_records_of_their_own, setup, teardown),
		cmocka_unit_test_setup_teardown(dry_run_says_and_changes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(interface_is_reported_when_it_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(error_leaves_the_last_record, setup, teardown),
		cmocka_unit_test_setup_teardown(warning_is_repeated, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_files_are_named, setup, teardown),
		cmocka_unit_test_setup_teardown(newer_save_ends_the_build_after_a_step, setup, teardown),
		cmocka_unit_test_setup_teardown(error_decides_the_exit_code, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
