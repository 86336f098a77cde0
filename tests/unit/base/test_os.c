#include "base/buf.h"
#include "base/os.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/unit.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void read_and_write(void **state)
{
	struct stat st;
	char *data;
	size_t len;

	assert_true(os_write_atomic("f", "hello", 5, 0600, false));
	file_check("f", "hello");
	assert_true(os_write_atomic("f", "", 0, 0644, true));
	file_check("f", "");
	assert_true(os_write_atomic("./f", "new", 3, 0755, false));
	file_check("f", "new");
	assert_int_equal(stat("f", &st), 0);
	assert_int_equal(st.st_mode & 0700, 0700);
	assert_false(os_read_file("f", 2, &data, &len));
	assert_int_equal(errno, EFBIG);
	assert_true(os_read_file("f", 3, &data, &len));
	free(data);
	assert_false(os_read_file("absent", 0, &data, &len));
	assert_int_equal(errno, ENOENT);
	assert_false(os_read_file(".", 0, &data, &len));
	assert_int_equal(errno, EISDIR);
	assert_true(os_read_file("/proc/self/status", 0, &data, &len)); /* its size says 0 */
	assert_true(len > 100);
	free(data);
	assert_int_equal(folder_entries("."), 1);
}

static void mapping(void **state)
{
	const void *data;
	size_t len;

	assert_true(os_write_atomic("m", "mapped", 6, 0644, false));
	assert_true(os_map_file("m", &data, &len));
	assert_int_equal(len, 6);
	assert_memory_equal(data, "mapped", 6);
	assert_true(os_write_atomic("m", "", 0, 0644, false)); /* the mapping keeps the old file */
	assert_memory_equal(data, "mapped", 6);
	os_unmap(data, len);
	assert_true(os_map_file("m", &data, &len));
	assert_null(data);
	assert_int_equal(len, 0);
	os_unmap(data, len);
	assert_false(os_map_file(".", &data, &len));
	assert_false(os_map_file("absent", &data, &len));
}

static void append(void *text, const void *bytes, size_t n) { buf_put(text, bytes, n); }

static void pieces(void **state)
{
	enum { MANY = 200001 };
	struct buf text = {0};
	char *many = malloc(MANY);

	assert_non_null(many);
	for (size_t i = 0; i < MANY; i++)
		many[i] = (char)(i % 251);
	assert_true(os_write_atomic("p", many, MANY, 0644, false));
	assert_true(os_read_pieces("p", append, &text));
	assert_int_equal(text.len, MANY);
	assert_memory_equal(text.at, many, MANY);
	buf_free(&text);
	free(many);
	assert_false(os_read_pieces(".", append, &text));
	assert_false(os_read_pieces("absent", append, &text));
	assert_false(os_read_pieces("/dev/zero", append, &text));
}

static void stamps(void **state)
{
	struct file_stamp a, b, none = {0};

	assert_false(os_stamp("absent", &a));
	assert_true(os_stamp_eq(&a, &none));
	assert_true(os_write_atomic("s", "1", 1, 0644, false));
	assert_true(os_stamp("s", &a));
	assert_true(os_stamp("s", &b));
	assert_true(os_stamp_eq(&a, &b));
	assert_int_equal(a.size, 1);
	assert_true(os_write_atomic("s", "2", 1, 0644, false));
	assert_true(os_stamp("s", &b));
	assert_false(os_stamp_eq(&a, &b));
}

static void *write_pipe(void *path)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(write(fd, "abc", 3), 3);
	close(fd);
	return NULL;
}

static void count_piece(void *n, const void *bytes, size_t len) { *(size_t *)n += len + (bytes == NULL); }

/* A pipe without a writer is refused at once; only os_read_stream waits for one. */
static void reads_only_regular_files(void **state)
{
	static const char *const paths[] = {"pipe", "/dev/zero", "/dev/null", "loop", "to_pipe"};
	pthread_t writer;
	const void *map;
	char *data;
	size_t len;

	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(symlink("pipe", "to_pipe"), 0);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		int want = strcmp(paths[i], "loop") == 0 ? ELOOP : ENODEV;

		assert_false(os_read_file(paths[i], 0, &data, &len));
		assert_int_equal(errno, want);
		assert_false(os_map_file(paths[i], &map, &len));
		assert_int_equal(errno, want);
		assert_false(os_read_pieces(paths[i], count_piece, &len));
		assert_int_equal(errno, want);
	}
	assert_false(os_read_file(".", 0, &data, &len));
	assert_int_equal(errno, EISDIR);
	assert_false(os_read_stream(".", 0, &data, &len));
	assert_int_equal(errno, EISDIR);
	assert_int_equal(pthread_create(&writer, NULL, write_pipe, "pipe"), 0);
	assert_true(os_read_stream("pipe", 0, &data, &len));
	assert_int_equal(pthread_join(writer, NULL), 0);
	assert_string_equal(data, "abc");
	free(data);
	assert_true(os_read_stream("/dev/null", 0, &data, &len));
	assert_int_equal(len, 0);
	free(data);
	assert_false(os_read_stream("/dev/zero", 4096, &data, &len));
	assert_int_equal(errno, EFBIG);
}

static void directories(void **state)
{
	assert_true(os_mkdirs("x/y/z"));
	assert_true(os_mkdirs("x/y/z"));
	assert_true(os_mkdirs("x/y/../y//q/"));
	assert_true(os_mkdirs("/"));
	assert_true(os_mkdirs("."));
	assert_false(os_mkdirs(""));
	assert_true(os_write_atomic("x/file", "", 0, 0644, false));
	assert_false(os_mkdirs("x/file"));
	assert_int_equal(errno, ENOTDIR);
	assert_false(os_mkdirs("x/file/below"));
	assert_int_equal(errno, ENOTDIR);
}

static void remove_tree_spares_links(void **state)
{
	assert_true(os_mkdirs("keep"));
	assert_true(os_write_atomic("keep/f", "x", 1, 0644, false));
	assert_true(os_mkdirs("gone/a/b"));
	assert_int_equal(symlink("../../keep", "gone/a/link"), 0);
	assert_int_equal(symlink("keep", "toplink"), 0);
	assert_true(os_remove_tree("gone"));
	assert_int_not_equal(access("gone", F_OK), 0);
	assert_true(os_remove_tree("toplink/"));
	assert_int_not_equal(access("toplink", F_OK), 0);
	file_check("keep/f", "x");
	assert_true(os_remove_tree("keep/f"));
	assert_true(os_remove_tree("absent"));
}

static void process(void **state)
{
	int64_t t = os_now_ns();
	char *exe = os_exe_dir();

	assert_true(t > 0 && os_now_ns() >= t);
	assert_true(os_cpu_ns() > 0 && os_thread_cpu_ns() > 0);
	assert_true(os_peak_rss_kb() > 100);
	assert_true(os_cpu_count() >= 1);
	assert_non_null(exe);
	assert_true(exe[0] == '/');
	free(exe);
	assert_false(os_is_tty(-1));
	assert_int_equal(os_tty_columns(-1), 80);
}

static void interrupts(void **state)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGHUP, SIG_IGN); /* as under nohup */
		os_catch_interrupts();
		raise(SIGHUP);
		if (os_interrupted())
			_exit(1);
		raise(SIGTERM);
		if (!os_interrupted())
			_exit(2);
		raise(SIGTERM); /* the second one kills */
		_exit(3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	assert_false(os_interrupted());
}

/* A parent may pass on a signal that also came to the child by itself. */
static void an_interrupt_that_the_parent_repeats(void **state)
{
	int status;
	sigset_t set, before;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		os_catch_interrupts();
		while (sigpending(&set) == 0 && !sigismember(&set, SIGTERM)) /* of the parent */
			sched_yield();
		sigprocmask(SIG_SETMASK, &before, NULL);
		raise(SIGTERM);
		_exit(os_interrupted() ? 0 : 1);
	}
	assert_int_equal(kill(pid, SIGTERM), 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *wait_for_interrupt(void *unused)
{
	while (!os_interrupted())
		usleep(1000);
	return unused;
}

/* The thread sanitizer changes the child's exit status when it sees a race. */
static void threads_see_an_interrupt(void **state)
{
	int status;
	fflush(stdout);
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		pthread_t t;
		os_catch_interrupts();
		if (pthread_create(&t, NULL, wait_for_interrupt, NULL) != 0)
			exit(1);
		raise(SIGTERM);
		exit(pthread_join(t, NULL) != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int test_os(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(read_and_write, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(mapping, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(pieces, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(stamps, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(reads_only_regular_files, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(directories, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(remove_tree_spares_links, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(process, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(interrupts, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(an_interrupt_that_the_parent_repeats, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(threads_see_an_interrupt, folder_enter, folder_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
