/* One thread, one build at a time. Whoever connects is heard at once or, while a build runs, after it; commands do not wait that long. */
#include "builder/serve/server.h"
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/build/fragments.h"
#include "builder/build/warm.h"
#include "builder/serve/message.h"
#include "builder/serve/server_state.h"
#include "builder/store/crash_guard.h"

#define SECOND_NS INT64_C(1000000000)
#define TIDY_NS (10 * SECOND_NS) /* after a build */
#define LOOK_NS (2 * SECOND_NS)  /* where nothing tells that files go */
enum { SPEAK_MS = 1000, LARGE_PART = 4, KEPT_BYTES = 32 << 20 };

/* ---- being there ---- */

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

static void forget_news(const struct server *s)
{
	char events[4096];
	while (s->watcher >= 0 && read(s->watcher, events, sizeof events) > 0)
		continue;
}

/* The socket is ours, and the executable is what it was. */
static bool still_there(const struct server *s)
{
	struct file_stamp now;
	return s->socket_inode && server_socket_inode() == s->socket_inode && s->program && os_stamp(s->program, &now) &&
	       os_stamp_eq(&now, &s->here.program.trib);
}

/* Somebody may wait for the end of what else we inherited. */
static void keep_only(int last) { syscall(SYS_close_range, (unsigned)last + 1, ~0u, 0u); }

/* False: another serves this folder (errno 0), or nobody can. */
static bool open_server(struct server *s)
{
	bool inherited = server_socket_inherit(&s->socket);
	keep_only(inherited ? INHERITED_FOLDER : STDERR_FILENO);
	if (!inherited && !server_socket_open(&s->socket))
		return false;
	s->socket_inode = server_socket_inode();
	surroundings_look(&s->here);
	watch_files(s);
	return true;
}

/* From now on others may serve. */
static void leave(struct server *s)
{
	if (s->socket.listener >= 0 && server_socket_inode() == s->socket_inode)
		unlink(SERVER_SOCKET);
	server_socket_close(&s->socket);
	s->ending = true;
}

static void close_server(struct server *s)
{
	leave(s);
	preheat_end(s);
	session_free(&s->session);
	if (s->watcher >= 0)
		close(s->watcher);
	if (s->connection >= 0)
		close(s->connection);
	free(s->program);
}

/* ---- serving ---- */

static uint64_t resident(void)
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

static void tell_state(const struct server *s, int fd)
{
	struct server_state state = {.pid = getpid(),
				     .served = s->served,
				     .resident = resident(),
				     .idle_ns = os_now_ns() - s->last,
				     .limit_ns = s->o->idle_ns,
				     .warm = s->warm};
	message_send(fd, &state, sizeof state);
}

static void serve_build(struct server *s, int fd, struct arena *a, const struct request *r)
{
	struct options o;
	enum answer answer = ANSWER_DECLINED;
	if (!program_same(&r->from.program, &s->here.program))
		answer = ANSWER_OUTDATED;
	else if (served_build_accept(s, a, r, &o))
		answer = ANSWER_ACCEPTED;
	if (answer == ANSWER_OUTDATED) /* who hears that may start another at once */
		leave(s);
	if (message_send(fd, &answer, sizeof answer) && answer == ANSWER_ACCEPTED)
		served_build_run(s, fd, r, &o);
}

static void serve(struct server *s, int fd)
{
	struct arena *a = arena_new(0);
	struct buf bytes = {0};
	struct request r;
	if (message_peer(fd, NULL) && message_receive(fd, &bytes, SPEAK_MS) && request_decode(a, bytes.at, bytes.len, &r)) {
		if (r.kind == REQUEST_BUILD)
			serve_build(s, fd, a, &r);
		else if (r.kind == REQUEST_STATUS)
			tell_state(s, fd);
		else if (r.kind == REQUEST_STOP)
			leave(s);
	}
	buf_free(&bytes);
	arena_free(a);
}

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* Until somebody connects, files went, or there is something to do at that time. */
static void wait_until(const struct server *s, int64_t until)
{
	struct pollfd fds[] = {{.fd = s->socket.listener, .events = POLLIN}, {.fd = s->watcher, .events = POLLIN}};
	int64_t left = until - os_now_ns();
	int64_t ms = left > 0 ? left / 1000000 + 1 : 0;
	poll(fds, 2, ms < INT32_MAX ? (int)ms : INT32_MAX);
}

static void begin_session(struct session *s)
{
	s->fragments = fragments_new();
	s->warm = warm_new();
}

/* A project that is too large for the machine is kept for the builds of a moment. */
static void tidy(struct server *s)
{
	uint64_t room = os_available_memory();
	if (s->warm && room && resident() > room / LARGE_PART) {
		fragments_free(s->session.fragments);
		warm_free(s->session.warm);
		begin_session(&s->session);
	}
	malloc_trim(0);
	s->tidy = true;
}

/* Until when there is nothing to do if nobody comes. */
static int64_t next_step(struct server *s, int64_t now)
{
	int64_t due = s->last + s->o->idle_ns;
	if (!s->tidy && now >= s->last + TIDY_NS)
		tidy(s);
	if (!s->tidy)
		due = earlier(due, s->last + TIDY_NS);
	return s->watcher < 0 ? earlier(due, now + LOOK_NS) : due;
}

static void serve_all(struct server *s)
{
	while (still_there(s)) {
		s->connection = accept4(s->socket.listener, NULL, NULL, SOCK_CLOEXEC);
		if (s->connection >= 0) {
			serve(s, s->connection);
			if (s->ending) /* whoever told it to end waits for that */
				return;
			close(s->connection);
			continue;
		}
		int64_t now = os_now_ns();
		if (now >= s->last + s->o->idle_ns)
			return;
		wait_until(s, next_step(s, now));
		forget_news(s);
	}
}

static void begin_process(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], SIG_DFL);
	crash_guard_exit_on_fault();
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES); /* until it is tidied the next build touches no new pages */
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
}

enum status server_run(const struct server_options *o)
{
	struct server s = {.o = o, .socket = {-1, -1}, .watcher = -1, .connection = -1, .last = os_now_ns()};
	begin_process();
	bool ok = open_server(&s);
	int why = errno;
	if (ok) {
		begin_session(&s.session);
		preheat_begin(&s);
		serve_all(&s);
	}
	close_server(&s);
	errno = why;
	return ok || !why ? STATUS_OK : STATUS_ENVIRONMENT;
}
