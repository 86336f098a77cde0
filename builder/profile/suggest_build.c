/* The rules about builds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "builder/profile/figures.h"
#include "builder/profile/suggest_rules.h"
#include "builder/profile/symptoms.h"
#include "builder/store/compile_reason.h"

static double jobs_of(const struct profile *p)
{
	const char *jobs = profile_setting(p, "jobs");
	return jobs ? atof(jobs) : 1;
}

void suggest_JOBS(struct suggestions *s, const struct rule *r)
{
	double jobs = jobs_of(s->profile), efficiency = profile_fact(s->profile, "efficiency", 1);
	if (jobs < 2 || efficiency >= r->limit)
		return;
	struct suggestion *x = suggest_add(s, r, PROFILE_NONE,
					   arena_printf(s->arena, "%.0f jobs are busy for %.0f %% of the time", jobs, 100 * efficiency));
	x->edit = "-j1";
	x->variant = "-j1";
}

void suggest_BUILD_MEMORY(struct suggestions *s, const struct rule *r)
{
	char peak[FIGURE_SIZE];
	double bytes = profile_median(s->profile, &s->profile->total, METRIC_PEAK);
	if (bytes <= r->limit)
		return;
	struct suggestion *x =
		suggest_add(s, r, PROFILE_NONE, arena_printf(s->arena, "the build used up to %s", figure_text(UNIT_BYTES, bytes, peak)));
	x->edit = x->variant = "--low-memory";
}

void suggest_BUILD_CACHE(struct suggestions *s, const struct rule *r)
{
	const struct profile *p = s->profile;
	const char *scenario = profile_setting(p, "scenario");
	double hits = profile_fact(p, "cache.hits", 0), misses = profile_fact(p, "cache.misses", 0), units = 0;
	for (uint32_t i = 0; i < p->items.len; i++)
		if (p->items.at[i].kind == ITEM_UNIT && p->items.at[i].parent == PROFILE_NONE)
			units += suggest_item_ns(s, i);
	for (enum compile_reason e = COMPILE_BODY; e < COMPILE_REASONS; e++) { /* no cache has an edit of just now */
		const char *name = compile_reason_text(e);
		misses -= profile_fact(p, arena_printf(s->arena, "compiled.%s", name), 0);
		units -= profile_fact(p, arena_printf(s->arena, "compiled.%s_ns", name), 0);
	}
	if ((scenario && strcmp(scenario, "cold") == 0) || misses < 1 || hits / (hits + misses) >= r->limit)
		return;
	struct suggestion *x =
		suggest_add(s, r, PROFILE_NONE, arena_printf(s->arena, "%.0f of %.0f units were not in the cache", misses, misses + hits));
	suggest_estimate(x, fmin(0.95, units / jobs_of(p) / suggest_whole_ns(s)));
	x->edit = "cache.max_size in the configuration, if entries were evicted";
}

void suggest_CODEGEN(struct suggestions *s, const struct rule *r)
{
	const struct profile *p = s->profile;
	const char *opt = profile_setting(p, "opt");
	double busy = symptoms_busy_ns(p);
	for (uint32_t i = 0; i < p->items.len && busy > 0; i++) {
		const struct profile_item *x = &p->items.at[i];
		if (x->kind != ITEM_PHASE || strcmp(x->name, "codegen") != 0 || suggest_item_ns(s, i) / busy < r->limit)
			continue;
		bool is_fast = opt && (strcmp(opt, "1") == 0 || strcmp(opt, "0") == 0);
		struct suggestion *y = suggest_add(s, r, i,
						   arena_printf(s->arena, "code generation takes %.0f %% of the time at -O%s",
								100 * suggest_item_ns(s, i) / busy, opt ? opt : "1"));
		y->action = is_fast ? "compile units at their first call while editing" : r->action;
		y->edit = y->variant = is_fast ? "--lazy" : "-O1";
	}
}

/* A unit that takes longer than an equal share of the others. */
void suggest_LARGE_UNIT(struct suggestions *s, const struct rule *r)
{
	char time[FIGURE_SIZE];
	double jobs = jobs_of(s->profile);
	for (uint32_t i = 0; i < s->profile->items.len; i++) {
		double ns = suggest_item_ns(s, i), share = ns / suggest_whole_ns(s);
		if (s->profile->items.at[i].kind != ITEM_UNIT || s->profile->items.at[i].parent != PROFILE_NONE || jobs < 2 ||
		    share < r->limit)
			continue;
		struct suggestion *x = suggest_add(s, r, i,
						   arena_printf(s->arena, "it takes %s, %.0f %% of the build, on one of %.0f jobs",
								figure_text(UNIT_NS, ns, time), 100 * share, jobs));
		suggest_estimate(x, share * (1 - 1 / jobs));
	}
}

/* In builds after an edit of one definition: a unit that was compiled because of its callee. */
void suggest_SIGNATURE(struct suggestions *s, const struct rule *r)
{
	const struct profile *p = s->profile;
	const char *scenario = profile_setting(p, "scenario");
	for (uint32_t i = 0; i < p->items.len && scenario && strcmp(scenario, "edit") == 0; i++) {
		const struct profile_item *x = &p->items.at[i];
		double calls = profile_median(p, &x->values, METRIC_CALLS);
		if (x->kind != ITEM_UNIT || x->parent != PROFILE_NONE || calls < r->limit || !x->note || !strstr(x->note, "calls changed"))
			continue;
		struct suggestion *y = suggest_add(s, r, i, "it was compiled after each edit of another definition");
		suggest_estimate(y, suggest_item_ns(s, i) / suggest_whole_ns(s));
	}
}
