#include "builder/build/session/context.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build/session/session.h"
#include "builder/build/session/status.h"
#include "builder/build/session/warm.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/options.h"
#include "builder/manifest/single_file.h"
#include "builder/profile/served.h"
#include "builder/store/disk.h"
#include "builder/store/inputs.h"

_Static_assert((int)STEP_FAILED == (int)false && (int)STEP_NEXT == (int)true, "bool steps convert");

bool request_is_chatty(const struct build_request *r) { return r->options->json <= 0 && !r->options->quiet; }

bool options_print_stage(const struct options *o) { return o->stop != STOP_NONE || o->dumps; }

/* The build record has the times of phases, so JSON measures them, too. */
static bool options_measure(const struct options *o) { return o->timing > 0 || o->trace_file || o->profile_out || o->json > 0; }

struct build_context context_new(struct session *s, struct build_request request)
{
	struct build_context c = {.request = request, .session = s, .stores.lock = -1};
	bool names_files = request.single || (request.check && request.options->n_operands);
	c.disk = request.disk ? request.disk : names_files ? &os_disk_and_streams : &os_disk;
	c.arena = arena_new(0);
	c.sources = s->warm ? warm_begin(s->warm) : sources_new();
	c.inputs = inputs_new(c.arena, c.disk);
	c.diags = diags_new(0);
	if (options_measure(request.options) || served_is_wanted())
		context_measure(&c);
	return c;
}

void context_measure(struct build_context *c)
{
	const struct options *o = c->request.options;
	c->timing = timing_new();
	timing_enter(c->timing, 0);
	if (o->json <= 0 || o->timing > 0 || o->profile_out)
		timing_watch_passes(c->timing);
}

void context_free(struct build_context *c)
{
	timing_free(c->timing);
	map_free(&c->loaded);
	inputs_free(c->inputs);
	buf_free(&c->stores.warnings);
	diags_free(c->diags);
	if (!c->session->warm)
		sources_free(c->sources);
	arena_free(c->arena);
	if (c->stores.lock >= 0)
		close(c->stores.lock);
}

const struct source *context_find_source(const struct build_context *c, const char *path)
{
	uint64_t id;
	return map_get(&c->loaded, map_key_str(path), &id) && (uint32_t)id ? sources_get(c->sources, (uint32_t)id - 1) : NULL;
}

const struct source *context_load(struct build_context *c, const char *path)
{
	hash128 key = map_key_str(path);
	uint64_t id;
	char *text;
	size_t len;
	if (map_get(&c->loaded, key, &id)) {
		errno = (int)(id >> 32);
		return context_find_source(c, path);
	}
	const struct source *s = NULL;
	int why = 0;
	errno = 0;
	if (!inputs_read(c->inputs, path, &text, &len)) {
		why = errno;
	} else if (len < INT32_MAX) {
		s = c->session->warm ? warm_source(c->session->warm, path, text, len) : sources_add_owned(c->sources, path, text, len);
	} else {
		free(text);
		why = EFBIG;
	}
	map_put(&c->loaded, key, s ? s->id + 1u : (uint64_t)why << 32);
	errno = why;
	return s;
}

static const struct source *host_load(void *context, const char *path) { return context_load(context, path); }

struct frontend_host context_host(struct build_context *c) { return (struct frontend_host){host_load, c}; }

bool context_is_stopped(struct build_context *c)
{
	const struct session *s = c->session;
	if (!c->outcome.superseded && s->superseded)
		c->outcome.superseded = s->superseded(s->ctx, c->inputs, diags_errors(c->diags) > 0);
	c->outcome.interrupted |= c->outcome.superseded || os_interrupted();
	return c->outcome.interrupted;
}

bool context_next(struct build_context *c, enum step end)
{
	c->outcome.done = end == STEP_DONE;
	return end == STEP_NEXT && !context_is_stopped(c);
}

enum status build_diags_status(const struct diags *diags, const struct options *o)
{
	enum status s = STATUS_FAILED;
	for (uint32_t i = 0; i < diags_count(diags); i++) {
		enum diag_code c = diags_at(diags, i)->code;
		bool flag = (c == DIAG_MANIFEST_TARGET && (o->cpu || o->target)) || (c == DIAG_MANIFEST_VALUE && single_file_requested(o));
		if (flag || c == DIAG_NO_MANIFEST || c == DIAG_MANIFEST_NO_MODEL || c == DIAG_MANIFEST_NO_PROFILE)
			return STATUS_USAGE;
		if (c == DIAG_FILE_READ || c == DIAG_FILE_WRITE || c == DIAG_FETCH || c == DIAG_MODULE)
			s = STATUS_ENVIRONMENT;
	}
	return s;
}

enum status context_status(const struct build_context *c)
{
	const struct options *o = c->request.options;
	if (c->outcome.interrupted || os_interrupted())
		return STATUS_INTERRUPTED;
	if (c->outcome.done && diags_errors(c->diags) == 0)
		return o->deny_warnings && diags_count(c->diags) ? STATUS_FAILED : STATUS_OK;
	enum status s = build_diags_status(c->diags, o);
	return s == STATUS_FAILED && c->outcome.environment ? STATUS_ENVIRONMENT : s;
}
