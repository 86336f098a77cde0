#include "base/os.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/unit.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static void sweeping(void **state)
{
	static const char *const others[] = {".trib-0123456789abcde.tmp", ".trib-0123456789abcdefa.tmp", ".trib-0123456789abcdeg.tmp",
					     ".trib-0123456789abcdef.tmp.x"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_true(os_write_atomic(others[i], "x", 1, 0600, false));
	int left = open(".trib-0123456789abcdef.tmp", O_WRONLY | O_CREAT, 0600),
	    used = open(".trib-0123456789abcde0.tmp", O_WRONLY | O_CREAT, 0600);
	assert_true(left >= 0 && used >= 0 && flock(used, LOCK_EX) == 0);
	close(left);
	os_remove_temporaries(".");
	assert_int_equal(access(".trib-0123456789abcdef.tmp", F_OK), -1);
	assert_int_equal(access(".trib-0123456789abcde0.tmp", F_OK), 0);
	assert_int_equal(folder_entries("."), 1 + sizeof others / sizeof *others);
	close(used);
	os_remove_temporaries(".");
	assert_int_equal(folder_entries("."), sizeof others / sizeof *others);
	os_remove_temporaries("absent");
}

/* Writers lose no temporary to sweepers. */
static void sweeping_meanwhile(void **state)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		for (;;)
			os_remove_temporaries(".");
	for (int i = 0; i < 300; i++) {
		struct os_sink *s = os_sink_open("sink", 1, 0600);

		assert_true(os_write_atomic("f", "x", 1, 0600, false));
		assert_true(s && os_sink_write(s, "y", 1, 0) && os_sink_publish(s));
		os_sink_close(s);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(folder_entries("."), 2);
}

int test_os_temporary(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sweeping, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(sweeping_meanwhile, folder_enter, folder_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
