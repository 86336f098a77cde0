#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "builder/profile/figures.h"
#include "builder/profile/profile.h"
#include "builder/profile/report.h"
#include "builder/profile/statistics.h"
#include "builder/profile/symptoms.h"

/* A report of one profile. */
struct view {
	struct report r;
	const struct profile *p;
	double whole; /* busy time, of which shares are printed */
};

static void report_profile_put_head(struct view *v)
{
	const struct profile *p = v->p;
	const char *models = profile_setting(p, "models");
	report_say(&v->r, "%s%s%s: %u sample%s, trib %s, %s, %u CPU%s\n", p->kind == PROFILE_RUN ? "run" : "build", models ? " of " : "",
		   models ? models : "", p->n_samples, p->n_samples == 1 ? "" : "s (medians)", p->version, p->machine.cpu, p->machine.cores,
		   p->machine.cores == 1 ? "" : "s");
	for (uint32_t i = 0; i < p->settings.len; i++)
		report_say(&v->r, i ? ", %s %s" : "%s %s", p->settings.at[i].name, p->settings.at[i].text);
	report_put(&v->r, p->settings.len ? "\n" : "");
}

static void put_total(struct view *v)
{
	static const char *const titles[] = {"median", "mean", "least", "most", "deviation"};
	const struct profile *p = v->p;
	struct column columns[6] = {ONLY_TEXT("metric", WORD)};
	struct table t = TABLE(&v->r, columns);
	for (uint32_t k = 0; k < 5; k++)
		columns[1 + k] = (struct column){NULL, titles[k], CELL_RIGHT};
	for (uint32_t m = 0; m < METRIC_COUNT; m++) {
		const double *x = p->total.of[m];
		uint32_t n = p->n_samples;
		if (!x)
			continue;
		struct cell cells[6] = {word(profile_metrics[m].title)};
		double values[] = {statistics_median(x, n), statistics_mean(x, n), statistics_quantile(x, n, 0),
				   statistics_quantile(x, n, 1), statistics_deviation(x, n)};
		for (uint32_t k = 0; k < 5; k++)
			cells[1 + k] = word(figure_new(v->r.arena, profile_metrics[m].unit, values[k]));
		table_add(&t, cells, 6);
	}
	table_print(&t, NULL, "whole process");
}

/* ---- lists of items ---- */

/* What is listed of an item beside its wall time. */
static const enum profile_metric shown[] = {METRIC_CPU,        METRIC_CALLS, METRIC_PEAK,          METRIC_NET,     METRIC_ALLOCATIONS,
					    METRIC_FILES_READ, METRIC_READ,  METRIC_FILES_WRITTEN, METRIC_WRITTEN, METRIC_OPERATIONS};
enum { SHOWN = sizeof shown / sizeof *shown };

/* Prints a table of the items. names: of each; NULL: that of its place in the tree. */
static void report_profile_put_items(struct view *v, const uint32_t *items, uint32_t n, const char *title, const char *heading,
				     bool as_tree)
{
	const struct profile *p = v->p;
	struct arena *a = v->r.arena;
	struct column columns[3 + SHOWN] = {{NULL, title, CELL_WORD}, ONLY_TEXT("wall", RIGHT), ONLY_TEXT("share", PERCENT)};
	struct table t = TABLE(&v->r, columns);
	for (uint32_t m = 0; m < SHOWN; m++)
		columns[3 + m] = (struct column){NULL, profile_metrics[shown[m]].title, CELL_RIGHT};
	for (uint32_t k = 0; k < n; k++) {
		const struct profile_item *i = &p->items.at[items[k]];
		const char *name = as_tree ? arena_printf(a, "%*s%s%s%s", (int)(2 * (i->depth - 1)), "", i->name, i->note ? ", " : "",
							  i->note ? i->note : "")
				   : i->at ? arena_printf(a, "%s (%s)", profile_item_path(a, p, items[k]), i->at)
					   : profile_item_path(a, p, items[k]);
		double wall = profile_value(p, items[k], METRIC_WALL);
		struct cell cells[3 + SHOWN] = {word(name), word(i->values.of[METRIC_WALL] ? figure_new(a, UNIT_NS, wall) : ""),
						figure(v->whole > 0 ? wall / v->whole : 0)};
		for (uint32_t m = 0; m < SHOWN; m++)
			cells[3 + m] = i->values.of[shown[m]]
					       ? word(figure_new(a, profile_metrics[shown[m]].unit, profile_value(p, items[k], shown[m])))
					       : blank(NULL);
		table_add(&t, cells, 3 + SHOWN);
	}
	table_print(&t, NULL, heading);
}

/* Returns the items of some kinds that are above the threshold, in the order of the profile. */
static uint32_t *items_of(struct view *v, uint64_t kinds, uint32_t *n)
{
	uint32_t *list = ARENA_ARRAY(v->r.arena, uint32_t, v->p->items.len + 1);
	*n = 0;
	for (uint32_t i = 0; i < v->p->items.len; i++)
		if (kinds >> v->p->items.at[i].kind & 1 && profile_value(v->p, i, METRIC_WALL) >= v->r.options.threshold_ns)
			list[(*n)++] = i;
	return list;
}

static int report_profile_by_wall(const void *a, const void *b, void *profile)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double w = profile_value(profile, x, METRIC_WALL), u = profile_value(profile, y, METRIC_WALL);
	return w != u ? (w < u) - (w > u) : (x > y) - (x < y);
}

/* The same, the longest first. */
static uint32_t *sorted_items(struct view *v, uint64_t kinds, uint32_t *n)
{
	uint32_t *list = items_of(v, kinds, n);
	qsort_r(list, *n, sizeof *list, report_profile_by_wall, (void *)(uintptr_t)v->p);
	return list;
}

static void put_trees(struct view *v)
{
	uint32_t n, top = v->r.options.top;
	const uint32_t *list = items_of(v, PROFILE_STAGES, &n);
	report_profile_put_items(v, list, n, "phase", "phases", true);
	list = sorted_items(v, 1u << ITEM_UNIT, &n);
	uint32_t most = n < top ? n : top;
	report_profile_put_items(v, list, most, "unit", arena_printf(v->r.arena, "costliest units (%u of %u)", most, n), false);
}

static void put_kernels(struct view *v)
{
	struct buf table = {0};
	report_kernels(v->p, &v->r.options, &table);
	if (table.len) {
		report_title(&v->r, "costliest statements");
		buf_puts(v->r.out, table.at);
	}
	buf_free(&table);
}

/* ---- facts ---- */

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* Names of facts end in their units. */
static const char *fact_text(struct arena *a, const struct profile_fact *fact)
{
	static const char *const shares[] = {"share", "rate", "efficiency", "utilisation"};
	const char *cut = strrchr(fact->name, '.'), *last = cut ? cut + 1 : fact->name, *line = strrchr(last, '_'),
		   *unit = line ? line + 1 : last;
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
		if (strcmp(unit, shares[i]) == 0)
			return arena_printf(a, "%.1f %%", 100 * fact->value);
	bool is_size = strcmp(unit, "bytes") == 0, is_time = strcmp(unit, "ns") == 0 || begins(fact->name, "outlier.");
	if (begins(fact->name, "ceiling."))
		return arena_printf(a, "%.3g %s", fact->value / 1e9, is_size ? "GB/s" : "GOP/s");
	return figure_new(a, is_time ? UNIT_NS : is_size ? UNIT_BYTES : UNIT_COUNT, fact->value);
}

static void put_facts(struct view *v)
{
	if (v->p->facts.len)
		report_title(&v->r, "facts");
	for (uint32_t i = 0; i < v->p->facts.len; i++) {
		const struct profile_fact *f = &v->p->facts.at[i];
		if (!report_is_of_caches(f->name))
			report_say(&v->r, v->r.options.format == REPORT_MARKDOWN ? "- %s: %s\n" : "  %-28s %s\n", f->name,
				   fact_text(v->r.arena, f));
	}
}

/* ---- bottlenecks ---- */

static void put_symptoms(struct view *v)
{
	struct symptom s[MOST_SYMPTOMS];
	char value[FIGURE_SIZE], limit[FIGURE_SIZE];
	uint32_t n = symptoms_find(v->p, s);
	if (v->p->kind != PROFILE_BUILD)
		return;
	report_title(&v->r, "bottlenecks");
	for (uint32_t i = 0; i < n; i++) {
		const char *verb = s[i].is_below ? "below" : "above";
		report_put(&v->r, v->r.options.format == REPORT_MARKDOWN ? "- " : "  ");
		if (s[i].is_share)
			report_say(&v->r, "%s is %.0f %%, %s %.0f %%: %s\n", s[i].name, s[i].value * 100, verb, s[i].limit * 100,
				   s[i].advice);
		else
			report_say(&v->r, "%s is %s, %s %s: %s\n", s[i].name, figure_text(s[i].unit, s[i].value, value), verb,
				   figure_text(s[i].unit, s[i].limit, limit), s[i].advice);
	}
	if (!n)
		report_say(&v->r, "  none\n");
}

void report_symptoms(const struct profile *p, struct json_writer *w)
{
	struct symptom s[MOST_SYMPTOMS];
	uint32_t n = symptoms_find(p, s);
	json_open(w, '[');
	for (uint32_t i = 0; i < n; i++) {
		json_open(w, '{');
		json_member_str(w, "name", s[i].name);
		json_member_num(w, "value", s[i].value);
		json_member_num(w, "limit", s[i].limit);
		json_member_str(w, "unit", s[i].is_share ? "share" : metric_units[s[i].unit]);
		json_member_bool(w, "below", s[i].is_below);
		json_member_str(w, "advice", s[i].advice);
		json_close(w, '}');
	}
	json_close(w, ']');
}

/* ---- JSON ---- */

static void report_profile_put_values(struct report *r, const struct profile *p, const struct profile_values *values)
{
	for (uint32_t m = 0; m < METRIC_COUNT; m++)
		if (values->of[m])
			report_member(r, profile_metrics[m].name, figure(profile_median(p, values, (enum profile_metric)m)));
}

static void put_means(struct report *r, const struct profile *p, const struct profile_values *values)
{
	json_member_open(&r->json, "means", '{');
	for (uint32_t m = 0; m < METRIC_COUNT; m++)
		if (values->of[m])
			report_member(r, profile_metrics[m].name, figure(profile_mean(p, values, (enum profile_metric)m)));
	json_close(&r->json, '}');
}

static void report_profile_print_json(struct view *v)
{
	struct report *r = &v->r;
	const struct profile *p = v->p;
	uint32_t n;
	const uint32_t *list = sorted_items(v, UINT64_MAX, &n);
	report_member(r, "samples", figure(p->n_samples));
	json_member_open(&r->json, "total", '{');
	report_profile_put_values(r, p, &p->total);
	json_close(&r->json, '}');
	put_means(r, p, &p->total);
	json_member_open(&r->json, "items", '[');
	for (uint32_t i = 0; i < n && i < r->options.top; i++) {
		const struct profile_item *item = &p->items.at[list[i]];
		json_open(&r->json, '{');
		report_member(r, "kind", word(profile_item_kinds[item->kind]));
		report_member(r, "item", word(profile_item_path(r->arena, p, list[i])));
		report_member(r, "at", word(item->at));
		report_profile_put_values(r, p, &item->values);
		put_means(r, p, &item->values);
		report_kernel_members(r, p, list[i]);
		json_close(&r->json, '}');
	}
	json_close(&r->json, ']');
	if (p->kind == PROFILE_BUILD)
		report_scenarios(r, p);
	json_key(&r->json, "bottlenecks");
	report_symptoms(p, &r->json);
}

void report_profile(const struct profile *p, const struct report_options *options, struct buf *out)
{
	struct view v = {report_open(options, out, "report"), p,
			 p->kind == PROFILE_BUILD ? symptoms_busy_ns(p) : profile_median(p, &p->total, METRIC_WALL)};
	if (report_is_json(&v.r)) {
		report_profile_print_json(&v);
	} else {
		report_profile_put_head(&v);
		put_total(&v);
		report_scenarios(&v.r, p);
		put_trees(&v);
		report_functions(&v.r, p, v.whole);
		put_kernels(&v);
		report_caches(&v.r, p);
		put_facts(&v);
		put_symptoms(&v);
	}
	report_close(&v.r);
}
