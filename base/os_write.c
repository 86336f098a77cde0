/* Files that are written: as a whole and by a rename, or piece by piece. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/os.h"
#include "base/os_fd.h"

static bool write_full(int fd, const char *at, size_t n)
{
	while (n > 0) {
		ssize_t w = write(fd, at, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return false;
		at += w;
		n -= (size_t)w;
	}
	return true;
}

/* Gives a new file beside `path` a name that nobody else has: a file that is made, or with *fd >= 0 that one, which has no name yet. Its path,
 * malloc'd, or NULL. */
static char *create_temporary(const char *path, unsigned mode, int *fd)
{
	char nameless[32];
	bool link = *fd >= 0;
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) + 1 : 0;
	size_t size = (size_t)dir + sizeof OS_TEMPORARY_PREFIX + 16 + sizeof OS_TEMPORARY_SUFFIX;
	char *name = malloc(size);

	if (!name)
		return NULL;
	for (int tries = 0; tries < 100; tries++) {
		uint64_t r;

		if (getrandom(&r, sizeof r, 0) != sizeof r)
			r = (uint64_t)os_now_ns() * 0x9E3779B97F4A7C15u ^ (uint64_t)getpid() << 32 ^ (uint64_t)tries;
		snprintf(name, size, "%.*s" OS_TEMPORARY_PREFIX "%016" PRIx64 OS_TEMPORARY_SUFFIX, dir, path, r);
		snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", *fd);
		if (!link)
			*fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (link ? linkat(AT_FDCWD, nameless, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 : *fd >= 0)
			return name;
		if (errno != EEXIST && errno != EINTR)
			break;
	}
	free(name);
	return NULL;
}

/* Devices and pipes: a rename would put a file in their place. */
static bool write_in_place(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write_full(fd, data, len);

	os_fd_close(fd);
	return ok;
}

static bool replace(const char *path, const void *data, size_t len, unsigned mode, bool sync)
{
	int fd = -1, saved;
	char *name = create_temporary(path, mode, &fd);
	bool ok;

	if (!name)
		return false;
	ok = write_full(fd, data, len) && (!sync || fsync(fd) == 0);
	saved = errno;
	if (close(fd) != 0 && ok) { /* NFS reports a full disk here */
		ok = false;
		saved = errno;
	}
	if (ok && rename(name, path) != 0) {
		ok = false;
		saved = errno;
	}
	if (!ok)
		unlink(name);
	free(name);
	errno = saved;
	return ok;
}

bool os_write_atomic(const char *path, const void *data, size_t len, unsigned mode, bool sync)
{
	struct stat st, link;
	char *target = NULL;
	bool ok;

	if (stat(path, &st) == 0) {
		if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
			return write_in_place(path, data, len);
		if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode))
			target = realpath(path, NULL);
	}
	ok = replace(target ? target : path, data, len, mode, sync);
	if (target) {
		int saved = errno;

		free(target);
		errno = saved;
	}
	return ok;
}

/* Compared piecewise: neither a copy nor a mapping that a truncation would turn into SIGBUS. */
static bool has_content(const char *path, const char *data, size_t len)
{
	char piece[1 << 14];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	size_t done = 0;
	bool same = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == len;

	while (same) {
		ssize_t r = os_fd_read(fd, piece, sizeof piece);

		same = r >= 0 && (size_t)r <= len - done && memcmp(piece, data + done, (size_t)r) == 0;
		if (r <= 0)
			break;
		done += (size_t)r;
	}
	if (fd >= 0)
		close(fd);
	return same && done == len;
}

bool os_write_if_changed(const char *path, const void *data, size_t len, unsigned mode, bool sync)
{
	return has_content(path, data, len) || os_write_atomic(path, data, len, mode, sync);
}

bool os_rewrite(const char *path, const void *data, size_t len)
{
	struct stat st;
	bool known = stat(path, &st) == 0;
	if (!os_write_atomic(path, data, len, known ? st.st_mode & 0777 : 0666, false))
		return false;
	return !known || !S_ISREG(st.st_mode) || chmod(path, st.st_mode & 07777) == 0; /* the umask has no say */
}

struct os_sink {
	int fd;
	char *path, *temporary; /* temporary: NULL once published, and while the file has no name */
};

/* A file without a name goes away with the process that is killed; where the file system has none, one with a temporary name. */
static bool open_nameless(struct os_sink *s, unsigned mode)
{
	char *slash = strrchr(s->path, '/');

	if (slash)
		*slash = 0;
	s->fd = open(slash && slash != s->path ? s->path : slash ? "/" : ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
	if (slash)
		*slash = '/';
	return s->fd >= 0 || (s->temporary = create_temporary(s->path, mode, &s->fd));
}

struct os_sink *os_sink_open(const char *path, uint64_t size, unsigned mode)
{
	struct os_sink *s = calloc(1, sizeof *s);
	int fail;

	if (!s)
		return NULL;
	s->fd = -1;
	s->path = strdup(path);
	if (!s->path || !open_nameless(s, mode)) {
		os_sink_close(s);
		return NULL;
	}
	/* the space is taken at once: better no file than one that breaks off in the middle */
	do
		fail = size == 0 || fallocate(s->fd, 0, 0, (off_t)size) == 0 ? 0 : errno;
	while (fail == EINTR);
	if (!fail || (fail == EOPNOTSUPP && ftruncate(s->fd, (off_t)size) == 0))
		return s;
	os_sink_close(s);
	errno = fail;
	return NULL;
}

bool os_sink_write(struct os_sink *s, const void *data, size_t len, uint64_t offset)
{
	const char *at = data;

	while (len > 0) {
		ssize_t w = pwrite(s->fd, at, len, (off_t)offset);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return false;
		at += w;
		len -= (size_t)w;
		offset += (uint64_t)w;
	}
	return true;
}

bool os_sink_publish(struct os_sink *s)
{
	int fd;

	if (!s->temporary)
		s->temporary = create_temporary(s->path, 0, &s->fd);
	if (!s->temporary)
		return false;
	fd = s->fd;
	s->fd = -1;
	if (close(fd) != 0 || rename(s->temporary, s->path) != 0)
		return false;
	free(s->temporary);
	s->temporary = NULL;
	return true;
}

void os_sink_close(struct os_sink *s)
{
	int saved = errno;

	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	if (s->temporary)
		unlink(s->temporary);
	free(s->temporary);
	free(s->path);
	free(s);
	errno = saved;
}
