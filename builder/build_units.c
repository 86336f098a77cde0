#include <stdio.h>
#include <string.h>
#include "backend/loops.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build_state.h"
#include "builder/key.h"
#include "builder/manifest.h"
#include "builder/options.h"
#include "builder/progress.h"
#include "builder/store.h"
#include "builder/timing.h"
#include "frontend/core.h"
#include "scheduler/pool.h"

#define DEFAULT_COMPILE_NS 5000000

/* On a worker. */
static void plan_job(void *arg, uint32_t worker)
{
	struct unit_job *j = arg;
	struct tick t = timing_tick();
	j->plan = plan_unit(j->arena, j->unit, &j->options, j->diags, NULL);
	timing_add(j->model->build->timing, PHASE_OPT, worker + 1, j->unit->name, t);
}

static hash128 pointer_key(const void *p) { return map_key_u64((uint64_t)(uintptr_t)p); }

static void want(struct model_job *m, const struct core_unit *u)
{
	uint64_t i = 0;
	bool known = map_get(&m->unit_index, pointer_key(u), &i);
	struct unit_job *j = &m->units[i];
	if (!known || j->needed)
		return;
	j->needed = true;
	j->arena = arena_new(0);
	j->diags = diags_new(0);
	pool_submit(m->build->pool, plan_job, j);
}

/* What is called as a unit of its own is needed, too; what was taken in no longer shows. */
static void want_callees(struct unit_job *j)
{
	const struct ir_fn *f = j->plan->run;
	for (uint32_t i = 0; i < f->n_insts; i++)
		if (ir_calls(f->insts[i].op))
			want(j->model, f->insts[i].callee);
	for (uint32_t i = 0; i < j->plan->n_slots; i++)
		if (j->plan->slots[i].kind == SLOT_TABLE)
			want(j->model, j->plan->slots[i].callee);
}

static void start_model(struct model_job *m)
{
	const struct core_program *p = m->program;
	struct arena *a = m->build->session;
	m->units = ARENA_ARRAY(a, struct unit_job, p->n_units + 1);
	m->plans = ARENA_ARRAY(a, const struct plan *, p->n_units + 1);
	m->unit_keys = ARENA_ARRAY(a, hash128, p->n_units + 1);
	for (uint32_t i = 0; i < p->n_units; i++) {
		m->units[i] = (struct unit_job){.unit = p->units[i], .model = m, .options = key_unit_options(&m->spec->plan, p->units[i])};
		map_put(&m->unit_index, pointer_key(p->units[i]), i);
	}
	for (uint32_t i = 0; i < p->n_entries; i++)
		want(m, p->entries[i].unit);
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

static void finish_model(struct build *b, struct model_job *m)
{
	for (uint32_t i = 0; i < m->program->n_units; i++) {
		struct unit_job *j = &m->units[i];
		if (!j->needed)
			continue;
		if (j->plan && m->opencl)
			refuse_control(j);
		diags_merge(b->diags, j->diags);
		m->plans[i] = j->plan;
		if (j->plan)
			m->unit_keys[i] = j->key = key_unit(b->compiler, &m->platform, &j->options, j->plan);
		else
			m->failed = true;
		b->units++;
	}
}

bool build_plan(struct build *b)
{
	struct unit_job *j;
	for (uint32_t i = 0; i < b->n_models; i++)
		if (!b->models[i].failed)
			start_model(&b->models[i]);
	while ((j = pool_wait(b->pool, -1)))
		if (j->plan)
			want_callees(j);
	for (uint32_t i = 0; i < b->n_models; i++)
		if (!b->models[i].failed)
			finish_model(b, &b->models[i]);
	b->interrupted |= os_interrupted();
	return build_may_go_on(b);
}

static const char *definition_name(struct arena *a, const struct core_unit *u)
{
	/* the symbol is the definition's name, an underscore and 16 hex digits */
	size_t n = strlen(u->symbol);
	return arena_strndup(a, u->symbol, n > 17 ? n - 17 : n);
}

static struct unit_record record_of(const struct unit_job *j)
{
	struct build *b = j->model->build;
	struct arena *a = b->session;
	const struct plan *p = j->plan;
	struct unit_record r = {
		.name = j->unit->name,
		.file = j->unit->file,
		.definition = definition_name(a, j->unit),
		.identity = j->unit->identity,
		.tokens = j->unit->definition,
		.code = core_unit_hash(j->unit),
		.key = j->key,
		.compiler = b->compiler,
		.target = j->model->platform.id,
		.cpu = j->model->platform.name,
		.opt = j->options.size ? MANIFEST_OPT_SIZE : j->options.opt,
		.n_parts = p->n_inlined,
	};
	r.parts = ARENA_ARRAY(a, struct unit_part, p->n_inlined + 1);
	for (uint32_t i = 0; i < p->n_inlined; i++)
		r.parts[i] = (struct unit_part){p->inlined[i]->name, p->inlined[i]->identity, core_unit_hash(p->inlined[i])};
	return r;
}

static uint32_t line_of(const struct build *b, span at)
{
	return at.source == SPAN_NO_SOURCE ? 0 : source_position(b->sources, at.source, at.start).line;
}

static struct compile *fragment_for(struct build *b, struct unit_job *j)
{
	uint64_t at;
	if (map_get(&b->compile_index, j->key, &at)) {
		b->reused++;
		return b->compiles.at[at];
	}
	struct compile *c = ARENA_NEW(b->session, struct compile);
	struct unit_record now = record_of(j);
	const struct unit_record *then = history_find(j->model->history, j->unit->identity);
	*c = (struct compile){.key = j->key, .job = j, .expected_ns = then && then->compile_ns ? then->compile_ns : DEFAULT_COMPILE_NS};
	c->took_ns = then ? then->compile_ns : 0;
	c->label = arena_printf(b->session, "compile %s", j->unit->name);
	c->object = store_get(b->cache, hash_combine(store_key("fragment", ""), j->key), &c->len);
	if (c->object) {
		b->hits++;
		b->reused++;
	} else {
		b->misses++;
		c->why = history_explain(b->session, j->model->history, &now, line_of(b, j->unit->at));
	}
	map_put(&b->compile_index, j->key, b->compiles.len);
	vec_push(&b->compiles, c);
	return c;
}

bool build_find_fragments(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		if (m->failed)
			continue;
		m->history = history_load(b->session, b->project, m->spec->name);
		build_link_digest(m);
		for (uint32_t k = 0; k < m->program->n_units; k++) {
			struct unit_job *j = &m->units[k];
			if (!j->plan)
				continue;
			if (m->current || !m->library)
				b->reused++;
			else
				j->fragment = fragment_for(b, j);
		}
	}
	return true;
}

void build_explain(struct build *b)
{
	const char *verb = b->options->dry_run ? "would compile" : "compile";
	for (uint32_t i = 0; i < b->compiles.len; i++) {
		const struct compile *c = b->compiles.at[i];
		if (!c->object)
			fprintf(b->out, "%s %s: %s\n", verb, c->job->unit->name, c->why);
	}
	for (uint32_t i = 0; b->options->dry_run && i < b->n_models; i++)
		if (!b->models[i].failed && !b->models[i].current)
			fprintf(b->out, "would link %s\n", b->models[i].library ? b->models[i].library : b->models[i].spec->name);
}

void build_save_history(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		struct history h = {0};
		if (m->failed || m->current || !m->units)
			continue;
		h.units = ARENA_ARRAY(b->session, struct unit_record, m->program->n_units + 1);
		for (uint32_t k = 0; k < m->program->n_units; k++) {
			const struct unit_job *j = &m->units[k];
			if (!j->plan || !j->fragment || !j->fragment->object)
				continue;
			h.units[h.n] = record_of(j);
			h.units[h.n++].compile_ns = j->fragment->took_ns;
		}
		history_save(b->project, m->spec->name, &h);
	}
}
