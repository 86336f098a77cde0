#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "builder/cache/state.h"
#include "builder/store/crash_guard.h"
#include "builder/store/store_env.h"

static const struct {
	uint64_t seconds;
	const char *text;
} ages[CACHE_AGES] = {{3600, "< 1 hour"},
		      {DAY_SECONDS, "< 1 day"},
		      {7 * DAY_SECONDS, "< 7 days"},
		      {30 * DAY_SECONDS, "< 30 days"},
		      {90 * DAY_SECONDS, "< 90 days"},
		      {UINT64_MAX, ">= 90 days"}};

const char *cache_age_text(uint32_t age) { return ages[age].text; }

struct tallying {
	struct cache_report *report;
	uint64_t now;
};

static void tally(void *tallying, hash128 id, const struct cache_meta *meta)
{
	struct cache_report *r = ((struct tallying *)tallying)->report;
	uint64_t now = ((struct tallying *)tallying)->now;
	uint32_t age = 0;
	(void)id;
	if (!meta_is_stored(meta))
		return;
	while ((now > meta->used ? now - meta->used : 0) >= ages[age].seconds)
		age++;
	r->age_entries[age]++;
	r->age_disk[age] += meta->charge;
	r->saved_us[meta->kind] += meta->cost_us;
	if (!r->oldest || meta->made < r->oldest)
		r->oldest = meta->made;
	if (meta->made > r->newest)
		r->newest = meta->made;
}

static void report_add_counts(struct cache_report *report, const struct cache_totals *t)
{
	memcpy(report->compiled, t->compiled, sizeof report->compiled);
	memcpy(report->kind, t->kind, sizeof report->kind);
	for (uint32_t i = 0; i < CACHE_KINDS; i++) {
		cache_count_add(&report->all, &t->kind[i]);
		report->all_saved_us += report->saved_us[i];
	}
}

/* The bytes on disk of a folder and `depth` levels below it. The cache has two. */
static uint64_t folder_bytes(int at, const char *name, int depth)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	uint64_t bytes = 0;
	struct stat st;
	for (struct dirent *e; d && (e = readdir(d));) {
		if (strcmp(e->d_name, "..") == 0 || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISDIR(st.st_mode) && strcmp(e->d_name, ".") != 0)
			bytes += depth ? folder_bytes(dirfd(d), e->d_name, depth - 1) : 0;
		else
			bytes += (uint64_t)st.st_blocks * 512;
	}
	if (d)
		closedir(d);
	return bytes;
}

uint64_t cache_git_bytes(const char *root)
{
	enum { DEEP = 64 };
	int at = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t bytes = at < 0 ? 0 : folder_bytes(at, "git", DEEP);
	if (at >= 0)
		close(at);
	return bytes;
}

bool cache_report(struct cache *c, struct cache_report *out)
{
	MDB_txn *txn;
	struct cache_totals t;
	memset(out, 0, sizeof *out);
	pthread_mutex_lock(&c->lock);
	crash_guard_enter(c->dir, CRASH_GUARD_NO_LIMIT);
	int rc = env_begin(c->env, MDB_RDONLY, &txn);
	if (!rc) {
		rc = cache_totals_read(c, txn, &t);
		rc = rc ? rc : cache_meta_each(c, txn, tally, &(struct tallying){out, cache_now(c)});
		mdb_txn_abort(txn);
	}
	crash_guard_leave();
	pthread_mutex_unlock(&c->lock);
	out->disk = folder_bytes(c->folder, ".", 2);
	if (!rc)
		report_add_counts(out, &t);
	errno = rc > 0 ? rc : EIO;
	return rc == 0;
}
