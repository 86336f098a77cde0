#include "builder/profile/suggest.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/bug.h"
#include "builder/profile/suggest_rules.h"

static const struct rule rules[] = {
#define SUGGESTION(id, name, kind, type, effort, limit, action) \
	{name, action, PROFILE_##kind, SUGGEST_##type, EFFORT_##effort, limit, suggest_##id},
#include "builder/profile/suggestions.def"
};

const char *const suggestion_types[] = {"routing", "batching", "memory", "caching", "algorithm", "parallel"};
const char *const suggestion_priorities[] = {"critical", "high", "medium", "low"};
const char *const suggestion_efforts[] = {"small", "medium", "large"};
const char *const saving_kinds[] = {"unknown", "estimated", "measured"};

/* ---- what rules use ---- */

struct suggestion *suggest_add(struct suggestions *s, const struct rule *r, uint32_t item, const char *evidence, ...)
{
	const struct profile *p = s->profile;
	va_list ap;
	va_start(ap, evidence);
	struct suggestion x = {.rule = r->name,
			       .type = r->type,
			       .effort = r->effort,
			       .subject = item == PROFILE_NONE ? "whole process" : profile_item_path(s->arena, p, item),
			       .at = item == PROFILE_NONE ? NULL : p->items.at[item].at,
			       .evidence = arena_vprintf(s->arena, evidence, ap),
			       .action = r->action};
	va_end(ap);
	vec_push(&s->list, x);
	return &s->list.at[s->list.len - 1];
}

void suggest_estimate(struct suggestion *x, double saving)
{
	x->saving_kind = SAVING_ESTIMATED;
	x->saving = saving < 0 ? 0 : saving;
}

void suggest_flags(struct suggestion *x, const char *flags) { x->edit = x->variant = flags; }

double suggest_whole_ns(const struct suggestions *s) { return profile_median(s->profile, &s->profile->total, METRIC_WALL); }
double suggest_item_ns(const struct suggestions *s, uint32_t item) { return profile_value(s->profile, item, METRIC_WALL); }
double suggest_call_ns(const struct suggestions *s, uint32_t item)
{
	return suggest_item_ns(s, item) / fmax(1, profile_value(s->profile, item, METRIC_CALLS));
}
double suggest_share(const struct suggestions *s, uint32_t item) { return suggest_item_ns(s, item) / suggest_whole_ns(s); }

double suggest_setting(const struct suggestions *s, const char *name, double otherwise)
{
	const char *text = profile_setting(s->profile, name);
	return text ? atof(text) : otherwise;
}

bool suggest_is_work(const struct suggestions *s, uint32_t item)
{
	const struct profile *p = s->profile;
	for (uint32_t i = item + 1; p->items.at[item].kind == ITEM_STATEMENT && i < p->items.len; i++)
		if (p->items.at[i].parent == item)
			return false;
	return profile_is_code(&p->items.at[item]);
}

/* ---- the list ---- */

/* A person takes a shorter build as immediate (Miller 1968). */
#define NOTICED_NS 1e8

/* By the share of the time that it saves. An unknown saving is worth trying, but says nothing. */
static enum suggestion_priority priority_of(const struct suggestions *s, const struct suggestion *x)
{
	if (x->saving_kind == SAVING_UNKNOWN)
		return PRIORITY_LOW;
	double sure = x->saving_kind == SAVING_MEASURED ? x->low : x->saving;
	if (s->profile->kind == PROFILE_BUILD && suggest_whole_ns(s) < NOTICED_NS)
		sure = fmin(sure, 0.09);
	return sure >= 0.25 ? PRIORITY_CRITICAL : sure >= 0.1 ? PRIORITY_HIGH : sure >= 0.03 ? PRIORITY_MEDIUM : PRIORITY_LOW;
}

static int by_priority(const void *a, const void *b)
{
	const struct suggestion *x = a, *y = b;
	if (x->priority != y->priority)
		return x->priority < y->priority ? -1 : 1;
	if (x->saving != y->saving)
		return x->saving > y->saving ? -1 : 1;
	if (x->effort != y->effort)
		return x->effort < y->effort ? -1 : 1;
	return (x > y) - (x < y);
}

void suggestions_sort(struct suggestions *s)
{
	for (uint32_t i = 0; i < s->list.len; i++)
		s->list.at[i].priority = priority_of(s, &s->list.at[i]);
	if (s->list.len)
		qsort(s->list.at, s->list.len, sizeof *s->list.at, by_priority);
}

struct suggestions *suggest(const struct profile *p)
{
	struct suggestions *s = alloc_zeroed(sizeof *s);
	s->arena = arena_new(0);
	s->profile = p;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].kind == p->kind && suggest_whole_ns(s) > 0)
			rules[i].find(s, &rules[i]);
	suggestions_sort(s);
	return s;
}

void suggestions_free(struct suggestions *s)
{
	if (!s)
		return;
	vec_free(&s->list);
	arena_free(s->arena);
	free(s);
}
