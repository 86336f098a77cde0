#include "builder/profile/suggest.h"
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/bug.h"
#include "builder/profile/suggest_rules.h"

static const struct rule rules[] = {
#define SUGGESTION(id, name, kind, type, effort, limit, action) \
	{name, action, PROFILE_##kind, SUGGEST_##type, EFFORT_##effort, limit, suggest_##id},
#include "builder/profile/suggestions.def"
};

const char *suggestion_type_text(enum suggestion_type t)
{
	static const char *const texts[] = {"routing", "batching", "memory", "caching", "algorithm", "parallel"};
	return texts[t];
}
const char *suggestion_priority_text(enum suggestion_priority p)
{
	static const char *const texts[] = {"critical", "high", "medium", "low"};
	return texts[p];
}
const char *suggestion_effort_text(enum suggestion_effort e)
{
	static const char *const texts[] = {"small", "medium", "large"};
	return texts[e];
}
const char *saving_kind_text(enum saving_kind k)
{
	static const char *const texts[] = {"unknown", "estimated", "measured"};
	return texts[k];
}

/* ---- what rules use ---- */

struct suggestion *suggest_add(struct suggestions *s, const struct rule *r, uint32_t item, const char *evidence)
{
	const struct profile *p = s->profile;
	struct suggestion x = {.rule = r->name,
			       .type = r->type,
			       .effort = r->effort,
			       .subject = item == PROFILE_NONE ? "whole process" : profile_item_path(s->arena, p, item),
			       .at = item == PROFILE_NONE ? NULL : p->items.at[item].at,
			       .evidence = arena_strdup(s->arena, evidence),
			       .action = r->action};
	vec_push(&s->list, x);
	return &s->list.at[s->list.len - 1];
}

void suggest_estimate(struct suggestion *x, double saving)
{
	x->saving_kind = SAVING_ESTIMATED;
	x->saving = saving < 0 ? 0 : saving;
}

double suggest_whole_ns(const struct suggestions *s) { return profile_median(s->profile, &s->profile->total, METRIC_WALL); }

double suggest_item_ns(const struct suggestions *s, uint32_t item)
{
	return profile_median(s->profile, &s->profile->items.at[item].values, METRIC_WALL);
}

double suggest_call_ns(const struct suggestions *s, uint32_t item)
{
	double calls = profile_median(s->profile, &s->profile->items.at[item].values, METRIC_CALLS);
	return suggest_item_ns(s, item) / (calls >= 1 ? calls : 1);
}

bool suggest_is_work(const struct suggestions *s, uint32_t item)
{
	const struct profile *p = s->profile;
	enum profile_item_kind kind = p->items.at[item].kind;
	for (uint32_t i = item + 1; kind == ITEM_STATEMENT && i < p->items.len; i++)
		if (p->items.at[i].parent == item)
			return false;
	return kind == ITEM_STATEMENT || kind == ITEM_KERNEL;
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
