/* The tasks that are left: fragments to compile, and for each model laying out and packing its weights, then linking it. The pool starts
 * the tasks of the longest path first, by the times of earlier builds. */
#include "builder/build/tasks.h"
#include <stdlib.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/measure.h"
#include "base/os.h"
#include "builder/build/compile_set.h"
#include "builder/build/link/link.h"
#include "builder/build/link/pack.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/plan/compile.h"
#include "builder/build/plan/plan_cache.h"
#include "builder/build/reuse/repository.h"
#include "builder/build/session/build_result.h"
#include "builder/build/session/context.h"
#include "builder/build/session/param_code.h"
#include "builder/build/session/session.h"
#include "builder/build/timing/chain.h"
#include "builder/build/timing/progress.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/store/costs.h"
#include "frontend/hir/hir.h"
#include "scheduler/cancel.h"
#include "scheduler/pool.h"

#define CODEGEN_BYTES ((uint64_t)4 << 20)
#define MUCH_TO_PACK ((int64_t)16 << 20)

enum task_kind { TASK_COMPILE, TASK_COMMIT, TASK_LAYOUT, TASK_PACK, TASK_LINK };
static const char *const kind_names[] = {
	[TASK_COMPILE] = "unit", [TASK_COMMIT] = "repository", [TASK_LAYOUT] = "weights", [TASK_PACK] = "weights", [TASK_LINK] = "link"};

struct task_graph {
	struct build_context *c;
	struct project *project;
	struct compile_set *set;
	struct repository *repo;
	struct progress *progress;
	struct batch *batch;
	struct cancel cancel; /* set by an interrupt, or by too many failures */
	uint32_t n_jobs;
	int64_t expected_ns; /* of all jobs, as measured in earlier builds */
	VEC(struct job *) packers;
	struct chain chain; /* for the critical path */
};

struct job {
	enum task_kind kind;
	const char *label;
	hash128 cost_key;
	int64_t expected_ns;
	struct task_graph *graph;
	struct task *task;
	uint32_t in_chain;
	struct compile *compile;
	struct model_job *model;
	struct variant *variant; /* TASK_LAYOUT, TASK_PACK */
	struct arena *arena;     /* TASK_PACK: holds the error, and packed weights until they are linked */
	const char *error;
};

/* LLVM's memory is not in our arenas. */
static uint64_t memory_outside_arenas(enum task_kind kind) { return kind == TASK_COMPILE ? CODEGEN_BYTES : 0; }

static void describe_repository(struct task_graph *g)
{
	phase_begin(PHASE_LINK, NULL);
	measure_begin("read the repository");
	repository_describe(g->repo, g->c->inputs);
	measure_end();
	measure_end();
}

static bool run_kind(struct job *t, uint32_t worker)
{
	struct task_graph *g = t->graph;
	switch (t->kind) {
	case TASK_COMPILE: return compile_unit(g->c->session->generators, &g->c->stores, t->compile, worker);
	case TASK_COMMIT: describe_repository(g); return true;
	case TASK_LAYOUT: pack_lay_out(g->c, t->variant); return diags_errors(t->model->diags) == 0;
	case TASK_PACK: t->error = pack_weights(g->c, t->variant, t->arena, worker); return !t->error;
	case TASK_LINK: link_model(g->c, t->model, g->repo); return diags_errors(t->model->diags) == 0;
	}
	return false;
}

/* On a worker. */
static bool run_job(void *arg, struct task_run *run)
{
	struct job *t = arg;
	struct progress *progress = t->graph->progress;
	struct measure_log *before = timing_enter(t->graph->c->timing, run->worker + 1);
	arena_peak_begin();
	progress_start(progress, run->worker, kind_names[t->kind], t->label, t->expected_ns);
	bool ok = run_kind(t, run->worker);
	progress_done(progress, run->worker, ok);
	timing_note_memory(t->graph->c->timing);
	timing_leave(t->graph->c->timing, before);
	run->memory = arena_peak_end() + memory_outside_arenas(t->kind);
	return ok;
}

static struct job *add_job(struct task_graph *g, enum task_kind kind, const char *label, hash128 cost_key)
{
	static const uint64_t first_guess_ns[] = {
		[TASK_COMPILE] = 5000000, [TASK_COMMIT] = 8000000, [TASK_LAYOUT] = 2000000, [TASK_PACK] = 2000000, [TASK_LINK] = 2000000};
	struct cost cost = cost_find(g->c->stores.project, cost_key, (struct cost){first_guess_ns[kind], memory_outside_arenas(kind)});
	struct job *t = ARENA_NEW(g->c->arena, struct job);
	*t = (struct job){.kind = kind, .label = label, .cost_key = cost_key, .expected_ns = (int64_t)cost.ns, .graph = g};
	t->task = batch_add(g->batch,
			    &(struct task_spec){.run = run_job, .arg = t, .cost_ns = cost.ns, .memory = cost.memory, .cancel = &g->cancel});
	t->in_chain = chain_add(&g->chain);
	g->expected_ns += t->expected_ns;
	g->n_jobs++;
	return t;
}

static void tasks_need(struct task_graph *g, const struct job *job, const struct job *input)
{
	batch_need(g->batch, job->task, input->task);
	chain_need(&g->chain, job->in_chain, input->in_chain);
}

static void note_cost(struct store *project, const struct task_result *result, struct build_result *of)
{
	const struct job *t = result->arg;
	if (result->end != TASK_DONE)
		return;
	cost_note(project, t->cost_key, (struct cost){(uint64_t)result->wall_ns, result->memory});
	if (result->wall_ns > of->slowest_ns) {
		of->slowest_ns = result->wall_ns;
		of->slowest = t->label;
	}
}

/* All workers pack if there is much to pack. */
static uint32_t packers_of(struct pool *pool, const struct model_job *m)
{
	int64_t bytes = 0;
	for (uint32_t i = 0; i < m->program->n_params; i++)
		bytes += tensor_bytes(&m->params.bound.params[i]);
	return bytes > MUCH_TO_PACK ? pool_jobs(pool) : 1;
}

static struct job *add_model_job(struct task_graph *g, enum task_kind kind, const char *label, hash128 target, struct model_job *m)
{
	struct job *t = add_job(g, kind, label, cost_key(label, target, m->spec->plan.opt));
	t->model = m;
	return t;
}

static struct job *add_variant_job(struct task_graph *g, enum task_kind kind, const char *verb, struct variant *v)
{
	const char *label = arena_printf(g->c->arena, "%s %s", verb, variant_label(g->c->arena, v, v->model->spec->name));
	struct job *t = add_model_job(g, kind, label, v->target_id, v->model);
	t->variant = v;
	return t;
}

/* Adds the jobs that pack the weights of a variant for `link`. A model's variants are packed one after the other: a later one shares what is
 * packed already. Returns the number of packers, which are the last elements of g->packers. */
static uint32_t add_packers(struct task_graph *g, struct variant *v, const struct job *link, uint32_t n_earlier)
{
	struct job *layout = add_variant_job(g, TASK_LAYOUT, "lay out the weights of", v);
	uint32_t n = packers_of(g->c->session->pool, v->model);
	for (uint32_t i = 0; i < n_earlier; i++)
		tasks_need(g, layout, g->packers.at[g->packers.len - 1 - i]);
	for (uint32_t i = 0; i < n; i++) {
		struct job *pack = add_variant_job(g, TASK_PACK, "pack", v);
		pack->arena = arena_new(0);
		vec_push(&g->packers, pack);
		tasks_need(g, pack, layout);
		tasks_need(g, link, pack);
	}
	return n;
}

static void need_compiles(struct task_graph *g, const struct variant *v, const struct job *const *compiles, const struct job *link)
{
	uint64_t at;
	for (uint32_t i = 0; i < v->model->program->n_units; i++) {
		const struct unit_job *j = &v->units.jobs[i];
		if (j->compile && map_get(&g->set->by_key, j->key, &at) && compiles[at])
			tasks_need(g, link, compiles[at]);
	}
}

static void add_model(struct task_graph *g, struct model_job *m, const struct job *const *compiles, const struct job *commit)
{
	const char *label = arena_printf(g->c->arena, "link %s", m->spec->name);
	struct job *link = add_model_job(g, TASK_LINK, label, m->platform.id, m);
	uint32_t n_packers = 0;
	for (uint32_t i = 0; i < m->n_variants; i++) {
		struct variant *v = &m->variants[i];
		if (!variant_is_linked(v))
			continue;
		if (v->backend->weights != BACKEND_NO_WEIGHTS)
			n_packers = add_packers(g, v, link, n_packers);
		need_compiles(g, v, compiles, link);
	}
	if (commit)
		tasks_need(g, link, commit);
}

/* A job for each element of the set; NULL if its object exists. */
static const struct job *const *add_compiles(struct task_graph *g)
{
	const struct job **compiles = ARENA_ARRAY(g->c->arena, const struct job *, g->set->list.len + 1);
	for (uint32_t i = 0; i < g->set->list.len; i++) {
		struct compile *f = g->set->list.at[i];
		if (f->object)
			continue;
		const struct unit_job *j = f->job;
		struct job *t = add_job(g, TASK_COMPILE, f->label, cost_key_unit(j->unit->name, j->variant->target_id, unit_opt(j)));
		t->compile = f;
		compiles[i] = t;
	}
	return compiles;
}

static void add_jobs(struct task_graph *g)
{
	const struct job *const *compiles = add_compiles(g), *commit = NULL;
	for (uint32_t i = 0; i < g->project->n_models && g->c->request.options->stop == STOP_NONE; i++) {
		struct model_job *m = &g->project->models[i];
		if (m->failed || m->link.is_current)
			continue;
		if (g->repo->found && !commit)
			commit = add_job(g, TASK_COMMIT, "read the repository", cost_key("commit", (hash128){0, 0}, 0));
		add_model(g, m, compiles, commit);
	}
}

static void note_end(struct task_graph *g, const struct task_result *result, struct build_result *of)
{
	const struct job *t = result->arg;
	chain_ran(&g->chain, t->in_chain, result);
	if (t->kind == TASK_LINK && result->end != TASK_DONE)
		t->model->failed = true; /* or one of its other tasks did */
	note_cost(g->c->stores.project, result, of);
}

static void run_graph(struct task_graph *g, struct build_result *of)
{
	struct pool *pool = g->c->session->pool;
	struct task_result r;
	progress_total(g->progress, g->n_jobs, g->expected_ns);
	struct pool_idle before = pool_idle(pool);
	batch_submit(g->batch);
	do {
		if (pool_pending(pool) && context_is_stopped(g->c))
			cancel_set(&g->cancel);
		progress_draw(g->progress);
		int64_t began = g->c->timing ? os_now_ns() : 0;
		bool has_ended = pool_wait(pool, g->c->session->superseded ? 10 : 100, &r);
		if (g->c->timing)
			timing_add_wait(g->c->timing, os_now_ns() - began);
		if (has_ended)
			note_end(g, &r, of);
	} while (pool_pending(pool) > 0);
	progress_clear(g->progress);
	timing_add_idle(g->c->timing, pool, &before);
	chain_finish(&g->chain, g->c->timing);
}

static void report_compile(struct diags *diags, const struct compile *fragment)
{
	struct diag *g = diag_add(diags, DIAG_CODEGEN, fragment->job->unit->at, "%s could not be compiled: %s", fragment->job->unit->name,
				  fragment->error.at ? fragment->error.at : "no reason given");
	diag_note(diags, g, "this is a limit or a bug of the compiler");
}

static void report_packer(struct build_outcome *outcome, const struct job *t)
{
	struct model_job *m = t->model;
	if (t->error && !outcome->interrupted)
		diag_add(m->diags, DIAG_BUILD_VALUE, m->spec->entry_at, "model `%s`: %s", m->spec->name, t->error);
}

static void free_packers(struct task_graph *g)
{
	for (uint32_t i = 0; i < g->packers.len; i++)
		arena_free(g->packers.at[i]->arena);
	vec_free(&g->packers);
}

static void collect_models(struct diags *diags, struct project *p, struct build_result *r)
{
	for (uint32_t i = 0; i < p->n_models; i++) {
		const struct model_job *m = &p->models[i];
		diags_merge(diags, m->diags);
		for (uint32_t k = 0; k < m->n_variants; k++) {
			r->packed += m->variants[k].pack.n_packed;
			r->packed_before += m->variants[k].pack.packed_before;
		}
	}
}

static void tasks_collect(struct task_graph *g, struct build_result *r)
{
	for (uint32_t i = 0; i < g->set->list.len; i++) {
		const struct compile *f = g->set->list.at[i];
		r->compiled += f->is_made;
		r->failed += f->has_failed;
		if (f->has_failed)
			report_compile(g->c->diags, f);
	}
	for (uint32_t i = 0; i < g->packers.len; i++)
		report_packer(&g->c->outcome, g->packers.at[i]);
	collect_models(g->c->diags, g->project, r);
}

bool tasks_open_generators(struct build_context *c)
{
	char *error = NULL;
	phase_begin(PHASE_CODEGEN, NULL);
	measure_begin("open the code generator");
	struct generators *g = session_generators(c->session, &error);
	measure_end();
	measure_end();
	if (!g) {
		diag_add(c->diags, DIAG_MODULE, SPAN_NONE, "%s", error);
		c->outcome.environment = true;
		free(error);
	}
	return g != NULL;
}

static bool needs_generator(const struct compile_set *set)
{
	for (uint32_t i = 0; i < set->list.len; i++)
		if (!set->list.at[i]->object && set->list.at[i]->is_object)
			return true;
	return false;
}

bool tasks_run(struct build_context *c, struct project *p, struct compile_set *set, struct repository *repo, struct progress *progress,
	       struct build_result *r)
{
	struct task_graph g = {.c = c, .project = p, .set = set, .repo = repo, .progress = progress};
	if (needs_generator(set) && !tasks_open_generators(c))
		return false;
	if (!c->session->param_codes)
		c->session->param_codes = param_codes_new();
	g.cancel.most_failures = p->spec.most_failures;
	g.batch = pool_new_batch(c->session->pool);
	add_jobs(&g);
	run_graph(&g, r);
	tasks_collect(&g, r);
	free_packers(&g);
	return project_may_go_on(c, p) && !c->outcome.interrupted;
}
