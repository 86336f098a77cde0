#include "builder/run/bench.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/vec.h"
#include "builder/manifest/options.h"
#include "builder/profile/statistics.h"
#include "builder/run/library.h"
#include "builder/run/run_input.h"
#include "builder/run/run_profile.h"

#define WARM_UP_NS ((int64_t)300000000)
#define FEWEST_RUNS 5
#define MOST_RUNS 100000
#define PROFILED_RUNS 30
#define MEMORY_BOUND 5.0 /* operations a byte: fewer */
#define COMPUTE_BOUND 20.0

/* A library that is open twice: with and without the hook. */
struct bench {
	const struct bench_case *c;
	struct arena *arena;
	struct library library;
	struct tri_model *plain, *hooked;
	struct run_profiler *profiler;
	struct run_io io;
	uint32_t entry;
	VEC(double) times;
	struct buf *error;
	enum status *status;
};

static bool fail(struct bench *b, enum status s, const char *text)
{
	buf_puts(b->error, text);
	*b->status = s;
	return false;
}

static struct tri_model *open_model(struct bench *b, bool hooked)
{
	const char *colon = strchr(b->c->device, ':');
	tri_options o = {.size = sizeof o, .threads = b->c->threads, .device = colon ? colon + 1 : NULL};
	tri_error e = {0};
	if (hooked) {
		o.profile = run_profiler_event;
		o.profile_user = b->profiler;
	}
	struct tri_model *m = b->library.desc->open(&o, &e);
	if (!m)
		fail(b, STATUS_ENVIRONMENT, e.message);
	return m;
}

static bool open_library(struct bench *b)
{
	const char *why;
	if (!library_open(b->arena, b->c->library, &b->library, &why))
		return fail(b, STATUS_ENVIRONMENT, why);
	b->profiler = run_profiler_new();
	return (b->plain = open_model(b, false)) && (b->hooked = open_model(b, true));
}

/* True if the batch of the case, if it has one, is the first dimension of an input. */
static bool has_batch(const struct bench *b)
{
	bool found = b->c->batch == 0;
	for (int32_t i = 0; i < b->io.entry->n_inputs; i++)
		found |= b->io.tensors[i].rank > 0 && b->io.tensors[i].shape[0] == b->c->batch;
	return found;
}

static bool prepare(struct bench *b, const struct options *o)
{
	const tri_model_desc *d = b->library.desc;
	struct run_model m = {.entries = d->entries, .n_entries = d->n_entries};
	struct options with = *o;
	int entry = run_find_entry(b->arena, &m, o->entry, b->error);
	if (entry < 0)
		return fail(b, STATUS_USAGE, "");
	b->entry = (uint32_t)entry;
	const tri_entry_desc *e = &d->entries[entry];
	const char **inputs = ARENA_ARRAY(b->arena, const char *, e->n_inputs + 1);
	for (int32_t i = 0; i < e->n_inputs; i++) {
		const char *given = run_file_for(o->inputs, o->n_inputs, e->inputs[i].name);
		inputs[i] = arena_printf(b->arena, "%s=%s", e->inputs[i].name, given ? given : "random");
	}
	with.inputs = inputs;
	with.n_inputs = (uint32_t)e->n_inputs;
	with.batch_size = (int)b->c->batch;
	if (!run_prepare(b->arena, e, &with, &b->io, b->error))
		return fail(b, b->io.environment ? STATUS_ENVIRONMENT : STATUS_FAILED, "");
	return has_batch(b) ||
	       fail(b, STATUS_USAGE, "--batch: no input of the entry has this first dimension; it is fixed, or a file has it");
}

/* Runs a model once from its initial states. Returns the time, or -1. */
static int64_t run_model(struct bench *b, struct tri_model *m)
{
	const tri_model_desc *d = b->library.desc;
	tri_error e = {0};
	if (d->n_states)
		d->reset(m, NULL);
	int64_t began = os_now_ns();
	if (d->run(m, b->entry, b->io.tensors, &e) != TRI_OK) {
		fail(b, STATUS_FAILED, e.message);
		return -1;
	}
	return os_now_ns() - began;
}

static bool warm_up(struct bench *b)
{
	int64_t began = os_now_ns(), last = 0;
	for (uint32_t i = 0; i < 3 || (os_now_ns() - began < WARM_UP_NS && i < MOST_RUNS); i++)
		if ((last = run_model(b, b->plain)) < 0)
			return false;
	return true;
}

static bool measure_runs(struct bench *b)
{
	int64_t began = os_now_ns();
	while (b->times.len < FEWEST_RUNS || (b->times.len < MOST_RUNS && os_now_ns() - began < b->c->budget_ns)) {
		int64_t ns = run_model(b, b->plain);
		if (ns < 0 || os_interrupted())
			return false;
		vec_push(&b->times, (double)ns);
		if (b->times.len >= b->c->least_runs && os_now_ns() - began >= b->c->budget_ns / 3)
			break;
	}
	return true;
}

static bool measure_statements(struct bench *b)
{
	int64_t began = os_now_ns();
	if (run_model(b, b->hooked) < 0)
		return false;
	run_profiler_drop(b->profiler); /* the first run is colder than the others */
	for (uint32_t i = 0; i < 3 || (i < PROFILED_RUNS && os_now_ns() - began < b->c->budget_ns); i++) {
		if (run_model(b, b->hooked) < 0 || os_interrupted())
			return false;
		run_profiler_end_run(b->profiler, b->library.desc);
	}
	return true;
}

/* Runs whose time is far from the others: more than three interquartile ranges above the upper quartile (Tukey 1977). */
static uint32_t count_outliers(const double *x, uint32_t n)
{
	double low = statistics_quantile(x, n, 0.25), high = statistics_quantile(x, n, 0.75);
	uint32_t count = 0;
	for (uint32_t i = 0; i < n; i++)
		count += x[i] > high + 3 * (high - low);
	return count;
}

static struct profile *describe(const struct bench *b, const struct options *o)
{
	struct profile *p = profile_new(PROFILE_RUN, 1);
	const double *x = b->times.at;
	uint32_t n = b->times.len;
	profile_set(p, &p->total, METRIC_WALL, 0, statistics_median(x, n));
	profile_set(p, &p->total, METRIC_PEAK, 0, (double)os_peak_rss_kb() * 1024);
	p->machine.device = arena_strdup(p->arena, b->c->device);
	profile_add_setting(p, "models", b->library.desc->name);
	profile_add_setting(p, "entry", b->io.entry->name);
	profile_add_setting(p, "target", b->library.desc->target);
	profile_add_setting(p, "threads", arena_printf(p->arena, "%u", b->c->threads));
	if (b->c->batch)
		profile_add_setting(p, "batch", arena_printf(p->arena, "%u", b->c->batch));
	for (uint32_t i = 0; i < o->n_inputs; i++)
		profile_add_setting(p, arena_printf(p->arena, "input %.*s", (int)strcspn(o->inputs[i], "="), o->inputs[i]), o->inputs[i]);
	profile_add_fact(p, "runs", n);
	profile_add_fact(p, "min_ns", statistics_quantile(x, n, 0));
	profile_add_fact(p, "p95_ns", statistics_quantile(x, n, 0.95));
	profile_add_fact(p, "deviation_ns", statistics_deviation(x, n));
	profile_add_fact(p, "outliers", count_outliers(x, n));
	run_profiler_finish(b->profiler, p);
	return p;
}

/* The work of the whole run: of the items without a parent. */
static void set_work(struct profile *p)
{
	double sums[2] = {0, 0};
	for (uint32_t i = 0; i < p->items.len; i++)
		for (uint32_t m = METRIC_BYTES; m <= METRIC_OPERATIONS && p->items.at[i].parent == PROFILE_NONE; m++)
			sums[m - METRIC_BYTES] += p->items.at[i].values.of[m] ? p->items.at[i].values.of[m][0] : 0;
	profile_set(p, &p->total, METRIC_BYTES, 0, sums[0]);
	profile_set(p, &p->total, METRIC_OPERATIONS, 0, sums[1]);
}

struct profile *bench_run(const struct bench_case *c, const struct options *o, struct buf *error, enum status *s)
{
	struct bench b = {.c = c, .arena = arena_new(0), .error = error, .status = s};
	struct profile *p = NULL;
	*s = STATUS_INTERRUPTED;
	if (open_library(&b) && prepare(&b, o) && warm_up(&b) && measure_runs(&b) && measure_statements(&b)) {
		p = describe(&b, o);
		set_work(p);
		*s = STATUS_OK;
	}
	if (b.plain)
		b.library.desc->close(b.plain);
	if (b.hooked)
		b.library.desc->close(b.hooked);
	run_profiler_free(b.profiler);
	library_close(&b.library);
	vec_free(&b.times);
	arena_free(b.arena);
	return p;
}

/* ---- rows ---- */

static double value_of(const struct profile *p, const struct profile_item *i, enum profile_metric m)
{
	return profile_median(p, &i->values, m);
}

/* Kernels of int8 are measured against the dot products of int8, all others against float32. */
static double ceiling_of(const struct profile_item *i, const struct ceilings *c)
{
	bool is_int8 = i->note && (strstr(i->note, "_i8_") || strncmp(i->note, "tri_matmul_trits", 16) == 0 ||
				   strncmp(i->note, "tri_conv_trits", 14) == 0);
	return is_int8 ? c->int8_ops : c->float_ops;
}

static struct bench_row row_of(const struct profile *p, uint32_t item, const struct ceilings *c)
{
	const struct profile_item *i = &p->items.at[item];
	struct bench_row r = {.item = item,
			      .ns = value_of(p, i, METRIC_WALL),
			      .bytes = value_of(p, i, METRIC_BYTES),
			      .operations = value_of(p, i, METRIC_OPERATIONS)};
	r.intensity = r.bytes > 0 ? r.operations / r.bytes : 0;
	r.class = r.intensity < MEMORY_BOUND ? BENCH_MEMORY : r.intensity <= COMPUTE_BOUND ? BENCH_MIXED : BENCH_COMPUTE;
	double by_memory = r.intensity * c->read_bytes, most = ceiling_of(i, c);
	r.attainable = by_memory < most ? by_memory : most;
	double seconds = r.ns / 1e9;
	if (seconds > 0 && r.attainable > 0)
		r.share = r.operations / seconds / r.attainable;
	else if (seconds > 0)
		r.share = r.bytes / seconds / c->copy_bytes;
	return r;
}

static int by_time(const void *a, const void *b)
{
	const struct bench_row *x = a, *y = b;
	return x->ns != y->ns ? (x->ns < y->ns) - (x->ns > y->ns) : (x->item > y->item) - (x->item < y->item);
}

struct bench_row *bench_rows(struct arena *a, const struct profile *p, const struct ceilings *c, uint32_t *n)
{
	struct bench_row *rows = ARENA_ARRAY(a, struct bench_row, p->items.len + 1);
	*n = 0;
	for (uint32_t i = 0; i < p->items.len; i++)
		if (p->items.at[i].kind == ITEM_KERNEL || p->items.at[i].kind == ITEM_STATEMENT)
			rows[(*n)++] = row_of(p, i, c);
	qsort(rows, *n, sizeof *rows, by_time);
	return rows;
}

const char *bench_class_text(enum bench_class c)
{
	static const char *const texts[] = {[BENCH_MEMORY] = "memory", [BENCH_MIXED] = "mixed", [BENCH_COMPUTE] = "compute"};
	return texts[c];
}

const char *bench_verdict(struct arena *a, const struct profile *p, const struct bench_row *r)
{
	double whole = profile_median(p, &p->total, METRIC_WALL);
	if (whole > 0 && r->ns < whole / 200)
		return "small";
	if (r->share > 1.1)
		return "its data stays in the caches";
	if (r->share >= 0.8)
		return r->class == BENCH_MEMORY ? "at the memory's rate" : "at the ceiling";
	if (r->share >= 0.5)
		return "near the ceiling";
	return arena_printf(a, "%.1f times the least time", r->share > 0 ? 1 / r->share : 0);
}
