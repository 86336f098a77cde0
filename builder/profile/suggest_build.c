/* The rules about builds. */
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "builder/profile/figures.h"
#include "builder/profile/suggest_rules.h"
#include "builder/profile/symptoms.h"
#include "builder/store/compile_reason.h"

static bool has_scenario(const struct suggestions *s, const char *name)
{
	const char *scenario = profile_setting(s->profile, "scenario");
	return scenario && strcmp(scenario, name) == 0;
}

static bool suggest_build_is_unit(const struct suggestions *s, uint32_t item)
{
	return s->profile->items.at[item].kind == ITEM_UNIT && s->profile->items.at[item].parent == PROFILE_NONE;
}

void suggest_JOBS(struct suggestions *s, const struct rule *r)
{
	double jobs = suggest_setting(s, "jobs", 1), efficiency = profile_fact(s->profile, "efficiency", 1);
	if (jobs >= 2 && efficiency < r->limit)
		suggest_flags(suggest_add(s, r, PROFILE_NONE, "%.0f jobs are busy for %.0f %% of the time", jobs, 100 * efficiency), "-j1");
}

void suggest_BUILD_MEMORY(struct suggestions *s, const struct rule *r)
{
	double bytes = profile_median(s->profile, &s->profile->total, METRIC_PEAK);
	if (bytes > r->limit)
		suggest_flags(suggest_add(s, r, PROFILE_NONE, "the build used up to %s", figure_new(s->arena, UNIT_BYTES, bytes)),
			      "--low-memory");
}

void suggest_BUILD_CACHE(struct suggestions *s, const struct rule *r)
{
	const struct profile *p = s->profile;
	double hits = profile_fact(p, "cache.hits", 0), misses = profile_fact(p, "cache.misses", 0), units = 0;
	for (uint32_t i = 0; i < p->items.len; i++)
		units += suggest_build_is_unit(s, i) ? suggest_item_ns(s, i) : 0;
	for (enum compile_reason e = COMPILE_BODY; e < COMPILE_REASONS; e++) { /* no cache has an edit of just now */
		const char *name = compile_reason_text(e);
		misses -= profile_fact(p, arena_printf(s->arena, "compiled.%s", name), 0);
		units -= profile_fact(p, arena_printf(s->arena, "compiled.%s_ns", name), 0);
	}
	if (has_scenario(s, "cold") || misses < 1 || hits / (hits + misses) >= r->limit)
		return;
	struct suggestion *x = suggest_add(s, r, PROFILE_NONE, "%.0f of %.0f units were not in the cache", misses, misses + hits);
	suggest_estimate(x, fmin(0.95, units / suggest_setting(s, "jobs", 1) / suggest_whole_ns(s)));
	x->edit = "cache.max_size in the configuration, if entries were evicted";
}

void suggest_CODEGEN(struct suggestions *s, const struct rule *r)
{
	const struct profile *p = s->profile;
	const char *opt = profile_setting(p, "opt");
	double busy = symptoms_busy_ns(p);
	bool is_fast = opt && (strcmp(opt, "1") == 0 || strcmp(opt, "0") == 0);
	for (uint32_t i = 0; i < p->items.len && busy > 0; i++) {
		double share = suggest_item_ns(s, i) / busy;
		if (p->items.at[i].kind != ITEM_PHASE || strcmp(p->items.at[i].name, "codegen") != 0 || share < r->limit)
			continue;
		struct suggestion *x =
			suggest_add(s, r, i, "code generation takes %.0f %% of the time at -O%s", 100 * share, opt ? opt : "1");
		x->action = is_fast ? "compile units at their first call while editing" : r->action;
		suggest_flags(x, is_fast ? "--lazy" : "-O1");
	}
}

/* A unit that takes longer than an equal share of the others. */
void suggest_LARGE_UNIT(struct suggestions *s, const struct rule *r)
{
	double jobs = suggest_setting(s, "jobs", 1);
	for (uint32_t i = 0; i < s->profile->items.len; i++) {
		double share = suggest_share(s, i);
		if (suggest_build_is_unit(s, i) && jobs >= 2 && share >= r->limit)
			suggest_estimate(suggest_add(s, r, i, "it takes %s, %.0f %% of the build, on one of %.0f jobs",
						     figure_new(s->arena, UNIT_NS, suggest_item_ns(s, i)), 100 * share, jobs),
					 share * (1 - 1 / jobs));
	}
}

/* In builds after an edit of one definition: a unit that was compiled because of its callee. */
void suggest_SIGNATURE(struct suggestions *s, const struct rule *r)
{
	const struct profile *p = s->profile;
	for (uint32_t i = 0; i < p->items.len && has_scenario(s, "edit"); i++) {
		const char *note = p->items.at[i].note;
		if (suggest_build_is_unit(s, i) && profile_value(p, i, METRIC_CALLS) >= r->limit && note && strstr(note, "calls changed"))
			suggest_estimate(suggest_add(s, r, i, "it was compiled after each edit of another definition"),
					 suggest_share(s, i));
	}
}
