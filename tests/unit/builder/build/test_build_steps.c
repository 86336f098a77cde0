/* The steps of a build on files in memory: what an edit makes stale, and what is read. */
#include "tests/unit/unit.h"
#include "steps_fixture.h"

static void test_first_build_compiles_everything(void **state)
{
	struct outcome out = build(*state);
	assert_true(out.ok);
	assert_int_equal(out.state, RECORD_NONE);
	assert_string_equal(out.why_stale, "there is no record of an earlier build");
	assert_int_equal(out.compiled, 3);
	assert_non_null(strstr(out.why[0], ": new"));
}

static void test_nothing_changed_reads_nothing(void **state)
{
	build(*state);
	struct outcome out = build(*state);
	assert_int_equal(out.state, RECORD_FRESH);
	assert_int_equal(out.n_read, 0);
}

static void test_touched_file_compiles_nothing(void **state)
{
	struct fixture *f = *state;
	build(f);
	save(f, "src/blocks.tri", BLOCKS("2.0"));
	struct outcome out = build(f);
	assert_int_equal(out.state, RECORD_FRESH);
	assert_int_equal(out.n_read, 1);
	assert_int_equal(build(f).n_read, 0); /* the new stamp was recorded */
}

static void test_old_time_stamp_hides_no_change(void **state)
{
	struct fixture *f = *state;
	build(f);
	fake_write(&f->files, "src/blocks.tri", BLOCKS("3.0"));
	fake_set_stamp(&f->files, fake_find(&f->files, "src/blocks.tri"), 5 * FAKE_SECOND); /* as tar and git restore it */
	fake_wait(&f->files);
	struct outcome out = build(f);
	assert_int_equal(out.state, RECORD_SOURCES);
	assert_string_equal(out.why_stale, "src/blocks.tri changed");
	assert_int_equal(out.compiled, 1);
}

/* A file that was written within the tick of its stamp may be written again under the same stamp. */
static void test_young_stamp_is_not_trusted(void **state)
{
	struct fixture *f = *state;
	fake_write(&f->files, "src/blocks.tri", BLOCKS("2.0"));
	build(f);
	assert_int_equal(build(f).n_read, 1);
	assert_int_equal(build(f).n_read, 0);
}

static void test_explain_names_the_changed_definition(void **state)
{
	struct fixture *f = *state;
	build(f);
	save(f, "src/blocks.tri", BLOCKS("3.0"));
	struct outcome out = build(f);
	assert_int_equal(out.compiled, 1);
	assert_non_null(strstr(out.why[0], "compile scale"));
	assert_non_null(strstr(out.why[0], "its body changed (src/blocks.tri:1)"));
}

static void test_comment_ends_the_build(void **state)
{
	struct fixture *f = *state;
	build(f);
	save(f, "src/blocks.tri", BLOCKS("2.0") "# A comment.\n");
	struct outcome out = build(f);
	assert_int_equal(out.state, RECORD_SOURCES);
	assert_true(out.ended_early);
	assert_int_equal(out.compiled, 0);
	assert_int_equal(out.reused, 3);
	assert_int_equal(build(f).state, RECORD_FRESH);
	save(f, "src/blocks.tri", "# A comment that moves lines.\n" BLOCKS("2.0"));
	out = build(f);
	assert_false(out.ended_early);
	assert_int_equal(out.compiled, 0);
}

static void test_new_file_makes_the_record_stale(void **state)
{
	struct fixture *f = *state;
	build(f);
	save(f, "src/more.tri", "fn unused(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {\n    return x\n}\n");
	struct outcome out = build(f);
	assert_int_equal(out.state, RECORD_STALE);
	assert_string_equal(out.why_stale, "src/*.tri changed");
}

static void test_changed_output_is_made_again(void **state)
{
	struct fixture *f = *state;
	build(f);
	save(f, "build/libnet.so", "another");
	struct outcome out = build(f);
	assert_int_equal(out.state, RECORD_STALE);
	assert_string_equal(out.why_stale, "build/libnet.so is missing or was changed");
	assert_string_equal(fake_find(&f->files, "build/libnet.so")->text, "made");
}

/* The build fails, records nothing, and the next one sees the file. */
static void test_file_that_is_removed_while_it_is_read(void **state)
{
	struct fixture *f = *state;
	build(f);
	save(f, "src/blocks.tri", BLOCKS("3.0"));
	fake_find(&f->files, "src/blocks.tri")->vanishes = true;
	assert_false(build(f).ok);
	save(f, "src/blocks.tri", BLOCKS("3.0"));
	struct outcome out = build(f);
	assert_true(out.ok);
	assert_int_equal(out.compiled, 1);
}

static void test_load_reads_a_file_once(void **state)
{
	struct fixture *f = *state;
	struct session session = {0};
	struct build_context c =
		context_new(&session, (struct build_request){.options = &f->args.options, .out = stdout, .err = stderr, .disk = &f->disk});
	const struct source *s = context_load(&c, "src/net.tri");
	assert_non_null(s);
	assert_ptr_equal(context_load(&c, "src/net.tri"), s);
	assert_ptr_equal(context_find_source(&c, "src/net.tri"), s);
	assert_int_equal(f->files.n_read, 1);
	for (int i = 0; i < 2; i++) {
		errno = 0;
		assert_null(context_load(&c, "src/absent.tri"));
		assert_int_equal(errno, ENOENT);
	}
	const struct input *in = inputs_find(c.inputs, INPUT_FILE, "src/absent.tri");
	assert_true(in && hash_is_zero(in->content) && in->stamp.mtime_ns == 0);
	context_free(&c);
	session_free(&session);
}

int test_build_steps(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_build_compiles_everything, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_changed_reads_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_touched_file_compiles_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_time_stamp_hides_no_change, setup, teardown),
		cmocka_unit_test_setup_teardown(test_young_stamp_is_not_trusted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_explain_names_the_changed_definition, setup, teardown),
		cmocka_unit_test_setup_teardown(test_comment_ends_the_build, setup, teardown),
		cmocka_unit_test_setup_teardown(test_new_file_makes_the_record_stale, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changed_output_is_made_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_that_is_removed_while_it_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_load_reads_a_file_once, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
