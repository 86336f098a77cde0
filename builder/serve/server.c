/* One thread, one build at a time. A client that connects during a build is answered after it; it does not wait that long. */
#include "builder/serve/server.h"
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/serve/message.h"
#include "builder/serve/server_state.h"
#include "builder/store/crash_guard.h"

#define SECOND_NS INT64_C(1000000000)
#define TRIM_NS (10 * SECOND_NS) /* after a build */
#define CHECK_NS (2 * SECOND_NS) /* without inotify */
enum { REQUEST_MS = 1000, RETAINED_BYTES = 32 << 20 };

static void send_state(const struct server *s, int fd)
{
	struct server_state state = {.pid = getpid(),
				     .served = s->served,
				     .resident = server_resident_memory(),
				     .idle_ns = os_now_ns() - s->last_build_at,
				     .limit_ns = s->options->idle_ns,
				     .warm = s->warm};
	message_send(fd, &state, sizeof state);
}

static void serve_build(struct server *s, int fd, struct arena *a, const struct request *r)
{
	struct options o;
	enum answer answer = ANSWER_DECLINED;
	if (!program_eq(&r->from.program, &s->here.program))
		answer = ANSWER_OUTDATED;
	else if (served_build_accept(s, a, r, &o))
		answer = ANSWER_ACCEPTED;
	if (answer == ANSWER_OUTDATED) /* the client may start another server at once */
		server_leave(s);
	if (message_send(fd, &answer, sizeof answer) && answer == ANSWER_ACCEPTED)
		served_build_run(s, fd, r, &o);
}

static void serve(struct server *s, int fd)
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

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

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
		server_trim_memory(s);
	if (!s->memory_trimmed)
		due = earlier(due, s->last_build_at + TRIM_NS);
	return s->watcher < 0 ? earlier(due, now + CHECK_NS) : due;
}

static void serve_all(struct server *s)
{
	while (server_is_current(s)) {
		s->connection = accept4(s->socket.listener, NULL, NULL, SOCK_CLOEXEC);
		if (s->connection >= 0) {
			serve(s, s->connection);
			if (s->has_left) /* the client waits for the end of the connection */
				return;
			close(s->connection);
			continue;
		}
		int64_t now = os_now_ns();
		if (now >= s->last_build_at + s->options->idle_ns)
			return;
		wait_until(s, next_step(s, now));
		server_clear_file_events(s);
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
	bool ok = server_open(&s);
	int why = errno;
	if (ok) {
		warmup_start(&s);
		serve_all(&s);
	}
	server_close(&s);
	errno = why;
	return ok || !why ? STATUS_OK : STATUS_ENVIRONMENT;
}
