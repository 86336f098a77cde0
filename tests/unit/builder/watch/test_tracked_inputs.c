/* Whether there is work: the inputs of the last build against the disk. */
#include "builder/build/session/context.h"
#include "builder/build/started_build.h"
#include "builder/store/inputs.h"
#include "tests/unit/unit.h"
#include "base/buf.h"
#include "builder/watch/watch_state.h"
#include "tests/unit/builder/build/fake_disk.h"

struct fixture {
	struct fake_disk files;
	struct disk disk;
	struct arena *a;
	struct build build;
	struct tracked_inputs tracked;
};

static void read_inputs(struct fixture *f, const char *more)
{
	hash128 ignored;
	uint32_t n;
	inputs_free(f->build.context.inputs);
	f->build.context.inputs = inputs_new(f->a, &f->disk);
	inputs_note(f->build.context.inputs, "src/a.tri", &ignored);
	inputs_note(f->build.context.inputs, "tri.lock", &ignored); /* it is absent */
	inputs_glob(f->build.context.inputs, "src/*.tri", &n);
	if (more)
		inputs_note(f->build.context.inputs, more, &ignored);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	f->disk = fake_disk(&f->files);
	f->a = arena_new(0);
	f->build.context.disk = &f->disk;
	fake_write(&f->files, "src/a.tri", "one");
	fake_wait(&f->files);
	read_inputs(f, NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	tracked_inputs_free(&f->tracked);
	inputs_free(f->build.context.inputs);
	arena_free(f->a);
	free(f);
	return 0;
}

/* The changed inputs, with commas between them. */
static void changed(struct fixture *f, const char *expected)
{
	struct buf out = {0};
	uint32_t n;
	const struct input *const *list = tracked_inputs_changed(&f->tracked, &n);
	buf_puts(&out, "");
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&out, "%s%s", i ? ", " : "", list[i]->path);
	assert_string_equal(out.at, expected);
	buf_free(&out);
}

static void content_decides(void **state)
{
	struct fixture *f = *state;
	tracked_inputs_replace(&f->tracked, &f->build);
	changed(f, "");
	fake_write(&f->files, "src/a.tri", "one"); /* a save without a change */
	changed(f, "");
	fake_write(&f->files, "src/a.tri", "two");
	changed(f, "src/a.tri");
	changed(f, "src/a.tri"); /* until a build reads it */
	fake_write(&f->files, "src/a.tri", "one");
	changed(f, "");
}

static void files_that_come_and_go(void **state)
{
	struct fixture *f = *state;
	tracked_inputs_replace(&f->tracked, &f->build);
	fake_write(&f->files, "src/b.tri", "");
	fake_write(&f->files, "tri.lock", "");
	changed(f, "tri.lock, src/*.tri");
	fake_remove(&f->files, "src/b.tri");
	fake_remove(&f->files, "tri.lock");
	changed(f, "");
	fake_remove(&f->files, "src/a.tri");
	changed(f, "src/a.tri, src/*.tri");
}

/* Otherwise the folders that are watched stay. */
static void other_paths_are_noticed(void **state)
{
	struct fixture *f = *state;
	assert_true(tracked_inputs_replace(&f->tracked, &f->build));
	fake_write(&f->files, "src/a.tri", "two");
	read_inputs(f, NULL);
	assert_false(tracked_inputs_replace(&f->tracked, &f->build));
	changed(f, "");
	read_inputs(f, "src/b.tri");
	assert_true(tracked_inputs_replace(&f->tracked, &f->build));
	read_inputs(f, "src/c.tri");
	assert_true(tracked_inputs_replace(&f->tracked, &f->build));
}

static void record_adds_what_an_up_to_date_build_did_not_read(void **state)
{
	struct fixture *f = *state;
	struct input in_record[] = {{.path = "src/a.tri"}, {.path = "w.npy", .content = {7, 7}}};
	struct build_record record = {.inputs = in_record, .n_inputs = 2};
	uint32_t n;
	f->build.last.record = &record;
	tracked_inputs_replace(&f->tracked, &f->build); /* a build that ran has read all of its inputs */
	tracked_inputs_all(&f->tracked, &n);
	assert_int_equal(n, 3);
	f->build.context.outcome.done = true;
	tracked_inputs_replace(&f->tracked, &f->build);
	tracked_inputs_all(&f->tracked, &n);
	assert_int_equal(n, 4); /* src/a.tri once */
	changed(f, "w.npy");
	f->build.result.published = 1;
	tracked_inputs_replace(&f->tracked, &f->build);
	tracked_inputs_all(&f->tracked, &n);
	assert_int_equal(n, 3);
}

static void running_build_is_outdated_by_what_it_has_read(void **state)
{
	struct fixture *f = *state;
	assert_false(inputs_are_outdated(f->build.context.inputs));
	fake_write(&f->files, "other", "");
	assert_false(inputs_are_outdated(f->build.context.inputs));
	fake_write(&f->files, "src/a.tri", "two");
	assert_true(inputs_are_outdated(f->build.context.inputs));
	assert_true(inputs_are_outdated(f->build.context.inputs)); /* the build's own record is unchanged */
}

int test_tracked_inputs(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(content_decides, setup, teardown),
		cmocka_unit_test_setup_teardown(files_that_come_and_go, setup, teardown),
		cmocka_unit_test_setup_teardown(other_paths_are_noticed, setup, teardown),
		cmocka_unit_test_setup_teardown(record_adds_what_an_up_to_date_build_did_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(running_build_is_outdated_by_what_it_has_read, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
