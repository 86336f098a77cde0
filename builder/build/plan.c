#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build/state.h"
#include "builder/build/timing.h"
#include "builder/store/key.h"
#include "frontend/hir/hir.h"
#include "scheduler/pool.h"

#define CODE_BYTES ((size_t)4 << 10) /* a small unit's */
#define MOST_WAITING \
	((size_t)256 \
	 << 20) /* code of plans that waits to be compiled; what is beyond is made once more, which takes a fraction of compiling */

/* On a worker. */
static bool plan_job(void *arg, struct task_run *run)
{
	struct unit_job *j = arg;
	struct tick t = timing_tick();
	j->arena = arena_new(CODE_BYTES);
	j->diags = diags_new(0);
	j->plan = plan_unit(j->arena, j->unit, &j->options, j->diags, NULL);
	timing_add(j->model->build->timing, PHASE_OPT, run->worker + 1, j->unit->name, t);
	return j->plan != NULL;
}

struct agenda {
	VEC(struct unit_job *) planned; /* whose callees were not looked at yet */
	size_t waiting;                 /* bytes of code */
};

static void want(struct agenda *g, struct model_job *m, const struct hir_unit *u)
{
	struct unit_job *j = build_find_unit(m, u->identity);
	if (!j || j->needed)
		return;
	j->needed = true;
	if (build_load_plans(j))
		vec_push(&g->planned, j);
	else
		pool_submit(m->build->pool, &(struct task_spec){.run = plan_job, .arg = j});
}

/* A plan that a worker made: what is kept of it goes into memory of the build. */
static void take_over(struct agenda *g, struct unit_job *j)
{
	build_record_plan(j);
	if (diags_count(j->diags) == 0) {
		diags_free(j->diags);
		j->diags = NULL;
	}
	g->waiting += arena_used(j->arena);
	if (g->waiting > MOST_WAITING)
		build_drop_code(j);
	vec_push(&g->planned, j);
}

/* What is called as a unit of its own is needed, too; what was taken in no longer shows. */
static void want_callees(struct agenda *g, const struct unit_job *j)
{
	for (uint32_t i = 0; i < j->plan->n_slots; i++)
		if (j->plan->slots[i].kind == SLOT_TABLE)
			want(g, j->model, j->plan->slots[i].callee);
}

static void start_model(struct agenda *g, struct model_job *m)
{
	const struct hir_program *p = m->program;
	struct build *b = m->build;
	m->units = ARENA_ARRAY(b->session, struct unit_job, p->n_units + 1);
	m->plans = ARENA_ARRAY(b->session, const struct plan *, p->n_units + 1);
	m->unit_keys = ARENA_ARRAY(b->session, hash128, p->n_units + 1);
	m->history = history_load(b->session, b->project, m->spec->name);
	for (uint32_t i = 0; i < p->n_units; i++) {
		m->units[i] = (struct unit_job){.unit = p->units[i], .model = m, .options = key_unit_options(&m->spec->plan, p->units[i])};
		map_put(&m->unit_index, p->units[i]->identity, i);
	}
	for (uint32_t i = 0; i < p->n_entries; i++)
		want(g, m, p->entries[i].unit);
}

/* Kernels are launched in one sequence, fixed when the model is built. */
static void refuse_control(struct build *b, struct unit_job *j)
{
	const struct ir_fn *f = j->plan->run_fn;
	for (uint32_t i = 0; i < f->n_insts; i++) {
		if (f->insts[i].op != OP_IF && f->insts[i].op != OP_LOOP)
			continue;
		struct diag *g = diag_add(b->diags, DIAG_OPENCL_FLOW, f->insts[i].at, "%s cannot be compiled for OpenCL",
					  f->insts[i].op == OP_IF ? "a branch that the run decides" : "a loop that the run counts");
		diag_note(b->diags, g, "model `%s` has `emit = opencl`; in its library for the CPU, branches and loops run",
			  j->model->spec->name);
		diag_help(b->diags, g, "remove `opencl` from `emit`, or choose by `where(c, a, b)` and loop over a constant range");
		j->model->failed = true;
	}
}

static void finish_unit(struct build *b, struct unit_job *j)
{
	struct model_job *m = j->model;
	uint32_t i = (uint32_t)(j - m->units);
	b->units++;
	if (j->plan && m->opencl)
		refuse_control(b, j);
	if (j->diags)
		diags_merge(b->diags, j->diags);
	m->plans[i] = j->plan;
	if (j->plan)
		m->unit_keys[i] = j->key = key_unit(b->compiler, &m->platform, &j->options, j->plan);
	else
		m->failed = true;
}

bool build_plan(struct build *b)
{
	struct agenda g = {0};
	struct tick t = timing_tick();
	struct task_result r;
	for (uint32_t i = 0; i < b->n_models; i++)
		if (!b->models[i].failed)
			start_model(&g, &b->models[i]);
	for (;;) {
		if (g.planned.len)
			want_callees(&g, g.planned.at[--g.planned.len]);
		else if (!pool_wait(b->pool, -1, &r))
			break;
		else if (r.end == TASK_DONE)
			take_over(&g, r.arg);
	}
	vec_free(&g.planned);
	for (uint32_t i = 0; i < b->n_models; i++)
		for (uint32_t k = 0; b->models[i].units && k < b->models[i].program->n_units; k++)
			if (b->models[i].units[k].needed)
				finish_unit(b, &b->models[i].units[k]);
	timing_event(b->timing, PHASE_OPT, 0, "plan", t);
	return !build_stopped(b) && build_may_go_on(b);
}
