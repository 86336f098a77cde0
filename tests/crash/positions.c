/* Damages the data file of a small store and of a small cache at every position: one bit flipped, or the file cut. After it, every value
 * reads as a value that was stored, or is a miss, and a new value can be stored and read. One process tries one position after the
 * other, until the crash guard ends it because LMDB crashed. A process started by the guard finishes that position. Peeking into a cache
 * works without the guard.
 *
 *   positions [KIND]              a sample; TRIB_FAULTS=all in the environment: every bit of every byte, every length
 *   positions look KIND FOLDER    the process that the guard starts */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/os.h"
#include "builder/cache/cache.h"
#include "builder/cache/reader.h"
#include "builder/store/crash_guard.h"
#include "builder/store/store.h"

enum { KEYS = 10, GENERATIONS = 2, SAMPLE = 300, MOST = 4800, ROUNDS = 4, UNSOUND = 10, LOST = 11 };

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

static const struct kind kinds[] = {{"store", open_store, close_store, get_store, put_store},
				    {"cache", open_cache, close_cache, get_cache, put_cache}};

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

/* ---- one of them ---- */

/* How many values are there; -1: one is not what was put. */
static int peek(const char *dir)
{
	struct arena *a = arena_new(0);
	struct cache_reader *p = cache_reader_open(a, dir);
	int found = 0;
	for (uint32_t i = 0; i < KEYS && found >= 0; i++) {
		size_t len;
		const char *bytes = cache_reader_get(p, CACHE_FRAGMENT, key_of(i), &len);
		if (bytes)
			found = is_value(i, bytes, len) ? found + 1 : -1;
	}
	cache_reader_close(p);
	arena_free(a);
	return found;
}

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
	bool kept = false;
	for (int round = 0; round < ROUNDS && !kept; round++) { /* a cache that was found damaged keeps from the next process on */
		h = k->open(dir);
		k->put(h, key_of(KEYS), fresh, put);
		k->close(h);
		h = k->open(dir);
		const char *bytes = k->get(h, key_of(KEYS), &len);
		kept = bytes && is_value(KEYS, bytes, len);
		k->close(h);
	}
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

/* The data file of one kind, and what is tried on it: first all bits, then all lengths. */
struct trial {
	const struct kind *k;
	const char *dir;
	char *self, *data;
	size_t len;
	unsigned seed;
	bool all;
	uint64_t *at; /* the next of them; shared between the processes */
	uint64_t counts[2], failed[2], guarded;
};

static uint64_t n_cases(const struct trial *t) { return (uint64_t)t->len * 9; }

static uint64_t nth_case(const struct trial *t, uint64_t n)
{
	hash128 drawn = hash_combine((hash128){t->seed, 0}, (hash128){n, 0});
	return t->all ? n : drawn.lo % n_cases(t);
}

static bool is_cut(const struct trial *t, uint64_t which) { return which >= (uint64_t)t->len * 8; }

static bool damage(const struct trial *t, uint64_t which)
{
	char path[128];
	size_t len = is_cut(t, which) ? (size_t)(which - (uint64_t)t->len * 8) : t->len;
	snprintf(path, sizeof path, "%s/data.mdb", t->dir);
	if (!is_cut(t, which))
		t->data[which / 8] ^= (char)(1 << which % 8);
	bool ok = os_mkdirs(t->dir) && os_write_atomic(path, t->data, len, 0600, false);
	if (!is_cut(t, which))
		t->data[which / 8] ^= (char)(1 << which % 8);
	return ok;
}

/* From the next case on, until one is not mended or the guard starts this process again. */
static int try_some(struct trial *t, uint64_t end)
{
	char *again[] = {t->self, (char *)(uintptr_t)"look", (char *)(uintptr_t)t->k->name, (char *)(uintptr_t)t->dir, NULL};
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	crash_guard_install(again);
	while (*t->at < end) {
		uint64_t which = nth_case(t, (*t->at)++);
		int failed = !damage(t, which) ? 1 : peek(t->dir) < 0 ? UNSOUND : look(t->k, t->dir);
		if (failed)
			return failed;
	}
	return 0;
}

static void judge(struct trial *t, uint64_t which, int status)
{
	if (!status) {
		t->guarded++;
		return;
	}
	if (t->failed[is_cut(t, which)]++ < 20)
		printf("%s: %s %llu: status %#x\n", t->k->name, is_cut(t, which) ? "cut to" : "bit",
		       (unsigned long long)(is_cut(t, which) ? which - (uint64_t)t->len * 8 : which), (unsigned)status);
	fflush(stdout);
}

static bool try_all(struct trial *t)
{
	uint64_t end = t->all ? n_cases(t) : SAMPLE;
	for (*t->at = 0; *t->at < end;) {
		int status;
		pid_t child = fork();
		if (child == 0)
			_exit(try_some(t, end));
		if (child < 0 || waitpid(child, &status, 0) != child)
			return false;
		if (status || *t->at < end)
			judge(t, nth_case(t, *t->at - 1), status);
		if (!os_remove_tree(t->dir))
			return false;
	}
	for (uint64_t n = 0; n < end; n++)
		t->counts[is_cut(t, nth_case(t, n))]++;
	for (int cut = 0; cut < 2; cut++)
		printf("%s: %llu of %llu %s tried, %llu not mended\n", t->k->name, (unsigned long long)t->counts[cut],
		       (unsigned long long)t->len * (cut ? 1 : 8), cut ? "cuts" : "flipped bits", (unsigned long long)t->failed[cut]);
	printf("%s: the guard started %llu of them again\n", t->k->name, (unsigned long long)t->guarded);
	return !t->failed[0] && !t->failed[1];
}

static bool try_kind(const struct kind *k, char *self, const char *dir, bool all, unsigned seed)
{
	char path[128];
	struct trial t = {.k = k, .self = self, .dir = dir, .all = all, .seed = seed};
	t.at = mmap(NULL, sizeof *t.at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof path, "%s/data.mdb", dir);
	make(k, dir);
	bool ok =
		t.at != MAP_FAILED && (k->open != open_cache || peek(dir) == KEYS) && os_read_file(path, 0, &t.data, &t.len) && try_all(&t);
	free(t.data);
	return ok;
}

int main(int argc, char **argv)
{
	const char *how = getenv("TRIB_FAULTS");
	char dir[64] = "/dev/shm/trib-test-positions-XXXXXX", sub[80];
	unsigned seed = (unsigned)time(NULL);
	bool ok = true;
	if (argc == 4) {
		crash_guard_install(argv);
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
			if (strcmp(kinds[i].name, argv[2]) == 0)
				return look(&kinds[i], argv[3]);
		return 2;
	}
	if (!mkdtemp(dir) && !mkdtemp(strcpy(dir, "/tmp/trib-test-positions-XXXXXX")))
		return 1;
	printf("seed %u\n", seed);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		snprintf(sub, sizeof sub, "%s/%s", dir, kinds[i].name);
		if (argc < 2 || strcmp(argv[1], kinds[i].name) == 0)
			ok &= try_kind(&kinds[i], argv[0], sub, how && strcmp(how, "all") == 0, seed);
	}
	os_remove_tree(dir);
	return ok ? 0 : 1;
}
