/* The user's cache: round trips, limits, what several processes and kills do to it, damage, folders that cannot be written. */
#include "builder/cache/cache.h"
#include "builder/cache/maintenance.h"
#include "builder/cache/state.h"
#include "tests/unit/unit.h"
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/os.h"

enum { HOUR = 3600, DAY = 24 * HOUR };

static char dir[64], folder[96];
static struct cache_options options;
static uint64_t now;

static uint64_t clock_of_test(void) { return now; }

static int setup(void **state)
{
	strcpy(dir, "/tmp/trib-cache-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(folder, sizeof folder, "%s/cache/v", dir);
	now = 1700000000;
	options = (struct cache_options){
		.dir = folder, .limits = {.size = CACHE_DEFAULT_SIZE}, .compress = -1, .levels = 3, .clock = clock_of_test};
	return 0;
}

static int teardown(void **state) { return os_remove_tree(dir) ? 0 : -1; }

static struct cache *opened(void)
{
	struct buf w = {0};
	struct cache *c = cache_open(&options, &w);
	assert_non_null(c);
	assert_null(w.at);
	return c;
}

static void closed(struct cache *c)
{
	struct buf w = {0};
	assert_true(cache_close(c, &w));
	assert_null(w.at);
}

static hash128 key_of(uint64_t i) { return (hash128){i * 0x9E3779B97F4A7C15ull, i}; }

/* Bytes that cannot be compressed, the same for the same seed. */
static char *noise(uint64_t seed, size_t n)
{
	char *p = malloc(n + 8);
	uint64_t x = seed * 2 + 1;
	for (size_t i = 0; i < n; i += 8) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		memcpy(p + i, &x, 8);
	}
	return p;
}

static void put_noise(struct cache *c, uint64_t i, size_t n)
{
	char *p = noise(i, n);
	cache_put(c, CACHE_WEIGHTS, key_of(i), p, n, 0);
	free(p);
}

static bool has_noise(struct cache *c, uint64_t i, size_t n)
{
	size_t len;
	char *p = noise(i, n);
	const void *got = cache_get(c, CACHE_WEIGHTS, key_of(i), &len);
	bool same = got && len == n && memcmp(got, p, n) == 0;
	assert_true(!got || same); /* never anything else */
	free(p);
	return same;
}

static void put_one(uint64_t i, size_t n)
{
	struct cache *c = opened();
	put_noise(c, i, n);
	closed(c);
}

static bool has_one(uint64_t i, size_t n)
{
	struct cache *c = opened();
	bool has = has_noise(c, i, n);
	closed(c);
	return has;
}

static uint64_t blocks;
static int add_blocks(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)path, (void)flag, (void)ftw;
	blocks += (uint64_t)st->st_blocks;
	return 0;
}

/* Bytes on disk. */
static uint64_t disk(void)
{
	blocks = 0;
	nftw(folder, add_blocks, 16, FTW_PHYS);
	return blocks * 512;
}

static void round_trip(void **state)
{
	static const size_t sizes[] = {0, 1, 31, 1900, 4096, 100000, 256 << 10, (256 << 10) + 1, 3 << 20};
	enum { N = sizeof sizes / sizeof *sizes };
	struct cache *c = opened();
	size_t len;
	for (size_t i = 0; i < N; i++)
		put_noise(c, i, sizes[i]);
	char *text = malloc(100000);
	memset(text, 'x', 100000);
	cache_put(c, CACHE_FRAGMENT, key_of(1), text, 100000, 1000000);
	assert_true(has_noise(c, 3, sizes[3])); /* before it is written */
	closed(c);
	c = opened();
	for (size_t i = 0; i < N; i++)
		assert_true(has_noise(c, i, sizes[i]));
	const char *got = cache_get(c, CACHE_FRAGMENT, key_of(1), &len);
	assert_int_equal(len, 100000);
	assert_memory_equal(got, text, 100000);
	assert_null(cache_get(c, CACHE_INIT, key_of(1), &len)); /* another kind is another entry */
	put_noise(c, 2, 31);
	closed(c);
	assert_null(cache_get(NULL, CACHE_INIT, key_of(1), &len));
	assert_null(cache_put(NULL, CACHE_INIT, key_of(1), "x", 1, 0));
	assert_true(cache_close(NULL, NULL));
	free(text);
}

/* What is added is written, but is not in memory meanwhile. */
static void added_values(void **state)
{
	static const size_t sizes[] = {1, 31, 100000, 3 << 20};
	enum { N = sizeof sizes / sizeof *sizes };
	struct cache *c = opened();
	size_t len;
	for (size_t i = 0; i < N; i++) {
		char *p = noise(i, sizes[i]);
		cache_add(c, CACHE_WEIGHTS, key_of(i), p, sizes[i], 0);
		cache_add(c, CACHE_WEIGHTS, key_of(i), p, sizes[i], 0); /* again */
		free(p);
		if (sizes[i] < CACHE_AS_IS) /* larger ones are written at once */
			assert_null(cache_get(c, CACHE_WEIGHTS, key_of(i), &len));
	}
	closed(c);
	c = opened();
	for (size_t i = 0; i < N; i++)
		assert_true(has_noise(c, i, sizes[i]));
	closed(c);
	cache_add(NULL, CACHE_INIT, key_of(1), "x", 1, 0);
}

static void added_files(void **state)
{
	static const size_t sizes[] = {0, 31, CACHE_AS_IS, CACHE_AS_IS + 1, 3 << 20};
	enum { N = sizeof sizes / sizeof *sizes };
	char path[] = "/tmp/trib-cache-file-XXXXXX";
	struct cache *c = opened();
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < N; i++) {
		char *p = noise(i, sizes[i]);
		assert_true(os_rewrite(path, p, sizes[i]));
		cache_add_file(c, CACHE_WEIGHTS, key_of(i), path, sizes[i]);
		free(p);
	}
	unlink(path);
	cache_add_file(c, CACHE_WEIGHTS, key_of(N), path, 3 << 20);
	closed(c);
	c = opened();
	for (size_t i = 0; i < N; i++)
		assert_true(has_noise(c, i, sizes[i]));
	assert_false(has_noise(c, N, 3 << 20));
	closed(c);
	cache_add_file(NULL, CACHE_INIT, key_of(1), path, 1);
}

static void switched_off_levels(void **state)
{
	size_t len;
	options.levels = 1u << CACHE_L3;
	struct cache *c = opened();
	assert_non_null(cache_put(c, CACHE_BUILD, key_of(1), "x", 1, 0));
	cache_put(c, CACHE_FRAGMENT, key_of(1), "y", 1, 0);
	closed(c);
	options.levels = 1u << CACHE_L2;
	c = opened();
	assert_null(cache_get(c, CACHE_FRAGMENT, key_of(1), &len));
	closed(c);
	options.levels = 3;
	c = opened();
	assert_null(cache_get(c, CACHE_BUILD, key_of(1), &len));
	assert_non_null(cache_get(c, CACHE_FRAGMENT, key_of(1), &len));
	closed(c);
}

/* What is too old is missed at the first look, before anything evicts it. */
static void expired_at_once(void **state)
{
	size_t len;
	struct cache_report r = {0};
	options.limits.days = 3;
	put_one(1, 100);
	put_one(2, 1 << 20);
	now += 3 * DAY + 1;
	struct cache *c = opened();
	assert_null(cache_get(c, CACHE_WEIGHTS, key_of(1), &len));
	assert_false(cache_has(c, CACHE_WEIGHTS, key_of(2)));
	closed(c);
	c = opened();
	assert_true(cache_report(c, &r));
	closed(c);
	assert_int_equal(r.all.misses[MISS_EXPIRED], 1);
	put_one(1, 100);
	assert_true(has_one(1, 100));
}

/* The least recently used goes first, and a use counts. */
static void by_last_use(void **state)
{
	options.limits.entries = 10;
	for (uint64_t i = 0; i < 10; i++) {
		put_one(i, 100);
		now += HOUR;
	}
	for (uint64_t i = 0; i < 3; i++)
		assert_true(has_one(i, 100));
	now += HOUR;
	put_one(10, 100);
	for (uint64_t i = 0; i < 3; i++)
		assert_true(has_one(i, 100));
	assert_true(has_one(10, 100));
	assert_false(has_one(3, 100));
}

static void by_age(void **state)
{
	options.limits.days = 30;
	put_one(1, 100);
	put_one(2, 1 << 20);
	now += 20 * DAY;
	assert_true(has_one(1, 100));
	now += 20 * DAY;
	put_one(3, 100);
	assert_true(has_one(1, 100));
	assert_false(has_one(2, 1 << 20));
	now -= 400 * DAY; /* a clock that goes backwards loses nothing */
	assert_true(has_one(1, 100));
	put_one(4, 100);
	assert_true(has_one(1, 100));
	assert_true(has_one(3, 100));
}

static uint64_t count_entries(void)
{
	struct cache_report r = {0};
	struct cache *c = opened();
	assert_true(cache_report(c, &r));
	closed(c);
	return r.all.entries;
}

/* No build waits until all that is expired is removed. */
static void a_flush_sweeps_a_part(void **state)
{
	struct cache *c = opened();
	options.limits.days = 30;
	for (uint64_t i = 0; i < 1000; i++)
		put_noise(c, i, 100);
	closed(c);
	now += 31 * DAY;
	put_one(5000, 100);
	assert_in_range(count_entries(), 1001 - 64 - 1001 / 256, 1000);
	for (uint64_t i = 1; i < 20; i++)
		put_one(5000 + i, 100);
	assert_int_equal(count_entries(), 20);
	assert_true(has_one(5000, 100));
	now += 31 * DAY; /* the notes of what was removed go, too */
	for (uint64_t i = 0; i < 40; i++)
		put_one(6000 + i, 100);
	assert_int_equal(count_entries(), 40);
}

/* No build waits until much is removed; still the limit holds, and what was used last stays. */
static void a_full_cache_makes_room_for_little(void **state)
{
	struct cache *c = opened();
	options.limits.entries = 1000;
	closed(c);
	for (uint64_t k = 0; k < 10; k++) {
		c = opened();
		for (uint64_t i = 0; i < 100; i++)
			put_noise(c, k * 100 + i, 100);
		closed(c);
		now += 60;
	}
	assert_int_equal(count_entries(), 1000);
	put_one(5000, 100);
	assert_in_range(count_entries(), 1000 - 1000 * 4 / 256 - 1, 999);
	for (uint64_t i = 1; i < 300; i++) {
		put_one(5000 + i, 100);
		assert_true(count_entries() <= 1000);
	}
	for (uint64_t i = 900; i < 1000; i++)
		assert_true(has_one(i, 100));
	for (uint64_t i = 0; i < 300; i++)
		assert_true(has_one(5000 + i, 100));
}

static void by_size(void **state)
{
	options.limits.size = CACHE_LEAST_SIZE;
	for (uint64_t i = 0; i < 60; i++) { /* 60 MB of both sorts */
		struct cache *c = opened();
		for (uint64_t k = 0; k < 25; k++)
			put_noise(c, i * 100 + k, 20000);
		put_noise(c, i * 100 + 50, 500000);
		closed(c);
		assert_true(disk() <= options.limits.size);
		now += 60;
	}
	assert_true(has_one(5900, 20000));
	assert_true(has_one(5950, 500000));
	assert_false(has_one(0, 20000));
	assert_false(has_one(50, 500000));
}

static void what_is_larger_than_the_cache_is_not_kept(void **state)
{
	options.limits.size = CACHE_LEAST_SIZE;
	put_one(1, 1000);
	put_one(2, 12 << 20);
	assert_true(disk() <= options.limits.size);
	assert_true(has_one(1, 1000));
	assert_false(has_one(2, 12 << 20));
}

/* Stops the writers that still run; the others must have succeeded. Returns the number of those that run. */
static uint32_t stop_all(pid_t *pids, uint32_t n)
{
	uint32_t running = 0;
	for (uint32_t i = 0; i < n; i++) {
		int status;
		if (!pids[i])
			continue;
		kill(pids[i], SIGSTOP);
		assert_int_equal(waitpid(pids[i], &status, WUNTRACED), pids[i]);
		if (WIFSTOPPED(status)) {
			running++;
		} else {
			assert_int_equal(status, 0);
			pids[i] = 0;
		}
	}
	return running;
}

/* Four processes write five times what the cache may hold; every look finds it within its limit. */
static void a_hard_limit_for_several_writers(void **state)
{
	enum { WRITERS = 4, ROUNDS = 20 };
	pid_t pids[WRITERS];
	options.limits.size = CACHE_LEAST_SIZE;
	closed(opened());
	for (uint64_t w = 0; w < WRITERS; w++) {
		if ((pids[w] = fork()) == 0) {
			for (uint64_t i = 0; i < ROUNDS; i++) {
				struct buf warning = {0};
				struct cache *c = cache_open(&options, &warning);
				for (uint64_t k = 0; c && k < 20; k++)
					put_noise(c, w * 1000000 + i * 100 + k, 1000 + (i * k * 977) % 40000);
				if (c)
					put_noise(c, w * 1000000 + i * 100 + 50, 300000 + i * 20000);
				if (!c || !cache_close(c, &warning) || warning.at) {
					fprintf(stderr, "%s\n", warning.at ? warning.at : "no warning");
					_exit(1);
				}
			}
			_exit(0);
		}
	}
	uint64_t most = 0;
	for (uint32_t left = WRITERS; left;) {
		left = stop_all(pids, WRITERS); /* `disk` needs files that stay */
		uint64_t d = disk();
		most = d > most ? d : most;
		for (uint32_t w = 0; w < WRITERS; w++)
			if (pids[w])
				kill(pids[w], SIGCONT);
		usleep(2000); /* the writers write */
	}
	assert_true(most <= options.limits.size);
	assert_true(most > options.limits.size / 4);
}

/* Killed writers lose nothing but what they were writing, and leave no file that is not counted. */
static void kills(void **state)
{
	enum { ROUNDS = 40 };
	options.limits.size = CACHE_LEAST_SIZE;
	put_one(999999, 5000);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		now += 1; /* the first entry stays the least used, but is used below */
		pid_t pid = fork();
		if (pid == 0) {
			for (uint64_t k = 0;; k++) {
				struct buf warning = {0};
				struct cache *c = cache_open(&options, &warning);
				put_noise(c, i * 1000 + k * 3, 3000);
				put_noise(c, i * 1000 + k * 3 + 1, 400000);
				cache_close(c, &warning);
			}
		}
		usleep((useconds_t)(i * 911 % 12000)); /* a kill may come at any moment */
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_true(disk() <= options.limits.size);
		now += HOUR;
		assert_true(has_one(999999, 5000));
	}
}

static void damage_is_a_miss(void **state)
{
	char command[256];
	put_one(1, 1 << 20);
	snprintf(command, sizeof command, "f=$(find %s/large -type f); printf x | dd of=$f bs=1 seek=5000 conv=notrunc 2>/dev/null",
		 folder);
	assert_int_equal(system(command), 0);
	assert_false(has_one(1, 1 << 20));
	put_one(1, 1 << 20);
	assert_true(has_one(1, 1 << 20));
	snprintf(command, sizeof command, "rm $(find %s/large -type f)", folder);
	assert_int_equal(system(command), 0);
	assert_false(has_one(1, 1 << 20));
}

static void garbage_is_set_aside(void **state)
{
	char command[256];
	struct buf w = {0};
	snprintf(command, sizeof command, "mkdir -p %s && head -c 20000 /dev/urandom > %s/data.mdb", folder, folder);
	assert_int_equal(system(command), 0);
	struct cache *c = cache_open(&options, &w);
	assert_non_null(c);
	assert_non_null(strstr(w.at, "damaged"));
	put_noise(c, 1, 100);
	closed(c);
	assert_true(has_one(1, 100));
	buf_free(&w);
}

static void read_only(void **state)
{
	struct buf w = {0};
	options.read_only = true;
	assert_null(cache_open(&options, &w)); /* there is nothing to read, and nothing to say */
	assert_null(w.at);
	options.read_only = false;
	put_one(1, 100);
	put_one(2, 1 << 20);
	options.read_only = true;
	now += DAY;
	struct cache *c = opened();
	assert_true(has_noise(c, 1, 100));
	assert_true(has_noise(c, 2, 1 << 20));
	put_noise(c, 3, 100);
	assert_true(has_noise(c, 3, 100));
	closed(c);
	assert_false(has_one(3, 100));
}

static void unusable_folder(void **state)
{
	struct buf w = {0};
	options.dir = "/proc/nowhere/cache";
	assert_null(cache_open(&options, &w));
	assert_non_null(strstr(w.at, "/proc/nowhere/cache"));
	buf_free(&w);
}

int test_cache(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(round_trip),
		T(added_values),
		T(added_files),
		T(switched_off_levels),
		T(by_last_use),
		T(expired_at_once),
		T(by_age),
		T(a_flush_sweeps_a_part),
		T(a_full_cache_makes_room_for_little),
		T(by_size),
		T(what_is_larger_than_the_cache_is_not_kept),
		T(a_hard_limit_for_several_writers),
		T(kills),
		T(damage_is_a_miss),
		T(garbage_is_set_aside),
		T(read_only),
		T(unusable_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
