/* Programs that drivers built, one in a file of a folder beside the cache. Libraries write and replace them (gpu/runtime/binaries.c), and set the time of a
 * file when they use it. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "builder/cache/maintenance.h"
#include "builder/cache/state.h"

static DIR *programs_open(const char *root)
{
	int at = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int folder = at < 0 ? -1 : openat(at, "opencl", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (at >= 0)
		close(at);
	return folder < 0 ? NULL : fdopendir(folder);
}

/* Counts the programs that were last used before a time, and removes them if `remove`. */
static struct cache_freed programs_visit(const char *root, int64_t before, bool remove)
{
	struct cache_freed n = {0};
	struct stat st;
	DIR *d = programs_open(root);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode) || st.st_mtime >= before)
			continue;
		if (remove && unlinkat(dirfd(d), e->d_name, 0) != 0)
			continue;
		n.entries++;
		n.disk += (uint64_t)st.st_blocks * 512;
	}
	if (d)
		closedir(d);
	return n;
}

struct cache_freed cache_programs_count(const char *root) { return programs_visit(root, INT64_MAX, false); }

struct cache_freed cache_programs_prune(const char *root, uint64_t days)
{
	int64_t age = days < INT32_MAX ? (int64_t)days * DAY_SECONDS : INT64_MAX / 2;
	return days ? programs_visit(root, (int64_t)time(NULL) - age, true) : (struct cache_freed){0};
}
