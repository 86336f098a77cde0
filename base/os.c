/* Linux and other POSIX systems: reading files, folders, time, terminals, signals. */
#include "base/os.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/huge_alloc.h"
#include "base/os_fd.h"
#include "base/usage.h"

enum { MKDIR_TRIES = 16, LOOK_MS = 50, MOST_OF_STREAM = 1 << 30 };

/* ---- files ---- */

static uint64_t os_ns_of(struct timespec t) { return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec; }

bool os_stamp(const char *path, struct file_stamp *out)
{
	struct stat st;

	*out = (struct file_stamp){0};
	if (stat(path, &st) != 0)
		return false;
	*out = (struct file_stamp){(uint64_t)st.st_size, os_ns_of(st.st_mtim), os_ns_of(st.st_ctim), (uint64_t)st.st_ino};
	return true;
}

bool os_stamp_eq(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->inode == b->inode;
}

void os_fd_close(int fd)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
}

/* Waits until a stream has bytes or has ended. A signal may arrive at another thread, so the wait ends now and then. False: errno. */
static bool wait_for_bytes(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n = 0;

	while (n == 0 && !os_interrupted()) {
		n = poll(&p, 1, LOOK_MS);
		if (n < 0 && errno == EINTR)
			n = 0;
	}
	if (n == 0)
		errno = EINTR;
	return n > 0;
}

ssize_t os_fd_read(int fd, char *at, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = read(fd, at + got, n - got);

		if (r < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_bytes(fd))))
			continue;
		if (r < 0)
			return -1;
		if (r == 0)
			break;
		got += (size_t)r;
	}
	usage_of_thread.read += got;
	return (ssize_t)got;
}

/* Reads to the end and takes the size only as a hint: it is 0 for pipes and /proc, and may change meanwhile. */
static bool os_read_all(int fd, size_t expect, size_t limit, char **data, size_t *len)
{
	size_t cap = expect + 1, got = 0;
	char *at = huge_alloc(cap);

	while (at) {
		ssize_t r = os_fd_read(fd, at + got, cap - got);
		char *more;

		if (r < 0)
			break;
		got += (size_t)r;
		if (limit && got > limit) {
			errno = EFBIG;
			break;
		}
		if (got < cap) { /* the end; there is room for the NUL */
			at[got] = '\0';
			*data = at;
			*len = got;
			usage_of_thread.files_read++;
			return true;
		}
		cap = cap < 4096 ? 8192 : cap * 2;
		more = realloc(at, cap);
		if (!more)
			break;
		at = more;
	}
	free(at);
	return false;
}

/* A descriptor for reading; never waits for the writer of a pipe. -1: errno, ENODEV for what is not a regular file unless `streams`. */
static int open_input(const char *path, bool streams, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -1;
	if (fstat(fd, st) == 0) {
		if (S_ISREG(st->st_mode) || (streams && !S_ISDIR(st->st_mode)))
			return fd;
		errno = S_ISDIR(st->st_mode) ? EISDIR : ENODEV;
	}
	os_fd_close(fd);
	return -1;
}

static bool os_read_input(const char *path, bool streams, size_t limit, char **data, size_t *len)
{
	struct stat st;
	int fd = open_input(path, streams, &st);
	bool ok = false;

	*data = NULL;
	*len = 0;
	if (fd < 0)
		return false;
	if (!S_ISREG(st.st_mode))
		ok = wait_for_bytes(fd) && os_read_all(fd, 0, limit && limit < MOST_OF_STREAM ? limit : MOST_OF_STREAM, data, len);
	else if (limit && (uint64_t)st.st_size > limit)
		errno = EFBIG;
	else
		ok = os_read_all(fd, (size_t)st.st_size, limit, data, len);
	os_fd_close(fd);
	return ok;
}

bool os_read_file(const char *path, size_t limit, char **data, size_t *len) { return os_read_input(path, false, limit, data, len); }

bool os_read_stream(const char *path, size_t limit, char **data, size_t *len) { return os_read_input(path, true, limit, data, len); }

const char *os_read_error(int error) { return error == ENODEV || error == ENXIO ? "it is not a regular file" : strerror(error); }

bool os_read_pieces(const char *path, void (*take)(void *ctx, const void *bytes, size_t n), void *ctx)
{
	char piece[1 << 16];
	struct stat st;
	int fd = open_input(path, false, &st);
	ssize_t r = -1;

	if (fd < 0)
		return false;
	while (!os_interrupted() && (r = os_fd_read(fd, piece, sizeof piece)) > 0)
		take(ctx, piece, (size_t)r);
	os_fd_close(fd);
	usage_of_thread.files_read += r == 0;
	return r == 0;
}

bool os_fd_map(int fd, const void **data, size_t *len)
{
	struct stat st;
	void *p = NULL;

	*data = NULL;
	*len = 0;
	if (fstat(fd, &st) != 0)
		return false;
	if (st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return false;
	*data = p;
	*len = (size_t)st.st_size;
	usage_of_thread.read += *len;
	usage_of_thread.files_read++;
	return true;
}

bool os_map_file(const char *path, const void **data, size_t *len)
{
	struct stat st;
	int fd = open_input(path, false, &st);
	bool ok;

	*data = NULL;
	*len = 0;
	if (fd < 0)
		return false;
	ok = os_fd_map(fd, data, len);
	os_fd_close(fd);
	return ok;
}

void os_unmap(const void *data, size_t len)
{
	if (data && len)
		munmap((void *)(uintptr_t)data, len);
}

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Makes one level; true if it exists afterwards. Parents may be read-only, so a failure is ignored if the folder exists. A file in its
 * place may be removed before it is examined: then tries again. */
static bool make_dir(const char *path)
{
	struct stat st;
	int why = EEXIST;

	for (int tries = 0; why == EEXIST && tries < MKDIR_TRIES; tries++) {
		if (mkdir(path, 0777) == 0)
			return true;
		why = errno;
		if (is_dir(path))
			return true;
		if (why == EEXIST && lstat(path, &st) == 0)
			why = ENOTDIR;
	}
	errno = why;
	return false;
}

bool os_mkdirs(const char *path)
{
	char *copy;
	bool ok = true;

	if (is_dir(path))
		return true;
	copy = strdup(path);
	if (!copy)
		return false;
	for (char *p = copy + 1; ok && copy[0] && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		ok = make_dir(copy);
		*p = '/';
	}
	ok = ok && make_dir(copy);
	free(copy);
	return ok;
}

static int os_remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)where;
	return (type == FTW_DP || type == FTW_D || type == FTW_DNR ? rmdir(path) : unlink(path)) == 0 || errno == ENOENT ? 0 : -1;
}

bool os_remove_tree(const char *path)
{
	char *copy = strdup(path);
	size_t n;
	bool ok;

	if (!copy)
		return false;
	for (n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--) /* "link/" would be followed */
		copy[n - 1] = '\0';
	ok = nftw(copy, os_remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0 || errno == ENOENT;
	free(copy);
	return ok;
}

char *os_exe_dir(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	char *slash;

	if (n <= 0 || n == sizeof path - 1)
		return NULL;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	slash[slash == path] = '\0';
	return strdup(path);
}

/* ---- time ---- */

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	BUG_ON(clock_gettime(clock, &t) != 0);
	return (int64_t)os_ns_of(t);
}

int64_t os_now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

int64_t os_cpu_ns(void) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

int64_t os_thread_cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

/* ---- terminal and signals ---- */

bool os_is_tty(int fd) { return isatty(fd) == 1; }

uint32_t os_tty_columns(int fd)
{
	struct winsize w;

	return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

void os_open_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static atomic_bool interrupted;      /* a signal handler has no argument; any thread reads it */
static atomic_int received[2][NSIG]; /* from others, and from the parent, which may pass on what also comes to this process */
static void (*_Atomic before_death)(void);
static const char *_Atomic last_words; /* of os_end_at_interrupt */

void os_set_death_handler(void (*fn)(void)) { before_death = fn; }

void os_run_death_handler(void)
{
	void (*fn)(void) = before_death;

	if (fn)
		fn();
}

static void end_if_asked(void)
{
	enum { INTERRUPTED = 130 };
	const char *text = last_words;

	if (!text)
		return;
	os_run_death_handler();
	os_write_fd(STDERR_FILENO, text, strlen(text));
	_exit(INTERRUPTED);
}

void os_end_at_interrupt(const char *text)
{
	last_words = text;
	if (interrupted)
		end_if_asked();
}

static void on_interrupt(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	interrupted = true;
	end_if_asked();
	if (received[info->si_code <= 0 && info->si_pid == getppid()][sig]++ > 0) {
		os_run_death_handler();
		signal(sig, SIG_DFL);
		raise(sig); /* the signal is delivered when the handler returns */
	}
	errno = saved;
}

void os_catch_interrupts(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	/* Without SA_RESTART a signal ends blocking calls. */
	struct sigaction act = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO}, old;

	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* started by nohup */
			sigaction(signals[i], &act, NULL);
}

bool os_interrupted(void) { return interrupted; }
