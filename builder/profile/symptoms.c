#include "builder/profile/symptoms.h"
#include <stdlib.h>
#include <string.h>

enum looks_at { LOOKS_AT_SHARE, LOOKS_AT_TOTAL, LOOKS_AT_BELOW, LOOKS_AT_IDLE };
static const struct {
	enum looks_at at;
	const char *name;
	double limit;
	const char *advice;
} rules[] = {
#define SYMPTOM(id, at, name, limit, advice) {LOOKS_AT_##at, name, limit, advice},
#include "builder/profile/symptoms.def"
};
_Static_assert(sizeof rules / sizeof rules[0] <= MOST_SYMPTOMS, "");

double symptoms_busy_ns(const struct profile *p)
{
	double sum = 0;
	for (uint32_t i = 0; i < p->items.len; i++)
		if (p->items.at[i].kind == ITEM_PHASE && p->items.at[i].parent == PROFILE_NONE)
			sum += profile_median(p, &p->items.at[i].values, METRIC_WALL);
	return sum;
}

static double phase_share(const struct profile *p, const char *name)
{
	double busy = symptoms_busy_ns(p);
	for (uint32_t i = 0; i < p->items.len; i++)
		if (p->items.at[i].kind == ITEM_PHASE && strcmp(p->items.at[i].name, name) == 0 && busy > 0)
			return profile_value(p, i, METRIC_WALL) / busy;
	return 0;
}

static double total_of(const struct profile *p, const char *name, enum metric_unit *unit)
{
	uint32_t m = 0;
	while (m + 1 < METRIC_COUNT && strcmp(profile_metrics[m].name, name) != 0)
		m++;
	*unit = profile_metrics[m].unit;
	return profile_median(p, &p->total, (enum profile_metric)m);
}

static bool has_workers(const struct profile *p)
{
	const char *jobs = profile_setting(p, "jobs");
	return jobs && atoi(jobs) > 1;
}

/* A cold build starts without a cache. */
static bool is_expected(const struct profile *p, const char *name)
{
	const char *scenario = profile_setting(p, "scenario");
	return scenario && strcmp(scenario, "cold") == 0 && strcmp(name, "cache.hit_rate") == 0;
}

uint32_t symptoms_find(const struct profile *p, struct symptom out[MOST_SYMPTOMS])
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < sizeof rules / sizeof rules[0] && p->kind == PROFILE_BUILD; i++) {
		struct symptom s = {.name = rules[i].name, .limit = rules[i].limit, .advice = rules[i].advice, .unit = UNIT_COUNT};
		s.is_share = rules[i].at != LOOKS_AT_TOTAL;
		s.is_below = rules[i].at == LOOKS_AT_BELOW || rules[i].at == LOOKS_AT_IDLE;
		if ((rules[i].at == LOOKS_AT_IDLE && !has_workers(p)) || is_expected(p, rules[i].name))
			continue;
		if (s.is_below)
			s.value = profile_fact(p, s.name, s.limit);
		else
			s.value = s.is_share ? phase_share(p, s.name) : total_of(p, s.name, &s.unit);
		if (s.is_below ? s.value < s.limit : s.value > s.limit)
			out[n++] = s;
	}
	return n;
}
