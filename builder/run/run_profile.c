#include "builder/run/run_profile.h"
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/map.h"
#include "builder/profile/statistics.h"

/* A statement that ended in the last run. */
struct ended {
	uint32_t statement;
	int64_t start, ns;
};
/* An entry of the library's sums, by its id. */
struct place {
	tri_profile_entry before, now; /* the sums before and after the last run */
	VEC(double) walls, cpus;       /* of each run */
};
struct run_profiler {
	const tri_model_desc *desc, *code; /* whose functions are called, and whose statements run */
	const tri_profile *sums;           /* after the last run */
	VEC(struct place) places;          /* by the ids of entries */
	VEC(struct ended) ended;
	VEC(double) wholes; /* of each run, on the clock of its statements */
	double measured;    /* of all runs until now, those that were dropped included */
};

struct run_profiler *run_profiler_new(const tri_model_desc *desc)
{
	struct run_profiler *p = alloc_zeroed(sizeof *p);
	p->desc = p->code = desc;
	return p;
}

void run_profiler_set_code(struct run_profiler *p, const tri_model_desc *code) { p->code = code; }

void run_profiler_free(struct run_profiler *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->places.len; i++) {
		vec_free(&p->places.at[i].walls);
		vec_free(&p->places.at[i].cpus);
	}
	vec_free(&p->places);
	vec_free(&p->ended);
	vec_free(&p->wholes);
	free(p);
}

/* The first event after a run begins the next one. */
void run_profiler_event(void *profiler, const tri_profile_event *e)
{
	struct run_profiler *p = profiler;
	if (p->sums)
		p->ended.len = 0;
	p->sums = NULL;
	vec_push(&p->ended, ((struct ended){e->statement, e->start_ns, e->ns}));
}

/* Reads the sums. Returns the time of the last run as the library counts it: without the hook's own. */
static double read_sums(struct run_profiler *p, struct tri_model *model)
{
	double before = p->measured;
	p->sums = p->desc->profile(model, NULL);
	p->measured = p->sums ? (double)p->sums->wall_ns : before;
	for (uint32_t i = 0; p->sums && i < p->sums->n_entries; i++) {
		const tri_profile_entry *e = &p->sums->entries[i];
		while (p->places.len <= e->id)
			vec_push(&p->places, ((struct place){.now = {.calls = 0}}));
		p->places.at[e->id].before = p->places.at[e->id].now;
		p->places.at[e->id].now = *e;
	}
	return p->measured - before;
}

void run_profiler_drop_run(struct run_profiler *p, struct tri_model *model) { read_sums(p, model); }

/* Zeros for the runs before the place was first seen. */
void run_profiler_end_run(struct run_profiler *p, struct tri_model *model)
{
	vec_push(&p->wholes, read_sums(p, model));
	for (uint32_t i = 0; i < p->places.len; i++) {
		struct place *x = &p->places.at[i];
		while (x->walls.len + 1 < p->wholes.len) {
			vec_push(&x->walls, 0);
			vec_push(&x->cpus, 0);
		}
		vec_push(&x->walls, (double)(x->now.wall_ns - x->before.wall_ns));
		vec_push(&x->cpus, (double)(x->now.cpu_ns - x->before.cpu_ns));
	}
}

int64_t run_profiler_clock(const struct run_profiler *p) { return p->sums ? p->sums->clock_ns : 0; }

/* ---- means of runs ---- */

/* Some of the runs. */
struct choice {
	const uint32_t *runs;
	uint32_t n;
};

static int run_profile_by_time(const void *a, const void *b, void *times)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const double *t = times;
	return t[x] != t[y] ? (t[x] > t[y]) - (t[x] < t[y]) : (x > y) - (x < y);
}

/* The middle half by the time of the whole run. Means over the same runs add up, medians of each statement do not: a neighbour on the machine delays another
 * statement in each run. */
static struct choice choose_runs(struct arena *a, double *wholes, uint32_t n)
{
	uint32_t *runs = ARENA_ARRAY(a, uint32_t, n + 1);
	for (uint32_t i = 0; i < n; i++)
		runs[i] = i;
	qsort_r(runs, n, sizeof *runs, run_profile_by_time, wholes);
	return (struct choice){runs + n / 4, n - 2 * (n / 4)};
}

static double mean_of(const double *x, struct choice c)
{
	double sum = 0;
	for (uint32_t i = 0; i < c.n; i++)
		sum += x[c.runs[i]];
	return c.n ? sum / c.n : 0;
}

/* ---- items ---- */

/* "layer1.0.conv1 conv2d": the instance and the operation, and a number if a sibling has the same name. */
static const char *run_profile_name_of(struct arena *a, struct map *names, const tri_profile_entry *e)
{
	const char *name = *e->operation ? arena_printf(a, "%s%s%s", e->layer, *e->layer ? " " : "", e->operation) : e->code;
	hash128 key = hash_combine(map_key_u64(e->parent), map_key_str(name));
	uint64_t number = 0;
	map_get(names, key, &number);
	map_put(names, key, number + 1);
	return number ? arena_printf(a, "%s #%u", name, (uint32_t)number + 1) : name;
}

/* The kernel, and the operations that were fused: "tri_conv_f32: conv2d, batch_norm, relu". */
static const char *note_of(struct arena *a, const tri_model_desc *d, const tri_statement *s)
{
	const char *note = arena_strdup(a, d->texts + s->name);
	for (uint32_t k = 0; k < s->n_origins; k++)
		note = arena_printf(a, "%s%s %s", note, k ? "," : ":", d->texts + d->origins[d->members[s->first_origin + k]].operation);
	return note;
}

static void set_launch(struct profile *out, struct profile_values *values, const tri_launch *l)
{
	profile_set(out, values, METRIC_WORK_ITEMS, 0, (double)l->work_items);
	profile_set(out, values, METRIC_WORK_GROUP, 0, l->work_group);
	profile_set(out, values, METRIC_MOST_WORK_GROUP, 0, l->most_work_group);
	profile_set(out, values, METRIC_MULTIPLE, 0, l->multiple);
	profile_set(out, values, METRIC_LOCAL, 0, (double)l->local_bytes);
	profile_set(out, values, METRIC_PRIVATE, 0, (double)l->private_bytes);
	profile_set(out, values, METRIC_OCCUPANCY, 0, l->occupancy);
}

static void set_values(const struct place *x, struct choice chosen, struct profile *out, struct profile_item *item)
{
	const tri_profile_entry *now = &x->now, *before = &x->before;
	struct profile_values *v = &item->values;
	double cpu = mean_of(x->cpus.at, chosen);
	profile_set(out, v, METRIC_WALL, 0, mean_of(x->walls.at, chosen));
	profile_set(out, v, METRIC_LEAST, 0, x->walls.len ? statistics_quantile(x->walls.at, x->walls.len, 0) : 0);
	profile_set(out, v, METRIC_CALLS, 0, (double)(now->calls - before->calls));
	profile_set(out, v, METRIC_PEAK, 0, (double)now->memory);
	if (cpu > 0)
		profile_set(out, v, METRIC_CPU, 0, cpu);
	if (item->kind == ITEM_UNIT)
		return; /* its statements have them */
	profile_set(out, v, METRIC_BYTES, 0, (double)(now->bytes - before->bytes));
	profile_set(out, v, METRIC_OPERATIONS, 0, (double)(now->operations - before->operations));
	if (now->launch.work_items)
		set_launch(out, v, &now->launch);
}

static void run_profile_add_item(const struct run_profiler *p, struct map *names, const tri_profile_entry *e, struct choice chosen,
				 struct profile *out)
{
	static const enum profile_item_kind kinds[] = {
		[TRI_STATEMENT_CODE] = ITEM_STATEMENT, [TRI_STATEMENT_KERNEL] = ITEM_KERNEL, [TRI_STATEMENT_UNIT] = ITEM_UNIT};
	static const enum profile_ceiling ceilings[] = {
		[TRI_CEILING_FLOAT] = CEILING_FLOAT, [TRI_CEILING_INT8] = CEILING_INT8, [TRI_CEILING_MEMORY] = CEILING_MEMORY};
	const tri_statement *s = &p->code->statements[e->statement];
	struct arena *a = out->arena;
	const char *at = *e->file ? arena_printf(a, "%s:%u", e->file, e->line) : NULL;
	uint32_t i = profile_add_item(out, kinds[s->kind], e->parent, run_profile_name_of(a, names, e), at);
	struct profile_item *item = &out->items.at[i];
	item->note = note_of(a, p->code, s);
	item->kernel = s->kind == TRI_STATEMENT_KERNEL ? arena_strdup(a, e->code) : NULL;
	item->ceiling = s->kind == TRI_STATEMENT_UNIT ? CEILING_UNKNOWN : ceilings[s->ceiling];
	set_values(&p->places.at[e->id], chosen, out, item);
}

/* Sums the bytes and operations of the children into units. */
static void sum_children(struct profile *out)
{
	for (uint32_t i = out->items.len; i-- > 0;) {
		const struct profile_item *x = &out->items.at[i];
		if (x->parent == PROFILE_NONE)
			continue;
		struct profile_values *up = &out->items.at[x->parent].values;
		for (enum profile_metric m = METRIC_BYTES; m <= METRIC_OPERATIONS; m++)
			if (x->values.of[m])
				profile_set(out, up, m, 0, (up->of[m] ? up->of[m][0] : 0) + x->values.of[m][0]);
	}
}

/* ---- the last run in time ---- */

static int run_profile_by_start(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;
	return x->start != y->start ? (x->start > y->start) - (x->start < y->start) : (x->ns < y->ns) - (x->ns > y->ns);
}

/* Callers contain what they call; what runs at the same time is never longer. */
static void add_spans(struct run_profiler *p, struct profile *out)
{
	uint32_t inside = PROFILE_NONE, n = p->ended.len;
	int64_t *ends = ARENA_ARRAY(out->arena, int64_t, out->items.len + 1);
	if (n)
		qsort(p->ended.at, n, sizeof *p->ended.at, run_profile_by_start);
	for (uint32_t k = 0; k < n; k++) {
		const struct ended *e = &p->ended.at[k];
		uint32_t i = 0;
		while (inside != PROFILE_NONE && ends[inside] <= e->start)
			inside = out->items.at[inside].parent;
		while (i < out->items.len && !(p->sums->entries[i].statement == e->statement && p->sums->entries[i].parent == inside))
			i++;
		if (i == out->items.len)
			continue;
		ends[i] = e->start + e->ns;
		vec_push(&out->spans, ((struct profile_span){i, 0, e->start - p->ended.at[0].start, e->ns, 0}));
		if (i + 1 < out->items.len && out->items.at[i + 1].parent == i)
			inside = i;
	}
}

/* ---- facts ---- */

/* How busy an OpenCL device was, and its transfers: means of all runs. Of a processor none. */
static void add_device(struct profile *p, const tri_profile *sums)
{
	double kernels = 0, units = 0, runs = (double)sums->runs, wall = (double)sums->wall_ns, to = (double)sums->to_device_ns,
	       from = (double)sums->from_device_ns;
	for (uint32_t i = 0; i < sums->n_entries; i++)
		if (sums->entries[i].launch.work_items) {
			kernels += (double)sums->entries[i].wall_ns;
			units = sums->entries[i].launch.compute_units;
		}
	if (kernels <= 0 || wall <= 0 || runs <= 0)
		return;
	profile_add_fact(p, "compute_units", units);
	profile_add_fact(p, "device.run_ns", wall / runs);
	profile_add_fact(p, "device.kernels_ns", kernels / runs);
	profile_add_fact(p, "utilisation", kernels / wall);
	profile_add_fact(p, "transfer.share", (to + from) / wall);
	profile_add_fact(p, "transfer.to_device_ns", to / runs);
	profile_add_fact(p, "transfer.to_device_bytes", (double)sums->to_device_bytes / runs);
	profile_add_fact(p, "transfer.from_device_ns", from / runs);
	profile_add_fact(p, "transfer.from_device_bytes", (double)sums->from_device_bytes / runs);
}

static void add_weights(struct profile *p, const tri_model_desc *d)
{
	for (uint32_t i = 0; i < d->n_weights; i++) {
		const tri_weight_desc *w = &d->weights[i];
		struct profile_weight x = {.name = arena_strdup(p->arena, w->name),
					   .layout = arena_strdup(p->arena, w->layout),
					   .form = arena_strdup(p->arena, w->form),
					   .elements = 1,
					   .zeros = (double)w->zeros,
					   .bytes = (double)w->bytes};
		for (int32_t k = 0; k < w->rank; k++)
			x.elements *= (double)w->shape[k];
		vec_push(&p->weights, x);
	}
}

double run_profiler_finish(struct run_profiler *p, struct profile *out)
{
	struct map names = {0};
	struct choice chosen = choose_runs(out->arena, p->wholes.at, p->wholes.len);
	double whole = mean_of(p->wholes.at, chosen), outside = whole;
	for (uint32_t i = 0; p->sums && i < p->sums->n_entries; i++) {
		run_profile_add_item(p, &names, &p->sums->entries[i], chosen, out);
		outside -= p->sums->entries[i].parent == TRI_NONE ? profile_value(out, i, METRIC_WALL) : 0;
	}
	map_free(&names);
	sum_children(out);
	profile_add_fact(out, "outside_ns", outside > 0 ? outside : 0);
	if (p->sums) {
		add_spans(p, out);
		add_device(out, p->sums);
	}
	add_weights(out, p->code);
	return whole;
}

/* ---- the cost of the hook ---- */

/* Runs with the hook differ from those without for two reasons. After a report a statement finds the pipeline and the caches of the processor less ready: that is
 * about one time for each report, and is taken from each. What is left are neighbours on the machine, which delay some runs more than others: that
 * concerns all statements alike, so they are scaled. */

#define MOST_READS 4 /* of the clock, for a report: more would be something else */

static void set_times(struct profile *p, uint32_t item, double wall)
{
	struct profile_values *v = &p->items.at[item].values;
	double before = profile_value(p, item, METRIC_WALL);
	profile_set(p, v, METRIC_WALL, 0, wall);
	profile_set(p, v, METRIC_LEAST, 0, fmin(profile_median(p, v, METRIC_LEAST), wall));
	if (v->of[METRIC_CPU] && before > 0)
		v->of[METRIC_CPU][0] *= wall / before;
}

/* Takes `each` from every call, but leaves a nanosecond. Returns the sum of those without a parent. */
static double run_profile_subtract(struct profile *p, double each)
{
	uint32_t n = p->items.len;
	double *left = ARENA_ARRAY(p->arena, double, n + 1), sum = 0;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t parent = p->items.at[i].parent;
		double own = profile_own(p, i, METRIC_WALL);
		left[i] += fmax(own - each * profile_value(p, i, METRIC_CALLS), fmin(own, 1));
		*(parent == PROFILE_NONE ? &sum : &left[parent]) += left[i];
	}
	for (uint32_t i = 0; i < n; i++)
		set_times(p, i, left[i]);
	return sum;
}

void run_profile_remove_hook(struct profile *p, double measured_ns, int64_t clock_ns)
{
	double whole = profile_median(p, &p->total, METRIC_WALL), reports = 1; /* a run ends with one, too */
	for (uint32_t i = 0; i < p->items.len; i++)
		reports += profile_value(p, i, METRIC_CALLS);
	double each = fmin(fmax((measured_ns - whole) / reports, 0), MOST_READS * (double)clock_ns),
	       outside = fmax(profile_fact(p, "outside_ns", 0) - each, 0), sum = run_profile_subtract(p, each) + outside,
	       scale = sum > 0 ? whole / sum : 1;
	for (uint32_t i = 0; i < p->items.len; i++)
		set_times(p, i, scale * profile_value(p, i, METRIC_WALL));
	profile_add_fact(p, "measured_ns", measured_ns);
	profile_add_fact(p, "hook_ns", each);
	profile_add_fact(p, "scale", scale);
	profile_add_fact(p, "outside_ns", scale * outside);
}
