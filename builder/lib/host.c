/* The only state of libtrib, shared by all lazy libraries of a process, so that there are few LLVM contexts. */
#include "builder/lib/host.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/source.h"
#include "base/vec.h"
#include "builder/build/session/generators.h"
#include "builder/cache/config.h"
#include "builder/manifest/options.h"
#include "builder/module.h"

extern char **environ;

static struct {
	pthread_mutex_t lock;          /* guards the members below */
	VEC(struct generators *) idle; /* not lent now */
	hash128 generator;             /* digest of the module; zero: not read yet */
} host = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock held. */
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

void host_return(struct generators *generators)
{
	pthread_mutex_lock(&host.lock);
	vec_push(&host.idle, generators);
	pthread_mutex_unlock(&host.lock);
}

static const char *folder_of(struct arena *a, const struct cache_config *config)
{
	struct cache_options o = cache_config_options(a, config);
	return o.levels >> CACHE_L3 & 1 ? arena_strdup(a, o.dir) : NULL;
}

const char *host_cache(struct arena *a)
{
	const struct options none = {
		.opt = -1, .most_failures = -1, .verbose = -1, .explain = -1, .timing = -1, .no_cache = -1, .low_memory = -1, .json = -1};
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	struct cache_config config;
	const char *folder = NULL;
	bool ok = cache_config_read(a, sources, NULL, &none, &config, diags) && config.at[SETTING_ENABLED].number;
	if (ok && config.at[SETTING_DIR].text[0] == '/') /* without HOME the path would be relative */
		folder = folder_of(a, &config);
	diags_free(diags);
	sources_free(sources);
	return folder;
}

/* ---- running trib ---- */

/* Writes with SIGXFSZ blocked: beyond `ulimit -f` the result is EFBIG, whatever the program does with the signal. */
static ssize_t write_unsignalled(int fd, const void *bytes, size_t n)
{
	sigset_t limit, before, pending;
	const struct timespec none = {0};
	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &limit, &before);
	bool waited = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
	ssize_t w = write(fd, bytes, n);
	int why = errno;
	if (w < 0 && why == EFBIG && !waited)
		while (sigtimedwait(&limit, NULL, &none) < 0 && errno == EINTR)
			continue;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = why;
	return w;
}

int host_open_nameless(const void *bytes, size_t n)
{
	int fd = memfd_create("trib", MFD_CLOEXEC);
	const char *at = bytes;
	while (fd >= 0 && n) {
		ssize_t w = write_unsignalled(fd, at, n);
		if (w < 0 && errno != EINTR) {
			close(fd);
			return -1;
		}
		at += w > 0 ? w : 0;
		n -= w > 0 ? (size_t)w : 0;
	}
	return fd < 0 || lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
}

const char *host_content(struct arena *a, int fd)
{
	off_t n = lseek(fd, 0, SEEK_END);
	char *text = n > 0 ? arena_alloc(a, (size_t)n + 1, 1) : NULL;
	ssize_t got = text ? pread(fd, text, (size_t)n, 0) : 0;
	if (got <= 0)
		return "";
	text[got] = 0;
	return text;
}

int host_spawn(pid_t *child, const char *const *argv, const struct host_streams *s)
{
	posix_spawn_file_actions_t io;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGCHLD);
	sigaddset(&usual, SIGPIPE);
	posix_spawn_file_actions_init(&io);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_adddup2(&io, s->in, STDIN_FILENO);
	if (s->out >= 0)
		posix_spawn_file_actions_adddup2(&io, s->out, STDOUT_FILENO);
	else
		posix_spawn_file_actions_addopen(&io, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&io, s->err, STDERR_FILENO);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &usual);
	short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
	posix_spawnattr_setflags(&attr, s->own_group ? flags | POSIX_SPAWN_SETPGROUP : flags);
	int e = posix_spawn(child, argv[0], &io, &attr, (char *const *)(uintptr_t)argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&io);
	return e;
}

/* The program may reap or ignore its children. Then the message decides. */
static bool succeeded(bool known, int status, const char *message) { return known ? status == 0 : !strstr(message, "error"); }

bool host_run_trib(struct arena *a, const char **argv, const void *input, size_t n, const char **message)
{
	pid_t child;
	int status = 0, got, in = host_open_nameless(input, n), err = host_open_nameless(NULL, 0);
	argv[0] = module_program(a);
	int e = in < 0 || err < 0 ? errno : argv[0] ? host_spawn(&child, argv, &(struct host_streams){in, -1, err, false}) : ENOENT;
	bool ok = !e;
	if (ok) {
		while ((got = waitpid(child, &status, 0)) < 0 && errno == EINTR)
			continue;
		*message = host_content(a, err);
		ok = succeeded(got == child, status, *message);
	} else {
		*message = argv[0] ? arena_printf(a, "cannot run %s: %s", argv[0], strerror(e))
				   : "libtrib.so does not find trib, which belongs two folders above it";
	}
	if (in >= 0)
		close(in);
	if (err >= 0)
		close(err);
	return ok;
}
