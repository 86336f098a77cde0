#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "builder/profile/figures.h"
#include "builder/profile/report_view.h"
#include "builder/profile/reports.h"
#include "builder/profile/statistics.h"
#include "builder/profile/symptoms.h"
#include "builder/profile/table.h"

static const char *figure(const struct view *v, const struct profile_values *values, enum profile_metric m)
{
	char text[FIGURE_SIZE];
	if (!values->of[m])
		return NULL;
	return arena_strdup(v->a, figure_text(profile_metrics[m].unit, profile_median(v->p, values, m), text));
}

void report_title(const struct view *v, const char *title)
{
	report_printf(v->o, v->out, v->o->format == REPORT_MARKDOWN ? "\n### %s\n\n" : "\n%s\n", title);
}

static void put_head(const struct view *v)
{
	const struct profile *p = v->p;
	report_printf(v->o, v->out, "%s%s: %u sample%s, trib %s, %s, %u CPU%s\n", p->kind == PROFILE_RUN ? "run" : "build",
		      profile_setting(p, "models") ? arena_printf(v->a, " of %s", profile_setting(p, "models")) : "", p->n_samples,
		      p->n_samples == 1 ? "" : "s (medians)", p->version, p->machine.cpu, p->machine.cores,
		      p->machine.cores == 1 ? "" : "s");
	for (uint32_t i = 0; i < p->settings.len; i++)
		report_printf(v->o, v->out, "%s%s %s", i ? ", " : "", p->settings.at[i].name, p->settings.at[i].text);
	if (p->settings.len)
		buf_putc(v->out, '\n');
}

static void put_total(const struct view *v)
{
	const struct profile *p = v->p;
	struct table t = {
		.arena = v->a,
		.columns = {{"metric", false}, {"median", true}, {"mean", true}, {"least", true}, {"most", true}, {"deviation", true}},
		.n_columns = 6};
	char text[FIGURE_SIZE];
	for (uint32_t m = 0; m < METRIC_COUNT; m++) {
		const double *x = p->total.of[m];
		enum metric_unit unit = profile_metrics[m].unit;
		if (!x)
			continue;
		table_add(&t, profile_metrics[m].title);
		table_add(&t, figure_text(unit, statistics_median(x, p->n_samples), text));
		table_add(&t, figure_text(unit, statistics_mean(x, p->n_samples), text));
		table_add(&t, figure_text(unit, statistics_quantile(x, p->n_samples, 0), text));
		table_add(&t, figure_text(unit, statistics_quantile(x, p->n_samples, 1), text));
		table_add(&t, figure_text(unit, statistics_deviation(x, p->n_samples), text));
	}
	report_title(v, "whole process");
	table_print(&t, v->o->format == REPORT_MARKDOWN, v->out);
}

static uint32_t depth_of(const struct profile *p, uint32_t item)
{
	uint32_t n = 0;
	for (; p->items.at[item].parent != PROFILE_NONE; item = p->items.at[item].parent)
		n++;
	return n;
}

static const enum profile_metric columns[] = {METRIC_CPU,        METRIC_CALLS, METRIC_PEAK,          METRIC_NET,     METRIC_ALLOCATIONS,
					      METRIC_FILES_READ, METRIC_READ,  METRIC_FILES_WRITTEN, METRIC_WRITTEN, METRIC_OPERATIONS};

/* Appends the row of an item: its name, wall time and share, then what was measured of the other columns. */
static void add_item(const struct view *v, struct table *t, uint32_t i, const char *name)
{
	const struct profile_item *item = &v->p->items.at[i];
	table_add(t, name);
	table_add(t, figure(v, &item->values, METRIC_WALL));
	table_addf(t, "%.1f %%", v->whole > 0 ? 100 * report_wall(v->p, i) / v->whole : 0);
	for (uint32_t c = 3; c < t->n_columns; c++)
		for (uint32_t m = 0; m < sizeof columns / sizeof columns[0]; m++)
			if (t->columns[c].title == profile_metrics[columns[m]].title)
				table_add(t, figure(v, &item->values, columns[m]));
}

static bool is_measured(const struct profile *p, uint64_t kinds, enum profile_metric m)
{
	for (uint32_t i = 0; i < p->items.len; i++)
		if (kinds >> p->items.at[i].kind & 1 && p->items.at[i].values.of[m])
			return true;
	return false;
}

static struct table item_table(const struct view *v, uint64_t kinds, const char *title)
{
	struct table t = {.arena = v->a, .columns = {{title, false}, {"wall", true}, {"share", true}}, .n_columns = 3};
	for (uint32_t m = 0; m < sizeof columns / sizeof columns[0]; m++)
		if (is_measured(v->p, kinds, columns[m]))
			t.columns[t.n_columns++] = (struct table_column){profile_metrics[columns[m]].title, true};
	return t;
}

static const char *tree_name(const struct view *v, uint32_t i)
{
	const struct profile_item *item = &v->p->items.at[i];
	return arena_printf(v->a, "%*s%s%s%s", (int)(2 * depth_of(v->p, i)), "", item->name, item->note ? ", " : "",
			    item->note ? item->note : "");
}

/* The tree of phases and stages, in the order of the profile. */
static void put_tree(const struct view *v)
{
	const uint64_t kinds = 1u << ITEM_PHASE | 1u << ITEM_STAGE | 1u << ITEM_PASS;
	struct table t = item_table(v, kinds, "phase");
	for (uint32_t i = 0; i < v->p->items.len; i++)
		if (kinds >> v->p->items.at[i].kind & 1 && report_wall(v->p, i) >= v->o->threshold_ns)
			add_item(v, &t, i, tree_name(v, i));
	if (!t.cells.len)
		return;
	report_title(v, "phases");
	table_print(&t, v->o->format == REPORT_MARKDOWN, v->out);
}

static int by_wall(const void *a, const void *b, void *walls)
{
	const double *w = walls;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return w[x] != w[y] ? (w[x] < w[y]) - (w[x] > w[y]) : (x > y) - (x < y);
}

/* Returns the items of some kinds, the longest first. */
static uint32_t *sorted_items(const struct view *v, uint64_t kinds, uint32_t *n)
{
	const struct profile *p = v->p;
	uint32_t *list = ARENA_ARRAY(v->a, uint32_t, p->items.len + 1);
	double *walls = ARENA_ARRAY(v->a, double, p->items.len + 1);
	*n = 0;
	for (uint32_t i = 0; i < p->items.len; i++) {
		walls[i] = report_wall(p, i);
		if (kinds >> p->items.at[i].kind & 1 && walls[i] >= v->o->threshold_ns)
			list[(*n)++] = i;
	}
	qsort_r(list, *n, sizeof *list, by_wall, walls);
	return list;
}

static void put_costliest(const struct view *v, uint64_t kinds, const char *what)
{
	uint32_t n;
	const uint32_t *list = sorted_items(v, kinds, &n);
	struct table t = item_table(v, kinds, what);
	uint32_t shown = n < v->o->top ? n : v->o->top;
	if (!n)
		return;
	for (uint32_t i = 0; i < shown; i++) {
		const struct profile_item *item = &v->p->items.at[list[i]];
		const char *path = profile_item_path(v->a, v->p, list[i]);
		add_item(v, &t, list[i], item->at ? arena_printf(v->a, "%s (%s)", path, item->at) : path);
	}
	report_title(v, arena_printf(v->a, "costliest %ss (%u of %u)", what, shown, n));
	table_print(&t, v->o->format == REPORT_MARKDOWN, v->out);
}

static void put_kernels(const struct view *v)
{
	struct buf table = {0};
	report_kernels(v->a, v->p, v->o, &table);
	if (table.len) {
		report_title(v, "costliest statements");
		buf_puts(v->out, table.at);
	}
	buf_free(&table);
}

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }
static bool ends(const char *text, const char *with)
{
	size_t n = strlen(text), m = strlen(with);
	return n >= m && strcmp(text + n - m, with) == 0;
}

/* Names of facts end in their units. */
static void put_fact(const struct view *v, const struct profile_fact *f)
{
	static const char *const shares[] = {"share", "rate", "efficiency", "utilisation"};
	char text[FIGURE_SIZE];
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
		if (ends(f->name, shares[i])) {
			report_printf(v->o, v->out, "%.1f %%\n", 100 * f->value);
			return;
		}
	if (begins(f->name, "ceiling.")) {
		report_printf(v->o, v->out, "%.3g %s\n", f->value / 1e9, ends(f->name, "_bytes") ? "GB/s" : "GOP/s");
		return;
	}
	bool is_time = ends(f->name, "_ns") || begins(f->name, "outlier.");
	report_printf(v->o, v->out, "%s\n",
		      figure_text(is_time                   ? UNIT_NS
				  : ends(f->name, "_bytes") ? UNIT_BYTES
							    : UNIT_COUNT,
				  f->value, text));
}

static void put_facts(const struct view *v)
{
	if (!v->p->facts.len)
		return;
	report_title(v, "facts");
	for (uint32_t i = 0; i < v->p->facts.len; i++) {
		const struct profile_fact *f = &v->p->facts.at[i];
		if (report_is_of_caches(f))
			continue;
		report_printf(v->o, v->out, v->o->format == REPORT_MARKDOWN ? "- %s: " : "  %-28s ", f->name);
		put_fact(v, f);
	}
}

static void put_symptoms(const struct view *v)
{
	struct symptom s[MOST_SYMPTOMS];
	char value[FIGURE_SIZE], limit[FIGURE_SIZE];
	uint32_t n = symptoms_find(v->p, s);
	if (v->p->kind != PROFILE_BUILD)
		return;
	report_title(v, "bottlenecks");
	for (uint32_t i = 0; i < n; i++) {
		buf_puts(v->out, v->o->format == REPORT_MARKDOWN ? "- " : "  ");
		const char *verb = s[i].is_below ? "below" : "above";
		if (s[i].is_share)
			report_printf(v->o, v->out, "%s is %.0f %%, %s %.0f %%: %s\n", s[i].name, s[i].value * 100, verb, s[i].limit * 100,
				      s[i].advice);
		else
			report_printf(v->o, v->out, "%s is %s, %s %s: %s\n", s[i].name, figure_text(s[i].unit, s[i].value, value), verb,
				      figure_text(s[i].unit, s[i].limit, limit), s[i].advice);
	}
	if (!n)
		buf_puts(v->out, "  none\n");
}

void report_symptoms(const struct profile *p, struct json_writer *w)
{
	static const char *const units[] = {[UNIT_NS] = "ns", [UNIT_BYTES] = "bytes", [UNIT_COUNT] = "count"};
	struct symptom s[MOST_SYMPTOMS];
	uint32_t n = symptoms_find(p, s);
	json_open(w, '[');
	for (uint32_t i = 0; i < n; i++) {
		json_open(w, '{');
		json_member_str(w, "name", s[i].name);
		json_member_num(w, "value", s[i].value);
		json_member_num(w, "limit", s[i].limit);
		json_member_str(w, "unit", s[i].is_share ? "share" : units[s[i].unit]);
		json_member_bool(w, "below", s[i].is_below);
		json_member_str(w, "advice", s[i].advice);
		json_close(w, '}');
	}
	json_close(w, ']');
}

typedef double summary_fn(const struct profile *p, const struct profile_values *v, enum profile_metric m);

static void print_values(const struct profile *p, const struct profile_values *v, summary_fn *of, struct json_writer *w)
{
	for (uint32_t m = 0; m < METRIC_COUNT; m++)
		if (v->of[m])
			json_member_num(w, profile_metrics[m].name, of(p, v, (enum profile_metric)m));
}

static void print_means(const struct profile *p, const struct profile_values *v, struct json_writer *w)
{
	json_member_open(w, "means", '{');
	print_values(p, v, profile_mean, w);
	json_close(w, '}');
}

static void print_json(const struct view *v)
{
	const struct profile *p = v->p;
	struct json_writer w = {.out = v->out};
	uint32_t n;
	const uint32_t *list = sorted_items(v, UINT64_MAX, &n);
	json_open(&w, '{');
	json_member_str(&w, "type", "report");
	json_member_int(&w, "samples", p->n_samples);
	json_member_open(&w, "total", '{');
	print_values(p, &p->total, profile_median, &w);
	json_close(&w, '}');
	print_means(p, &p->total, &w);
	json_member_open(&w, "items", '[');
	for (uint32_t i = 0; i < n && i < v->o->top; i++) {
		const struct profile_item *item = &p->items.at[list[i]];
		json_open(&w, '{');
		json_member_str(&w, "kind", profile_item_kind_text(item->kind));
		json_member_str(&w, "item", profile_item_path(v->a, p, list[i]));
		json_member_str(&w, "at", item->at);
		print_values(p, &item->values, profile_median, &w);
		print_means(p, &item->values, &w);
		report_kernel(v, &w, list[i]);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	if (p->kind == PROFILE_BUILD)
		report_scenarios_json(v, &w);
	json_key(&w, "bottlenecks");
	report_symptoms(p, &w);
	json_close(&w, '}');
	buf_putc(v->out, '\n');
}

void report_profile(const struct profile *p, const struct report_options *o, struct buf *out)
{
	struct view v = {p, o, arena_new(0), out, 0};
	v.whole = p->kind == PROFILE_BUILD ? symptoms_busy_ns(p) : profile_median(p, &p->total, METRIC_WALL);
	if (o->format == REPORT_JSON) {
		print_json(&v);
	} else {
		put_head(&v);
		put_total(&v);
		report_scenarios(&v);
		put_tree(&v);
		put_costliest(&v, 1u << ITEM_UNIT, "unit");
		report_functions(&v);
		put_kernels(&v);
		report_caches(&v);
		put_facts(&v);
		put_symptoms(&v);
	}
	arena_free(v.a);
}
