/* One thread, one build at a time. A client that connects during a build is answered after it; it does not wait that long. */
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/build/session/fragments.h"
#include "builder/build/session/session.h"
#include "builder/build/session/status.h"
#include "builder/build/session/warm.h"
#include "builder/serve/server_state.h"
#include "builder/store/crash_guard.h"

enum { MEMORY_PART = 4 };

static void start_session(struct session *s)
{
	s->fragments = fragments_new();
	s->warm = warm_new();
}

static char *program_path(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	return n > 0 ? strndup(path, (size_t)n) : NULL;
}

static void watch_files(struct server *s)
{
	s->program = program_path();
	s->watcher = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (s->watcher < 0)
		return;
	bool ok = inotify_add_watch(s->watcher, SERVER_FOLDER, IN_DELETE | IN_MOVE | IN_DELETE_SELF | IN_MOVE_SELF) >= 0;
	ok = ok && s->program && inotify_add_watch(s->watcher, s->program, IN_ATTRIB | IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF) >= 0;
	if (!ok) {
		close(s->watcher);
		s->watcher = -1;
	}
}

static void clear_file_events(const struct server *s)
{
	char events[4096];
	while (s->watcher >= 0 && read(s->watcher, events, sizeof events) > 0)
		continue;
}

/* True while the socket file is ours and the executable is unchanged. */
static bool server_is_current(const struct server *s)
{
	struct file_stamp now;
	return s->socket_inode && server_socket_inode() == s->socket_inode && s->program && os_stamp(s->program, &now) &&
	       os_stamp_eq(&now, &s->here.program.trib);
}

/* Closes the other inherited descriptors: another process may wait for their end. */
static void close_above(int last) { syscall(SYS_close_range, (unsigned)last + 1, ~0u, 0u); }

/* Opens the socket. False: another process serves this folder (errno 0), or errno. */
static bool open_server(struct server *s)
{
	bool inherited = server_socket_inherit(&s->socket);
	close_above(inherited ? INHERITED_FOLDER : STDERR_FILENO);
	if (!inherited && !server_socket_open(&s->socket))
		return false;
	s->socket_inode = server_socket_inode();
	process_context_read(&s->here);
	watch_files(s);
	start_session(&s->session);
	return true;
}

/* Removes the socket, so that another server may start. */
static void server_leave(struct server *s)
{
	if (s->socket.listener >= 0 && server_socket_inode() == s->socket_inode)
		unlink(SERVER_SOCKET);
	server_socket_close(&s->socket);
	s->has_left = true;
}

static void close_server(struct server *s)
{
	server_leave(s);
	warmup_join(s);
	session_free(&s->session);
	if (s->watcher >= 0)
		close(s->watcher);
	if (s->connection >= 0)
		close(s->connection);
	free(s->program);
}

/* In bytes. */
static uint64_t resident_memory(void)
{
	char *text;
	size_t len;
	unsigned long long pages = 0;
	if (!os_read_file("/proc/self/statm", 4096, &text, &len))
		return 0;
	char *second = strchr(text, ' ');
	if (second)
		pages = strtoull(second, NULL, 10);
	free(text);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Returns free memory to the system. Drops the warm state of a project that is too large for this machine. */
static void trim_memory(struct server *s)
{
	uint64_t available = os_available_memory();
	if (s->warm && available && resident_memory() > available / MEMORY_PART) {
		fragments_free(s->session.fragments);
		warm_free(s->session.warm);
		start_session(&s->session);
	}
	malloc_trim(0);
	s->memory_trimmed = true;
}

#define SECOND_NS INT64_C(1000000000)
#define TRIM_NS (10 * SECOND_NS) /* after a build */
#define CHECK_NS (2 * SECOND_NS) /* without inotify */
enum { REQUEST_MS = 1000, RETAINED_BYTES = 32 << 20 };

static void send_state(const struct server *s, int fd)
{
	struct server_state state = {.pid = getpid(),
				     .served = s->served,
				     .resident = resident_memory(),
				     .idle_ns = os_now_ns() - s->last_build_at,
				     .limit_ns = s->options->idle_ns,
				     .warm = s->warm};
	message_send(fd, &state, sizeof state);
}

static void serve_build(struct server *s, int fd, struct arena *a, const struct request *request)
{
	struct options o;
	enum answer answer = ANSWER_DECLINED;
	if (!program_eq(&request->from.program, &s->here.program))
		answer = ANSWER_OUTDATED;
	else if (served_build_accept(s, a, request, &o))
		answer = ANSWER_ACCEPTED;
	if (answer == ANSWER_OUTDATED) /* the client may start another server at once */
		server_leave(s);
	if (message_send(fd, &answer, sizeof answer) && answer == ANSWER_ACCEPTED)
		served_build_run(s, fd, request, &o);
}

static void server_serve(struct server *s, int fd)
{
	struct arena *a = arena_new(0);
	struct buf bytes = {0};
	struct request r;
	if (message_peer(fd, NULL) && message_receive(fd, &bytes, REQUEST_MS) && request_decode(a, bytes.at, bytes.len, &r)) {
		if (r.kind == REQUEST_BUILD)
			serve_build(s, fd, a, &r);
		else if (r.kind == REQUEST_STATUS)
			send_state(s, fd);
		else if (r.kind == REQUEST_STOP)
			server_leave(s);
	}
	buf_free(&bytes);
	arena_free(a);
}

static int64_t server_earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* Waits for a connection, a file event, or that time. */
static void wait_until(const struct server *s, int64_t until)
{
	struct pollfd fds[] = {{.fd = s->socket.listener, .events = POLLIN}, {.fd = s->watcher, .events = POLLIN}};
	int64_t left = until - os_now_ns();
	int64_t ms = left > 0 ? left / 1000000 + 1 : 0;
	poll(fds, 2, ms < INT32_MAX ? (int)ms : INT32_MAX);
}

/* Trims the memory if it is time. Returns the time of the next step without a connection. */
static int64_t next_step(struct server *s, int64_t now)
{
	int64_t due = s->last_build_at + s->options->idle_ns;
	if (!s->memory_trimmed && now >= s->last_build_at + TRIM_NS)
		trim_memory(s);
	if (!s->memory_trimmed)
		due = server_earlier(due, s->last_build_at + TRIM_NS);
	return s->watcher < 0 ? server_earlier(due, now + CHECK_NS) : due;
}

static void serve_all(struct server *s)
{
	while (server_is_current(s)) {
		s->connection = accept4(s->socket.listener, NULL, NULL, SOCK_CLOEXEC);
		if (s->connection >= 0) {
			server_serve(s, s->connection);
			if (s->has_left) /* the client waits for the end of the connection */
				return;
			close(s->connection);
			continue;
		}
		int64_t now = os_now_ns();
		if (now >= s->last_build_at + s->options->idle_ns)
			return;
		wait_until(s, next_step(s, now));
		clear_file_events(s);
	}
}

static void set_up_process(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], SIG_DFL);
	crash_guard_exit_on_fault();
	mallopt(M_TRIM_THRESHOLD, RETAINED_BYTES); /* until memory is trimmed, the next build needs no new pages */
	mallopt(M_MMAP_THRESHOLD, RETAINED_BYTES);
}

enum status server_run(const struct server_options *o)
{
	struct server s = {.options = o, .socket = {-1, -1}, .watcher = -1, .connection = -1, .last_build_at = os_now_ns()};
	set_up_process();
	bool ok = open_server(&s);
	int why = errno;
	if (ok) {
		warmup_start(&s);
		serve_all(&s);
	}
	close_server(&s);
	errno = why;
	return ok || !why ? STATUS_OK : STATUS_ENVIRONMENT;
}
