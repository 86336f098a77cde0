#include "builder/build/build_steps.h"
#include "base/arena.h"
#include "base/diag.h"
#include "builder/build/session.h"
#include "builder/build/timing.h"
#include "builder/store/history.h"
#include "builder/store/key.h"
#include "frontend/hir/hir.h"
#include "scheduler/pool.h"

#define CODE_BYTES ((size_t)4 << 10) /* a small unit's */
/* Code of plans that waits for the compiler. Code beyond this limit is dropped and made again, which costs a fraction of compiling it. */
#define MOST_WAITING ((size_t)256 << 20)

/* On a worker. */
static bool plan_job(void *arg, struct task_run *run)
{
	struct unit_job *j = arg;
	struct tick t = timing_tick();
	j->arena = arena_new(CODE_BYTES);
	j->diags = diags_new(0);
	j->plan = plan_unit(j->arena, j->unit, &j->options, j->diags, NULL);
	timing_add(j->model->context->timing, PHASE_OPT, run->worker + 1, j->unit->name, t);
	return j->plan != NULL;
}

struct worklist {
	VEC(struct unit_job *) planned; /* units whose callees are not in the list yet */
	size_t waiting;                 /* bytes of code */
};

static void add_unit(struct worklist *g, struct model_job *m, const struct hir_unit *u)
{
	struct unit_job *j = model_find_unit(m, u->identity);
	if (!j || j->is_needed)
		return;
	j->is_needed = true;
	if (plan_cache_find(j))
		vec_push(&g->planned, j);
	else
		pool_submit(m->context->session->pool, &(struct task_spec){.run = plan_job, .arg = j});
}

/* Records a plan that a worker has made. */
static void finish_plan(struct worklist *g, struct unit_job *j)
{
	plan_cache_record(j);
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
static void add_callees(struct worklist *g, const struct unit_job *j)
{
	for (uint32_t i = 0; i < j->plan->n_slots; i++)
		if (j->plan->slots[i].kind == SLOT_TABLE)
			add_unit(g, j->model, j->plan->slots[i].callee);
}

static void start_model(struct worklist *g, struct model_job *m)
{
	const struct hir_program *p = m->program;
	struct build_context *c = m->context;
	m->units.jobs = ARENA_ARRAY(c->arena, struct unit_job, p->n_units + 1);
	m->units.plans = ARENA_ARRAY(c->arena, const struct plan *, p->n_units + 1);
	m->units.keys = ARENA_ARRAY(c->arena, hash128, p->n_units + 1);
	m->units.history = history_load(c->arena, c->stores.project, m->spec->name);
	for (uint32_t i = 0; i < p->n_units; i++) {
		m->units.jobs[i] = (struct unit_job){
			.unit = p->units[i], .model = m, .options = key_unit_options(&m->spec->plan, m->platform.target, p->units[i])};
		map_put(&m->units.by_identity, p->units[i]->identity, i);
	}
	for (uint32_t i = 0; i < p->n_entries; i++)
		add_unit(g, m, p->entries[i].unit);
}

/* The sequence of kernel launches is fixed at build time. */
static void report_control(struct build_context *c, struct unit_job *j)
{
	const struct ir_fn *f = j->plan->run_fn;
	for (uint32_t i = 0; i < f->n_insts; i++) {
		if (f->insts[i].op != OP_IF && f->insts[i].op != OP_LOOP)
			continue;
		struct diag *g = diag_add(c->diags, DIAG_OPENCL_FLOW, f->insts[i].at, "%s cannot be compiled for OpenCL",
					  f->insts[i].op == OP_IF ? "a run-time `if`" : "a run-time loop");
		diag_note(c->diags, g, "model `%s` has `emit = opencl`; only its library for the CPU can run it", j->model->spec->name);
		diag_help(c->diags, g, "remove `opencl` from `emit`, or use `where(c, a, b)` and a loop with a constant trip count");
		j->model->failed = true;
	}
}

static void finish_unit(struct build_context *c, struct unit_job *j)
{
	struct model_job *m = j->model;
	uint32_t i = (uint32_t)(j - m->units.jobs);
	if (j->plan && m->outputs.opencl)
		report_control(c, j);
	if (j->diags)
		diags_merge(c->diags, j->diags);
	m->units.plans[i] = j->plan;
	if (j->plan)
		m->units.keys[i] = j->key = key_unit(c->stores.compiler, m->platform.id, &j->options, j->plan);
	else
		m->failed = true;
}

bool units_plan(struct build_context *c, struct project *p, struct build_result *r)
{
	struct worklist g = {0};
	struct tick t = timing_tick();
	struct task_result result;
	for (uint32_t i = 0; i < p->n_models; i++)
		if (!p->models[i].failed)
			start_model(&g, &p->models[i]);
	for (;;) {
		if (g.planned.len)
			add_callees(&g, g.planned.at[--g.planned.len]);
		else if (!pool_wait(c->session->pool, -1, &result))
			break;
		else if (result.end == TASK_DONE)
			finish_plan(&g, result.arg);
	}
	vec_free(&g.planned);
	for (uint32_t i = 0; i < p->n_models; i++)
		for (uint32_t k = 0; p->models[i].units.jobs && k < p->models[i].program->n_units; k++)
			if (p->models[i].units.jobs[k].is_needed) {
				r->units++;
				finish_unit(c, &p->models[i].units.jobs[k]);
			}
	timing_event(c->timing, PHASE_OPT, 0, "plan", t);
	return project_may_go_on(c, p);
}
