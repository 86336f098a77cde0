#include "builder/build/plan/programs.h"
#include "backend/lower/summary.h"
#include "backend/plan/figures.h"
#include "base/arena.h"
#include "base/measure.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/session/context.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/options.h"
#include "frontend/hir/hir.h"

const char *last_pass_of(const struct options *o) { return o->stop < STOP_PASS ? NULL : listed_pass_name(o->stop - STOP_PASS); }

struct ir_program *program_of_variant(const struct build_context *c, const struct variant *v, struct arena *a, struct pass_trace *trace)
{
	const struct model_job *m = v->model;
	struct ir_program *to = lower_program(a, m->program, m->summaries, m->params.file_types);
	struct plan_figures figures = {0};
	trace->figures = figures.of;
	trace->stop = last_pass_of(c->request.options);
	program_decide(to, v->target, m->spec->plan.verify, trace);
	timing_add_passes(c->timing, &figures);
	return to;
}

static void decide_model(const struct build_context *c, struct model_job *m)
{
	phase_begin(PHASE_OPT, NULL);
	m->params.file_types = weights_types(m->link.arena, m->params.file, m->program);
	measure_begin("summarise");
	m->summaries = lower_summaries(m->link.arena, m->program);
	measure_end();
	for (uint32_t i = 0; i < m->n_variants; i++)
		m->variants[i].program = program_of_variant(c, &m->variants[i], m->link.arena, &(struct pass_trace){0});
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
