/* Describes the units in the profile of a build: where they are, why they were compiled, and which units their code calls. */
#include "base/arena.h"
#include "base/map.h"
#include "base/source.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/plan/compile.h"
#include "builder/build/report/build_profile.h"
#include "builder/build/session/context.h"
#include "builder/profile/profile.h"
#include "builder/store/compile_reason.h"
#include "frontend/hir/hir.h"

struct describer {
	const struct build_context *c;
	struct profile *p;
	struct map by_name;    /* of unit items */
	uint32_t *last_caller; /* for each item: the item whose edge to it was added last, plus one */
	double compiled[COMPILE_REASONS], ns[COMPILE_REASONS];
};

/* Units with equal code share one fragment, which was compiled under the name of the first of them. */
static uint32_t profile_units_item_of(const struct describer *d, const struct unit_job *j)
{
	uint64_t at;
	const struct unit_job *first = j->compile ? j->compile->job : j;
	return map_get(&d->by_name, map_key_str(first->unit->name), &at) ? (uint32_t)at : PROFILE_NONE;
}

static const char *profile_units_place_of(const struct describer *d, const struct hir_unit *u)
{
	uint32_t line = source_position(d->c->sources, u->at.source, u->at.start).line;
	return arena_printf(d->p->arena, "%s:%u", u->file, line);
}

/* The calls that are left in the code of a unit: inlined callees count as the unit itself. */
static void add_edges(struct describer *d, uint32_t from, const struct unit_job *j)
{
	for (uint32_t i = 0; i < j->plan->n_slots; i++) {
		const struct slot *s = &j->plan->slots[i];
		const struct unit_job *callee = s->kind == SLOT_TABLE ? variant_find_unit(j->variant, s->callee->identity) : NULL;
		uint32_t to = callee ? profile_units_item_of(d, callee) : PROFILE_NONE;
		if (to == PROFILE_NONE || to == from || d->last_caller[to] == from + 1)
			continue;
		d->last_caller[to] = from + 1;
		vec_push(&d->p->edges, ((struct profile_edge){from, to}));
	}
}

static void count_reason(struct describer *d, const struct profile_item *item, const struct compile *fragment)
{
	d->compiled[fragment->why.reason]++;
	d->ns[fragment->why.reason] += item->values.of[METRIC_WALL] ? item->values.of[METRIC_WALL][0] : 0;
}

static void profile_units_describe(struct describer *d, const struct unit_job *j)
{
	uint32_t at = j->compile && j->compile->job == j ? profile_units_item_of(d, j) : PROFILE_NONE;
	if (at == PROFILE_NONE)
		return; /* not compiled in this build */
	struct profile_item *item = &d->p->items.at[at];
	if (j->compile->why.text)
		count_reason(d, item, j->compile);
	if (item->at)
		return; /* described as a unit of another variant */
	if (j->unit->at.source != SPAN_NO_SOURCE)
		item->at = profile_units_place_of(d, j->unit);
	if (j->compile->why.text)
		item->note = arena_strdup(d->p->arena, j->compile->why.text);
	add_edges(d, at, j);
}

void profile_describe_units(struct profile *p, const struct build_context *c, const struct project *project)
{
	struct describer d = {.c = c, .p = p, .last_caller = ARENA_ARRAY(p->arena, uint32_t, p->items.len + 1)};
	for (uint32_t i = 0; i < p->items.len; i++)
		if (p->items.at[i].kind == ITEM_UNIT)
			map_put(&d.by_name, map_key_str(p->items.at[i].name), i);
	for (uint32_t i = 0; i < project->n_models; i++)
		for (uint32_t v = 0; v < project->models[i].n_variants; v++) {
			const struct model_units *units = &project->models[i].variants[v].units;
			for (uint32_t k = 0; units->jobs && k < project->models[i].program->n_units; k++)
				profile_units_describe(&d, &units->jobs[k]);
		}
	for (uint32_t r = 0; r < COMPILE_REASONS; r++)
		if (d.compiled[r] > 0) {
			profile_add_fact(p, arena_printf(p->arena, "compiled.%s", compile_reason_text(r)), d.compiled[r]);
			profile_add_fact(p, arena_printf(p->arena, "compiled.%s_ns", compile_reason_text(r)), d.ns[r]);
		}
	map_free(&d.by_name);
}
