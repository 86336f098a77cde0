/* A build for a client: with its standard streams and environment, under its lock, until it disconnects. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include "base/os.h"
#include "builder/serve/server_state.h"
#include "scheduler/pool.h"

enum { GO_MS = 1000, STREAMS = 3 };

bool served_build_accept(struct server *s, struct arena *a, const struct request *request, struct options *o)
{
	if (!s->warm || !process_context_eq(&request->from, &s->here) || !s->options->parse(a, (int)request->argc, request->argv, o))
		return false;
	return o->jobs <= 0 || !s->session.pool || (uint32_t)o->jobs == pool_jobs(s->session.pool);
}

/* True if the client disconnected or cancelled the build. */
static bool client_has_gone(void *connection, const struct inputs *read, bool failed)
{
	struct pollfd p = {.fd = *(const int *)connection, .events = POLLIN | POLLRDHUP};
	(void)read, (void)failed;
	return poll(&p, 1, 0) > 0;
}

/* The streams and the environment of the server, during a build with those of the client. */
struct own_streams {
	int streams[STREAMS];
	char **environment;
};

static void use_client_streams(struct own_streams *own, const int fds[STREAMS], char **env)
{
	own->environment = environ;
	environ = env;
	for (int i = 0; i < STREAMS; i++) {
		own->streams[i] = fcntl(i, F_DUPFD_CLOEXEC, STREAMS);
		dup2(fds[i], i);
	}
}

static void restore_streams(const struct own_streams *own)
{
	environ = own->environment;
	for (int i = 0; i < STREAMS; i++) {
		dup2(own->streams[i], i);
		close(own->streams[i]);
	}
}

static struct result served_build_build(struct server *s, const struct options *o, FILE *out, FILE *err)
{
	struct result r = {0};
	setvbuf(err, NULL, _IONBF, 0);
	r.status = build_run_in(&s->session, o, out, err);
	if (fflush(out) != 0)
		r.write_errno = errno;
	else if (ferror(out))
		r.write_errno = -1;
	return r;
}

/* With a handler, writing to a closed pipe is an error here, but still ends the processes that a build starts. */
static void on_pipe(int sig) { (void)sig; }

static void close_stream(FILE *f, int fd)
{
	if (f)
		fclose(f);
	else
		close(fd);
}

/* Builds, and closes the streams of the client. */
static struct result build_for_client(struct server *s, int connection, const int fds[GO_FDS], const struct request *request,
				      const struct options *o)
{
	struct result result = {.write_errno = EBADF};
	struct own_streams own;
	FILE *out = fdopen(fds[GO_STDOUT], "w"), *err = fdopen(fds[GO_STDERR], "w");
	signal(SIGPIPE, on_pipe);
	use_client_streams(&own, fds, request->env);
	s->session.locked = true;
	s->session.superseded = client_has_gone;
	s->session.ctx = &connection;
	if (out && err)
		result = served_build_build(s, o, out, err);
	restore_streams(&own);
	close_stream(out, fds[GO_STDOUT]);
	close_stream(err, fds[GO_STDERR]);
	close(fds[GO_STDIN]);
	return result;
}

void served_build_run(struct server *s, int connection, const struct request *request, const struct options *o)
{
	int fds[GO_FDS];
	if (!message_receive_fds(connection, fds, GO_MS))
		return;
	struct result result = build_for_client(s, connection, fds, request, o);
	s->served++;
	s->last_build_at = os_now_ns();
	s->memory_trimmed = false;
	close(fds[GO_LOCK]);
	if (result.write_errno != EBADF) /* the client reports its wrong streams itself */
		message_send(connection, &result, sizeof result);
}
