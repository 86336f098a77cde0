/* Writes files: in one step by a rename, or piece by piece. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/os.h"
#include "base/os_fd.h"
#include "base/usage.h"

enum { HUGE_PAGE = 2 << 20, POPULATED_AT_ONCE = 32 << 20 };

/* offset -1: at the position of the descriptor. */
static bool write_full(int fd, const char *at, size_t n, off_t offset)
{
	usage_of_thread.written += n;
	while (n > 0) {
		ssize_t w = offset < 0 ? write(fd, at, n) : pwrite(fd, at, n, offset);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return false;
		at += w;
		n -= (size_t)w;
		offset += offset < 0 ? 0 : w;
	}
	return true;
}

bool os_write_fd(int fd, const void *data, size_t len)
{
	usage_of_thread.files_written++;
	return write_full(fd, data, len, -1);
}

/* For devices and pipes, which a rename would replace by a file. */
static bool write_in_place(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && os_write_fd(fd, data, len);

	os_fd_close(fd);
	return ok;
}

/* Renames while the lock is held. A copy of the descriptor is closed first, because NFS reports a full disk on close. */
static bool os_write_publish(int fd, const char *temporary, const char *path)
{
	int copy = dup(fd);

	return copy >= 0 && close(copy) == 0 && rename(temporary, path) == 0;
}

static bool os_write_replace(const char *path, const void *data, size_t len, unsigned mode, bool sync)
{
	int fd = -1, saved;
	char *name = os_temporary_create(path, mode, &fd);
	bool ok;

	if (!name)
		return false;
	ok = os_write_fd(fd, data, len) && (!sync || fsync(fd) == 0) && os_write_publish(fd, name, path);
	saved = errno;
	if (!ok)
		unlink(name);
	close(fd);
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
	ok = os_write_replace(target ? target : path, data, len, mode, sync);
	if (target) {
		int saved = errno;

		free(target);
		errno = saved;
	}
	return ok;
}

/* Compares piece by piece. A mapping would raise SIGBUS if the file is truncated. */
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
	return !known || !S_ISREG(st.st_mode) || chmod(path, st.st_mode & 07777) == 0; /* regardless of the umask */
}

struct os_sink {
	int fd;
	char *path, *temporary; /* temporary: NULL once published, and while the file has no name */
	bool in_place;          /* the path is a device or a pipe: the file is in memory until it is published */
};

/* Opens a file without a name, which disappears if the process is killed. If the file system has none, opens a temporary file. */
static bool open_nameless(struct os_sink *s, unsigned mode)
{
	char *slash = strrchr(s->path, '/');

	if (slash)
		*slash = 0;
	s->fd = open(slash && slash != s->path ? s->path : slash ? "/" : ".", O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
	if (slash)
		*slash = '/';
	return s->fd >= 0 || (s->temporary = os_temporary_create(s->path, mode, &s->fd));
}

/* The target of a link is replaced, not the link. */
static char *sink_path(const char *path)
{
	struct stat link;
	char *target = lstat(path, &link) == 0 && S_ISLNK(link.st_mode) ? realpath(path, NULL) : NULL;

	return target ? target : strdup(path);
}

/* Reads the empty file into the page cache in huge pages, which pieces then fill. Without this, pieces that begin anywhere leave small pages,
 * and programs that map the file read it at two thirds of the speed. Failure costs only speed. */
static void reserve_huge_pages(int fd, uint64_t size)
{
#if defined(MADV_HUGEPAGE) && defined(MADV_POPULATE_READ)
	for (uint64_t at = 0; at + HUGE_PAGE <= size; at += POPULATED_AT_ONCE) {
		size_t n = size - at < POPULATED_AT_ONCE ? (size_t)(size - at) : POPULATED_AT_ONCE;
		void *map = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, (off_t)at);

		if (map == MAP_FAILED)
			return;
		if (madvise(map, n, MADV_HUGEPAGE) == 0)
			(void)madvise(map, n, MADV_POPULATE_READ);
		munmap(map, n);
	}
#else
	(void)fd, (void)size;
#endif
}

struct os_sink *os_sink_open(const char *path, uint64_t size, unsigned mode)
{
	struct os_sink *s = calloc(1, sizeof *s);
	struct stat st;

	if (!s)
		return NULL;
	s->fd = -1;
	s->path = sink_path(path);
	s->in_place = s->path && stat(s->path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
	if (s->in_place)
		s->fd = memfd_create("sink", MFD_CLOEXEC);
	if (s->path && (s->in_place ? s->fd >= 0 : open_nameless(s, mode)) && os_sink_resize(s, size)) {
		reserve_huge_pages(s->fd, size);
		return s;
	}
	os_sink_close(s);
	return NULL;
}

bool os_sink_resize(struct os_sink *s, uint64_t size)
{
	struct stat st;
	int fail;

	if (fstat(s->fd, &st) != 0)
		return false;
	/* reserves all space now, so that a full disk is reported before anything is written */
	do
		fail = size <= (uint64_t)st.st_size || fallocate(s->fd, 0, 0, (off_t)size) == 0 ? 0 : errno;
	while (fail == EINTR);
	errno = fail;
	return (!fail || fail == EOPNOTSUPP) && ftruncate(s->fd, (off_t)size) == 0;
}

bool os_sink_write(struct os_sink *s, const void *data, size_t len, uint64_t offset) { return write_full(s->fd, data, len, (off_t)offset); }

bool os_sink_move(struct os_sink *s, uint64_t from, uint64_t to, uint64_t len)
{
	char piece[1 << 16];

	BUG_ON(to > from);
	while (len) {
		ssize_t r = pread(s->fd, piece, len < sizeof piece ? len : sizeof piece, (off_t)from);

		if (r < 0 && errno == EINTR)
			continue;
		if (r == 0)
			errno = EIO;
		if (r <= 0 || !write_full(s->fd, piece, (size_t)r, (off_t)to))
			return false;
		from += (uint64_t)r;
		to += (uint64_t)r;
		len -= (uint64_t)r;
	}
	return true;
}

bool os_sink_map(const struct os_sink *s, const void **data, size_t *len) { return os_fd_map(s->fd, data, len); }

/* Compares from the end, because what changes most often is there. */
static bool is_equal_file(const struct os_sink *s)
{
	char a[1 << 14], b[1 << 14];
	int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat old, new;
	bool same = fd >= 0 && fstat(fd, &old) == 0 && fstat(s->fd, &new) == 0 && S_ISREG(old.st_mode) && old.st_size == new.st_size;

	for (off_t end = same ? new.st_size : 0; same &&end > 0;) {
		size_t n = end < (off_t)sizeof a ? (size_t)end : sizeof a;

		end -= (off_t)n;
		same = pread(fd, a, n, end) == (ssize_t)n && pread(s->fd, b, n, end) == (ssize_t)n && memcmp(a, b, n) == 0;
	}
	os_fd_close(fd);
	return same;
}

static bool publish_in_place(const struct os_sink *s)
{
	const void *data;
	size_t len;
	bool ok = os_sink_map(s, &data, &len) && write_in_place(s->path, data, len);

	os_unmap(data, len);
	return ok;
}

bool os_sink_publish(struct os_sink *s)
{
	if (s->in_place)
		return publish_in_place(s);
	if (is_equal_file(s))
		return true;
	if (!s->temporary)
		s->temporary = os_temporary_create(s->path, 0, &s->fd);
	if (!s->temporary || !os_write_publish(s->fd, s->temporary, s->path))
		return false;
	free(s->temporary);
	s->temporary = NULL;
	usage_of_thread.files_written++;
	return true;
}

void os_sink_close(struct os_sink *s)
{
	int saved = errno;

	if (!s)
		return;
	if (s->temporary)
		unlink(s->temporary);
	os_fd_close(s->fd);
	free(s->temporary);
	free(s->path);
	free(s);
	errno = saved;
}
