/* Processes open, read, fill and close one cache while others clear and compact it all the time. The same with a store that is removed
 * file by file. No call reports an error, and every value reads as it was stored.
 *
 *   races [SECONDS]    for each of the two; 1 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/os.h"
#include "builder/cache/cache.h"
#include "builder/cache/maintenance.h"
#include "builder/store/crash_guard.h"
#include "builder/store/store.h"

enum { KEYS = 8, LONG = 300 << 10, FAILED = 10 };

struct race {
	const char *dir; /* a cache's root or a store's folder */
	int64_t end;
};
typedef bool runner(const struct race *r, unsigned n);

static hash128 key_of(unsigned i) { return hash_combine((hash128){i, 7}, (hash128){i * 3u, 11}); }

/* Every fourth is a file of its own. */
static size_t make_value(unsigned i, char *out)
{
	size_t len = i % 4 ? 50 + i % 2 * 3000u : LONG;
	uint64_t x = i + 1;
	for (size_t k = 0; k < len; k++)
		out[k] = (char)((x = x * 6364136223846793005u + 1442695040888963407u) >> 56);
	return len;
}

static bool quiet(const struct race *r, struct buf *warning)
{
	bool ok = !warning->len;
	if (!ok)
		printf("%s: %.*s", r->dir, (int)warning->len, warning->at);
	fflush(stdout);
	buf_free(warning);
	return ok;
}

static struct cache *open_cache(const struct race *r, bool look, struct buf *warning)
{
	char *folder = cache_folder(r->dir);
	struct cache_options o = {.dir = folder, .limits = {.size = CACHE_LEAST_SIZE}, .levels = ~0u, .inspect = look};
	struct cache *c = cache_open(&o, warning);
	free(folder);
	return c;
}

static bool use_cache(const struct race *r, unsigned n)
{
	static char want[LONG];
	struct buf warning = {0};
	struct cache *c = open_cache(r, n % 5 == 4, &warning);
	bool ok = c || n % 5 == 4;
	for (unsigned i = 0; c && ok && i < KEYS; i++) {
		size_t len, made = make_value(i, want);
		const void *found = cache_get(c, CACHE_FRAGMENT, key_of(i), &len);
		ok = !found || (len == made && memcmp(found, want, len) == 0);
		if (!found)
			cache_put(c, CACHE_FRAGMENT, key_of(i), want, made, 0);
	}
	ok &= cache_close(c, &warning);
	return quiet(r, &warning) && ok;
}

static bool clear_cache(const struct race *r, unsigned n)
{
	(void)n;
	nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL); /* so that other processes find the cache before it is removed again */
	return cache_remove_all(r->dir);
}

/* Compacts: little of it is in use then. */
static bool prune_cache(const struct race *r, unsigned n)
{
	struct buf warning = {0};
	struct cache_freed freed;
	struct cache *c = open_cache(r, false, &warning);
	bool ok = c && cache_clear_levels(c, n % 2 ? ~0u : 0, &freed);
	cache_close(c, &warning);
	return quiet(r, &warning) && ok;
}

static bool use_store(const struct race *r, unsigned n)
{
	static char want[LONG];
	struct buf warning = {0};
	struct store *s = store_open(r->dir, n % 5 != 4, &warning);
	bool ok = true; /* none is right, too: it can go away as often as it is made */
	for (unsigned i = 0; s && ok && i < KEYS; i++) {
		size_t len, made = make_value(i, want);
		const void *found = store_get(s, key_of(i), &len);
		ok = !found || (len == made && memcmp(found, want, len) == 0);
		if (!found)
			store_put(s, key_of(i), want, made);
	}
	store_close(s, &warning); /* may have lost its files, and say so */
	buf_free(&warning);
	return ok;
}

static bool remove_store(const struct race *r, unsigned n)
{
	(void)n;
	os_remove_tree(r->dir);
	return true;
}

static int run(const struct race *r, runner *f)
{
	for (unsigned n = 0; os_now_ns() < r->end; n++)
		if (!f(r, n)) {
			printf("%s: round %u: %s\n", r->dir, n, strerror(errno));
			fflush(stdout);
			return FAILED;
		}
	return 0;
}

static bool all_end_well(const struct race *r, runner *const *runners, size_t n, char **argv)
{
	bool ok = true;
	for (size_t i = 0; i < n; i++)
		if (fork() == 0) {
			crash_guard_install(argv);
			_exit(run(r, runners[i]));
		}
	for (int status; wait(&status) > 0;)
		if (status) {
			printf("%s: one ended with %#x\n", r->dir, (unsigned)status);
			ok = false;
		}
	return ok;
}

int main(int argc, char **argv)
{
	static runner *const of_cache[] = {use_cache, use_cache, use_cache, clear_cache, prune_cache};
	static runner *const of_store[] = {use_store, use_store, use_store, remove_store};
	char dir[64] = "/tmp/trib-test-races-XXXXXX", cache[80], store[80];
	int64_t time = (argc > 1 ? atoi(argv[1]) : 1) * (int64_t)1000000000;
	char *again[] = {argv[0], (char *)(uintptr_t)"0", NULL}; /* what the guard starts again has nothing to do */
	if (!mkdtemp(dir))
		return 1;
	snprintf(cache, sizeof cache, "%s/cache", dir);
	snprintf(store, sizeof store, "%s/store", dir);
	bool ok = all_end_well(&(struct race){cache, os_now_ns() + time}, of_cache, sizeof of_cache / sizeof *of_cache, again);
	ok &= all_end_well(&(struct race){store, os_now_ns() + time}, of_store, sizeof of_store / sizeof *of_store, again);
	os_remove_tree(dir);
	return ok ? 0 : 1;
}
