/* The guard's limit of processor time: an endless loop in a store is damage, a wait is not. */
#include "builder/store/crash_guard.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/os.h"

enum { STARTED_AGAIN = 2, RETURNED = 7 }; /* the runner ends with 2, because there is no test of that name */

static char dir[64], store[96];

static int setup(void **state)
{
	strcpy(dir, "/tmp/trib-guard-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(store, sizeof store, "%s/store", dir);
	return mkdir(store, 0700);
}

static int teardown(void **state) { return os_remove_tree(dir) ? 0 : -1; }

/* Returns the exit code of a guarded process that does this. */
static int guarded(void (*work)(void))
{
	static char program[] = "unit_builder", nothing[] = "no_such_test";
	static char *again[] = {program, nothing, NULL};
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		crash_guard_install(again);
		work();
		_exit(RETURNED);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* It calls the C library, where the thread sanitizer delivers signals. */
static void spin(void)
{
	while (os_thread_cpu_ns() >= 0)
		continue;
}

static void spin_inside(void)
{
	crash_guard_enter(store, 1);
	spin();
}

static void test_an_endless_loop_moves_the_store_away(void **state)
{
	assert_int_equal(guarded(spin_inside), STARTED_AGAIN);
	assert_int_equal(access(store, F_OK), -1);
}

static void wait_inside(void)
{
	crash_guard_enter(store, 1);
	nanosleep(&(struct timespec){1, 200000000}, NULL);
	crash_guard_leave();
}

static void test_a_wait_is_no_loop(void **state)
{
	assert_int_equal(guarded(wait_inside), RETURNED);
	assert_int_equal(access(store, F_OK), 0);
}

/* 1.5 s of processor time, each 0.15 s inside. */
static void work_often(void)
{
	for (int i = 0; i < 10; i++) {
		crash_guard_enter(store, 1);
		for (int64_t end = os_thread_cpu_ns() + 150000000; os_thread_cpu_ns() < end;)
			continue;
		crash_guard_leave();
	}
}

static void test_each_use_has_the_whole_limit(void **state)
{
	assert_int_equal(guarded(work_often), RETURNED);
	assert_int_equal(access(store, F_OK), 0);
}

static void name_code_of_others(void)
{
	if (crash_guard_set_foreign("a library") || !crash_guard_set_foreign(NULL))
		_exit(1);
}

/* Threads of a program without the handler would leave names of libraries that are closed. */
static void test_only_the_handler_learns_whose_code_runs(void **state)
{
	assert_null(crash_guard_set_foreign("a library"));
	assert_null(crash_guard_set_foreign(NULL));
	assert_int_equal(guarded(name_code_of_others), RETURNED);
}

int test_crash_guard(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_endless_loop_moves_the_store_away, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_wait_is_no_loop, setup, teardown),
		cmocka_unit_test_setup_teardown(test_each_use_has_the_whole_limit, setup, teardown),
		cmocka_unit_test(test_only_the_handler_learns_whose_code_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
