#include "builder/build/plan/programs.h"
#include "backend/lower/summary.h"
#include "backend/plan/figures.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/measure.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/session/context.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/options.h"
#include "builder/store/history.h"
#include "frontend/hir/hir.h"

const char *last_pass_of(const struct options *o) { return o->stop < STOP_PASS ? NULL : listed_pass_name(o->stop - STOP_PASS); }

struct ir_program *program_of_variant(const struct options *options, struct timing *timing, const struct variant *v, struct arena *a,
				      struct pass_trace *trace)
{
	const struct model_job *m = v->model;
	struct ir_program *to = lower_program(a, m->program, m->summaries, m->params.file_types);
	struct plan_figures figures = {0};
	trace->figures = figures.of;
	trace->stop = last_pass_of(options);
	program_decide(to, v->target, m->spec->plan.verify, trace);
	timing_add_passes(timing, &figures);
	return to;
}

/* The summary in the record that the last build left of unit i; NULL: the unit has none with this code. */
static const struct unit_summary *recorded_summary(hash128 compiler, struct model_job *m, uint32_t i)
{
	const struct hir_unit *u = m->program->units[i];
	const struct unit_record *r = history_find(m->history, u->identity, m->variants[0].backend->name);
	if (!r || !hash_eq(r->made.compiler, compiler))
		return NULL;
	m->code_hashes[i] = hir_unit_hash(u);
	if (!hash_eq(r->made.code, m->code_hashes[i]))
		return NULL;
	struct unit_summary *s = ARENA_NEW(m->link.arena, struct unit_summary);
	*s = r->summary;
	s->symbol = u->symbol;
	s->identity = u->identity;
	return s;
}

/* True if the summaries fit each other. Those of records do, unless they are damaged. */
static bool summaries_hold(const struct model_job *m)
{
	struct buf why = {0};
	struct ir_program *p = lower_program(m->link.arena, m->program, m->summaries, NULL);
	bool ok = p && ir_program_verify(p, &why);
	ir_program_free(p);
	buf_free(&why);
	return ok;
}

static void summarise_units(struct arena *arena, const struct stores *stores, struct model_job *m)
{
	const struct hir_program *p = m->program;
	const struct unit_summary **known = ARENA_ARRAY(m->link.arena, const struct unit_summary *, p->n_units + 1);
	m->code_hashes = ARENA_ARRAY(m->link.arena, hash128, p->n_units + 1);
	m->history = history_load(arena, stores->project, m->spec->name);
	measure_begin("find summaries");
	for (uint32_t i = 0; i < p->n_units; i++)
		known[i] = recorded_summary(stores->compiler, m, i);
	measure_end();
	m->summaries = lower_summaries(m->link.arena, p, known);
	if (m->history->n && !summaries_hold(m))
		m->summaries = lower_summaries(m->link.arena, p, NULL);
}

static void decide_model(const struct build_context *c, struct model_job *m)
{
	phase_begin(PHASE_OPT, NULL);
	m->params.file_types = weights_types(m->link.arena, m->params.file, m->program);
	summarise_units(c->arena, &c->stores, m);
	for (uint32_t i = 0; i < m->n_variants; i++)
		m->variants[i].program =
			program_of_variant(c->request.options, c->timing, &m->variants[i], m->link.arena, &(struct pass_trace){0});
	m->params.types = m->variants[0].program->params; /* no target decides them */
	measure_end();
}

bool programs_decide(struct build_context *c, struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++)
		if (!p->models[i].failed)
			decide_model(c, &p->models[i]);
	return project_may_go_on(c, p);
}
