/* Who may be served: what a client and a server must have in common. */
#include "builder/serve/server_state.h"
#include "tests/unit/unit.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "builder/serve/client.h"
#include "scheduler/pool.h"

/* ---- the client's side: what no server does ---- */

static const struct options plain = {.load = -1, .low_memory = -1, .no_cache = -1};

static void clear_environment(void)
{
	unsetenv("CI");
	unsetenv("MAKEFLAGS");
	unsetenv("TRIB_SERVER");
}

static void options_that_need_this_process(void **state)
{
	struct options o[] = {plain, plain, plain, plain, plain, plain, plain, plain, plain, plain, plain, plain};
	clear_environment();
	o[0].since = "HEAD";
	o[1].dry_run = true;
	o[2].lazy = true;
	o[3].trace_file = "t";
	o[4].profile_out = "p";
	o[5].stop = STOP_PARSE;
	o[6].dumps = 1;
	o[7].no_server = true;
	o[8].moved = true;
	o[9].load = 2;
	o[10].low_memory = 1;
	o[11].no_cache = 1;
	for (size_t i = 0; i < sizeof o / sizeof *o; i++)
		assert_false(client_can_use_server(&o[i]));
}

static void environment_switches_the_server_off(void **state)
{
	static const struct {
		const char *name, *value;
		bool served;
	} cases[] = {{"CI", "true", false},
		     {"CI", "false", true},
		     {"CI", "", true},
		     {"MAKEFLAGS", "-j4", false},
		     {"MAKEFLAGS", "", true},
		     {"TRIB_SERVER", "false", false},
		     {"TRIB_SERVER", "nonsense", true}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		clear_environment();
		setenv(cases[i].name, cases[i].value, 1);
		assert_int_equal(client_can_use_server(&plain), cases[i].served);
	}
	setenv("CI", "true", 1);
	setenv("TRIB_SERVER", "true", 1); /* what says it by name wins */
	assert_true(client_can_use_server(&plain));
	clear_environment();
}

/* ---- the context ---- */

static bool has_same_context(const struct process_context *before)
{
	struct process_context now;
	process_context_read(&now);
	return process_context_eq(before, &now);
}

static void context_has_what_requests_do_not_carry(void **state)
{
	struct process_context before;
	char *home = strdup(getenv("HOME") ? getenv("HOME") : "/");
	process_context_read(&before);
	assert_true(has_same_context(&before));
	mode_t mask = umask(0);
	umask(mask ^ 022);
	assert_false(has_same_context(&before));
	umask(mask);
	setenv("HOME", "/elsewhere", 1);
	assert_false(has_same_context(&before));
	setenv("HOME", home, 1);
	setenv("TRIB_ANYTHING", "1", 1); /* requests carry it */
	assert_true(has_same_context(&before));
	char here[4096];
	assert_true(getcwd(here, sizeof here) && chdir("/proc") == 0); /* tests before this may have left the process in / */
	assert_false(has_same_context(&before));
	assert_int_equal(chdir(here), 0);
	assert_true(has_same_context(&before));
	free(home);
}

/* ---- the server's side ---- */

static bool parse(struct arena *a, int argc, char **argv, struct options *out)
{
	*out = plain;
	out->jobs = argc > 1 ? atoi(argv[1]) : 0;
	return argc > 0;
}

static bool accepts(struct server *s, uint32_t argc, char *jobs)
{
	char *argv[] = {"trib", jobs, NULL};
	struct arena *a = arena_new(0);
	struct options o;
	const struct request r = {.argc = argc, .argv = argv, .from = s->here};
	bool ok = served_build_accept(s, a, &r, &o);
	arena_free(a);
	return ok;
}

static void client_of_another_context_is_declined(void **state)
{
	const struct server_options options = {.parse = parse};
	struct server s = {.options = &options, .warm = true};
	struct request r = {.argc = 1};
	struct options o;
	s.here.nice = 5;
	assert_false(served_build_accept(&s, NULL, &r, &o));
	r.from.nice = 5;
	assert_true(served_build_accept(&s, NULL, &r, &o));
}

static void number_of_workers_is_that_of_the_pool(void **state)
{
	const struct server_options options = {.parse = parse};
	struct server s = {.options = &options, .warm = true};
	assert_true(accepts(&s, 2, "7")); /* the pool will get as many */
	s.session.pool = session_pool(&s.session, 1, &(struct pool_limits){0});
	assert_non_null(s.session.pool);
	assert_true(accepts(&s, 2, "1"));
	assert_true(accepts(&s, 2, "0")); /* as many as there are */
	assert_false(accepts(&s, 2, "2"));
	session_free(&s.session);
}

/* ---- the socket ---- */

int test_served_build(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_that_need_this_process),         cmocka_unit_test(environment_switches_the_server_off),
		cmocka_unit_test(context_has_what_requests_do_not_carry), cmocka_unit_test(client_of_another_context_is_declined),
		cmocka_unit_test(number_of_workers_is_that_of_the_pool),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
