#include "base/os.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/unit.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_if_changed(void **state)
{
	size_t n = 100000;
	char *big = malloc(n);
	struct file_stamp a, b;

	memset(big, 'x', n);
	assert_true(os_write_if_changed("c", big, n, 0644, false));
	assert_true(os_stamp("c", &a));
	assert_true(os_write_if_changed("c", big, n, 0644, false));
	assert_true(os_stamp("c", &b));
	assert_true(os_stamp_eq(&a, &b));
	big[n - 1] = 'y';
	assert_true(os_write_if_changed("c", big, n, 0644, false));
	assert_true(os_stamp("c", &b));
	assert_false(os_stamp_eq(&a, &b));
	assert_true(os_write_if_changed("c", big, n - 1, 0644, false));
	assert_true(os_stamp("c", &b));
	assert_int_equal(b.size, n - 1);
	free(big);
}

/* Failures leave the old file and nothing else. */
static void writes_through_links_and_into_pipes(void **state)
{
	char text[8] = "";
	struct stat st;
	int fd;

	assert_true(os_write_atomic("target", "1", 1, 0644, false));
	assert_int_equal(symlink("target", "link"), 0);
	assert_true(os_write_atomic("link", "22", 2, 0644, false));
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat("target", &st), 0);
	assert_int_equal(st.st_size, 2);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	fd = open("pipe", O_RDONLY | O_NONBLOCK);
	assert_true(os_write_atomic("pipe", "abc", 3, 0644, false));
	assert_int_equal(read(fd, text, sizeof text), 3);
	close(fd);
	assert_int_equal(lstat("pipe", &st), 0);
	assert_true(S_ISFIFO(st.st_mode)); /* no file took its place */
}

static void write_fails_cleanly(void **state)
{
	assert_false(os_write_atomic("no/such/dir/f", "x", 1, 0644, false));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(mkdir("d", 0755), 0);
	assert_int_equal(mkdir("d/target", 0755), 0);
	assert_false(os_write_atomic("d/target", "x", 1, 0644, false)); /* rename onto a directory */
	assert_int_equal(errno, EISDIR);
	assert_int_equal(folder_entries("d"), 1);
}

static void unwritable_directory(void **state)
{
	assert_int_equal(mkdir("r", 0755), 0);
	assert_true(os_write_atomic("r/f", "old", 3, 0644, false));
	assert_int_equal(chmod("r", 0555), 0);
	if (access("r", W_OK) != 0) {
		assert_false(os_write_atomic("r/f", "new", 3, 0644, false));
		assert_int_equal(errno, EACCES);
		file_check("r/f", "old");
		assert_int_equal(folder_entries("r"), 1);
	} /* else: root, to whom every directory is writable */
	assert_int_equal(chmod("r", 0755), 0);
	assert_false(os_write_atomic("/proc/trib-test", "x", 1, 0644, false)); /* to root, too */
}

/* A file size limit simulates a full disk: the write fails half-way. It runs in a child process, because the limit is permanent. */
static void full_disk(void **state)
{
	static char big[1 << 16];
	int status;
	pid_t pid;

	assert_int_equal(mkdir("full", 0755), 0);
	assert_true(os_write_atomic("full/f", "old", 3, 0644, false));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit limit = {4096, 4096};

		signal(SIGXFSZ, SIG_IGN);
		if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
			_exit(2);
		_exit(!os_write_atomic("full/f", big, sizeof big, 0644, false) && errno == EFBIG ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	file_check("full/f", "old");
	assert_int_equal(folder_entries("full"), 1);
}

static void sinks(void **state)
{
	struct os_sink *s;
	struct file_stamp before, after;
	const void *mapped;
	size_t len;

	assert_int_equal(mkdir("d", 0755), 0);
	assert_true(os_write_atomic("d/f", "old", 3, 0644, false));
	assert_non_null(s = os_sink_open("d/f", 6, 0644));
	assert_true(os_sink_write(s, "def", 3, 3));
	assert_true(os_sink_write(s, "abc", 3, 0));
	file_check("d/f", "old");
	assert_true(os_sink_publish(s));
	os_sink_close(s);
	file_check("d/f", "abcdef");
	assert_non_null(s = os_sink_open("d/f", 3, 0644)); /* given up */
	assert_true(os_sink_write(s, "abc", 3, 0));
	os_sink_close(s);
	file_check("d/f", "abcdef");
	assert_int_equal(folder_entries("d"), 1);
	assert_non_null(s = os_sink_open("d/f", 2, 0644)); /* the file grows, its bytes move, and it shrinks */
	assert_true(os_sink_write(s, "ab", 2, 0));
	assert_true(os_sink_resize(s, 9));
	assert_true(os_sink_write(s, "cdefghi", 7, 2));
	assert_true(os_sink_move(s, 3, 1, 6));
	assert_true(os_sink_resize(s, 7));
	assert_true(os_sink_map(s, &mapped, &len));
	assert_int_equal(len, 7);
	assert_memory_equal(mapped, "adefghi", 7);
	os_unmap(mapped, len);
	assert_true(os_sink_publish(s));
	os_sink_close(s);
	file_check("d/f", "adefghi");
	assert_true(os_stamp("d/f", &before));
	assert_non_null(s = os_sink_open("d/f", 7, 0644)); /* the same content: the file stays */
	assert_true(os_sink_write(s, "adefghi", 7, 0));
	assert_true(os_sink_publish(s));
	os_sink_close(s);
	assert_true(os_stamp("d/f", &after));
	assert_true(os_stamp_eq(&before, &after));
	assert_int_equal(symlink("f", "d/link"), 0); /* the target is replaced */
	assert_non_null(s = os_sink_open("d/link", 1, 0644));
	assert_true(os_sink_write(s, "x", 1, 0));
	assert_true(os_sink_publish(s));
	os_sink_close(s);
	file_check("d/f", "x");
	assert_non_null(s = os_sink_open("/dev/null", 1, 0644)); /* written in place */
	assert_true(os_sink_publish(s));
	os_sink_close(s);
	assert_int_equal(unlink("d/link"), 0);
	assert_null(os_sink_open("none/f", 3, 0644));
	assert_int_equal(errno, ENOENT);
	assert_null(os_sink_open("d/f", (uint64_t)1 << 60, 0644)); /* more than there is */
	assert_int_equal(folder_entries("d"), 1);
	os_sink_close(NULL);
}

/* Huge pages are reserved for a large file, which does not end with one. */
static void large_sink(void **state)
{
	enum { LARGE = (5 << 20) + 3, PIECE = 777777 };
	char *want = malloc(LARGE);
	struct os_sink *s;
	const void *mapped;
	size_t len;

	(void)state;
	assert_non_null(want);
	for (size_t k = 0; k < LARGE; k++)
		want[k] = (char)(k * 2654435761u >> 13);
	assert_non_null(s = os_sink_open("large", LARGE, 0644));
	for (size_t k = 0; k < LARGE; k += PIECE)
		assert_true(os_sink_write(s, want + k, k + PIECE < LARGE ? PIECE : LARGE - k, k));
	assert_true(os_sink_map(s, &mapped, &len));
	assert_int_equal(len, LARGE);
	assert_memory_equal(mapped, want, LARGE);
	os_unmap(mapped, len);
	os_sink_close(s);
	free(want);
}

/* Eight processes write one file: it is always one of theirs, whole. */
static void concurrent_writers(void **state)
{
	enum { WRITERS = 8, ROUNDS = 50, SIZE = 20000 };
	static char text[SIZE];
	char *data;
	size_t len;

	assert_int_equal(mkdir("w", 0755), 0);
	for (int i = 0; i < WRITERS; i++)
		if (fork() == 0) {
			bool ok = true;

			memset(text, 'a' + i, SIZE);
			for (int r = 0; r < ROUNDS; r++)
				ok = os_write_atomic("w/f", text, SIZE, 0644, false) && ok;
			_exit(ok ? 0 : 1);
		}
	for (int i = 0; i < WRITERS; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
		assert_true(os_read_file("w/f", 0, &data, &len));
		assert_int_equal(len, SIZE);
		for (size_t k = 1; k < len; k++)
			assert_int_equal(data[k], data[0]);
		free(data);
	}
	assert_int_equal(folder_entries("w"), 1);
}

int test_os_write(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(write_if_changed, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(writes_through_links_and_into_pipes, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(write_fails_cleanly, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(unwritable_directory, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(full_disk, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(sinks, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(large_sink, folder_enter, folder_leave),
		cmocka_unit_test_setup_teardown(concurrent_writers, folder_enter, folder_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
