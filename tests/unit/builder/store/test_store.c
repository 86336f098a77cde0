/* The store: round trips, several openers, damage, and circumstances it must survive. */
#include "builder/store/store.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/os.h"

static char dir[64], folder[96];

static int setup(void **state)
{
	strcpy(dir, "/tmp/trib-store-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(folder, sizeof folder, "%s/store", dir);
	return 0;
}

static int teardown(void **state) { return os_remove_tree(dir) ? 0 : -1; }

static struct store *opened(void)
{
	struct buf w = {0};
	struct store *s = store_open(folder, true, &w);
	assert_non_null(s);
	buf_free(&w);
	return s;
}

static void closed(struct store *s)
{
	struct buf w = {0};
	assert_true(store_close(s, &w));
	assert_null(w.at);
	buf_free(&w);
}

static void absent(void **state)
{
	struct buf w = {0};
	size_t len;
	assert_null(store_open(folder, false, &w));
	assert_null(w.at); /* no store is no reason to warn */
	assert_null(store_get(NULL, (hash128){1, 2}, &len));
	assert_null(store_put(NULL, (hash128){1, 2}, "x", 1));
	assert_true(store_close(NULL, &w));
}

static void round_trip(void **state)
{
	static const size_t sizes[] = {0, 1, 100, 5000, STORE_LARGE - 32, STORE_LARGE, STORE_LARGE + 1, 3 << 20};
	enum { N = sizeof sizes / sizeof *sizes };
	char *data = malloc(3 << 20);
	size_t len;
	for (size_t i = 0; i < 3 << 20; i++)
		data[i] = (char)(i * 7 + i / 251);
	struct store *s = opened();
	for (size_t i = 0; i < N; i++)
		assert_non_null(store_put(s, (hash128){i, 9}, data, sizes[i]));
	const void *p = store_get(s, (hash128){3, 9}, &len); /* before it is written */
	assert_memory_equal(p, data, 5000);
	closed(s);
	s = opened();
	for (size_t i = 0; i < N; i++) {
		p = store_get(s, (hash128){i, 9}, &len);
		assert_non_null(p);
		assert_int_equal(len, sizes[i]);
		assert_int_equal(memcmp(p, data, len), 0);
	}
	assert_null(store_get(s, (hash128){77, 9}, &len));
	store_put(s, (hash128){2, 9}, "new", 3); /* replaces */
	p = store_get(s, (hash128){2, 9}, &len);
	assert_int_equal(len, 3);
	closed(s);
	s = opened();
	assert_memory_equal(store_get(s, (hash128){2, 9}, &len), "new", 3);
	closed(s);
	free(data);
}

static void grows_beyond_its_map(void **state)
{
	enum { SIZE = 200 << 10, COUNT = 1600 }; /* more than the first map of 256 MiB */
	char *data = calloc(1, SIZE);
	size_t len;
	struct store *s = opened();
	for (uint64_t i = 0; i < COUNT; i++) {
		memcpy(data, &i, sizeof i);
		store_put(s, (hash128){i, 1}, data, SIZE);
	}
	closed(s);
	s = opened();
	for (uint64_t i = 0; i < COUNT; i += 100) {
		const char *p = store_get(s, (hash128){i, 1}, &len);
		assert_non_null(p);
		assert_memory_equal(p, &i, sizeof i);
	}
	closed(s);
	free(data);
}

static void damaged_large_value_is_a_miss(void **state)
{
	char *data = calloc(1, 1 << 20), path[256], hex[33];
	size_t len;
	struct store *s = opened();
	store_put(s, (hash128){5, 5}, data, 1 << 20);
	closed(s);
	hash_hex((hash128){5, 5}, hex);
	snprintf(path, sizeof path, "%s/large/%.2s/%s", folder, hex, hex);
	FILE *f = fopen(path, "r+b");
	assert_non_null(f);
	fseek(f, 1000, SEEK_SET);
	fputc('x', f);
	fclose(f);
	s = opened();
	assert_null(store_get(s, (hash128){5, 5}, &len));
	closed(s);
	assert_int_not_equal(access(path, F_OK), 0);
	free(data);
}

static void garbage_is_set_aside(void **state)
{
	char path[256];
	struct buf w = {0};
	size_t len;
	mkdir(folder, 0777);
	snprintf(path, sizeof path, "%s/data.mdb", folder);
	FILE *f = fopen(path, "wb");
	for (int i = 0; i < 20000; i++)
		fputc(i * 31 & 255, f);
	fclose(f);
	struct store *s = store_open(folder, true, &w);
	assert_non_null(s);
	assert_non_null(strstr(w.at, "damaged"));
	store_put(s, (hash128){1, 1}, "ok", 2);
	closed(s);
	s = opened();
	assert_memory_equal(store_get(s, (hash128){1, 1}, &len), "ok", 2);
	closed(s);
	buf_free(&w);
}

static void two_openers_see_each_other(void **state)
{
	size_t len;
	struct store *s = opened();
	store_put(s, (hash128){1, 1}, "one", 3);
	assert_true(store_flush(s, NULL));
	pid_t pid = fork();
	if (pid == 0) {
		struct buf w = {0};
		struct store *t = store_open(folder, true, &w);
		bool ok = t && store_get(t, (hash128){1, 1}, &len) && store_put(t, (hash128){2, 2}, "two", 3) && store_close(t, &w);
		_exit(ok ? 0 : 1);
	}
	int status;
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_memory_equal(store_get(s, (hash128){2, 2}, &len), "two", 3);
	closed(s);
}

static void unusable_folder(void **state)
{
	struct buf w = {0};
	assert_null(store_open("/proc/nowhere/store", true, &w));
	assert_non_null(strstr(w.at, "/proc/nowhere/store"));
	buf_free(&w);
}

/* In either meta page of data.mdb: mm_last_pg, behind the page header, magic, version, address, map size and two databases. */
static void a_damaged_page_count_does_not_grow_the_file(void **state)
{
	const uint64_t count = (uint64_t)1 << 22;
	const off_t at = 16 + 8 + 8 + 8 + 2 * 48;
	char path[128];
	struct buf w = {0};
	struct stat st;
	size_t len;
	struct store *s = opened();
	store_put(s, (hash128){1, 2}, "x", 1);
	closed(s);
	snprintf(path, sizeof path, "%s/data.mdb", folder);
	FILE *f = fopen(path, "r+b");
	for (int page = 0; page < 2; page++) {
		assert_int_equal(fseeko(f, page * 4096 + at, SEEK_SET), 0);
		assert_int_equal(fwrite(&count, sizeof count, 1, f), 1);
	}
	fclose(f);
	s = store_open(folder, true, &w);
	assert_non_null(s);
	assert_non_null(strstr(w.at, "damaged"));
	assert_null(store_get(s, (hash128){1, 2}, &len));
	store_put(s, (hash128){3, 4}, "y", 1);
	assert_true(store_close(s, &w));
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size < 1 << 20);
	buf_free(&w);
}

int test_store(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(absent),
		T(round_trip),
		T(grows_beyond_its_map),
		T(damaged_large_value_is_a_miss),
		T(garbage_is_set_aside),
		T(two_openers_see_each_other),
		T(a_damaged_page_count_does_not_grow_the_file),
		T(unusable_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
