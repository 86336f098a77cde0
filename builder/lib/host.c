/* The one place of libtrib with state: whatever number of lazy libraries a process has, LLVM's contexts should be few, and LMDB wants an environment to be open
 * once in a process. */
#include "builder/lib/host.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/source.h"
#include "base/vec.h"
#include "builder/cache_config.h"
#include "builder/generators.h"
#include "builder/module.h"
#include "builder/options.h"

static struct {
	pthread_mutex_t lock;          /* of what follows */
	VEC(struct generators *) idle; /* as many as were ever in use at once */
	hash128 generator;             /* zero: the file was not looked at yet */
	pthread_mutex_t cache_lock;    /* held while the cache is open */
} host = {.lock = PTHREAD_MUTEX_INITIALIZER, .cache_lock = PTHREAD_MUTEX_INITIALIZER};

/* Under the lock. */
static bool look_at_generator(struct arena *a, const char **error)
{
	const void *bytes;
	size_t len;
	const char *path = module_path(a, "codegen");
	if (!hash_is_zero(host.generator))
		return true;
	if (!path || !os_map_file(path, &bytes, &len)) {
		*error = "libtrib-codegen.so is not beside libtrib.so";
		return false;
	}
	host.generator = hash_bytes(bytes, len);
	os_unmap(bytes, len);
	return true;
}

static struct generators *take_idle(void) { return host.idle.len ? host.idle.at[--host.idle.len] : NULL; }

struct generators *host_borrow(struct arena *a, hash128 generator, const char **error)
{
	char *why = NULL;
	struct generators *g = NULL;
	pthread_mutex_lock(&host.lock);
	bool ok = look_at_generator(a, error);
	if (ok && !hash_eq(host.generator, generator)) {
		*error = "libtrib-codegen.so is of another version of trib: build the library again";
		ok = false;
	}
	if (ok)
		g = take_idle();
	pthread_mutex_unlock(&host.lock);
	if (ok && !g)
		g = generators_new(1, &why);
	if (why)
		*error = arena_strdup(a, why);
	free(why);
	return g;
}

void host_return(struct generators *g)
{
	pthread_mutex_lock(&host.lock);
	vec_push(&host.idle, g);
	pthread_mutex_unlock(&host.lock);
}

/* Has LMDB's file all pages that its newest meta page counts? A file that was cut would end the host by SIGBUS, and a library installs no handlers. Offsets are
 * those of LMDB's data version 1. */
static bool is_whole(struct arena *a, const char *dir)
{
	enum { META = 152, AT_MAGIC = 16, AT_PAGE_SIZE = 40, AT_LAST = 136, AT_TXN = 144 };
	int fd = open(arena_printf(a, "%s/data.mdb", dir), O_RDONLY | O_CLOEXEC);
	uint64_t newest = 0, last = 0, txn, pages;
	uint32_t page = 4096, magic;
	unsigned char meta[META];
	for (uint32_t i = 0; fd >= 0 && i < 2; i++) {
		if (pread(fd, meta, sizeof meta, (off_t)i * page) != sizeof meta)
			break;
		memcpy(&magic, meta + AT_MAGIC, sizeof magic);
		memcpy(&txn, meta + AT_TXN, sizeof txn);
		memcpy(&pages, meta + AT_LAST, sizeof pages);
		if (i == 0)
			memcpy(&page, meta + AT_PAGE_SIZE, sizeof page);
		if (magic == 0xBEEFC0DE && txn >= newest)
			newest = txn, last = pages;
	}
	off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	if (fd >= 0)
		close(fd);
	return fd < 0 || (page && last < (uint64_t)size / page);
}

struct cache *host_open_cache(struct arena *a)
{
	const struct options none = {
		.opt = -1, .most_failures = -1, .verbose = -1, .explain = -1, .timing = -1, .no_cache = -1, .low_memory = -1, .json = -1};
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	struct buf warnings = {0};
	struct cache_config config;
	struct cache *c = NULL;
	bool ok = cache_config_read(a, sources, NULL, &none, &config, diags) && config.at[SETTING_ENABLED].number;
	if (ok && config.at[SETTING_DIR].text[0] == '/') { /* without a home it would be in whatever folder the process works in */
		struct cache_options o = cache_config_options(a, &config);
		host_lock_cache();
		c = is_whole(a, o.dir) ? cache_open(&o, &warnings) : NULL;
		if (!c)
			host_unlock_cache();
	}
	buf_free(&warnings);
	diags_free(diags);
	sources_free(sources);
	return c;
}

void host_close_cache(struct cache *c)
{
	struct buf warnings = {0};
	if (!c)
		return;
	cache_close(c, &warnings); /* what cannot be kept is compiled again by the next process */
	host_unlock_cache();
	buf_free(&warnings);
}

void host_lock_cache(void) { pthread_mutex_lock(&host.cache_lock); }
void host_unlock_cache(void) { pthread_mutex_unlock(&host.cache_lock); }
