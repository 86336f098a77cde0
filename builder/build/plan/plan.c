#include "builder/build/plan/plan.h"
#include "backend/link/backend.h"
#include "backend/plan/figures.h"
#include "base/arena.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/measure.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/plan/plan_cache.h"
#include "builder/build/session/build_result.h"
#include "builder/build/session/context.h"
#include "builder/build/session/session.h"
#include "builder/build/timing/chain.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/store/key.h"
#include "frontend/hir/hir.h"
#include "scheduler/pool.h"

#define CODE_BYTES ((size_t)4 << 10) /* a small unit's */
/* Code of plans that waits for the compiler. Code beyond this limit is dropped and made again, which costs a fraction of compiling it. */
#define MOST_WAITING ((size_t)256 << 20)

static void plan_and_measure(struct unit_job *j, struct timing *timing)
{
	struct plan_figures figures = {0};
	struct plan_trace trace = {.ir.figures = figures.of + FIRST_TENSOR_PASS, .loops.figures = figures.of + FIRST_LOOP_PASS};
	j->plan = plan_unit(j->arena, j->unit, &j->options, j->diags, &trace);
	timing_add_passes(timing, &figures);
}

struct plan_task {
	struct unit_job *job;
	struct timing *timing;
};

/* On a worker. */
static bool plan_job(void *arg, struct task_run *run)
{
	const struct plan_task *t = arg;
	struct unit_job *j = t->job;
	struct timing *timing = t->timing;
	struct measure_log *before = timing_enter(timing, run->worker + 1);
	phase_begin(PHASE_OPT, j->unit->name);
	j->arena = arena_new(CODE_BYTES);
	j->diags = diags_new(0);
	if (timing_watches_passes(timing))
		plan_and_measure(j, timing);
	else
		j->plan = plan_unit(j->arena, j->unit, &j->options, j->diags, NULL);
	measure_end();
	timing_note_memory(timing);
	timing_leave(timing, before);
	return j->plan != NULL;
}

struct worklist {
	struct build_context *c;
	VEC(struct unit_job *) planned; /* units whose callees are not in the list yet */
	size_t waiting;                 /* bytes of code */
	struct chain chain;             /* for the critical path */
};

/* `caller` was planned before, NULL: none. */
static void add_unit(struct worklist *g, struct variant *v, const struct hir_unit *u, const struct unit_job *caller)
{
	struct unit_job *j = variant_find_unit(v, u->identity);
	if (!j || j->is_needed)
		return;
	j->is_needed = true;
	j->in_chain = chain_add(&g->chain);
	if (caller)
		chain_need(&g->chain, j->in_chain, caller->in_chain);
	if (plan_cache_find(g->c, j)) {
		vec_push(&g->planned, j);
		return;
	}
	struct plan_task *t = ARENA_NEW(g->c->arena, struct plan_task);
	*t = (struct plan_task){j, g->c->timing};
	pool_submit(g->c->session->pool, &(struct task_spec){.run = plan_job, .arg = t});
}

/* Records a plan that a worker has made. */
static void finish_plan(struct worklist *g, struct unit_job *j)
{
	plan_cache_record(g->c->arena, g->c->stores.compiler, j);
	if (diags_count(j->diags) == 0) {
		diags_free(j->diags);
		j->diags = NULL;
	}
	g->waiting += arena_used(j->arena);
	if (g->waiting > MOST_WAITING)
		plan_cache_drop_code(j);
	vec_push(&g->planned, j);
}

/* Inlined callees are not needed as units. */
static void plan_add_callees(struct worklist *g, const struct unit_job *j)
{
	for (uint32_t i = 0; i < j->plan->n_slots; i++)
		if (j->plan->slots[i].kind == SLOT_TABLE)
			add_unit(g, j->variant, j->plan->slots[i].callee, j);
}

static void find_callees(struct worklist *g)
{
	phase_begin(PHASE_OPT, NULL);
	measure_begin("find records");
	plan_add_callees(g, g->planned.at[--g->planned.len]);
	measure_end();
	measure_end();
}

static void record_plan(struct worklist *g, struct unit_job *j)
{
	phase_begin(PHASE_OPT, NULL);
	measure_begin("record");
	finish_plan(g, j);
	measure_end();
	measure_end();
}

static void start_variant(struct worklist *g, struct variant *v)
{
	const struct model_job *m = v->model;
	const struct hir_program *p = m->program;
	struct arena *a = g->c->arena;
	BUG_ON(!v->program); /* programs_decide runs before */
	v->units.jobs = ARENA_ARRAY(a, struct unit_job, p->n_units + 1);
	v->units.plans = ARENA_ARRAY(a, const struct plan *, p->n_units + 1);
	v->units.keys = ARENA_ARRAY(a, hash128, p->n_units + 1);
	for (uint32_t i = 0; i < p->n_units; i++) {
		struct plan_options options = key_unit_options(&m->spec->plan, v->target, v->program, p->units[i]);
		options.no_loops = v->backend->stage == BACKEND_IR;
		v->units.jobs[i] = (struct unit_job){.unit = p->units[i], .variant = v, .options = options, .code_hash = m->code_hashes[i]};
		map_put(&v->units.by_identity, p->units[i]->identity, i);
	}
	for (uint32_t i = 0; i < p->n_entries; i++)
		add_unit(g, v, p->entries[i].unit, NULL);
}

static void plan_start_model(struct worklist *g, struct model_job *m)
{
	for (uint32_t i = 0; i < m->n_variants; i++)
		start_variant(g, &m->variants[i]);
}

static void finish_unit(struct diags *diags, hash128 compiler, struct unit_job *j)
{
	struct variant *v = j->variant;
	uint32_t i = (uint32_t)(j - v->units.jobs);
	if (!j->plan || (j->diags && diags_errors(j->diags)))
		v->model->failed = true;
	if (j->diags)
		diags_merge(diags, j->diags);
	v->units.plans[i] = j->plan;
	if (j->plan)
		v->units.keys[i] = j->key = key_unit(compiler, v->target_id, &j->options, j->plan);
}

static void finish_variant(struct diags *diags, hash128 compiler, struct variant *v, struct build_result *r)
{
	for (uint32_t k = 0; v->units.jobs && k < v->model->program->n_units; k++)
		if (v->units.jobs[k].is_needed) {
			r->units++;
			finish_unit(diags, compiler, &v->units.jobs[k]);
		}
}

bool units_plan(struct build_context *c, struct project *p, struct build_result *r)
{
	struct worklist g = {.c = c};
	struct task_result result;
	struct pool_idle before = pool_idle(c->session->pool);
	phase_begin(PHASE_OPT, NULL);
	measure_begin("find records");
	for (uint32_t i = 0; i < p->n_models; i++)
		if (!p->models[i].failed)
			plan_start_model(&g, &p->models[i]);
	measure_end();
	measure_end();
	for (;;) {
		if (g.planned.len) {
			find_callees(&g);
			continue;
		}
		int64_t began = c->timing ? os_now_ns() : 0;
		bool has_ended = pool_wait(c->session->pool, -1, &result);
		if (c->timing)
			timing_add_wait(c->timing, os_now_ns() - began);
		if (!has_ended)
			break;
		struct unit_job *j = ((const struct plan_task *)result.arg)->job;
		chain_ran(&g.chain, j->in_chain, &result);
		if (result.end == TASK_DONE)
			record_plan(&g, j);
	}
	vec_free(&g.planned);
	timing_add_idle(c->timing, c->session->pool, &before);
	chain_finish(&g.chain, c->timing);
	phase_begin(PHASE_OPT, NULL);
	measure_begin("key");
	for (uint32_t i = 0; i < p->n_models; i++)
		for (uint32_t k = 0; k < p->models[i].n_variants; k++)
			finish_variant(c->diags, c->stores.compiler, &p->models[i].variants[k], r);
	measure_end();
	measure_end();
	return project_may_go_on(c, p);
}
