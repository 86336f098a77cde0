#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build_state.h"
#include "builder/key.h"
#include "builder/manifest.h"
#include "builder/timing.h"
#include "frontend/core.h"
#include "scheduler/pool.h"

static uint8_t opt_of(const struct plan_options *o) { return o->size ? MANIFEST_OPT_SIZE : o->opt; }

hash128 build_unit_code(struct unit_job *j)
{
	if (!j->has_code)
		j->code = core_unit_hash(j->unit);
	j->has_code = true;
	return j->code;
}

struct unit_job *build_find_unit(struct model_job *m, hash128 identity)
{
	uint64_t i;
	return map_get(&m->unit_index, identity, &i) ? &m->units[i] : NULL;
}

/* ---- from a record ---- */

static bool part_holds(struct unit_job *j, const struct unit_part *part)
{
	struct unit_job *u = build_find_unit(j->model, part->identity);
	if (!u || plan_callee_facts(&j->options, u->unit) != part->facts)
		return false;
	switch (part->kind) {
	case PART_TAKEN_IN: return hash_eq(build_unit_code(u), part->code);
	case PART_EVALUATED: return hash_eq(core_unit_hash_all(u->unit), part->code);
	default: return true;
	}
}

/* Is everything that the recorded plan was made from as it was? */
static bool still_holds(struct unit_job *j, const struct unit_record *r)
{
	if (!hash_eq(r->compiler, j->model->build->compiler) || r->opt != opt_of(&j->options) || !hash_eq(r->code, build_unit_code(j)))
		return false;
	for (uint32_t i = 0; i < r->n_parts; i++)
		if (!part_holds(j, &r->parts[i]))
			return false;
	return true;
}

/* The recorded plan, its callees found again. NULL: it holds no more. Kernels for devices are made from the code of plans: those are made anew. */
static struct plan *recall(struct unit_job *j)
{
	const struct unit_record *r = j->then = history_find(j->model->history, j->unit->identity);
	if (!r || j->model->opencl || !still_holds(j, r))
		return NULL;
	struct plan *p = ARENA_NEW(j->model->build->session, struct plan);
	*p = r->plan;
	p->unit = j->unit;
	for (uint32_t i = 0; i < p->n_slots; i++) {
		if (p->slots[i].kind != SLOT_TABLE)
			continue;
		const struct unit_job *callee = build_find_unit(j->model, r->callees[i]);
		if (!callee)
			return NULL;
		p->slots[i].callee = callee->unit;
	}
	return p;
}

/* The code of a plan that came from a record must be what it was then, or the record lacks something that plans depend on. */
static void make_code(struct unit_job *j)
{
	struct arena *a = arena_new(0);
	struct diags *diags = diags_new(0);
	const struct plan *made = plan_unit(a, j->unit, &j->options, diags, NULL);
	BUG_ON(!made || !hash_eq(made->run_hash, j->plan->run_hash) || !hash_eq(made->slice_hash, j->plan->slice_hash));
	j->arena = a;
	j->plan->slice = made->slice;
	__atomic_store_n(&j->plan->run, made->run, __ATOMIC_RELEASE);
	diags_free(diags);
}

const struct plan *build_plan_code(struct unit_job *j)
{
	struct build *b = j->model->build;
	if (__atomic_load_n(&j->plan->run, __ATOMIC_ACQUIRE))
		return j->plan;
	pthread_mutex_lock(&b->plan_lock);
	if (!j->plan->run)
		make_code(j);
	pthread_mutex_unlock(&b->plan_lock);
	return j->plan;
}

/* ---- from the unit ---- */

/* On a worker. */
static bool plan_job(void *arg, struct task_run *run)
{
	struct unit_job *j = arg;
	struct tick t = timing_tick();
	j->plan = plan_unit(j->arena, j->unit, &j->options, j->diags, NULL);
	timing_add(j->model->build->timing, PHASE_OPT, run->worker + 1, j->unit->name, t);
	return j->plan != NULL;
}

struct agenda {
	VEC(struct unit_job *) planned; /* whose callees were not looked at yet */
};

static void want(struct agenda *g, struct model_job *m, const struct core_unit *u)
{
	struct unit_job *j = build_find_unit(m, u->identity);
	if (!j || j->needed)
		return;
	j->needed = true;
	j->plan = recall(j);
	if (j->plan) {
		vec_push(&g->planned, j);
		return;
	}
	j->arena = arena_new(0);
	j->diags = diags_new(0);
	pool_submit(m->build->pool, NULL, &(struct task_spec){.run = plan_job, .arg = j});
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
	const struct core_program *p = m->program;
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
static void refuse_control(struct unit_job *j)
{
	const struct ir_fn *f = j->plan->run;
	for (uint32_t i = 0; i < f->n_insts; i++) {
		if (f->insts[i].op != OP_IF && f->insts[i].op != OP_LOOP)
			continue;
		struct diag *g = diag_add(j->diags, DIAG_OPENCL_FLOW, f->insts[i].at, "%s cannot be compiled for OpenCL",
					  f->insts[i].op == OP_IF ? "a branch that the run decides" : "a loop that the run counts");
		diag_note(j->diags, g, "model `%s` has `emit = opencl`; in its library for the CPU, branches and loops run", j->model->spec->name);
		diag_help(j->diags, g, "remove `opencl` from `emit`, or choose by `where(c, a, b)` and loop over a constant range");
		j->model->failed = true;
	}
}

static void finish_unit(struct build *b, struct unit_job *j)
{
	struct model_job *m = j->model;
	uint32_t i = (uint32_t)(j - m->units);
	b->units++;
	if (j->plan && m->opencl)
		refuse_control(j);
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
	struct agenda g = {{0}};
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
			want_callees(&g, r.arg);
	}
	vec_free(&g.planned);
	for (uint32_t i = 0; i < b->n_models; i++)
		for (uint32_t k = 0; b->models[i].units && k < b->models[i].program->n_units; k++)
			if (b->models[i].units[k].needed)
				finish_unit(b, &b->models[i].units[k]);
	timing_event(b->timing, PHASE_OPT, 0, "plan", t);
	return !build_stopped(b) && build_may_go_on(b);
}
