#include "builder/profile/compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

#define FEWEST_SAMPLES 4     /* of each profile, for a test */
#define NOISE_OF_ONE 0.3     /* with fewer a smaller change is noise */
#define SMALLEST_SHARE 0.001 /* of the whole: smaller items do not matter */
#define SMALLEST_NS_OF_BUILDS 50000
#define SMALLEST_NS_OF_RUNS 200 /* medians of many runs in a process */
#define SMALLEST_BYTES (256 << 10)

static const struct {
	const char *name, *title;
} changes[CHANGES] = {
#define CHANGE(id, name, title) {name, title},
#include "builder/profile/changes.def"
};

const char *change_name(enum change c) { return changes[c].name; }
const char *change_title(enum change c) { return changes[c].title; }

/* ---- conditions ---- */

static void put_difference(struct buf *out, const char *what, const char *before, const char *after)
{
	buf_printf(out, "%s: %s before, %s after\n", what, before ? before : "not set", after ? after : "not set");
}

bool compare_conditions(const struct profile *before, const struct profile *after, struct buf *differences)
{
	size_t start = differences->len;
	if (before->kind != after->kind)
		put_difference(differences, "kind", before->kind == PROFILE_RUN ? "run" : "build",
			       after->kind == PROFILE_RUN ? "run" : "build");
	if (strcmp(before->machine.id, after->machine.id) != 0)
		put_difference(differences, "machine", before->machine.cpu, after->machine.cpu);
	if (strcmp(before->machine.device, after->machine.device) != 0)
		put_difference(differences, "device", before->machine.device, after->machine.device);
	for (uint32_t i = 0; i < before->settings.len; i++) {
		const struct profile_setting *s = &before->settings.at[i];
		const char *other = profile_setting(after, s->name);
		if (!other || strcmp(s->text, other) != 0)
			put_difference(differences, s->name, s->text, other);
	}
	for (uint32_t i = 0; i < after->settings.len; i++)
		if (!profile_setting(before, after->settings.at[i].name))
			put_difference(differences, after->settings.at[i].name, NULL, after->settings.at[i].text);
	return differences->len == start;
}

/* ---- rows ---- */

struct comparer {
	struct comparison *c;
	VEC(struct compared) rows;
};

static double median_of(const struct profile *p, const struct profile_values *v, enum profile_metric m)
{
	return v ? profile_median(p, v, m) : 0;
}

static bool is_measured(const struct profile_values *v, enum profile_metric m) { return v && v->of[m]; }

/* Returns values of one metric for a test, which needs positive numbers. */
static double *positive(struct arena *a, const double *v, uint32_t n, double factor)
{
	double *out = ARENA_ARRAY(a, double, n);
	for (uint32_t i = 0; i < n; i++)
		out[i] = v[i] * factor > 1 ? v[i] * factor : 1;
	return out;
}

static double speed_of(const struct comparison *c, enum profile_metric m) { return profile_metrics[m].unit == UNIT_NS ? c->speed : 1; }

static void fill_values(struct comparer *s, struct compared *r, const struct profile_values *before, const struct profile_values *after)
{
	struct comparison *c = s->c;
	const struct profile *p = c->before, *q = c->after;
	double speed = speed_of(c, r->metric);
	r->before_value = median_of(p, before, r->metric);
	r->after_value = median_of(q, after, r->metric) * speed;
	r->ratio = (struct ratio){.estimate = r->before_value > 0 ? r->after_value / r->before_value : 1, .high = INFINITY, .p = 1};
	r->is_tested = profile_metrics[r->metric].comparison == COMPARED_TIMED && is_measured(before, r->metric) &&
		       is_measured(after, r->metric) && p->n_samples >= FEWEST_SAMPLES && q->n_samples >= FEWEST_SAMPLES;
	if (!r->is_tested)
		return;
	struct arena *a = c->arena;
	arena_mark_t m = arena_mark(a);
	r->ratio = statistics_ratio(positive(a, before->of[r->metric], p->n_samples, 1), p->n_samples,
				    positive(a, after->of[r->metric], q->n_samples, speed), q->n_samples, c->options.alpha);
	arena_release(a, m);
}

static void add_rows(struct comparer *s, struct compared row, const struct profile_values *before, const struct profile_values *after)
{
	for (uint32_t m = 0; m < METRIC_COUNT; m++) {
		if (profile_metrics[m].comparison == COMPARED_SHOWN || (!is_measured(before, m) && !is_measured(after, m)))
			continue;
		row.metric = (enum profile_metric)m;
		row.change = !before && row.path ? CHANGE_NEW : !after && row.path ? CHANGE_REMOVED : CHANGE_NONE;
		fill_values(s, &row, before, after);
		vec_push(&s->rows, row);
	}
}

static hash128 item_key(const struct compared *r) { return hash_combine(map_key_u64(r->kind), map_key_str(r->path)); }

/* An item with zeros only was in other samples that were appended. */
static bool is_present(const struct profile *p, const struct profile_item *i)
{
	for (uint32_t m = 0; m < METRIC_COUNT; m++)
		for (uint32_t k = 0; i->values.of[m] && k < p->n_samples; k++)
			if (i->values.of[m][k] != 0)
				return true;
	return false;
}

static void add_items(struct comparer *s, const struct profile *p, const struct profile *q)
{
	struct map known = {0}, seen = {0};
	struct arena *a = s->c->arena;
	for (uint32_t i = 0; i < q->items.len; i++) {
		struct compared r = {.kind = q->items.at[i].kind, .path = profile_item_path(a, q, i)};
		if (is_present(q, &q->items.at[i]))
			map_put(&known, item_key(&r), i);
	}
	for (uint32_t i = 0; i < p->items.len; i++) {
		struct compared r = {.kind = p->items.at[i].kind, .path = profile_item_path(a, p, i), .before = i, .after = PROFILE_NONE};
		uint64_t at;
		if (!is_present(p, &p->items.at[i]))
			continue;
		map_put(&seen, item_key(&r), i);
		bool found = map_get(&known, item_key(&r), &at);
		r.after = found ? (uint32_t)at : PROFILE_NONE;
		add_rows(s, r, &p->items.at[i].values, found ? &q->items.at[at].values : NULL);
	}
	for (uint32_t i = 0; i < q->items.len; i++) {
		struct compared r = {.kind = q->items.at[i].kind, .path = profile_item_path(a, q, i), .before = PROFILE_NONE, .after = i};
		if (is_present(q, &q->items.at[i]) && !map_get(&seen, item_key(&r), NULL))
			add_rows(s, r, NULL, &q->items.at[i].values);
	}
	map_free(&known);
	map_free(&seen);
}

/* ---- verdicts ---- */

/* True if the item is too small for its change to matter. */
static bool is_small(const struct comparison *c, const struct compared *r)
{
	double most = fmax(r->before_value, r->after_value);
	enum metric_unit unit = profile_metrics[r->metric].unit;
	if (unit == UNIT_COUNT)
		return false;
	double whole = profile_median(c->before, &c->before->total, r->metric) * SMALLEST_SHARE;
	return most < fmax(whole, unit != UNIT_NS                  ? SMALLEST_BYTES
				  : c->before->kind == PROFILE_RUN ? SMALLEST_NS_OF_RUNS
								   : SMALLEST_NS_OF_BUILDS);
}

static enum change direction(const struct compared *r) { return r->after_value > r->before_value ? CHANGE_REGRESSION : CHANGE_IMPROVEMENT; }

/* Few processes say nothing of the noise: then only large changes count. */
static void judge_untested(const struct comparison *c, struct compared *r)
{
	bool counted = profile_metrics[r->metric].comparison == COMPARED_COUNTED;
	double smallest = counted ? 0 : fmax(c->options.threshold, NOISE_OF_ONE);
	double by = fabs(r->after_value - r->before_value), least = fmin(r->before_value, r->after_value);
	if (by > smallest * least)
		r->change = direction(r);
}

static int by_p(const void *a, const void *b)
{
	const struct compared *x = *(const struct compared *const *)a, *y = *(const struct compared *const *)b;
	return x->ratio.p != y->ratio.p ? (x->ratio.p > y->ratio.p) - (x->ratio.p < y->ratio.p) : (x > y) - (x < y);
}

/* Many rows are tested at once, so each has to pass a sharper test (Holm 1979): the chance of any false change among them stays alpha. The few rows of
 * the whole process are judged apart from its parts. */
static void judge_tested(struct comparison *c, struct compared **tested, uint32_t n)
{
	qsort(tested, n, sizeof(struct compared *), by_p);
	for (uint32_t i = 0; i < n && tested[i]->ratio.p <= c->options.alpha / (n - i); i++) {
		struct compared *r = tested[i];
		double e = r->ratio.estimate;
		if (fmax(e, 1 / e) > 1 + c->options.threshold)
			r->change = e > 1 ? CHANGE_REGRESSION : CHANGE_IMPROVEMENT;
	}
}

/* The least p that samples of these sizes can have: all of one below all of the other. */
static double least_p(uint32_t n_a, uint32_t n_b)
{
	double p = 2;
	for (uint32_t i = 1; i <= n_a; i++)
		p *= (double)i / (n_b + i);
	return p;
}

static void judge(struct comparison *c)
{
	struct compared **totals = ARENA_ARRAY(c->arena, struct compared *, c->n_rows + 1);
	struct compared **parts = ARENA_ARRAY(c->arena, struct compared *, c->n_rows + 1);
	uint32_t n_totals = 0, n = 0;
	for (uint32_t i = 0; i < c->n_rows; i++) {
		struct compared *r = &c->rows[i];
		if (r->change != CHANGE_NONE || is_small(c, r))
			continue;
		if (r->is_tested && !r->path)
			totals[n_totals++] = r;
		else if (r->is_tested)
			parts[n++] = r;
		else
			judge_untested(c, r);
	}
	judge_tested(c, totals, n_totals);
	judge_tested(c, parts, n);
	c->can_decide = least_p(c->before->n_samples, c->after->n_samples) <= c->options.alpha / (n ? n : 1);
	for (uint32_t i = 0; i < c->n_rows; i++)
		c->counts[c->rows[i].change]++;
}

struct comparison *compare_profiles(const struct profile *before, const struct profile *after, struct compare_options o)
{
	struct arena *a = arena_new(0);
	struct comparison *c = ARENA_NEW(a, struct comparison);
	struct comparer s = {.c = c};
	*c = (struct comparison){.arena = a, .before = before, .after = after, .options = o, .speed = 1};
	if (before->calibration_ns && after->calibration_ns) /* one factor: a single calibration is as noisy as a sample */
		c->speed = statistics_median(before->calibration_ns, before->n_samples) /
			   fmax(1, statistics_median(after->calibration_ns, after->n_samples));
	struct compared whole = {.before = PROFILE_NONE, .after = PROFILE_NONE};
	add_rows(&s, whole, &before->total, &after->total);
	add_items(&s, before, after);
	c->rows = s.rows.at;
	c->n_rows = s.rows.len;
	judge(c);
	return c;
}

double compare_visible(const struct comparison *c, enum profile_metric m)
{
	for (uint32_t i = 0; i < c->n_rows && !c->rows[i].path; i++) {
		const struct ratio *r = &c->rows[i].ratio;
		if (c->rows[i].metric == m && c->rows[i].is_tested && r->low > 0)
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
