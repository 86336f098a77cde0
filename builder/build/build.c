/* The steps of a build, in order. build_steps.h declares them and the data between them. */
#include "builder/build/build.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "backend/link/backend.h"
#include "backend/target/codegen.h"
#include "base/arena.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/measure.h"
#include "base/os.h"
#include "builder/build/compile_set.h"
#include "builder/build/dump.h"
#include "builder/build/link/trits.h"
#include "builder/build/model/interface.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/plan/compile.h"
#include "builder/build/plan/plan.h"
#include "builder/build/plan/programs.h"
#include "builder/build/plan/plan_cache.h"
#include "builder/build/plan/unit_records.h"
#include "builder/build/report/report.h"
#include "builder/build/reuse/direct.h"
#include "builder/build/reuse/last_build.h"
#include "builder/build/reuse/repository.h"
#include "builder/build/session/build_result.h"
#include "builder/build/session/context.h"
#include "builder/build/session/session.h"
#include "builder/build/session/status.h"
#include "builder/build/session/stores.h"
#include "builder/build/session/workers.h"
#include "builder/build/sources/checks.h"
#include "builder/build/sources/param_names.h"
#include "builder/build/sources/params.h"
#include "builder/build/sources/sources.h"
#include "builder/build/started_build.h"
#include "builder/build/tasks.h"
#include "builder/build/timing/progress.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/cache/cache.h"
#include "builder/manifest/single_file.h"
#include "builder/profile/profile.h"
#include "builder/store/build_log.h"
#include "builder/store/costs.h"
#include "builder/store/disk.h"
#include "frontend/hir/hir.h"

/* Opens the code generator on a thread while sources are checked: later than an edit of comments ends. No worker can be started meanwhile. */
static bool expect_code(struct build_context *c, const struct project *p)
{
	const struct options *o = c->request.options;
	if (options_print_stage(o) || o->dry_run)
		return true;
	for (uint32_t i = 0; i < p->n_models; i++) {
		const struct model_job *m = &p->models[i];
		if (!model_output(m) || !m->variants[0].backend->library || !m->variants[0].backend->library->emits_objects || m->failed)
			continue;
		struct codegen_target t =
			codegen_target_for(m->platform.target, m->spec->plan.opt, m->spec->plan.size, m->spec->plan.profile_hook);
		session_expect_code(c->session, &t);
		break;
	}
	return true;
}

static bool allow_warnings(const struct build_context *c) { return !c->request.options->deny_warnings || diags_count(c->diags) == 0; }

static bool build_find_repository(struct build_context *c, struct repository *repo)
{
	phase_begin(PHASE_SETUP, NULL);
	measure_begin("find the repository");
	repository_find(repo, c->arena, c->inputs);
	measure_end();
	measure_end();
	return true;
}

/* Those of models that failed are as they were. */
static void build_list_outputs(const struct project *p, struct build_result *r)
{
	for (uint32_t i = 0; i < p->n_models; i++) {
		const char *paths[MOST_OUTPUTS];
		if (p->models[i].failed)
			continue;
		uint32_t n = model_list_outputs(&p->models[i].outputs, paths);
		for (uint32_t k = 0; k < n; k++)
			vec_push(&r->outputs, paths[k]);
		r->linked += !p->models[i].link.is_current;
	}
}

/* What compiling the units that were reused took when it was last done. */
static uint64_t saved_ns(const struct build *b)
{
	uint64_t sum = b->result.saved_ns;
	for (uint32_t i = 0; i < b->compiles.list.len; i++) {
		const struct compile *f = b->compiles.list.at[i];
		const struct unit_job *j = f->job;
		hash128 key = cost_key_unit(j->unit->name, j->variant->target_id, unit_opt(j));
		if (!f->is_made)
			sum += cost_find(b->context.stores.project, key, (struct cost){0, 0}).ns;
	}
	return sum;
}

/* While the cache is open. */
static void build_count_lookups(struct build_context *c)
{
	c->lookups[LOOKUPS_L2] = cache_lookups(c->stores.cache, CACHE_L2);
	c->lookups[LOOKUPS_L3] = cache_lookups(c->stores.cache, CACHE_L3);
}

/* Adds a build that wrote something to the project's log. */
static void log_build(struct build *b)
{
	const struct build_result *r = &b->result;
	if (!b->context.outcome.done || (!r->compiled && !r->linked))
		return;
	const char *models = "";
	for (uint32_t i = 0; i < b->project.n_models; i++)
		models = arena_printf(b->context.arena, "%s%s%s", models, i ? " " : "", b->project.models[i].spec->name);
	struct build_entry e = {.at = (uint64_t)time(NULL),
				.wall_ns = (uint64_t)(os_now_ns() - r->started),
				.saved_ns = saved_ns(b),
				.compiled = r->compiled,
				.reused = r->reused,
				.hits = r->hits,
				.misses = r->misses,
				.models = models,
				.slowest = r->slowest ? r->slowest : "",
				.slowest_ns = (uint64_t)r->slowest_ns,
				.command = b->context.request.options->command_name};
	memcpy(e.lookups, b->context.lookups, sizeof e.lookups);
	build_log_add(b->context.stores.project, &e);
}

/* The outputs are in place. Writes the records that the next build reads. */
static bool build_publish(struct build *b)
{
	struct build_context *c = &b->context;
	b->result.published = os_now_ns();
	c->outcome.done = true;
	if (options_print_stage(c->request.options))
		return true;
	phase_begin(PHASE_PUBLISH, NULL);
	project_sweep(&b->project);
	build_list_outputs(&b->project, &b->result);
	measure_begin("save records");
	unit_records_save(c->arena, c->stores.project, &b->project);
	interfaces_note(c, &b->project);
	checks_save(c->diags, &c->stores, &b->project);
	last_build_save(c, &b->project, &b->last, &b->repository, &b->result);
	measure_end();
	measure_begin("save outputs");
	direct_save(c, &b->project, &b->last, &b->repository, &b->result);
	measure_end();
	measure_end();
	return true;
}

/* True if the record of the last build says that there is nothing to do. */
static bool build_is_current(struct build *b)
{
	phase_begin(PHASE_SETUP, NULL);
	measure_begin("compare with the last build");
	stores_open_existing(&b->context);
	b->last = last_build_find(&b->context, &b->result);
	measure_end();
	measure_end();
	return b->context.outcome.done;
}

/* After waiting for another build of the project, its record decides. */
static bool is_current_once_locked(struct build *b)
{
	if (!stores_lock(&b->context))
		return false;
	b->last = last_build_find(&b->context, &b->result);
	return b->context.outcome.done;
}

/* The steps before the sources are read. */
static bool set_up(struct build *b)
{
	struct build_context *c = &b->context;
	struct project *p = &b->project;
	phase_begin(PHASE_SETUP, NULL);
	measure_begin("open the store");
	bool ok = context_next(c, stores_create(c));
	measure_end();
	measure_begin("read the manifest");
	ok = ok && context_next(c, project_read_manifest(c, p));
	measure_end();
	measure_begin("open the cache");
	ok = ok && context_next(c, stores_open_cache(c, &p->spec));
	measure_end();
	measure_begin("find an equal build");
	ok = ok && context_next(c, direct_find(c, p, &b->last, &b->repository, &b->result));
	measure_end();
	measure_begin("start workers");
	ok = ok && context_next(c, workers_start(c, &p->spec, &b->progress));
	measure_end();
	measure_end();
	if (p->spec.timing && !c->timing)
		context_measure(c);
	return ok;
}

/* Reports that a phase starts. */
static bool build_enter(struct build *b, enum phase phase)
{
	progress_phase(b->progress, phase_text(phase));
	return true;
}

static bool build_run_steps(struct build *b)
{
	struct build_context *c = &b->context;
	struct project *p = &b->project;
	struct last_build *last = &b->last;
	struct repository *repo = &b->repository;
	struct compile_set *set = &b->compiles;
	struct build_result *r = &b->result;
	/* clang-format off */
	return set_up(b) &&
	       build_enter(b, PHASE_LOAD) && context_next(c, sources_load(c, p)) &&
	       context_next(c, dump_files(&c->request, p)) &&
	       context_next(c, last_build_compare_tokens(c, p, last, repo, r)) &&
	       context_next(c, expect_code(c, p)) &&
	       build_enter(b, PHASE_TYPECHECK) && context_next(c, sources_check(c, p)) &&
	       context_next(c, dump_after_check(c->request.options)) &&
	       context_next(c, params_open_files(c, p)) &&
	       build_enter(b, PHASE_ELABORATE) && context_next(c, sources_elaborate(c, p)) &&
	       context_next(c, params_warn_names(c, p)) &&
	       context_next(c, programs_decide(c, p)) &&
	       context_next(c, dump_units(c, p)) &&
	       context_next(c, params_bind(c, p)) &&
	       build_enter(b, PHASE_OPT) && context_next(c, units_plan(c, p, r)) &&
	       context_next(c, dump_after_plan(c, p)) &&
	       context_next(c, allow_warnings(c)) &&
	       context_next(c, build_find_repository(c, repo)) &&
	       build_enter(b, PHASE_CACHE) && context_next(c, compile_set_find(c, p, repo, set, r)) &&
	       context_next(c, compile_set_explain(c->arena, &c->request, p, set)) &&
	       build_enter(b, PHASE_CODEGEN) && tasks_run(c, p, set, repo, b->progress, r) && !os_interrupted() &&
	       context_next(c, weights_explain(&c->request, p)) && build_enter(b, PHASE_PUBLISH) && build_publish(b);
	/* clang-format on */
}

/* True if another process has built the models. */
static bool is_built_elsewhere(struct build *b)
{
	const struct session *s = b->context.session;
	int lock = b->context.stores.lock;
	return s->elsewhere && lock >= 0 && s->elsewhere(s->ctx, lock, &b->status);
}

/* Returns false if another process has built, which also printed the report. */
static bool build_run_all(struct build *b)
{
	if (b->context.request.single)
		b->last = last_build_key(b->context.arena, b->context.request.options);
	else if (build_is_current(b) || is_current_once_locked(b))
		return true;
	else if (is_built_elsewhere(b))
		return false;
	build_run_steps(b);
	build_count_lookups(&b->context);
	log_build(b);
	return true;
}

static struct build build_begin(struct session *s, const struct options *o, FILE *out, FILE *err)
{
	return (struct build){.context = context_new(s, (struct build_request){.options = o, .out = out, .err = err}),
			      .result.started = os_now_ns()};
}

static void free_build(struct build *b)
{
	project_free(&b->context, &b->project);
	compile_set_free(&b->compiles);
	progress_free(b->progress);
	vec_free(&b->result.outputs);
	context_free(&b->context);
}

static void close_cache(struct build *b)
{
	phase_begin(PHASE_CACHE, NULL);
	measure_begin("write the cache");
	compile_set_retain(&b->context, &b->project, &b->compiles, b->result.published);
	stores_close_cache(&b->context.stores);
	measure_end();
	measure_end();
}

enum status build_run_in(struct session *s, const struct options *o, FILE *out, FILE *err)
{
	struct build b = build_begin(s, o, out, err);
	b.context.request.single = single_file_requested(o);
	if (build_run_all(&b)) {
		close_cache(&b); /* what was compiled before an error is stored, too */
		struct profile *profile = report_profile_of(&b.context, &b.project, &b.result);
		b.status = report_print(&b.context, &b.project, &b.result);
		report_timing(&b.context.request, &b.project.spec, profile);
		profile_free(profile);
	}
	stores_close_project(&b.context.stores);
	free_build(&b);
	return b.status;
}

enum status build_run(const struct options *o, FILE *out, FILE *err)
{
	struct session own = {0};
	enum status s = build_run_in(&own, o, out, err);
	session_free(&own);
	return s;
}

struct build *build_start(struct session *s, const struct options *o)
{
	struct build *b = alloc_zeroed(sizeof *b);
	*b = build_begin(s, o, stdout, stderr);
	b->context.request.single = single_file_requested(o);
	b->context.request.caller_reports = true;
	b->context.stores.warnings = s->late_warnings;
	s->late_warnings = (struct buf){0};
	build_run_all(b);
	if (diags_errors(b->context.diags))
		context_is_stopped(&b->context); /* a file with errors may have changed again */
	b->profile = report_profile_of(&b->context, &b->project, &b->result);
	b->status = report_print(&b->context, &b->project, &b->result);
	return b;
}

void build_end(struct build *b)
{
	struct build_context *c = &b->context;
	report_timing(&c->request, &b->project.spec, b->profile);
	profile_free(b->profile);
	close_cache(b);
	stores_close_project(&c->stores);
	c->session->late_warnings = c->stores.warnings;
	c->stores.warnings = (struct buf){0};
	free_build(b);
	free(b);
}

/* True if the outputs are those that the record describes, not those of a build with other flags. */
static bool has_outputs(const struct disk *d, const struct build_record *record)
{
	for (uint32_t i = 0; i < record->n_outputs; i++)
		if (!disk_has_stamp(d, record->outputs[i].path, &record->outputs[i].stamp))
			return false;
	return true;
}

enum build_age build_age(const struct options *o, struct buf *why)
{
	struct session own = {0};
	struct build b = build_begin(&own, o, stdout, stderr);
	enum build_age age = build_is_current(&b)                                          ? BUILD_CURRENT
			     : b.last.record && has_outputs(b.context.disk, b.last.record) ? BUILD_STALE
											   : BUILD_UNKNOWN;
	if (age == BUILD_STALE && b.last.why_stale)
		buf_puts(why, b.last.why_stale);
	stores_close_project(&b.context.stores);
	free_build(&b);
	session_free(&own);
	return age;
}
