/* The writer of a temporary file locks it (flock), so that os_remove_temporaries removes only files of killed processes.
 * os_remove_temporaries may remove a file after it was created and before it was locked. Then the file has no name, or the lock fails,
 * and another one is created. */
#include "base/os_fd.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/os.h"

#define PREFIX ".trib-"
#define SUFFIX ".tmp"
enum { DIGITS = 16, TRIES = 100 };

static uint64_t random_number(int tries)
{
	uint64_t r;

	if (getrandom(&r, sizeof r, 0) != sizeof r)
		r = (uint64_t)os_now_ns() * 0x9E3779B97F4A7C15u ^ (uint64_t)getpid() << 32 ^ (uint64_t)tries;
	return r;
}

static bool is_locked_out(int fd) { return flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

/* Creates a file and locks it if the file system has locks. -1 and EAGAIN: os_remove_temporaries removed it. */
static int create_locked(const char *name, unsigned mode)
{
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	struct stat st;

	if (fd < 0 || (!is_locked_out(fd) && fstat(fd, &st) == 0 && st.st_nlink > 0))
		return fd;
	unlink(name);
	close(fd);
	errno = EAGAIN;
	return -1;
}

static bool give_name(int fd, const char *name)
{
	char nameless[32];

	snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", fd);
	return !is_locked_out(fd) && linkat(AT_FDCWD, nameless, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

char *os_temporary_create(const char *path, unsigned mode, int *fd)
{
	bool link = *fd >= 0;
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) + 1 : 0;
	size_t size = (size_t)dir + sizeof PREFIX + DIGITS + sizeof SUFFIX;
	char *name = malloc(size);

	if (!name)
		return NULL;
	for (int tries = 0; tries < TRIES; tries++) {
		snprintf(name, size, "%.*s" PREFIX "%016" PRIx64 SUFFIX, dir, path, random_number(tries));
		if (!link)
			*fd = create_locked(name, mode);
		if (link ? give_name(*fd, name) : *fd >= 0)
			return name;
		if (errno != EEXIST && errno != EINTR && errno != EAGAIN)
			break;
	}
	free(name);
	return NULL;
}

static bool is_temporary(const char *name)
{
	const size_t prefix = sizeof PREFIX - 1;

	return strncmp(name, PREFIX, prefix) == 0 && strspn(name + prefix, "0123456789abcdef") == DIGITS &&
	       strcmp(name + prefix + DIGITS, SUFFIX) == 0;
}

void os_remove_temporaries(const char *folder)
{
	DIR *d = opendir(folder);

	for (struct dirent *e; d && (e = readdir(d));) {
		int fd = is_temporary(e->d_name) ? openat(dirfd(d), e->d_name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC) : -1;

		if (fd < 0)
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlinkat(dirfd(d), e->d_name, 0);
		close(fd);
	}
	if (d)
		closedir(d);
}
