#include "builder/run/run_profile.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/map.h"
#include "builder/profile/statistics.h"

struct event {
	const tri_unit_desc *unit;
	uint32_t statement, order;
	int64_t start, ns, cpu_ns, bytes, operations, memory;
	tri_launch launch;
};
/* A statement at one place in the tree of calls. */
struct place {
	uint32_t parent; /* a place, or PROFILE_NONE */
	enum profile_item_kind kind;
	const char *name, *at, *note;
	uint32_t calls; /* in the present run; then those of the last one */
	double wall, cpu, bytes, operations;
	double memory;           /* the most of a call, without callers */
	tri_launch launch;       /* of the last call */
	VEC(double) walls, cpus; /* of each run */
};
struct run_profiler {
	struct arena *arena;
	const tri_model_desc *desc;
	VEC(struct event) events;       /* of the runs that were not read yet */
	VEC(uint32_t) ends;             /* of each of these runs: the number of events until then */
	VEC(struct place) places;       /* parents precede children */
	VEC(struct profile_span) spans; /* of the last run; items are places */
	struct map known, names;
	VEC(double) wholes; /* of each run, on the clock of its statements */
	double measured;    /* of all runs until now, those that were dropped included */
	uint32_t n_runs;    /* that were read */
};

struct run_profiler *run_profiler_new(void)
{
	struct run_profiler *p = alloc_zeroed(sizeof *p);
	p->arena = arena_new(0);
	return p;
}

void run_profiler_free(struct run_profiler *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->places.len; i++) {
		vec_free(&p->places.at[i].walls);
		vec_free(&p->places.at[i].cpus);
	}
	vec_free(&p->places);
	vec_free(&p->wholes);
	vec_free(&p->events);
	vec_free(&p->ends);
	vec_free(&p->spans);
	map_free(&p->known);
	map_free(&p->names);
	arena_free(p->arena);
	free(p);
}

void run_profiler_event(void *profiler, const tri_profile_event *e)
{
	struct run_profiler *p = profiler;
	struct event x = {e->unit,   e->statement, p->events.len, e->start_ns, e->ns,
			  e->cpu_ns, e->bytes,     e->operations, e->memory,   e->launch};
	vec_push(&p->events, x);
}

/* Returns the time of the last run as the library counts it: without the hook's own. */
static double time_of_run(struct run_profiler *p, const tri_model_desc *d, struct tri_model *m)
{
	const tri_profile *sums = d->profile(m, NULL);
	double before = p->measured;
	p->measured = sums ? (double)sums->wall_ns : before;
	return p->measured - before;
}

void run_profiler_drop_run(struct run_profiler *p, const tri_model_desc *desc, struct tri_model *model)
{
	time_of_run(p, desc, model);
	p->events.len = p->ends.len ? p->ends.at[p->ends.len - 1] : 0;
}

/* ---- names ---- */

static const tri_origin *origin_of(const tri_model_desc *d, const tri_statement *s, uint32_t k)
{
	return &d->origins[d->members[s->first_origin + k]];
}

static enum profile_item_kind kind_of(const char *name)
{
	static const char *const words[] = {"loop", "block", "if", "while", "print", "assert"};
	for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(name, words[i]) == 0)
			return ITEM_STATEMENT;
	return strncmp(name, "tri_", 4) == 0 ? ITEM_KERNEL : ITEM_UNIT;
}

/* "layer1.0.conv1 conv2d": the instance and the operation, and a number if a sibling has the same name. */
static const char *new_name(struct run_profiler *p, uint32_t parent, const tri_model_desc *d, const tri_statement *s)
{
	const char *name = d->texts + s->name;
	uint64_t number = 0;
	if (s->n_origins) {
		const tri_origin *o = origin_of(d, s, 0);
		const char *layer = d->texts + o->layer;
		name = arena_printf(p->arena, "%s%s%s", layer, *layer ? " " : "", d->texts + o->operation);
	}
	hash128 key = hash_combine(map_key_u64(parent), map_key_str(name));
	map_get(&p->names, key, &number);
	map_put(&p->names, key, number + 1);
	return number ? arena_printf(p->arena, "%s #%u", name, (uint32_t)number + 1) : name;
}

/* The kernel, and the operations that were fused: "tri_conv_f32: conv2d, batch_norm, relu". */
static const char *note_of(struct arena *a, const tri_model_desc *d, const tri_statement *s)
{
	const char *note = arena_printf(a, "%s", d->texts + s->name);
	for (uint32_t k = 0; k < s->n_origins; k++)
		note = arena_printf(a, "%s%s %s", note, k ? "," : ":", d->texts + origin_of(d, s, k)->operation);
	return note;
}

/* The line in the project: for an operation of the standard library that of the call which was inlined. */
static const char *place_in_sources(struct arena *a, const tri_model_desc *d, const tri_origin *o)
{
	while (strncmp(d->texts + o->file, "std/", 4) == 0 && o->inlined_at != TRI_NONE)
		o = &d->origins[o->inlined_at];
	return arena_printf(a, "%s:%u", d->texts + o->file, o->line);
}

static uint32_t add_place(struct run_profiler *p, uint32_t parent, const tri_model_desc *d, uint32_t statement)
{
	const tri_statement *s = &d->statements[statement];
	struct place x = {
		.parent = parent, .kind = kind_of(d->texts + s->name), .name = new_name(p, parent, d, s), .note = note_of(p->arena, d, s)};
	if (s->n_origins)
		x.at = place_in_sources(p->arena, d, origin_of(d, s, 0));
	vec_push(&p->places, x);
	return p->places.len - 1;
}

static uint32_t place_of(struct run_profiler *p, uint32_t parent, const tri_model_desc *d, const struct event *e)
{
	uint64_t at;
	hash128 key = hash_combine(map_key_u64(parent), map_key_u64(e->statement));
	if (!map_get(&p->known, key, &at)) {
		at = add_place(p, parent, d, e->statement);
		map_put(&p->known, key, at);
	}
	return (uint32_t)at;
}

/* ---- runs ---- */

/* Callers before what they call. A caller reports after its callees. */
static int by_start(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->order < y->order) - (x->order > y->order);
}

static void count_event(struct run_profiler *p, uint32_t place, const struct event *e, int64_t began)
{
	struct place *x = &p->places.at[place];
	struct profile_span span = {.item = place, .start_ns = e->start - began, .ns = e->ns};
	x->calls++;
	x->wall += (double)e->ns;
	x->cpu += (double)e->cpu_ns;
	x->bytes += (double)e->bytes;
	x->operations += (double)e->operations;
	x->memory = (double)e->memory > x->memory ? (double)e->memory : x->memory;
	x->launch = e->launch;
	vec_push(&p->spans, span);
}

static void begin_run(struct run_profiler *p)
{
	p->spans.len = 0;
	for (uint32_t i = 0; i < p->places.len; i++) {
		struct place *x = &p->places.at[i];
		x->calls = 0;
		x->wall = x->cpu = x->bytes = x->operations = 0;
	}
}

/* Zeros for the runs before the place was first seen. */
static void end_run(struct run_profiler *p)
{
	p->n_runs++;
	for (uint32_t i = 0; i < p->places.len; i++) {
		struct place *x = &p->places.at[i];
		while (x->walls.len + 1 < p->n_runs) {
			vec_push(&x->walls, 0);
			vec_push(&x->cpus, 0);
		}
		vec_push(&x->walls, x->wall);
		vec_push(&x->cpus, x->cpu);
	}
}

enum { MOST_DEPTH = 256, WAITING_EVENTS = 256 };

static void read_run(struct run_profiler *p, struct event *events, uint32_t n)
{
	const tri_model_desc *desc = p->desc;
	struct {
		int64_t end;
		uint32_t place;
	} around[MOST_DEPTH];
	uint32_t depth = 0;
	if (n)
		qsort(events, n, sizeof *events, by_start);
	begin_run(p);
	for (uint32_t i = 0; i < n; i++) {
		const struct event *e = &events[i];
		while (depth && around[depth - 1].end <= e->start)
			depth--;
		uint32_t place = place_of(p, depth ? around[depth - 1].place : PROFILE_NONE, desc, e);
		count_event(p, place, e, events[0].start);
		bool calls = p->places.at[place].kind == ITEM_UNIT ||
			     strcmp(desc->texts + desc->statements[e->statement].name, "if") == 0 ||
			     strcmp(desc->texts + desc->statements[e->statement].name, "while") == 0;
		if (calls && depth < MOST_DEPTH) {
			around[depth].end = e->start + e->ns;
			around[depth++].place = place;
		}
	}
	end_run(p);
}

static void read_runs(struct run_profiler *p)
{
	uint32_t from = 0;
	for (uint32_t i = 0; i < p->ends.len; i++) {
		read_run(p, p->events.at + from, p->ends.at[i] - from);
		from = p->ends.at[i];
	}
	p->events.len = p->ends.len = 0;
}

void run_profiler_end_run(struct run_profiler *p, const tri_model_desc *desc, struct tri_model *model)
{
	p->desc = desc;
	vec_push(&p->wholes, time_of_run(p, desc, model));
	vec_push(&p->ends, p->events.len);
	if (p->events.len >= WAITING_EVENTS)
		read_runs(p);
}

/* ---- the profile ---- */

/* Some of the runs. */
struct choice {
	const uint32_t *runs;
	uint32_t n;
};

struct timed_run {
	double ns;
	uint32_t number;
};

static int by_time(const void *a, const void *b)
{
	const struct timed_run *x = a, *y = b;
	return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns) : (x->number > y->number) - (x->number < y->number);
}

/* The middle half by the time of the whole run. Means over the same runs add up, medians of each statement do not: a neighbour on the machine delays another
 * statement in each run. */
static struct choice choose_runs(struct arena *a, const double *wholes, uint32_t n)
{
	struct timed_run *all = ARENA_ARRAY(a, struct timed_run, n + 1);
	uint32_t *runs = ARENA_ARRAY(a, uint32_t, n + 1), from = n / 4;
	for (uint32_t i = 0; i < n; i++)
		all[i] = (struct timed_run){wholes[i], i};
	if (n)
		qsort(all, n, sizeof *all, by_time);
	for (uint32_t i = from; i < n - from; i++)
		runs[i - from] = all[i].number;
	return (struct choice){runs, n - 2 * from};
}

static double mean_of(const double *x, struct choice c)
{
	double sum = 0;
	for (uint32_t i = 0; i < c.n; i++)
		sum += x[c.runs[i]];
	return c.n ? sum / c.n : 0;
}

static void set_launch(struct profile *out, struct profile_values *v, const tri_launch *l)
{
	profile_set(out, v, METRIC_WORK_ITEMS, 0, (double)l->work_items);
	profile_set(out, v, METRIC_WORK_GROUP, 0, l->work_group);
	profile_set(out, v, METRIC_MOST_WORK_GROUP, 0, l->most_work_group);
	profile_set(out, v, METRIC_MULTIPLE, 0, l->multiple);
	profile_set(out, v, METRIC_LOCAL, 0, (double)l->local_bytes);
	profile_set(out, v, METRIC_PRIVATE, 0, (double)l->private_bytes);
	profile_set(out, v, METRIC_OCCUPANCY, 0, l->occupancy);
}

static void set_values(const struct place *x, struct choice chosen, struct profile *out, uint32_t item)
{
	struct profile_values *v = &out->items.at[item].values;
	double cpu = mean_of(x->cpus.at, chosen);
	profile_set(out, v, METRIC_WALL, 0, mean_of(x->walls.at, chosen));
	profile_set(out, v, METRIC_LEAST, 0, statistics_quantile(x->walls.at, x->walls.len, 0));
	profile_set(out, v, METRIC_CALLS, 0, x->calls);
	if (cpu > 0)
		profile_set(out, v, METRIC_CPU, 0, cpu);
	if (x->kind == ITEM_UNIT)
		return; /* its statements have them */
	profile_set(out, v, METRIC_BYTES, 0, x->bytes);
	profile_set(out, v, METRIC_OPERATIONS, 0, x->operations);
	if (x->launch.work_items)
		set_launch(out, v, &x->launch);
}

/* The memory of a statement is that of its unit and of the callers meanwhile; that of a unit the most of its statements. */
static void set_memory(const struct run_profiler *p, struct profile *out, uint32_t first)
{
	double *live = ARENA_ARRAY(out->arena, double, p->places.len + 1);
	for (uint32_t i = 0; i < p->places.len; i++) {
		const struct place *x = &p->places.at[i];
		live[i] = x->memory + (x->parent == PROFILE_NONE ? 0 : live[x->parent]);
		profile_set(out, &out->items.at[first + i].values, METRIC_PEAK, 0, live[i]);
	}
	for (uint32_t i = p->places.len; i-- > 0;) {
		uint32_t parent = p->places.at[i].parent;
		double most = out->items.at[first + i].values.of[METRIC_PEAK][0];
		if (parent != PROFILE_NONE && most > out->items.at[first + parent].values.of[METRIC_PEAK][0])
			profile_set(out, &out->items.at[first + parent].values, METRIC_PEAK, 0, most);
	}
}

/* Sums the bytes and operations of the children into units. */
static void sum_children(struct profile *out, uint32_t first)
{
	for (uint32_t i = out->items.len; i-- > first;) {
		const struct profile_item *x = &out->items.at[i];
		if (x->parent == PROFILE_NONE)
			continue;
		struct profile_values *up = &out->items.at[x->parent].values;
		for (uint32_t m = METRIC_BYTES; m <= METRIC_OPERATIONS; m++)
			if (x->values.of[m])
				profile_set(out, up, (enum profile_metric)m, 0, (up->of[m] ? up->of[m][0] : 0) + x->values.of[m][0]);
	}
}

double run_profiler_finish(struct run_profiler *p, struct profile *out)
{
	read_runs(p);
	uint32_t first = out->items.len;
	struct choice chosen = choose_runs(out->arena, p->wholes.at, p->n_runs);
	double whole = mean_of(p->wholes.at, chosen), outside = whole;
	for (uint32_t i = 0; i < p->places.len; i++) {
		const struct place *x = &p->places.at[i];
		uint32_t parent = x->parent == PROFILE_NONE ? PROFILE_NONE : first + x->parent;
		uint32_t item = profile_add_item(out, x->kind, parent, x->name, x->at);
		out->items.at[item].note = arena_strdup(out->arena, x->note);
		set_values(x, chosen, out, item);
		if (parent == PROFILE_NONE)
			outside -= profile_median(out, &out->items.at[item].values, METRIC_WALL);
	}
	set_memory(p, out, first);
	sum_children(out, first);
	for (uint32_t i = 0; i < p->spans.len; i++) {
		struct profile_span s = p->spans.at[i];
		s.item += first;
		vec_push(&out->spans, s);
	}
	profile_add_fact(out, "outside_ns", outside > 0 ? outside : 0);
	return whole;
}
