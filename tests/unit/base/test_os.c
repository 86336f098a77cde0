#include "base/buf.h"
#include "base/os.h"
#include "tests/unit/unit.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

static int set_up(void **state)
{
	strcpy(dir, "/tmp/trib-test-os-XXXXXX");
	return mkdtemp(dir) ? chdir(dir) : -1;
}

static int tear_down(void **state) { return chdir("/") == 0 && os_remove_tree(dir) && access(dir, F_OK) != 0 ? 0 : -1; }

static int entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void check_content(const char *path, const char *expect)
{
	char *data;
	size_t len;

	assert_true(os_read_file(path, 0, &data, &len));
	assert_int_equal(len, strlen(expect));
	assert_string_equal(data, expect);
	free(data);
}

static void read_and_write(void **state)
{
	struct stat st;
	char *data;
	size_t len;

	assert_true(os_write_atomic("f", "hello", 5, 0600, false));
	check_content("f", "hello");
	assert_true(os_write_atomic("f", "", 0, 0644, true));
	check_content("f", "");
	assert_true(os_write_atomic("./f", "new", 3, 0755, false));
	check_content("f", "new");
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
	assert_int_equal(entries("."), 1);
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

static void write_fails_cleanly(void **state)
{
	assert_false(os_write_atomic("no/such/dir/f", "x", 1, 0644, false));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(mkdir("d", 0755), 0);
	assert_int_equal(mkdir("d/target", 0755), 0);
	assert_false(os_write_atomic("d/target", "x", 1, 0644, false)); /* rename onto a directory */
	assert_int_equal(errno, EISDIR);
	assert_int_equal(entries("d"), 1);
}

static void unwritable_directory(void **state)
{
	assert_int_equal(mkdir("r", 0755), 0);
	assert_true(os_write_atomic("r/f", "old", 3, 0644, false));
	assert_int_equal(chmod("r", 0555), 0);
	if (access("r", W_OK) != 0) {
		assert_false(os_write_atomic("r/f", "new", 3, 0644, false));
		assert_int_equal(errno, EACCES);
		check_content("r/f", "old");
		assert_int_equal(entries("r"), 1);
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
	check_content("full/f", "old");
	assert_int_equal(entries("full"), 1);
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
	check_content("d/f", "old");
	assert_true(os_sink_publish(s));
	os_sink_close(s);
	check_content("d/f", "abcdef");
	assert_non_null(s = os_sink_open("d/f", 3, 0644)); /* given up */
	assert_true(os_sink_write(s, "abc", 3, 0));
	os_sink_close(s);
	check_content("d/f", "abcdef");
	assert_int_equal(entries("d"), 1);
	assert_non_null(s = os_sink_open("d/f", 2, 0644)); /* grows, moves what it has, shrinks */
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
	check_content("d/f", "adefghi");
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
	check_content("d/f", "x");
	assert_non_null(s = os_sink_open("/dev/null", 1, 0644)); /* written in place */
	assert_true(os_sink_publish(s));
	os_sink_close(s);
	assert_int_equal(unlink("d/link"), 0);
	assert_null(os_sink_open("none/f", 3, 0644));
	assert_int_equal(errno, ENOENT);
	assert_null(os_sink_open("d/f", (uint64_t)1 << 60, 0644)); /* more than there is */
	assert_int_equal(entries("d"), 1);
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
	assert_int_equal(entries("."), 1 + sizeof others / sizeof *others);
	close(used);
	os_remove_temporaries(".");
	assert_int_equal(entries("."), sizeof others / sizeof *others);
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
	assert_int_equal(entries("."), 2);
}

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
	assert_int_equal(entries("w"), 1);
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
	check_content("keep/f", "x");
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

static void private_dirty_memory(void **state)
{
	const size_t size = 8 << 20;
	int ends[2];
	char byte;
	char *more = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t before = os_private_dirty_bytes(0);

	if (!before)
		skip(); /* no smaps_rollup */
	assert_true(more != MAP_FAILED);
	memset(more, 1, size);
	assert_true(os_private_dirty_bytes(0) >= before + size);
	assert_true(os_private_dirty_bytes(getpid()) >= before + size);

	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		close(ends[1]);
		(void)!read(ends[0], &byte, 1);
		_exit(0);
	}
	close(ends[0]);
	uint64_t of_child = os_private_dirty_bytes(child);
	assert_true(of_child > 0 && of_child < size); /* it shares the pages */
	close(ends[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(os_private_dirty_bytes(child), 0);

	/* pages of a file that was just written are not memory of the process that maps it */
	char path[] = "/tmp/trib-os-XXXXXX";
	int fd = mkstemp(path);
	uint64_t without = os_private_dirty_bytes(0);
	assert_true(fd >= 0 && write(fd, more, size) == (ssize_t)size);
	char *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(file != MAP_FAILED && memcmp(file, more, size) == 0);
	assert_true(os_private_dirty_bytes(0) < without + size / 2);
	munmap(file, size);
	close(fd);
	unlink(path);
	munmap(more, size);
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
		cmocka_unit_test_setup_teardown(read_and_write, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_only_regular_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(mapping, set_up, tear_down),
		cmocka_unit_test_setup_teardown(pieces, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stamps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(write_if_changed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(writes_through_links_and_into_pipes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(write_fails_cleanly, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unwritable_directory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(full_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sinks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(large_sink, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sweeping, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sweeping_meanwhile, set_up, tear_down),
		cmocka_unit_test_setup_teardown(concurrent_writers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(directories, set_up, tear_down),
		cmocka_unit_test_setup_teardown(remove_tree_spares_links, set_up, tear_down),
		cmocka_unit_test_setup_teardown(process, set_up, tear_down),
		cmocka_unit_test(private_dirty_memory),
		cmocka_unit_test_setup_teardown(interrupts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_interrupt_that_the_parent_repeats, set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_see_an_interrupt, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
