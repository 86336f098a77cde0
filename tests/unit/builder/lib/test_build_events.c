/* The lines of a build's process as callbacks and summary. */
#include "builder/lib/build_events.h"
#include "tests/unit/unit.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"

struct fixture {
	tri_build_options options;
	tri_build_summary summary;
	struct build_events events;
	struct buf seen;
};

static void note_progress(void *user, const tri_build_progress *p)
{
	struct fixture *f = user;
	buf_printf(&f->seen, "%d %s %s%s %u/%u %d; ", p->event, p->name, p->kind, p->reason, p->done, p->total, p->ok);
}

static void note_diagnostic(void *user, const tri_build_diagnostic *d)
{
	struct fixture *f = user;
	buf_printf(&f->seen, "%s %s %s:%u:%u-%u:%u %s; ", d->severity == TRI_BUILD_ERROR ? "error" : "warning", d->code, d->file, d->line,
		   d->column, d->end_line, d->end_column, d->label);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	f->options = (tri_build_options){.on_progress = note_progress, .on_diagnostic = note_diagnostic, .user = f};
	f->events = (struct build_events){.arena = arena_new(0), .options = &f->options, .summary = &f->summary};
	buf_puts(&f->seen, "");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	arena_free(f->events.arena);
	buf_free(&f->seen);
	free(f);
	return 0;
}

static enum build_event take(struct fixture *f, const char *line)
{
	int32_t ignored;
	return build_events_take(&f->events, line, strlen(line), &ignored);
}

static void start_and_end_differ(void **state)
{
	struct fixture *f = *state;
	int32_t status = -1;
	const char *ended = "{\"type\":\"ended\",\"status\":3}";
	assert_int_equal(take(f, "{\"type\":\"ready\"}"), EVENT_READY);
	assert_int_equal(build_events_take(&f->events, ended, strlen(ended), &status), EVENT_ENDED);
	assert_int_equal(status, 3);
}

/* A later trib may say more. */
static void unknown_and_broken_lines_are_skipped(void **state)
{
	struct fixture *f = *state;
	static const char *const lines[] = {"{\"type\":\"news\"}", "{\"type\":7}", "{}", "[]", "", "warning: text", "{\"type\":\"ready\""};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		assert_int_equal(take(f, lines[i]), EVENT_OTHER);
	assert_string_equal(f->seen.at, "");
}

static void tasks_are_counted(void **state)
{
	struct fixture *f = *state;
	take(f, "{\"type\":\"phase-started\",\"name\":\"load\"}");
	take(f, "{\"type\":\"compile\",\"name\":\"f\",\"reason\":\"new\"}");
	take(f, "{\"type\":\"task-started\",\"name\":\"compile f\",\"kind\":\"unit\",\"done\":1,\"total\":4}");
	take(f, "{\"type\":\"phase-started\",\"name\":\"publish\"}"); /* has no numbers: those before hold */
	take(f, "{\"type\":\"task-ended\",\"name\":\"compile f\",\"kind\":\"unit\",\"done\":2,\"total\":4,\"ok\":true,\"wall_ms\":1.5}");
	assert_string_equal(f->seen.at, "0 load  0/0 0; 1 f new 0/0 0; 2 compile f unit 1/4 0; 0 publish  1/4 0; 3 compile f unit 2/4 1; ");
}

#define SPAN(primary, file, line) \
	"{\"primary\":" primary ",\"file\":\"" file "\",\"line\":" line ",\"col\":2,\"end_line\":" line ",\"end_col\":5,\"label\":\"here\"}"

static void diagnostic_has_its_primary_place(void **state)
{
	struct fixture *f = *state;
	take(f, "{\"type\":\"diagnostic\",\"code\":\"E0401\",\"severity\":\"error\",\"message\":\"m\",\"spans\":[" SPAN(
			"true", "a.tri", "3") "," SPAN("false", "b.tri", "9") "]}");
	take(f, "{\"type\":\"diagnostic\",\"code\":\"E0402\",\"severity\":\"error\",\"message\":\"m\",\"spans\":[" SPAN("false", "b.tri",
															"9") "]}");
	assert_string_equal(f->seen.at, "error E0401 a.tri:3:2-3:5 here; error E0402 :0:0-0:0 ; ");
	assert_string_equal(f->events.first_error, "a.tri:3:2: E0401: m");
	assert_int_equal(f->summary.errors, 2);
}

static void summary_is_in_bytes_and_nanoseconds(void **state)
{
	struct fixture *f = *state;
	const tri_build_summary *s = &f->summary;
	take(f,
	     "{\"type\":\"build\",\"wall_ms\":2.5,\"peak_rss_kb\":3,\"jobs\":4,\"efficiency\":0.5,\"phases_ms\":{\"load\":1,\"codegen\":0.5},"
	     "\"units\":{\"total\":9,\"compiled\":2,\"reused\":6,\"failed\":1},\"cache\":{\"hits\":7,\"misses\":8},"
	     "\"outputs\":[\"build/libm.so\",\"build/m.h\"]}");
	assert_true(s->wall_ns == 2500000 && s->peak_bytes == 3072 && s->jobs == 4 && s->efficiency == 0.5);
	assert_true(s->units == 9 && s->compiled == 2 && s->reused == 6 && s->failed == 1 && s->cache_hits == 7 && s->cache_misses == 8);
	assert_int_equal(s->n_phases, 2);
	assert_string_equal(s->phases[1].name, "codegen");
	assert_int_equal(s->phases[1].ns, 500000);
	assert_int_equal(s->n_outputs, 2);
	assert_string_equal(s->outputs[1], "build/m.h");
}

int test_build_events(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(start_and_end_differ, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_and_broken_lines_are_skipped, setup, teardown),
		cmocka_unit_test_setup_teardown(tasks_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(diagnostic_has_its_primary_place, setup, teardown),
		cmocka_unit_test_setup_teardown(summary_is_in_bytes_and_nanoseconds, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
