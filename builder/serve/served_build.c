/* A build for somebody else: with his standard streams and environment, under his lock, until he goes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include "base/os.h"
#include "builder/build/session.h"
#include "builder/serve/message.h"
#include "builder/serve/server_state.h"
#include "scheduler/pool.h"

enum { GO_MS = 1000, STREAMS = 3 };

bool served_build_accept(struct server *s, struct arena *a, const struct request *r, struct options *o)
{
	if (!s->warm || !surroundings_same(&r->from, &s->here) || !s->o->parse(a, (int)r->argc, r->argv, o))
		return false;
	return o->jobs <= 0 || !s->session.pool || (uint32_t)o->jobs == pool_jobs(s->session.pool);
}

/* He is gone, or wants no more. */
static bool has_gone(void *connection, const struct inputs *read, bool failed)
{
	struct pollfd p = {.fd = *(const int *)connection, .events = POLLIN | POLLRDHUP};
	(void)read, (void)failed;
	return poll(&p, 1, 0) > 0;
}

/* What a process has of its own and a build uses. */
struct place {
	int streams[STREAMS];
	char **environment;
};

static void enter(struct place *own, const int fds[STREAMS], char **env)
{
	own->environment = environ;
	environ = env;
	for (int i = 0; i < STREAMS; i++) {
		own->streams[i] = fcntl(i, F_DUPFD_CLOEXEC, STREAMS);
		dup2(fds[i], i);
	}
}

static void go_back(const struct place *own)
{
	environ = own->environment;
	for (int i = 0; i < STREAMS; i++) {
		dup2(own->streams[i], i);
		close(own->streams[i]);
	}
}

static struct result build(struct server *s, const struct options *o, FILE *out, FILE *err)
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

/* A pipe that nobody reads any more is an error; commands that we start have the usual answer to it. */
static void on_pipe(int sig) { (void)sig; }

static void close_stream(FILE *f, int fd)
{
	if (f)
		fclose(f);
	else
		close(fd);
}

/* Closes the standard streams. */
static struct result build_there(struct server *s, int connection, const int fds[GO_FDS], const struct request *r, const struct options *o)
{
	struct result result = {.write_errno = EBADF};
	struct place own;
	FILE *out = fdopen(fds[GO_STDOUT], "w"), *err = fdopen(fds[GO_STDERR], "w");
	signal(SIGPIPE, on_pipe);
	enter(&own, fds, r->env);
	s->session.locked = true;
	s->session.superseded = has_gone;
	s->session.ctx = &connection;
	if (out && err)
		result = build(s, o, out, err);
	go_back(&own);
	close_stream(out, fds[GO_STDOUT]);
	close_stream(err, fds[GO_STDERR]);
	close(fds[GO_STDIN]);
	return result;
}

void served_build_run(struct server *s, int connection, const struct request *r, const struct options *o)
{
	int fds[GO_FDS];
	if (!message_receive_fds(connection, fds, GO_MS))
		return;
	struct result result = build_there(s, connection, fds, r, o);
	s->served++;
	s->last = os_now_ns();
	s->tidy = false;
	close(fds[GO_LOCK]);
	if (result.write_errno != EBADF) /* streams that are none: he will see for himself */
		message_send(connection, &result, sizeof result);
}
