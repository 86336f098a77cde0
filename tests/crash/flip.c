/* Flips bits of a small store's and a small cache's data file, one at a time: every value then reads as it was put, now or earlier, or is a miss; and what is
 * put afterwards can be read again. Each is tried in a process of its own, because the guard ends it where LMDB cannot go on.
 *
 *   flip            a sample; TRIB_FAULTS=all in the environment: every bit of every byte
 *   flip look KIND FOLDER    what the guard starts again */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/os.h"
#include "builder/cache.h"
#include "builder/guard.h"
#include "builder/store.h"

enum { KEYS = 10, GENERATIONS = 2, SAMPLE = 150, MOST = 4800, UNSOUND = 10, LOST = 11 };

/* What is tried: a store or a cache, through the same face. */
struct kind {
	const char *name;
	void *(*open)(const char *dir);
	void (*close)(void *handle);
	const void *(*get)(void *handle, hash128 key, size_t *len);
	void (*put)(void *handle, hash128 key, const void *bytes, size_t len);
};

static void *open_store(const char *dir)
{
	struct buf warning = {0};
	void *s = store_open(dir, true, &warning);
	buf_free(&warning);
	return s;
}

static void close_store(void *s)
{
	struct buf warning = {0};
	store_close(s, &warning);
	buf_free(&warning);
}

static const void *get_store(void *s, hash128 key, size_t *len) { return store_get(s, key, len); }
static void put_store(void *s, hash128 key, const void *bytes, size_t len) { store_put(s, key, bytes, len); }

static void *open_cache(const char *dir)
{
	struct buf warning = {0};
	struct cache_options o = {.dir = dir, .limits = {.size = CACHE_LEAST_SIZE}, .compress = CACHE_DEFAULT_COMPRESS, .levels = ~0u};
	void *c = cache_open(&o, &warning);
	buf_free(&warning);
	return c;
}

static void close_cache(void *c)
{
	struct buf warning = {0};
	cache_close(c, &warning);
	buf_free(&warning);
}

static const void *get_cache(void *c, hash128 key, size_t *len) { return cache_get(c, CACHE_FRAGMENT, key, len); }
static void put_cache(void *c, hash128 key, const void *bytes, size_t len) { cache_put(c, CACHE_FRAGMENT, key, bytes, len, 0); }

static const struct kind kinds[] = {{"store", open_store, close_store, get_store, put_store}, {"cache", open_cache, close_cache, get_cache, put_cache}};

/* ---- values ---- */

static hash128 key_of(uint32_t i) { return hash_combine((hash128){i, 7}, (hash128){i * 3u, 11}); }

/* Some within a page, some on pages of their own; many of the same length, so that one could be taken for another. */
static size_t make_value(uint32_t i, uint32_t generation, char *out)
{
	size_t len = i % 3 == 2 ? MOST : 20 + i % 2 * 37;
	uint64_t x = i * 1000003u + generation;
	for (size_t k = 0; k < len; k++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		out[k] = (char)(x >> 56);
	}
	return len;
}

static bool is_value(uint32_t i, const char *bytes, size_t len)
{
	char want[MOST];
	for (uint32_t g = 0; g < GENERATIONS; g++)
		if (make_value(i, g, want) == len && memcmp(want, bytes, len) == 0)
			return true;
	return false;
}

/* ---- one fault ---- */

static int look(const struct kind *k, const char *dir)
{
	char fresh[MOST];
	size_t len, put;
	void *h = k->open(dir);
	for (uint32_t i = 0; i < KEYS; i++) {
		const char *bytes = k->get(h, key_of(i), &len);
		if (bytes && !is_value(i, bytes, len))
			return UNSOUND;
	}
	k->close(h);
	put = make_value(KEYS, 0, fresh);
	for (int round = 0; round < 2; round++) { /* a cache that was damaged keeps from the next process on */
		h = k->open(dir);
		k->put(h, key_of(KEYS), fresh, put);
		k->close(h);
	}
	h = k->open(dir);
	const char *bytes = k->get(h, key_of(KEYS), &len);
	bool kept = bytes && is_value(KEYS, bytes, len);
	k->close(h);
	return kept ? 0 : LOST;
}

static void make(const struct kind *k, const char *dir)
{
	char bytes[MOST];
	for (uint32_t g = 0; g < GENERATIONS; g++) {
		void *h = k->open(dir);
		for (uint32_t i = g; i < KEYS; i += g + 1)
			k->put(h, key_of(i), bytes, make_value(i, g, bytes));
		k->close(h);
	}
}

static int try_one(const struct kind *k, char *self, const char *dir, const char *data, size_t len)
{
	char path[128];
	int status;
	snprintf(path, sizeof path, "%s/data.mdb", dir);
	if (!os_remove_tree(dir) || !os_mkdirs(dir) || !os_write_atomic(path, data, len, 0600, false))
		return -1;
	pid_t child = fork();
	if (child == 0) {
		char *again[] = {self, (char *)(uintptr_t)"look", (char *)(uintptr_t)k->name, (char *)(uintptr_t)dir, NULL};
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		guard_install(again);
		_exit(look(k, dir));
	}
	return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static bool try_all(const struct kind *k, char *self, const char *dir, bool all, unsigned seed)
{
	char path[128], *data;
	size_t len;
	uint64_t tried = 0, failed = 0;
	snprintf(path, sizeof path, "%s/data.mdb", dir);
	make(k, dir);
	if (!os_read_file(path, 0, &data, &len))
		return false;
	uint64_t total = (uint64_t)len * 8;
	for (uint64_t i = 0; i < (all ? total : SAMPLE); i++) {
		uint64_t at = all ? i : ((uint64_t)rand_r(&seed) << 20 ^ (uint64_t)rand_r(&seed)) % total;
		data[at / 8] ^= (char)(1 << at % 8);
		int status = try_one(k, self, dir, data, len);
		data[at / 8] ^= (char)(1 << at % 8);
		tried++;
		if (status && failed++ < 20)
			printf("%s: bit %u of byte %zu: status %#x\n", k->name, (unsigned)(at % 8), (size_t)(at / 8), (unsigned)status);
	}
	printf("%s: %llu of %llu flipped bits tried, %llu not mended\n", k->name, (unsigned long long)tried, (unsigned long long)total, (unsigned long long)failed);
	free(data);
	return failed == 0;
}

int main(int argc, char **argv)
{
	const char *how = getenv("TRIB_FAULTS");
	char dir[64] = "/tmp/trib-test-flip-XXXXXX", sub[80];
	unsigned seed = (unsigned)time(NULL);
	bool ok = true;
	if (argc == 4) {
		guard_install(argv);
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
			if (strcmp(kinds[i].name, argv[2]) == 0)
				return look(&kinds[i], argv[3]);
		return 2;
	}
	if (!mkdtemp(dir))
		return 1;
	printf("seed %u\n", seed);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		snprintf(sub, sizeof sub, "%s/%s", dir, kinds[i].name);
		ok &= try_all(&kinds[i], argv[0], sub, how && strcmp(how, "all") == 0, seed);
	}
	os_remove_tree(dir);
	return ok ? 0 : 1;
}
