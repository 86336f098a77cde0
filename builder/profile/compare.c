#include "builder/profile/compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "builder/profile/kernel_sums.h"

#define FEWEST_SAMPLES 4         /* of each profile, for a test */
#define SMALLEST_CORRECTION 0.02 /* a smaller difference of the calibrations is their own noise */

const struct change_row change_table[CHANGES] = {
#define CHANGE(id, name, title, word, style) {name, title, word, style},
#include "builder/profile/changes.def"
};

/* ---- conditions ---- */

static void put_difference(struct buf *out, enum foreign_form form, const char *what, const char *before, const char *after)
{
	foreign_printf(out, form, "%s: %s before, %s after\n", what, before ? before : "not set", after ? after : "not set");
}

bool compare_conditions(const struct profile *before, const struct profile *after, enum foreign_form form, struct buf *differences)
{
	size_t start = differences->len;
	if (before->kind != after->kind)
		put_difference(differences, form, "kind", before->kind == PROFILE_RUN ? "run" : "build",
			       after->kind == PROFILE_RUN ? "run" : "build");
	bool same_name = strcmp(before->machine.cpu, after->machine.cpu) == 0;
	if (strcmp(before->machine.id, after->machine.id) != 0)
		put_difference(differences, form, "machine", same_name ? before->machine.id : before->machine.cpu,
			       same_name ? after->machine.id : after->machine.cpu);
	if (strcmp(before->machine.device, after->machine.device) != 0)
		put_difference(differences, form, "device", before->machine.device, after->machine.device);
	for (uint32_t i = 0; i < before->settings.len; i++) {
		const struct profile_setting *s = &before->settings.at[i];
		const char *other = profile_setting(after, s->name);
		if (!other || strcmp(s->text, other) != 0)
			put_difference(differences, form, s->name, s->text, other);
	}
	for (uint32_t i = 0; i < after->settings.len; i++)
		if (!profile_setting(before, after->settings.at[i].name))
			put_difference(differences, form, after->settings.at[i].name, NULL, after->settings.at[i].text);
	return differences->len == start;
}

/* ---- rows ---- */

bool compare_is_whole(const struct compared *r) { return !r->kernel && r->before == PROFILE_NONE && r->after == PROFILE_NONE; }

const char *compare_name(const struct comparison *c, const struct compared *r)
{
	if (compare_is_whole(r) || r->kernel)
		return r->kernel ? r->kernel : "whole process";
	return r->before != PROFILE_NONE ? profile_item_path(c->arena, c->before, r->before)
					 : profile_item_path(c->arena, c->after, r->after);
}

struct comparer {
	struct comparison *c;
	VEC(struct compared) rows;
};

/* Returns values of one metric for a test, which needs positive numbers. */
static double *positive(struct arena *a, const double *v, uint32_t n, double factor)
{
	double *out = ARENA_ARRAY(a, double, n);
	for (uint32_t i = 0; i < n; i++)
		out[i] = v[i] * factor > 1 ? v[i] * factor : 1;
	return out;
}

static double speed_of(const struct comparison *c, enum profile_metric m) { return profile_metrics[m].unit == UNIT_NS ? c->speed : 1; }

/* The correction for the machine's speed is not exact: the interval includes the ratio without it. */
static struct ratio ratio_of_times(const double *x, uint32_t n_x, const double *y, uint32_t n_y, double speed, double alpha)
{
	struct ratio r = statistics_fastest_ratio(x, n_x, y, n_y, alpha);
	r.low = fmin(r.low, r.low / speed);
	r.high = fmax(r.high, r.high / speed);
	return r;
}

/* Stages of a build at the pace of their processes. True: filled. */
static bool fill_stage(struct comparison *c, struct compared *r, const double *before, const double *after)
{
	bool is_stage = !compare_is_whole(r) && (r->kind == ITEM_PHASE || r->kind == ITEM_STAGE || r->kind == ITEM_PASS);
	if (!c->pace.before || !is_stage || r->metric != METRIC_CPU)
		return false;
	const double *x = positive(c->arena, before, c->before->n_samples, 1), *y = positive(c->arena, after, c->after->n_samples, 1);
	r->measured = statistics_quantile(y, c->after->n_samples, PACE_QUIET) / statistics_quantile(x, c->before->n_samples, PACE_QUIET);
	r->ratio = pace_ratio(c->arena, &c->pace, x, c->before->n_samples, y, c->after->n_samples, c->options.alpha, &r->before_value);
	r->after_value = r->before_value * r->ratio.estimate;
	return true;
}

static void fill_values(struct comparer *s, struct compared *r, const struct profile_values *before, const struct profile_values *after)
{
	struct comparison *c = s->c;
	const struct profile *p = c->before, *q = c->after;
	double speed = speed_of(c, r->metric);
	r->medians[0] = r->before_value = profile_median(p, before, r->metric);
	r->medians[1] = profile_median(q, after, r->metric);
	r->means[0] = profile_mean(p, before, r->metric);
	r->means[1] = profile_mean(q, after, r->metric);
	r->after_value = r->medians[1] * speed;
	r->ratio = (struct ratio){.estimate = r->before_value > 0 ? r->after_value / r->before_value : 1, .high = INFINITY, .p = 1};
	r->is_tested = profile_metrics[r->metric].comparison == COMPARED_TIMED && before->of[r->metric] && after->of[r->metric] &&
		       p->n_samples >= FEWEST_SAMPLES && q->n_samples >= FEWEST_SAMPLES;
	if (!r->is_tested)
		return;
	struct arena *a = c->arena;
	arena_mark_t m = arena_mark(a);
	if (fill_stage(c, r, before->of[r->metric], after->of[r->metric])) {
		arena_release(a, m);
		return;
	}
	bool is_time = profile_metrics[r->metric].unit == UNIT_NS;
	const double *x = positive(a, before->of[r->metric], p->n_samples, 1), *y = positive(a, after->of[r->metric], q->n_samples, speed);
	if (is_time) {
		r->before_value = statistics_fastest(x, p->n_samples);
		r->after_value = statistics_fastest(y, q->n_samples);
	}
	r->ratio = is_time ? ratio_of_times(x, p->n_samples, y, q->n_samples, speed, c->options.alpha)
			   : statistics_ratio(x, p->n_samples, y, q->n_samples, c->options.alpha);
	r->measured = r->ratio.estimate;
	arena_release(a, m);
}

/* Times of a part are compared by one metric: CPU time is less noisy than wall time, and the fastest run of a process less than their median. */
static enum profile_metric deciding_metric(const struct comparison *c, const struct profile_values *before,
					   const struct profile_values *after)
{
	enum profile_metric wanted = c->options.metric, best[] = {METRIC_LEAST, METRIC_CPU, METRIC_WALL};
	if (wanted != METRIC_CPU && before->of[wanted] && after->of[wanted])
		return wanted;
	for (uint32_t i = 0; i < 3; i++)
		if (before->of[best[i]] && after->of[best[i]])
			return best[i];
	return METRIC_WALL;
}

/* before, after: NULL: the item is not in this profile. */
static void add_rows(struct comparer *s, struct compared row, const struct profile_values *before, const struct profile_values *after)
{
	static const struct profile_values none;
	enum change change = before && after ? CHANGE_NONE : after ? CHANGE_NEW : CHANGE_REMOVED;
	before = before ? before : &none;
	after = after ? after : &none;
	const struct profile *p = s->c->before;
	bool is_whole = compare_is_whole(&row);
	double calls = fmax(1, is_whole ? 1 : profile_median(p, before, METRIC_CALLS));
	row.bytes = profile_median(p, before, METRIC_BYTES) / calls;
	row.operations = profile_median(p, before, METRIC_OPERATIONS) / calls;
	for (uint32_t m = 0; m < METRIC_COUNT; m++) {
		if (profile_metrics[m].comparison == COMPARED_SHOWN || (!before->of[m] && !after->of[m]))
			continue;
		row.metric = (enum profile_metric)m;
		row.decides = row.metric == deciding_metric(s->c, before, after);
		row.change = change;
		fill_values(s, &row, before, after);
		vec_push(&s->rows, row);
	}
}

/* An item with zeros only was in other samples that were appended. */
static bool is_present(const struct profile *p, const struct profile_item *i)
{
	for (uint32_t m = 0; m < METRIC_COUNT; m++)
		for (uint32_t k = 0; i->values.of[m] && k < p->n_samples; k++)
			if (i->values.of[m][k] != 0)
				return true;
	return false;
}

static void compare_add_items(struct comparer *s, const struct profile *p, const struct profile *profile)
{
	struct map known = {0}, seen = {0};
	for (uint32_t i = 0; i < profile->items.len; i++)
		if (is_present(profile, &profile->items.at[i]))
			map_put(&known, profile->items.at[i].key, i);
	for (uint32_t i = 0; i < p->items.len; i++) {
		const struct profile_item *item = &p->items.at[i];
		uint64_t at;
		if (!is_present(p, item))
			continue;
		map_put(&seen, item->key, i);
		bool found = map_get(&known, item->key, &at);
		struct compared r = {.kind = item->kind, .before = i, .after = found ? (uint32_t)at : PROFILE_NONE};
		add_rows(s, r, &item->values, found ? &profile->items.at[at].values : NULL);
	}
	for (uint32_t i = 0; i < profile->items.len; i++) {
		const struct profile_item *item = &profile->items.at[i];
		struct compared r = {.kind = item->kind, .before = PROFILE_NONE, .after = i};
		if (is_present(profile, item) && !map_get(&seen, item->key, NULL))
			add_rows(s, r, NULL, &item->values);
	}
	map_free(&known);
	map_free(&seen);
}

/* Times of many items say more than the sums of their rows. */
static void compare_items(struct comparer *s, uint32_t first, const struct kernel_sum *before, const struct kernel_sum *after)
{
	struct comparison *c = s->c;
	for (uint32_t i = first; i < s->rows.len; i++) {
		struct compared *r = &s->rows.at[i];
		struct kernel_side x = {c->before, before, 1}, y = {c->after, after, speed_of(c, r->metric)};
		struct kernel_difference d;
		if (!r->is_tested || !kernel_difference(c->arena, x, y, r->metric, c->options.alpha, &d))
			continue;
		r->before_value = d.before;
		r->after_value = d.after;
		r->ratio = d.ratio;
		r->measured = d.ratio.estimate;
		r->bytes = r->operations = 0;
		r->ratio.low = fmin(r->ratio.low, r->ratio.low / y.speed);
		r->ratio.high = fmax(r->ratio.high, r->ratio.high / y.speed);
	}
}

/* A kernel that became slower did so in all its calls, of which each may be too short to show it. */
static void add_kernels(struct comparer *s, const struct profile *p, const struct profile *profile)
{
	uint32_t n, m;
	struct arena *a = s->c->arena;
	const struct kernel_sum *before = kernel_sums(a, p, &n), *after = kernel_sums(a, profile, &m);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < m; k++)
			if (strcmp(before[i].name, after[k].name) == 0 && before[i].n_items == after[k].n_items) {
				struct compared r = {
					.kind = ITEM_KERNEL, .kernel = before[i].name, .before = PROFILE_NONE, .after = PROFILE_NONE};
				uint32_t first = s->rows.len;
				add_rows(s, r, &before[i].values, &after[k].values);
				compare_items(s, first, &before[i], &after[k]);
			}
}

struct comparison *compare_profiles(const struct profile *before, const struct profile *after, struct compare_options o)
{
	struct arena *a = arena_new(0);
	struct comparison *c = ARENA_NEW(a, struct comparison);
	struct comparer s = {.c = c};
	*c = (struct comparison){.arena = a, .before = before, .after = after, .options = o, .speed = 1};
	if (before->calibration_ns && after->calibration_ns) /* one factor: a single calibration is as noisy as a sample */
		c->speed = statistics_fastest(before->calibration_ns, before->n_samples) /
			   fmax(1, statistics_fastest(after->calibration_ns, after->n_samples));
	if (fabs(c->speed - 1) < SMALLEST_CORRECTION)
		c->speed = 1;
	if (before->kind == PROFILE_BUILD && after->kind == PROFILE_BUILD)
		pace_of(a, before, after, &c->pace);
	struct compared whole = {.before = PROFILE_NONE, .after = PROFILE_NONE};
	add_rows(&s, whole, &before->total, &after->total);
	add_kernels(&s, before, after);
	compare_add_items(&s, before, after);
	c->rows = s.rows.at;
	c->n_rows = s.rows.len;
	judge_rows(c);
	return c;
}

double compare_visible(const struct comparison *c, enum profile_metric m)
{
	for (uint32_t i = 0; i < c->n_rows && compare_is_whole(&c->rows[i]); i++) {
		const struct ratio *r = &c->rows[i].ratio;
		if (c->rows[i].metric == m && c->rows[i].is_tested && r->low > 0 && isfinite(r->high))
			return fmax(r->high / r->estimate, r->estimate / r->low) - 1;
	}
	return 0;
}

void compare_free(struct comparison *c)
{
	if (!c)
		return;
	free(c->rows);
	arena_free(c->arena);
}

static int by_difference(const void *a, const void *b, void *rows)
{
	const struct compared *x = (const struct compared *)rows + *(const uint32_t *)a,
			      *y = (const struct compared *)rows + *(const uint32_t *)b;
	double dx = fabs(x->after_value - x->before_value), dy = fabs(y->after_value - y->before_value);
	if (x->metric != y->metric)
		return (x->metric > y->metric) - (x->metric < y->metric);
	return dx != dy ? (dx < dy) - (dx > dy) : (x > y) - (x < y);
}

const uint32_t *compare_rows(const struct comparison *c, enum change change, uint32_t *n)
{
	uint32_t *list = ARENA_ARRAY(c->arena, uint32_t, c->n_rows + 1);
	*n = 0;
	for (uint32_t i = 0; i < c->n_rows; i++)
		if (c->rows[i].change == change)
			list[(*n)++] = i;
	qsort_r(list, *n, sizeof *list, by_difference, c->rows);
	return list;
}
