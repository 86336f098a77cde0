/* What follows a build of `trib watch`: the line of the save, and which command starts. */
#include "builder/build/session/context.h"
#include "builder/build/session/status.h"
#include "builder/build/started_build.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "builder/watch/watch_state.h"
#include "tests/unit/builder/build/fake_disk.h"

struct fixture {
	struct fake_disk files;
	struct disk disk;
	struct options options;
	struct build build;
	struct watch watch;
	char *out, *err;
	size_t n_out, n_err;
};

static const char *const command[] = {"serve", NULL};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct build_context *c = &f->build.context;
	f->disk = fake_disk(&f->files);
	c->arena = arena_new(0);
	c->disk = &f->disk;
	c->inputs = inputs_new(c->arena, &f->disk);
	c->diags = diags_new(0);
	f->watch = (struct watch){.options = &f->options, .reported_watching = true, .save.arena = arena_new(0)};
	f->watch.reporter = (struct reporter){.out = open_memstream(&f->out, &f->n_out), .err = open_memstream(&f->err, &f->n_err)};
	vec_push(&f->watch.save.changed, "a.tri");
	vec_push(&f->build.result.outputs, "build/libm.so");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	fclose(f->watch.reporter.out);
	fclose(f->watch.reporter.err);
	free(f->out);
	free(f->err);
	for (uint32_t i = 0; i < f->watch.good.outputs.len; i++)
		free(f->watch.good.outputs.at[i]);
	vec_free(&f->watch.good.outputs);
	vec_free(&f->watch.save.changed);
	vec_free(&f->build.result.outputs);
	saved_texts_free(&f->watch.texts);
	tracked_inputs_free(&f->watch.inputs);
	arena_free(f->watch.save.arena);
	inputs_free(f->build.context.inputs);
	diags_free(f->build.context.diags);
	arena_free(f->build.context.arena);
	free(f);
	return 0;
}

static void ends(struct fixture *f, enum status status, uint32_t linked)
{
	f->build.status = status;
	f->build.result.linked = linked;
	watch_report(&f->watch, &f->build);
}

/* Everything printed since the last call contains `part`. NULL: nothing was printed. */
static void printed(FILE *stream, char **text, const char *part)
{
	fflush(stream);
	if (part)
		assert_non_null(strstr(*text, part));
	else
		assert_string_equal(*text, "");
	rewind(stream);
	fputc(0, stream);
	rewind(stream);
}
#define OUT(f, part) printed((f)->watch.reporter.out, &(f)->out, part)
#define ERR(f, part) printed((f)->watch.reporter.err, &(f)->err, part)

static void failed_saves_make_the_outputs_stale(void **state)
{
	struct fixture *f = *state;
	ends(f, STATUS_FAILED, 0);
	ERR(f, "; there is no good build yet");
	ends(f, STATUS_OK, 1);
	OUT(f, "linked");
	ends(f, STATUS_FAILED, 0);
	ERR(f, "1 save ago");
	ends(f, STATUS_FAILED, 0);
	ERR(f, "; build/libm.so is stale: built at ");
	assert_int_equal(f->watch.good.behind, 2);
	ends(f, STATUS_OK, 0);
	OUT(f, "nothing to do");
	assert_int_equal(f->watch.good.behind, 0);
}

static void generation_counts_published_libraries(void **state)
{
	struct fixture *f = *state;
	ends(f, STATUS_OK, 0); /* they were up to date: the first generation */
	ends(f, STATUS_OK, 0);
	assert_int_equal(f->watch.good.generation, 1);
	ends(f, STATUS_OK, 2);
	ends(f, STATUS_FAILED, 0);
	assert_int_equal(f->watch.good.generation, 2);
}

static void superseded_build_is_no_outcome(void **state)
{
	struct fixture *f = *state;
	f->build.context.outcome.superseded = true;
	f->watch.reporter.json = true;
	ends(f, STATUS_INTERRUPTED, 0);
	ends(f, STATUS_INTERRUPTED, 0);
	OUT(f, "superseded");
	assert_int_equal(f->watch.save.n_superseded, 2);
	assert_int_equal(f->watch.save.changed.len, 1); /* the next build reports them, too */
	assert_int_equal(f->watch.good.behind, 0);
	ends(f, STATUS_OK, 1);
	assert_int_equal(f->watch.save.n_superseded, 0);
	assert_int_equal(f->watch.save.changed.len, 0);
}

static bool starts(struct command *c)
{
	bool yes = c->start_next;
	c->start_next = false;
	return yes;
}

static void command_restarts_when_a_library_is_new(void **state)
{
	struct fixture *f = *state;
	struct command *main = &f->watch.commands.main;
	f->options.command = command;
	f->options.n_command = 1;
	ends(f, STATUS_FAILED, 0);
	assert_false(starts(main));
	ends(f, STATUS_OK, 0); /* the first time also for libraries that were up to date */
	assert_true(starts(main));
	ends(f, STATUS_OK, 0);
	assert_false(starts(main));
	ends(f, STATUS_OK, 1);
	assert_true(starts(main));
}

static void hooks_follow_the_end_of_the_build(void **state)
{
	struct fixture *f = *state;
	struct watch_commands *c = &f->watch.commands;
	f->options.watch.on_failure = "say no";
	ends(f, STATUS_OK, 1);
	assert_false(starts(&c->hook));
	ends(f, STATUS_FAILED, 0);
	assert_true(starts(&c->hook) && c->hook.argv == c->on_failure);
	f->options.watch.on_success = "say yes";
	ends(f, STATUS_OK, 0);
	assert_true(starts(&c->hook) && c->hook.argv == c->on_success);
}

int test_outcome(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(failed_saves_make_the_outputs_stale, setup, teardown),
		cmocka_unit_test_setup_teardown(generation_counts_published_libraries, setup, teardown),
		cmocka_unit_test_setup_teardown(superseded_build_is_no_outcome, setup, teardown),
		cmocka_unit_test_setup_teardown(command_restarts_when_a_library_is_new, setup, teardown),
		cmocka_unit_test_setup_teardown(hooks_follow_the_end_of_the_build, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
