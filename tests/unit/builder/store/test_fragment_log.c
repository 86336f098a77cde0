/* The log of fragments: round trips, what it drops, damage at every place, and things in its place. */
#include "builder/store/fragment_log.h"
#include "tests/unit/unit.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/os.h"

static char dir[64], folder[96];
static const hash128 id = {7, 9};

static int setup(void **state)
{
	strcpy(dir, "/tmp/trib-log-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(folder, sizeof folder, "%s/fragments", dir);
	return 0;
}

static int teardown(void **state) { return os_remove_tree(dir) ? 0 : -1; }

static const char *path_of(hash128 of)
{
	static char path[160];
	char hex[33];
	hash_hex(of, hex);
	snprintf(path, sizeof path, "%s/%s", folder, hex);
	return path;
}

static void closed(struct fragment_log *l, bool is_whole)
{
	struct buf w = {0};
	assert_true(fragment_log_write(l, is_whole, &w));
	assert_null(w.at);
	fragment_log_close(l);
}

/* Fragment i has i bytes of value i, but every seventh is large. */
static size_t len_of(unsigned i) { return i % 7 == 6 ? 100000 : i; }
static const void *bytes_of(unsigned i)
{
	static char bytes[64][100000];
	return memset(bytes[i], (int)i, len_of(i));
}
static hash128 key_of(unsigned i) { return (hash128){i, 1}; }

static void put(hash128 of, unsigned from, unsigned to, bool is_whole)
{
	struct fragment_log *l = fragment_log_open(folder, of);
	for (unsigned i = from; i < to; i++)
		fragment_log_keep(l, key_of(i), bytes_of(i), len_of(i));
	closed(l, is_whole);
}

static bool has(struct fragment_log *l, unsigned i)
{
	size_t len;
	const void *bytes = fragment_log_find(l, key_of(i), &len);
	if (!bytes)
		return false;
	assert_int_equal(len, len_of(i));
	assert_int_equal((uintptr_t)bytes % 16, 0);
	assert_memory_equal(bytes, bytes_of(i), len);
	return true;
}

static unsigned count(hash128 of, unsigned n)
{
	struct fragment_log *l = fragment_log_open(folder, of);
	unsigned found = 0;
	for (unsigned i = 0; i < n; i++)
		found += has(l, i);
	closed(l, false);
	return found;
}

static uint64_t size_of(const char *path)
{
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	return (uint64_t)st.st_size;
}

static void round_trip(void **state)
{
	size_t len;
	assert_null(fragment_log_find(NULL, key_of(1), &len));
	assert_true(fragment_log_write(NULL, true, NULL));
	fragment_log_close(NULL);
	closed(fragment_log_open(folder, id), true);
	assert_int_not_equal(access(folder, F_OK), 0); /* nothing to write */
	put(id, 0, 20, true);
	put(id, 10, 30, true);
	assert_int_equal(count(id, 40), 30);
	uint64_t size = size_of(path_of(id));
	put(id, 0, 30, true); /* nothing new */
	assert_int_equal(size_of(path_of(id)), size);
}

/* Old fragments go once they take more space than those in use; the newest of them stay. */
static void drops_unused(void **state)
{
	static char bytes[64][1 << 20];
	struct fragment_log *l;
	for (unsigned i = 0; i < 64; i++) {
		l = fragment_log_open(folder, id);
		memset(bytes[i], (int)i, sizeof bytes[i]);
		fragment_log_keep(l, key_of(1000), "used", 4);
		fragment_log_keep(l, key_of(i), bytes[i], sizeof bytes[i]);
		closed(l, i % 2);
		assert_in_range(size_of(path_of(id)), 1 << 20, 8 << 20);
	}
	size_t len;
	l = fragment_log_open(folder, id);
	assert_non_null(fragment_log_find(l, key_of(1000), &len));
	assert_non_null(fragment_log_find(l, key_of(63), &len));
	assert_non_null(fragment_log_find(l, key_of(62), &len));
	assert_null(fragment_log_find(l, key_of(0), &len));
	closed(l, false);
}

static void write_file(const char *path, const char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	assert_true(fd >= 0 && os_write_fd(fd, bytes, n));
	close(fd);
}

/* Cut anywhere, the log has the fragments before the cut, and takes new ones. */
static void cut_anywhere(void **state)
{
	char *bytes;
	size_t n;
	put(id, 0, 6, true);
	assert_true(os_read_file(path_of(id), 0, &bytes, &n));
	unsigned before = 0;
	for (size_t cut = 0; cut <= n; cut++) {
		write_file(path_of(id), bytes, cut);
		unsigned found = count(id, 6);
		assert_true(found >= before || cut % 16);
		before = found;
		write_file(path_of(id), bytes, cut);
		put(id, 0, 6, true);
		assert_int_equal(count(id, 6), 6);
	}
	assert_int_equal(before, 6);
	free(bytes);
}

/* A damaged byte costs at most one fragment. */
static void flip_anywhere(void **state)
{
	char *bytes;
	size_t n;
	put(id, 0, 6, true);
	assert_true(os_read_file(path_of(id), 0, &bytes, &n));
	for (size_t i = 0; i < n; i++) {
		bytes[i] ^= (char)(1 << i % 8);
		write_file(path_of(id), bytes, n);
		assert_in_range(count(id, 6), 5, 6);
		write_file(path_of(id), bytes, n);
		put(id, 0, 6, true);
		assert_int_equal(count(id, 6), 6);
		bytes[i] ^= (char)(1 << i % 8);
	}
	free(bytes);
}

/* Links are not followed, pipes are not waited for, folders are removed. */
static void things_in_its_place(void **state)
{
	char outside[128];
	snprintf(outside, sizeof outside, "%s/outside", dir);
	for (int kind = 0; kind < 3; kind++) {
		assert_true(os_mkdirs(folder));
		write_file(outside, "mine", 4);
		const char *path = path_of(id);
		assert_int_equal(kind == 0 ? symlink(outside, path) : kind == 1 ? mkfifo(path, 0666) : mkdir(path, 0777), 0);
		assert_int_equal(count(id, 6), 0);
		put(id, 0, 6, true);
		assert_int_equal(size_of(outside), 4);
		assert_true(size_of(path_of(id)) > 0);
		assert_int_equal(count(id, 6), 6);
		assert_true(os_remove_tree(folder));
	}
}

/* A new log removes those that were not used for a month. */
static void prunes_old_logs(void **state)
{
	static const hash128 old = {1, 1}, young = {2, 2};
	const int64_t day = 24 * 60 * 60;
	struct timespec past[2] = {{time(NULL) - 31 * day, 0}, {time(NULL) - 31 * day, 0}};
	put(old, 0, 3, true);
	put(young, 0, 3, true);
	assert_int_equal(utimensat(AT_FDCWD, path_of(old), past, 0), 0);
	past[0].tv_sec = past[1].tv_sec = time(NULL) - 29 * day;
	assert_int_equal(utimensat(AT_FDCWD, path_of(young), past, 0), 0);
	put(id, 0, 3, true);
	assert_int_not_equal(access(path_of(old), F_OK), 0);
	assert_int_equal(count(young, 3), 3); /* which counts as a use */
	struct stat st;
	assert_int_equal(stat(path_of(young), &st), 0);
	assert_true(st.st_mtime + day > time(NULL));
}

static void read_only_folder(void **state)
{
	struct buf w = {0};
	write_file(folder, "a file in its place", 5);
	struct fragment_log *l = fragment_log_open(folder, id);
	fragment_log_keep(l, key_of(1), bytes_of(1), len_of(1));
	assert_false(fragment_log_write(l, true, &w));
	assert_non_null(strstr(w.at, "cannot write to"));
	fragment_log_close(l);
	buf_free(&w);
}

int test_fragment_log(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(drops_unused, setup, teardown),
		cmocka_unit_test_setup_teardown(cut_anywhere, setup, teardown),
		cmocka_unit_test_setup_teardown(flip_anywhere, setup, teardown),
		cmocka_unit_test_setup_teardown(things_in_its_place, setup, teardown),
		cmocka_unit_test_setup_teardown(prunes_old_logs, setup, teardown),
		cmocka_unit_test_setup_teardown(read_only_folder, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
