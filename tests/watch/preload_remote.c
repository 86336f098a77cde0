/* Preloaded: every file system looks like a network file system, and inotify reports nothing, as for changes by other machines. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>

enum { NFS = 0x6969 };

int statfs(const char *path, struct statfs *out)
{
	int (*real)(const char *, struct statfs *);
	void *found = dlsym(RTLD_NEXT, "statfs");
	memcpy(&real, &found, sizeof real);
	int done = real(path, out);
	out->f_type = NFS;
	return done;
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	(void)fd;
	(void)path;
	(void)mask;
	return 1;
}
