/* Parts of the report of a build. */
#include "builder/profile/report.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "builder/profile/profile.h"
#include "builder/profile/record.h"
#include "builder/store/lookups.h"

/* First and second builds of each scenario, from a profile of all of them. */

/* The values of one run of a scenario; NULL: the profile has none. */
static const struct profile_values *run_of(const struct profile *p, uint32_t scenario, const char *name)
{
	for (uint32_t i = scenario + 1; i < p->items.len; i++)
		if (p->items.at[i].parent == scenario && strcmp(p->items.at[i].name, name) == 0)
			return &p->items.at[i].values;
	return NULL;
}

static void print_run(struct report *r, const char *key, const struct column *columns, const struct cell *cells)
{
	json_member_open(&r->json, key, '{');
	report_members(r, columns, cells, 3);
	json_close(&r->json, '}');
}

void report_scenarios(struct report *r, const struct profile *p)
{
	COLUMNS(columns, ONLY_TEXT("scenario", WORD), COLUMN("wall_ns", FIRST_RUN, NS), COLUMN("cpu_ns", "CPU", NS),
		COLUMN("peak_bytes", "peak memory", BYTES), COLUMN("wall_ns", SECOND_RUN, NS), COLUMN("cpu_ns", "CPU", NS),
		COLUMN("peak_bytes", "peak memory", BYTES), ONLY_TEXT("the first run found", WORD));
	static const enum profile_metric shown[] = {METRIC_WALL, METRIC_CPU, METRIC_PEAK};
	static const char *const runs[] = {FIRST_RUN, SECOND_RUN};
	struct table t = TABLE(r, columns);
	if (report_is_json(r))
		json_member_open(&r->json, "scenarios", '[');
	for (uint32_t i = 0; i < p->items.len; i++) {
		const struct profile_item *item = &p->items.at[i];
		struct cell cells[8] = {word(item->name), [7] = word(item->note)};
		if (item->kind != ITEM_SCENARIO || item->parent != PROFILE_NONE)
			continue;
		for (uint32_t k = 0; k < 6; k++) {
			const struct profile_values *v = run_of(p, i, runs[k / 3]);
			cells[1 + k] = v ? figure(profile_median(p, v, shown[k % 3])) : blank("-");
		}
		if (!report_is_json(r)) {
			table_add(&t, cells, 8);
			continue;
		}
		json_open(&r->json, '{');
		report_member(r, "name", word(item->name));
		report_member(r, "found", word(item->note));
		print_run(r, "first", columns + 1, cells + 1);
		print_run(r, "second", columns + 4, cells + 4);
		json_close(&r->json, '}');
	}
	if (report_is_json(r))
		json_close(&r->json, ']');
	table_print(&t, NULL, "first and second runs");
}

/* What a build looked up in each level of the caches, from the facts of its profile. */

bool report_is_of_caches(const char *fact)
{
	size_t len = strncmp(fact, "cache.", 6) == 0 ? strcspn(fact + 6, ".") : 0;
	for (uint32_t i = 0; i < LOOKUP_LEVELS; i++) {
		const char *name = lookup_level_name((enum lookup_level)i);
		if (len && fact[6 + len] && strlen(name) == len && strncmp(fact + 6, name, len) == 0)
			return true;
	}
	return false;
}

void report_caches(struct report *r, const struct profile *p)
{
	COLUMNS(columns, ONLY_TEXT("level", WORD), ONLY_TEXT("look-ups", COUNT), ONLY_TEXT("hits", COUNT), ONLY_TEXT("rate", PERCENT));
	struct table t = TABLE(r, columns);
	for (enum lookup_level l = 0; l < LOOKUP_LEVELS; l++) {
		double facts[3];
		for (int i = 0; i < 3; i++)
			facts[i] = profile_fact(p,
						arena_printf(r->arena, "cache.%s.%s", lookup_level_name(l),
							     ((const char *const[]){"lookups", "hits", "hit_rate"})[i]),
						0);
		if (facts[0] > 0)
			TABLE_ROW(&t, word(lookup_level_title(l)), figure(facts[0]), figure(facts[1]), figure(facts[2]));
	}
	table_print(&t, NULL, "caches");
}

/* A function of the compiler: its own time, without what it calls, under all its callers. */
struct compiler_function {
	const char *name;
	double own, wall, calls;
};

static int by_own(const void *a, const void *b)
{
	const struct compiler_function *x = a, *y = b;
	return (x->own < y->own) - (x->own > y->own);
}

/* Returns the functions, the costliest first. The rest of a phase has no name of its own. */
static struct compiler_function *functions_of(struct arena *a, const struct profile *p, uint32_t *n)
{
	struct compiler_function *list = ARENA_ARRAY(a, struct compiler_function, p->items.len + 1);
	*n = 0;
	for (uint32_t i = 0; i < p->items.len; i++) {
		const struct profile_item *item = &p->items.at[i];
		const char *name = strcmp(item->name, "other") == 0 ? profile_item_path(a, p, i) : item->name;
		uint32_t k = 0;
		if (!(PROFILE_STAGES >> item->kind & 1))
			continue;
		while (k < *n && strcmp(list[k].name, name) != 0)
			k++;
		*n += k == *n;
		list[k].name = name;
		list[k].own += profile_own(p, i, METRIC_WALL);
		list[k].wall += profile_value(p, i, METRIC_WALL);
		list[k].calls += profile_value(p, i, METRIC_CALLS);
	}
	qsort(list, *n, sizeof *list, by_own);
	return list;
}

void report_functions(struct report *r, const struct profile *p, double whole)
{
	COLUMNS(columns, ONLY_TEXT("function", WORD), ONLY_TEXT("self", NS), ONLY_TEXT("share", PERCENT), ONLY_TEXT("total", NS),
		ONLY_TEXT("calls", COUNT));
	struct table t = TABLE(r, columns);
	uint32_t n, top = r->options.top;
	const struct compiler_function *list = functions_of(r->arena, p, &n);
	for (uint32_t i = 0; i < n && i < top; i++)
		TABLE_ROW(&t, word(list[i].name), figure(list[i].own), figure(whole > 0 ? list[i].own / whole : 0), figure(list[i].wall),
			  figure(list[i].calls));
	table_print(&t, NULL, arena_printf(r->arena, "costliest functions of the compiler (%u of %u)", n < top ? n : top, n));
}
