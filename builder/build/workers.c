/* How many workers a build has, and what limits them: -j, make's jobserver, the load, memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build/progress.h"
#include "builder/build/session.h"
#include "builder/build/state.h"
#include "builder/manifest/options.h"
#include "scheduler/jobserver.h"
#include "scheduler/pool.h"

#define MAKEFLAGS "MAKEFLAGS"

/* A -j of our own wins over make's, as in make itself. */
static void join_make(struct build *b)
{
	struct makeflags m = makeflags_parse(b->session, secure_getenv(MAKEFLAGS));
	const char *why;
	if (b->options->jobs > 0 || b->spec.jobs == 1 || b->lasting->jobserver || m.dry_run)
		return;
	b->lasting->jobserver = jobserver_connect(&m, &why);
	if (!why)
		return;
	b->spec.jobs = 1;
	if (b->options->json <= 0)
		fprintf(b->err, "trib: warning: the jobserver of make cannot be used (%s): one worker\n", why);
}

/* Commands that we start, and their children, share our jobs. Without a server they use what they like: no reason to fail. */
static void serve_commands(struct build *b)
{
	struct session *s = b->lasting;
	struct buf flags = {0};
	bool commands = s->commands;
	for (uint32_t i = 0; i < b->spec.n_models; i++)
		commands |= strcmp(b->spec.models[i].linker, "internal") != 0;
	if (!commands || (s->jobserver && secure_getenv(MAKEFLAGS)) || b->spec.jobs == 1)
		return;
	if (!s->jobserver)
		s->jobserver = jobserver_serve(b->spec.jobs, JOBSERVER_PIPE);
	if (!s->jobserver)
		return;
	jobserver_export(s->jobserver, &flags);
	setenv(MAKEFLAGS, flags.at, 1);
	buf_free(&flags);
}

static enum progress_mode progress_mode(const struct build *b)
{
	bool tty = terminal_can_redraw(fileno(b->out));
	if (!build_tells(b) || b->options->dry_run || build_asks_text(b->options) || (b->told && !tty))
		return PROGRESS_QUIET;
	return tty && !b->spec.verbose ? PROGRESS_TERMINAL : PROGRESS_LINES;
}

bool build_start_workers(struct build *b)
{
	join_make(b);
	serve_commands(b);
	struct pool_limits limits = {
		.jobserver = b->lasting->jobserver, .load = b->options->load, .memory = os_available_memory() / 10 * 9};
	b->pool = session_pool(b->lasting, b->spec.jobs, &limits);
	b->progress = progress_new(b->out, progress_mode(b), b->spec.jobs);
	if (!b->pool)
		diag_add(b->diags, DIAG_MODULE, SPAN_NONE, "no worker thread can be started: %s", strerror(errno));
	return b->pool != NULL;
}
