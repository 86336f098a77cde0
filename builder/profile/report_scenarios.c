/* First and second builds of each scenario, from a profile of all of them. */
#include <string.h>
#include "base/buf.h"
#include "base/json.h"
#include "builder/profile/figures.h"
#include "builder/profile/record.h"
#include "builder/profile/report_view.h"
#include "builder/profile/table.h"

static const enum profile_metric shown[] = {METRIC_WALL, METRIC_CPU, METRIC_PEAK};
#define SHOWN (sizeof shown / sizeof *shown)

static bool is_scenario(const struct profile *p, uint32_t item)
{
	return p->items.at[item].kind == ITEM_SCENARIO && p->items.at[item].parent == PROFILE_NONE;
}

/* The values of one run of a scenario; NULL: the profile has none. */
static const struct profile_values *run_of(const struct profile *p, uint32_t scenario, const char *name)
{
	for (uint32_t i = scenario + 1; i < p->items.len; i++)
		if (p->items.at[i].parent == scenario && strcmp(p->items.at[i].name, name) == 0)
			return &p->items.at[i].values;
	return NULL;
}

static void add_run(const struct view *v, struct table *t, uint32_t scenario, const char *name)
{
	const struct profile_values *values = run_of(v->p, scenario, name);
	char text[FIGURE_SIZE];
	for (size_t m = 0; m < SHOWN; m++)
		table_add(t, values ? figure_text(profile_metrics[shown[m]].unit, profile_median(v->p, values, shown[m]), text) : "-");
}

void report_scenarios(const struct view *v)
{
	struct table t = {.arena = v->a,
			  .columns = {{"scenario", false},
				      {FIRST_RUN, true},
				      {"CPU", true},
				      {"peak memory", true},
				      {SECOND_RUN, true},
				      {"CPU", true},
				      {"peak memory", true},
				      {"the first run found", false}},
			  .n_columns = 8};
	for (uint32_t i = 0; i < v->p->items.len; i++) {
		if (!is_scenario(v->p, i))
			continue;
		table_add(&t, v->p->items.at[i].name);
		add_run(v, &t, i, FIRST_RUN);
		add_run(v, &t, i, SECOND_RUN);
		table_add(&t, v->p->items.at[i].note);
	}
	if (!t.cells.len)
		return;
	report_title(v, "first and second runs");
	table_print(&t, v->o->format == REPORT_MARKDOWN, v->out);
}

static void print_run(const struct view *v, struct json_writer *w, const char *key, uint32_t scenario, const char *name)
{
	const struct profile_values *values = run_of(v->p, scenario, name);
	json_member_open(w, key, '{');
	for (size_t m = 0; values && m < SHOWN; m++)
		json_member_num(w, profile_metrics[shown[m]].name, profile_median(v->p, values, shown[m]));
	json_close(w, '}');
}

void report_scenarios_json(const struct view *v, struct json_writer *w)
{
	json_member_open(w, "scenarios", '[');
	for (uint32_t i = 0; i < v->p->items.len; i++) {
		if (!is_scenario(v->p, i))
			continue;
		json_open(w, '{');
		json_member_str(w, "name", v->p->items.at[i].name);
		json_member_str(w, "found", v->p->items.at[i].note);
		print_run(v, w, "first", i, FIRST_RUN);
		print_run(v, w, "second", i, SECOND_RUN);
		json_close(w, '}');
	}
	json_close(w, ']');
}
