#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/manifest/options.h"
#include "builder/run/device_ceilings.h"
#include "builder/run/library.h"
#include "builder/run/run.h"
#include "builder/run/run_profile.h"

struct opened {
	const tri_model_desc *desc;
	struct tri_model *model;
	const tri_device *device;
	struct run_profiler *profiler; /* of --profile-out; else NULL */
};

/* True for errors that neither the model nor its inputs cause. */
static bool is_environment(int32_t code) { return code == TRI_ERR_DEVICE || code == TRI_ERR_WEIGHTS || code == TRI_ERR_COMPILE; }

static enum status failure(const tri_error *e, struct buf *error)
{
	if (is_environment(e->code)) {
		buf_puts(error, e->message);
		return STATUS_ENVIRONMENT;
	}
	buf_printf(error, "the model failed: %s", e->message);
	return STATUS_FAILED;
}

static enum status run_library_run(void *ctx, uint32_t entry, tri_tensor *io, struct buf *error)
{
	struct opened *m = ctx;
	tri_error e = {0};
	os_end_at_interrupt(RUN_INTERRUPTED);
	int code = m->desc->run(m->model, entry, io, &e);
	os_end_at_interrupt(NULL);
	if (code != TRI_OK)
		return failure(&e, error);
	if (m->profiler)
		run_profiler_end_run(m->profiler, m->model);
	return STATUS_OK;
}

/* What the machine can do is measured once. Without it the profile has no shares of the roofline. */
static void add_ceilings(struct profile *p, const struct options *o)
{
	struct buf why = {0};
	device_ceilings_add(p, p->machine.device, o->run.threads > 0 ? (uint32_t)o->run.threads : os_cpu_count(), &why);
	buf_free(&why);
}

/* The profile of the runs: several if the rows were run in batches. */
static enum status write_profile(const struct opened *m, const tri_profile *sums, const struct options *o)
{
	struct profile *p = profile_new(PROFILE_RUN, 1);
	profile_set(p, &p->total, METRIC_PEAK, 0, (double)os_peak_rss_kb() * 1024);
	p->machine.device = arena_strdup(p->arena, o->run.device && !*m->device->why ? o->run.device : "cpu");
	profile_add_setting(p, "models", m->desc->name);
	profile_add_setting(p, "target", m->desc->target);
	if (o->run.threads > 0)
		profile_add_setting(p, "threads", arena_printf(p->arena, "%d", o->run.threads));
	profile_add_fact(p, "runs", (double)sums->runs);
	profile_set(p, &p->total, METRIC_WALL, 0, run_profiler_finish(m->profiler, p));
	if (strcmp(p->machine.device, "cpu") == 0)
		profile_add_fact(p, "clock_ns", (double)run_profiler_clock(m->profiler));
	add_ceilings(p, o);
	bool ok = profile_write(p, o->profile_out);
	profile_free(p);
	if (ok)
		return STATUS_OK;
	print(stderr, "trib: cannot write `%s`: %s\n", o->profile_out, strerror(errno));
	return STATUS_ENVIRONMENT;
}

tri_options run_library_options(const struct run_options *how)
{
	uint32_t timeout_ms = (uint32_t)fmin(ceil(how->timeout_ns / 1e6), UINT32_MAX);
	return (tri_options){.size = sizeof(tri_options),
			     .threads = (uint32_t)(how->threads > 0 ? how->threads : 0),
			     .device = how->device,
			     .timeout_ms = timeout_ms,
			     .open_timeout_ms = timeout_ms,
			     .no_print = how->no_print};
}

static void run_library_reset(void *ctx)
{
	const struct opened *m = ctx;
	if (m->desc->reset)
		m->desc->reset(m->model, NULL);
}

enum status run_visit_library(struct arena *a, const char *path, const char *name, const struct options *o, run_visitor *visit, void *ctx)
{
	struct library lib;
	struct opened m = {0};
	const char *why;
	tri_options options = run_library_options(&o->run);
	options.verify = 1;
	tri_error e = {0};
	struct buf error = {0};
	enum status s;
	if (!library_open(a, path, &lib, &why)) {
		print(stderr, "trib: %s\n", why);
		return STATUS_ENVIRONMENT;
	}
	m.desc = lib.desc;
	if (o->profile_out && !lib.desc->profile) {
		print(stderr, "trib: `%s` cannot be measured: build it with `profile = true` in its manifest\n", path);
		library_close(&lib);
		return STATUS_USAGE;
	}
	if (o->profile_out) {
		m.profiler = run_profiler_new(lib.desc);
		options.profile = run_profiler_event;
		options.profile_user = m.profiler;
	}
	m.model = library_open_model(&lib, &options, &e);
	if (m.model) {
		m.device = library_device(&lib, m.model, o->run.device);
		if (m.profiler)
			run_profiler_set_code(m.profiler, m.device->desc);
		s = visit(a, &(struct run_model){name, lib.desc->entries, lib.desc->n_entries, run_library_run, run_library_reset, &m},
			  ctx);
		const tri_profile *sums = m.profiler ? lib.desc->profile(m.model, NULL) : NULL;
		if (s == STATUS_OK && sums && sums->runs)
			s = write_profile(&m, sums, o);
		lib.desc->close(m.model);
	} else {
		s = failure(&e, &error);
		print(stderr, "trib: %s\n", error.at);
	}
	run_profiler_free(m.profiler);
	buf_free(&error);
	library_close(&lib);
	return s;
}
