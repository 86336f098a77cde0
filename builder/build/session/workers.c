#include "builder/build/session/workers.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/build/session/context.h"
#include "builder/build/session/session.h"
#include "builder/build/timing/progress.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "scheduler/jobserver.h"
#include "scheduler/pool.h"

#define MAKEFLAGS "MAKEFLAGS"

/* Our own -j overrides that of make, as in make itself. */
static void join_make(struct build_context *c, struct build_spec *spec)
{
	struct makeflags m = makeflags_parse(c->arena, secure_getenv(MAKEFLAGS));
	const char *why;
	if (c->request.options->jobs > 0 || spec->jobs == 1 || c->session->jobserver || m.dry_run)
		return;
	c->session->jobserver = jobserver_connect(&m, &why);
	if (!why)
		return;
	spec->jobs = 1;
	if (c->request.options->json <= 0)
		print(c->request.err, "trib: warning: the jobserver of make cannot be used (%s): one worker\n", why);
}

/* Commands that we start share our jobs. Without a jobserver they start as many as they like. */
static void serve_commands(struct session *s, const struct build_spec *spec)
{
	struct buf flags = {0};
	bool commands = s->runs_commands;
	for (uint32_t i = 0; i < spec->n_models; i++)
		commands |= strcmp(spec->models[i].linker, "internal") != 0;
	if (!commands || (s->jobserver && secure_getenv(MAKEFLAGS)) || spec->jobs == 1)
		return;
	if (!s->jobserver)
		s->jobserver = jobserver_serve(spec->jobs, JOBSERVER_PIPE);
	if (!s->jobserver)
		return;
	jobserver_export(s->jobserver, &flags);
	setenv(MAKEFLAGS, flags.at, 1);
	buf_free(&flags);
}

static enum progress_mode progress_mode(const struct build_request *request, bool verbose)
{
	bool tty = terminal_can_redraw(fileno(request->out));
	if (request->options->json > 0 && !request->caller_reports && !request->options->dry_run && !options_print_stage(request->options))
		return PROGRESS_JSON;
	if (!request_is_chatty(request) || request->options->dry_run || options_print_stage(request->options) ||
	    (request->caller_reports && !tty))
		return PROGRESS_QUIET;
	return tty && !verbose ? PROGRESS_TERMINAL : PROGRESS_LINES;
}

bool workers_start(struct build_context *c, struct build_spec *spec, struct progress **progress)
{
	struct session *s = c->session;
	join_make(c, spec);
	serve_commands(c->session, spec);
	struct pool_limits limits = {.jobserver = s->jobserver, .load = c->request.options->load, .memory = os_available_memory() / 10 * 9};
	*progress = progress_new(c->request.out, progress_mode(&c->request, spec->verbose), spec->jobs);
	if (session_pool(s, spec->jobs, &limits))
		return true;
	diag_add(c->diags, DIAG_MODULE, SPAN_NONE, "no worker thread can be started: %s", strerror(errno));
	return false;
}
