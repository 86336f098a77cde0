#include "builder/serve/client.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/cache/config.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"

enum { ANSWER_MS = 250, STATUS_MS = 3000, GRACE_MS = 2000, CHECK_MS = 500 };

/* By the environment. A CI machine builds once, so a server would gain nothing. */
static bool is_switched_off(void)
{
	const char *server = secure_getenv(cache_setting_variable(SETTING_SERVER)), *ci = secure_getenv("CI");
	uint64_t on;
	if (server && manifest_parse_bool(server, &on))
		return !on;
	return ci && *ci && strcmp(ci, "false") != 0;
}

bool client_can_use_server(const struct options *o)
{
	const char *make = secure_getenv("MAKEFLAGS");
	bool is_plain = !o->since && !o->dry_run && !o->lazy && !o->trace_file && !o->profile_out && o->stop == STOP_NONE && !o->dumps;
	return !o->no_server && !o->moved && !is_switched_off() && is_plain && o->load <= 0 && o->low_memory <= 0 && o->no_cache <= 0 &&
	       !(make && *make);
}

/* ---- requests ---- */

/* Connects to the project's server if it runs as the same user. -1: errno. */
static int connect_server(void)
{
	const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SERVER_SOCKET};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	bool ok = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
	if (ok && !message_peer(fd, NULL)) {
		errno = EPERM;
		ok = false;
	}
	if (ok)
		return fd;
	int why = errno;
	close(fd);
	errno = why;
	return -1;
}

static bool client_ask(int fd, const struct request *request)
{
	struct buf bytes = {0};
	request_encode(request, &bytes);
	bool ok = message_send(fd, bytes.at, bytes.len);
	buf_free(&bytes);
	return ok;
}

static uint32_t client_count(char **list)
{
	uint32_t n = 0;
	while (list[n])
		n++;
	return n;
}

static bool accepted(struct client *c, int fd)
{
	struct request r = {
		.kind = REQUEST_BUILD, .argc = client_count(c->argv), .argv = c->argv, .envc = client_count(environ), .env = environ};
	enum answer answer = ANSWER_DECLINED;
	process_context_read(&r.from);
	bool answered = client_ask(fd, &r) && message_receive_exactly(fd, &answer, sizeof answer, ANSWER_MS);
	bool is_dead = !answered && (errno == 0 || errno == EPIPE || errno == ECONNRESET);
	if (is_dead || (answered && answer == ANSWER_OUTDATED))
		c->presence = SERVER_ABSENT;
	return answered && answer == ANSWER_ACCEPTED;
}

/* A server that was stopped by a signal would never answer. */
static void kill_if_stopped(int fd)
{
	char path[64], *text, *state;
	int64_t pid;
	size_t len;
	if (!message_peer(fd, &pid) || pid <= 0)
		return;
	snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
	if (!os_read_file(path, 4096, &text, &len))
		return;
	state = strrchr(text, ')');
	if (state && state[1] == ' ' && state[2] == 'T')
		kill((pid_t)pid, SIGKILL);
	free(text);
}

/* Waits for the result. Passes on an interrupt, and waits at most GRACE_MS after it. */
static bool await_result(int fd, struct result *out)
{
	bool cancelled = false;
	int64_t until = INT64_MAX;
	while (os_now_ns() < until) {
		if (os_interrupted() && !cancelled) {
			shutdown(fd, SHUT_WR);
			until = os_now_ns() + (int64_t)GRACE_MS * 1000000;
			cancelled = true;
		}
		if (message_receive_exactly(fd, out, sizeof *out, CHECK_MS))
			return true;
		if (errno != EINTR && errno != ETIMEDOUT)
			return false;
		if (errno == ETIMEDOUT)
			kill_if_stopped(fd);
	}
	print(stderr, "trib: interrupted\n");
	*out = (struct result){.status = STATUS_INTERRUPTED};
	return true;
}

/* Returns the status, and fails as if this process had written the output. */
static enum status status_of(const struct result *result)
{
	if (!result->write_errno)
		return (enum status)result->status;
	if (result->write_errno == EPIPE)
		raise(SIGPIPE);
	print(stderr, "trib: cannot write the standard output: %s\n",
	      result->write_errno < 0 ? "an earlier write failed" : strerror(result->write_errno));
	return result->status == STATUS_OK ? STATUS_ENVIRONMENT : (enum status)result->status;
}

bool client_build(struct client *c, int lock, enum status *s)
{
	const int fds[GO_FDS] = {[GO_STDIN] = 0, [GO_STDOUT] = 1, [GO_STDERR] = 2, [GO_LOCK] = lock};
	struct result result;
	c->presence = SERVER_PRESENT;
	int fd = connect_server();
	if (fd < 0) {
		if (errno == ENOENT || errno == ECONNREFUSED)
			c->presence = SERVER_ABSENT;
		return false;
	}
	bool ok = accepted(c, fd) && message_send_fds(fd, fds);
	if (ok && !(ok = await_result(fd, &result)))
		c->presence = SERVER_ABSENT;
	close(fd);
	if (ok)
		*s = status_of(&result);
	return ok;
}

bool client_state(struct server_state *out)
{
	int fd = connect_server();
	bool ok = fd >= 0 && client_ask(fd, &(struct request){.kind = REQUEST_STATUS}) &&
		  message_receive_exactly(fd, out, sizeof *out, STATUS_MS);
	int why = errno;
	if (fd >= 0)
		close(fd);
	errno = why;
	return ok;
}

bool client_stop(void)
{
	char nothing;
	int fd = connect_server();
	bool ok = fd >= 0 && client_ask(fd, &(struct request){.kind = REQUEST_STOP});
	ok = ok && !message_receive_exactly(fd, &nothing, 1, STATUS_MS) && errno == 0;
	int why = errno;
	if (fd >= 0)
		close(fd);
	errno = why;
	return ok;
}

/* ---- starting ---- */

static const char *own_path(struct arena *a)
{
	char link[4096];
	ssize_t n = readlink("/proc/self/exe", link, sizeof link - 1);
	return n > 0 ? arena_strndup(a, link, (size_t)n) : NULL;
}

/* Starts the server in a session of its own, with /dev/null as standard streams. */
static int client_spawn(const char *path, char **argv, const struct server_socket *socket)
{
	posix_spawn_file_actions_t io;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	pid_t pid;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&io);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawn_file_actions_addopen(&io, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&io, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&io, 2, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&io, socket->listener, INHERITED_LISTENER);
	posix_spawn_file_actions_adddup2(&io, socket->folder, INHERITED_FOLDER);
	int e = posix_spawn(&pid, path, &io, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&io);
	return e;
}

/* Moves a descriptor above the numbers that the server inherits. */
static bool client_move_up(int *fd)
{
	int up = fcntl(*fd, F_DUPFD_CLOEXEC, INHERITED_FOLDER + 1);
	if (up < 0)
		return false;
	close(*fd);
	*fd = up;
	return true;
}

bool client_start_server(int jobs)
{
	struct server_socket s;
	if (!server_socket_open(&s))
		return errno == 0;
	struct arena *a = arena_new(0);
	const char *path = own_path(a), *argv[] = {"trib", "server", "run", jobs > 0 ? arena_printf(a, "-j%d", jobs) : NULL, NULL};
	int why = !path                                                        ? ENOENT
		  : !client_move_up(&s.listener) || !client_move_up(&s.folder) ? errno
									       : client_spawn(path, (char **)(uintptr_t)argv, &s);
	if (why)
		unlink(SERVER_SOCKET);
	server_socket_close(&s);
	arena_free(a);
	errno = why;
	return why == 0;
}
