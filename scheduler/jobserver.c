/* Inherited descriptors share their flags with other processes. So they are never made non-blocking; each end is opened again instead. */
#include "scheduler/jobserver.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/os.h"

enum { LONGEST_WAIT = 2 }; /* seconds */

struct jobserver {
	int read_fd, write_fd; /* opened by us, and not inherited by children */
	int pipe[2];           /* server of a pipe: what children inherit; else -1 */
	char *path;            /* of the FIFO */
	bool serves;
	uint32_t jobs;
	_Atomic bool broken; /* the other end is closed */
};

/* The borrowed tokens of this process, counted by byte, and the descriptor to return them to. Global, so that a signal handler finds them. */
static _Atomic uint32_t on_loan[256];
static _Atomic int loan_fd = -1;
/* Threads whose token is between the pipe and the counts. They block signals, so a handler runs in another thread and can wait for them. */
static _Atomic uint32_t moving;
/* The process dies: a token that another thread took now would be lost. */
static _Atomic bool abandoned;

static void move_begin(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, before);
	atomic_fetch_add(&moving, 1);
}

static void move_end(const sigset_t *before)
{
	atomic_fetch_sub(&moving, 1);
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void jobserver_give(int fd, char token)
{
	int saved = errno;

	while (write(fd, &token, 1) < 0 && errno == EINTR)
		continue;
	errno = saved;
}

static void return_loans(void)
{
	int fd = atomic_load(&loan_fd);

	for (int i = 0; fd >= 0 && i < 256; i++)
		for (uint32_t n = atomic_exchange(&on_loan[i], 0); n > 0; n--)
			jobserver_give(fd, (char)i);
}

void jobserver_abandon(void)
{
	struct timespec now, start;

	atomic_store(&abandoned, true);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do { /* not forever: a thread may never run again */
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (atomic_load(&moving) && now.tv_sec - start.tv_sec < LONGEST_WAIT);
	return_loans();
}

static struct jobserver *new_jobserver(void)
{
	struct jobserver *j = calloc(1, sizeof *j);

	if (!j)
		bug_no_memory();
	j->read_fd = j->write_fd = j->pipe[0] = j->pipe[1] = -1;
	return j;
}

void jobserver_close(struct jobserver *j)
{
	if (!j)
		return;
	int fds[] = {j->read_fd, j->write_fd, j->pipe[0], j->pipe[1]};
	sigset_t before;

	move_begin(&before);
	if (j->write_fd >= 0 && atomic_load(&loan_fd) == j->write_fd) {
		return_loans();
		atomic_store(&loan_fd, -1);
	}
	move_end(&before);
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (j->serves && j->path)
		os_remove_fifo(j->path);
	free(j->path);
	free(j);
}

/* Returns `j` if both ends are open; else frees it and returns NULL. */
static struct jobserver *opened(struct jobserver *j)
{
	if (j->read_fd < 0 || j->write_fd < 0) {
		int saved = errno;

		jobserver_close(j);
		errno = saved;
		return NULL;
	}
	for (int i = 0; i < 256; i++) /* a forked process inherits its parent's counts */
		atomic_store(&on_loan[i], 0);
	atomic_store(&abandoned, false);
	atomic_store(&loan_fd, j->write_fd);
	return j;
}

struct jobserver *jobserver_connect(const struct makeflags *makeflags, const char **why)
{
	struct jobserver *j = new_jobserver();

	*why = NULL;
	if (makeflags->kind == JOBSERVER_FIFO) {
		*why = "its FIFO cannot be opened";
		j->path = strdup(makeflags->path);
		if (!j->path)
			bug_no_memory();
		j->read_fd = os_open_fifo(makeflags->path, false);
		j->write_fd = os_open_fifo(makeflags->path, true);
	} else if (makeflags->kind == JOBSERVER_PIPE) {
		*why = "its pipe was not handed down: put `+` before the command in the makefile";
		j->read_fd = os_reopen_pipe(makeflags->read_fd, false);
		j->write_fd = os_reopen_pipe(makeflags->write_fd, true);
	}
	j = opened(j);
	if (j)
		*why = NULL;
	return j;
}

struct jobserver *jobserver_serve(uint32_t jobs, enum jobserver_kind kind)
{
	struct jobserver *j = new_jobserver();

	j->serves = true;
	j->jobs = jobs;
	if (kind == JOBSERVER_FIFO) {
		j->path = os_make_fifo();
		if (j->path) {
			j->read_fd = os_open_fifo(j->path, false);
			j->write_fd = os_open_fifo(j->path, true);
		}
	} else if (pipe(j->pipe) == 0) {
		j->read_fd = os_reopen_pipe(j->pipe[0], false);
		j->write_fd = os_reopen_pipe(j->pipe[1], true);
	}
	j = opened(j);
	for (uint32_t i = 1; j && i < jobs; i++)
		jobserver_give(j->write_fd, '+');
	return j;
}

/* To be called between move_begin and move_end. */
static bool borrow(struct jobserver *j, char *token)
{
	ssize_t n;

	if (atomic_load(&abandoned))
		return false;
	do
		n = read(j->read_fd, token, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		atomic_fetch_add(&on_loan[(unsigned char)*token], 1);
	else if (n == 0 || errno != EAGAIN)
		atomic_store(&j->broken, true);
	return n == 1;
}

bool jobserver_take(struct jobserver *j, char *token)
{
	sigset_t before;
	bool taken;

	move_begin(&before);
	taken = borrow(j, token);
	move_end(&before);
	return taken;
}

void jobserver_return(struct jobserver *j, char token)
{
	_Atomic uint32_t *n = &on_loan[(unsigned char)token];
	uint32_t had = atomic_load(n);
	sigset_t before;

	move_begin(&before);
	while (had > 0 && !atomic_compare_exchange_weak(n, &had, had - 1))
		continue;
	if (had > 0) /* else a signal handler returned it */
		jobserver_give(j->write_fd, token);
	move_end(&before);
}

int jobserver_fd(const struct jobserver *j) { return atomic_load(&j->broken) ? -1 : j->read_fd; }

void jobserver_export(const struct jobserver *j, struct buf *out)
{
	buf_printf(out, " -j%u --jobserver-auth=", j->jobs);
	if (j->path)
		buf_printf(out, "fifo:%s", j->path);
	else
		buf_printf(out, "%d,%d", j->pipe[0], j->pipe[1]);
}

void jobserver_restock(struct jobserver *j)
{
	uint32_t here = 1; /* this process's own token */
	char token;

	if (!j || !j->serves)
		return;
	while (read(j->read_fd, &token, 1) == 1)
		continue;
	for (int i = 0; i < 256; i++)
		here += atomic_load(&on_loan[i]);
	for (; here < j->jobs; here++)
		jobserver_give(j->write_fd, '+');
}
