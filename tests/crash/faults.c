/* Preloaded before the C library. Counts a program's calls that write or publish, or that read, and acts on the n-th.
 *
 *   TRIB_FAULT=MODE:N     kill-before, kill-after: SIGKILL around the call; kill-half: with half of its bytes written
 *                         enospc, eio, eintr: the call fails once; enospc-from: that and all later ones that need space
 *                         short: half of the bytes are written; stop: SIGSTOP before the call
 *   TRIB_FAULT_COUNT      "reads": reading calls are counted instead; "times": those that ask for the time
 *   TRIB_FAULT_BELOW      only calls on files below this folder
 *   TRIB_FAULT_LOG        appends every counted call to this file: number, call, possible faults, path
 *   TRIB_FAULT_SIMULATE   any of nomap (no shared mappings: ENODEV), nolock (ENOLCK), seconds (stamps without fractions)
 *   TRIB_FAULT_CLOCK      the real-time clock when the program starts, in seconds since 1970
 *
 * It sees only calls through libc's dynamic symbols, and makes the real calls with syscall(2). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define ALIAS(name) __attribute__((visibility("default"), alias(#name)))

enum { SPACE = 1, BYTES = 2, FAILS = 4, WAITS = 8 }; /* the call needs space, moves bytes, may fail, may be interrupted */
enum { LONGEST_PATH = 4352 };

struct fault {
	bool fails, split, dies;
};

static char mode[32], below[LONGEST_PATH], log_path[LONGEST_PATH], simulation[64];
static long at;
static bool reads, times;
static atomic_long count;
static int64_t clock_offset; /* nanoseconds */

static void copy_env(char *out, size_t size, const char *name)
{
	const char *v = getenv(name);
	snprintf(out, size, "%s", v ? v : "");
}

__attribute__((constructor)) static void start(void)
{
	struct timespec now;
	char text[64];
	copy_env(text, sizeof text, "TRIB_FAULT");
	char *colon = strchr(text, ':');
	if (colon) {
		*colon = 0;
		at = atol(colon + 1);
		snprintf(mode, sizeof mode, "%.31s", text);
	}
	copy_env(below, sizeof below, "TRIB_FAULT_BELOW");
	copy_env(log_path, sizeof log_path, "TRIB_FAULT_LOG");
	copy_env(simulation, sizeof simulation, "TRIB_FAULT_SIMULATE");
	copy_env(text, sizeof text, "TRIB_FAULT_COUNT");
	reads = strcmp(text, "reads") == 0;
	times = strcmp(text, "times") == 0;
	copy_env(text, sizeof text, "TRIB_FAULT_CLOCK");
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
	if (text[0])
		clock_offset = ((int64_t)atoll(text) - now.tv_sec) * 1000000000;
}

/* ---- which file ---- */

static void path_of_fd(int fd, char out[LONGEST_PATH])
{
	char link[64];
	snprintf(link, sizeof link, fd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", fd);
	long n = syscall(SYS_readlink, link, out, LONGEST_PATH - 1);
	out[n > 0 ? n : 0] = 0;
}

static void path_at(int dir, const char *path, char out[LONGEST_PATH])
{
	if (path[0] == '/') {
		snprintf(out, LONGEST_PATH, "%s", path);
		return;
	}
	path_of_fd(dir, out);
	size_t n = strlen(out);
	snprintf(out + n, LONGEST_PATH - n, "/%s", path);
}

static bool is_regular(int fd)
{
	struct stat st;
	return syscall(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* ---- what happens ---- */

static void note(long n, const char *call, unsigned can, const char *path)
{
	char line[LONGEST_PATH + 64];
	int fd = log_path[0] ? (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return;
	int len = snprintf(line, sizeof line, "%ld %s %u %s\n", n, call, can, path);
	syscall(SYS_write, fd, line, (size_t)len);
	syscall(SYS_close, fd);
}

static void die(void)
{
	syscall(SYS_kill, getpid(), SIGKILL);
	for (;;)
		pause();
}

static bool fails_with(struct fault *f, int error)
{
	f->fails = true;
	errno = error;
	return true;
}

static struct fault enter(const char *call, unsigned can, const char *path)
{
	struct fault f = {0};
	int saved = errno;
	if (below[0] && strncmp(path, below, strlen(below)) != 0)
		return f;
	long n = atomic_fetch_add(&count, 1) + 1;
	note(n, call, can, path);
	errno = saved;
	if (strcmp(mode, "enospc-from") == 0 && n >= at && can & SPACE)
		fails_with(&f, ENOSPC);
	if (n != at)
		return f;
	if (strcmp(mode, "kill-before") == 0)
		die();
	if (strcmp(mode, "stop") == 0)
		syscall(SYS_kill, getpid(), SIGSTOP);
	f.dies = strncmp(mode, "kill-", 5) == 0;
	f.split = can & BYTES && (strcmp(mode, "kill-half") == 0 || strcmp(mode, "short") == 0);
	if (strcmp(mode, "enospc") == 0 && can & SPACE)
		fails_with(&f, ENOSPC);
	if (strcmp(mode, "eio") == 0 && can & FAILS)
		fails_with(&f, EIO);
	if (strcmp(mode, "eintr") == 0 && can & WAITS)
		fails_with(&f, EINTR);
	return f;
}

static struct fault enter_at(const char *call, unsigned can, int dir, const char *path)
{
	char full[LONGEST_PATH];
	if (reads || times)
		return (struct fault){0};
	path_at(dir, path, full);
	return enter(call, can, full);
}

static struct fault enter_fd(const char *call, unsigned can, int fd)
{
	char full[LONGEST_PATH];
	if (reads || times || !is_regular(fd))
		return (struct fault){0};
	path_of_fd(fd, full);
	return enter(call, can, full);
}

static void read_at(const char *call, int dir, const char *path)
{
	char full[LONGEST_PATH];
	if (!reads)
		return;
	path_at(dir, path, full);
	enter(call, 0, full);
}

static void read_fd(const char *call, int fd)
{
	char full[LONGEST_PATH];
	if (!reads || !is_regular(fd))
		return;
	path_of_fd(fd, full);
	enter(call, 0, full);
}

static long leave(struct fault f, long result)
{
	if (f.dies)
		die();
	return result;
}

static size_t part(struct fault f, size_t n) { return f.split && n > 1 ? n / 2 : n; }

/* ---- opening ---- */

static bool makes_file(int flags) { return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE; }

static int open_at(int dir, const char *path, int flags, unsigned permissions)
{
	if (!makes_file(flags) && !(flags & O_TRUNC)) {
		if ((flags & O_ACCMODE) == O_RDONLY && !(flags & O_DIRECTORY))
			read_at("open", dir, path);
		return (int)syscall(SYS_openat, dir, path, flags, permissions);
	}
	struct fault f = enter_at("open", SPACE | FAILS | WAITS, dir, path);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_openat, dir, path, flags, permissions));
}

EXPORT int open(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	unsigned permissions = makes_file(flags) ? va_arg(more, unsigned) : 0;
	va_end(more);
	return open_at(AT_FDCWD, path, flags, permissions);
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	unsigned permissions = makes_file(flags) ? va_arg(more, unsigned) : 0;
	va_end(more);
	return open_at(dir, path, flags, permissions);
}

EXPORT int creat(const char *path, mode_t permissions) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, permissions); }

ALIAS(open) int open64(const char *path, int flags, ...);
ALIAS(openat) int openat64(int dir, const char *path, int flags, ...);
ALIAS(creat) int creat64(const char *path, mode_t permissions);

/* ---- writing ---- */

enum { MOVES = SPACE | BYTES | FAILS | WAITS };

EXPORT ssize_t write(int fd, const void *bytes, size_t n)
{
	struct fault f = enter_fd("write", MOVES, fd);
	return f.fails ? -1 : leave(f, syscall(SYS_write, fd, bytes, part(f, n)));
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t n, off_t where)
{
	struct fault f = enter_fd("pwrite", MOVES, fd);
	return f.fails ? -1 : leave(f, syscall(SYS_pwrite64, fd, bytes, part(f, n), where));
}

/* Half of many pieces: the first half of them, or half of the only one. */
static ssize_t write_pieces(const char *call, int fd, const struct iovec *pieces, int n, off_t where)
{
	struct fault f = enter_fd(call, MOVES, fd);
	if (f.fails)
		return -1;
	struct iovec one = n ? pieces[0] : (struct iovec){0};
	if (f.split && n == 1) {
		one.iov_len = part(f, one.iov_len);
		pieces = &one;
	} else if (f.split) {
		n /= 2;
	}
	return leave(f, where < 0 ? syscall(SYS_writev, fd, pieces, n) : syscall(SYS_pwritev, fd, pieces, n, where, 0));
}

EXPORT ssize_t writev(int fd, const struct iovec *pieces, int n) { return write_pieces("writev", fd, pieces, n, -1); }
EXPORT ssize_t pwritev(int fd, const struct iovec *pieces, int n, off_t where) { return write_pieces("pwritev", fd, pieces, n, where); }

EXPORT int ftruncate(int fd, off_t size)
{
	struct fault f = enter_fd("ftruncate", SPACE | FAILS | WAITS, fd);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_ftruncate, fd, size));
}

EXPORT int fallocate(int fd, int how, off_t where, off_t size)
{
	struct fault f = enter_fd("fallocate", SPACE | FAILS | WAITS, fd);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_fallocate, fd, how, where, size));
}

EXPORT int fsync(int fd)
{
	struct fault f = enter_fd("fsync", SPACE | FAILS | WAITS, fd);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_fsync, fd));
}

EXPORT int fdatasync(int fd)
{
	struct fault f = enter_fd("fdatasync", SPACE | FAILS | WAITS, fd);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_fdatasync, fd));
}

EXPORT int msync(void *bytes, size_t n, int flags)
{
	struct fault f = enter_at("msync", FAILS, AT_FDCWD, "a mapping");
	return f.fails ? -1 : (int)leave(f, syscall(SYS_msync, bytes, n, flags));
}

ALIAS(pwrite) ssize_t pwrite64(int fd, const void *bytes, size_t n, off_t where);
ALIAS(pwritev) ssize_t pwritev64(int fd, const struct iovec *pieces, int n, off_t where);
ALIAS(ftruncate) int ftruncate64(int fd, off_t size);
ALIAS(fallocate) int fallocate64(int fd, int how, off_t where, off_t size);

/* ---- names ---- */

EXPORT int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }
EXPORT int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	struct fault f = enter_at("rename", SPACE | FAILS, to_dir, to);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_renameat, from_dir, from, to_dir, to));
}

EXPORT int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
EXPORT int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	struct fault f = enter_at("link", SPACE | FAILS, to_dir, to);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_linkat, from_dir, from, to_dir, to, flags));
}

EXPORT int symlink(const char *from, const char *to)
{
	struct fault f = enter_at("symlink", SPACE | FAILS, AT_FDCWD, to);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_symlink, from, to));
}

EXPORT int unlinkat(int dir, const char *path, int flags)
{
	struct fault f = enter_at("unlink", FAILS, dir, path);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_unlinkat, dir, path, flags));
}

EXPORT int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
EXPORT int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
EXPORT int mkdirat(int dir, const char *path, mode_t permissions)
{
	struct fault f = enter_at("mkdir", SPACE | FAILS, dir, path);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_mkdirat, dir, path, permissions));
}

EXPORT int mkdir(const char *path, mode_t permissions) { return mkdirat(AT_FDCWD, path, permissions); }

EXPORT int chmod(const char *path, mode_t permissions)
{
	struct fault f = enter_at("chmod", FAILS, AT_FDCWD, path);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_chmod, path, permissions));
}

/* ---- mappings and locks ---- */

EXPORT void *mmap(void *where, size_t n, int protection, int flags, int fd, off_t offset)
{
	struct fault f = {0};
	bool file = fd >= 0 && !(flags & MAP_ANONYMOUS),
	     shared = (flags & MAP_TYPE) == MAP_SHARED || (flags & MAP_TYPE) == MAP_SHARED_VALIDATE;
	if (file && shared && strstr(simulation, "nomap")) {
		errno = ENODEV;
		return MAP_FAILED;
	}
	if (file && shared && protection & PROT_WRITE)
		f = enter_fd("mmap", FAILS, fd);
	else if (file)
		read_fd("mmap", fd);
	return f.fails ? MAP_FAILED : (void *)leave(f, syscall(SYS_mmap, where, n, protection, flags, fd, offset));
}

ALIAS(mmap) void *mmap64(void *where, size_t n, int protection, int flags, int fd, off_t offset);

EXPORT int flock(int fd, int how)
{
	if (strstr(simulation, "nolock")) {
		errno = ENOLCK;
		return -1;
	}
	struct fault f = enter_fd("flock", FAILS | WAITS, fd);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_flock, fd, how));
}

EXPORT int fcntl(int fd, int command, ...)
{
	va_list more;
	struct fault f = {0};
	va_start(more, command);
	void *argument = va_arg(more, void *);
	va_end(more);
	bool locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
	if (locks && strstr(simulation, "nolock")) {
		errno = ENOLCK;
		return -1;
	}
	if (locks)
		f = enter_fd("fcntl", FAILS | WAITS, fd);
	return f.fails ? -1 : (int)leave(f, syscall(SYS_fcntl, fd, command, argument));
}

ALIAS(fcntl) int fcntl64(int fd, int command, ...);

/* ---- reading ---- */

EXPORT ssize_t read(int fd, void *bytes, size_t n)
{
	read_fd("read", fd);
	return syscall(SYS_read, fd, bytes, n);
}

EXPORT ssize_t pread(int fd, void *bytes, size_t n, off_t where)
{
	read_fd("pread", fd);
	return syscall(SYS_pread64, fd, bytes, n, where);
}

ALIAS(pread) ssize_t pread64(int fd, void *bytes, size_t n, off_t where);

static int stamped(long result, struct stat *st)
{
	if (result == 0 && strstr(simulation, "seconds"))
		st->st_mtim.tv_nsec = st->st_ctim.tv_nsec = st->st_atim.tv_nsec = 0;
	return (int)result;
}

EXPORT int stat(const char *restrict path, struct stat *restrict st)
{
	read_at("stat", AT_FDCWD, path);
	return stamped(syscall(SYS_stat, path, st), st);
}

EXPORT int lstat(const char *restrict path, struct stat *restrict st)
{
	read_at("lstat", AT_FDCWD, path);
	return stamped(syscall(SYS_lstat, path, st), st);
}

EXPORT int fstat(int fd, struct stat *st) { return stamped(syscall(SYS_fstat, fd, st), st); }

EXPORT int fstatat(int dir, const char *restrict path, struct stat *restrict st, int flags)
{
	return stamped(syscall(SYS_newfstatat, dir, path, st, flags), st);
}

/* ---- time ---- */

EXPORT int clock_gettime(clockid_t clock, struct timespec *out)
{
	if (times)
		enter("clock_gettime", 0, below);
	int r = (int)syscall(SYS_clock_gettime, clock, out);
	if (r == 0 && clock_offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		out->tv_sec += clock_offset / 1000000000;
	return r;
}

EXPORT time_t time(time_t *out)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

EXPORT int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec now;
	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
	return 0;
}
