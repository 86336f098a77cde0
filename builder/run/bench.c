#include "builder/run/bench.h"
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/vec.h"
#include "builder/manifest/backends.h"
#include "builder/manifest/options.h"
#include "builder/profile/statistics.h"
#include "builder/run/library.h"
#include "builder/run/run_input.h"
#include "builder/run/run_profile.h"

#define WARM_UP_NS ((int64_t)300000000)
#define FEWEST_RUNS 5
#define MOST_RUNS 100000
#define BLOCK_NS ((int64_t)10000000)

/* A library that is open twice: with and without the hook. */
struct bench {
	struct bench_case *c;
	double timeout_ns;
	struct arena *arena;
	struct library library;
	struct tri_model *plain, *hooked;
	struct run_profiler *profiler;
	struct run_io io;
	uint32_t entry;
	int64_t clock_ns;  /* what reading the clock costs */
	VEC(double) times; /* of whole runs */
	struct buf *error;
	enum status *status;
};

static bool bench_fail(struct bench *b, enum status s, const char *text)
{
	buf_puts(b->error, text);
	*b->status = s;
	return false;
}

static struct tri_model *open_model(struct bench *b, bool hooked)
{
	const struct run_options how = {
		.device = b->c->device, .threads = (int)b->c->threads, .timeout_ns = b->timeout_ns, .no_print = true};
	tri_options o = run_library_options(&how);
	tri_error e = {0};
	o.no_profile = !hooked;
	if (hooked) {
		o.profile = run_profiler_event;
		o.profile_user = b->profiler;
	}
	struct tri_model *m = library_open_model(&b->library, &o, &e);
	if (!m)
		bench_fail(b, STATUS_ENVIRONMENT, e.message);
	return m;
}

static bool bench_open_library(struct bench *b)
{
	const char *why;
	if (!library_open(b->arena, b->c->library, &b->library, &why))
		return bench_fail(b, STATUS_ENVIRONMENT, why);
	b->profiler = run_profiler_new(b->library.desc);
	if (!(b->plain = open_model(b, false)))
		return false;
	const tri_device *device = library_device(&b->library, b->plain, b->c->device);
	b->c->device = *device->why ? "cpu" : b->c->device;
	run_profiler_set_code(b->profiler, device->desc);
	return (b->hooked = open_model(b, true));
}

/* True if the batch of the case, if it has one, is the first dimension of an input. */
static bool bench_has_batch(const struct bench *b)
{
	bool found = b->c->batch == 0;
	for (int32_t i = 0; i < b->io.entry->n_inputs; i++)
		found |= b->io.tensors[i].rank > 0 && b->io.tensors[i].shape[0] == b->c->batch;
	return found;
}

static bool bench_prepare(struct bench *b, const struct options *o)
{
	const tri_model_desc *d = b->library.desc;
	struct run_model m = {.entries = d->entries, .n_entries = d->n_entries};
	struct options with = *o;
	int entry = run_find_entry(b->arena, &m, o->entry, b->error);
	if (entry < 0)
		return bench_fail(b, STATUS_USAGE, "");
	b->entry = (uint32_t)entry;
	const tri_entry_desc *e = &d->entries[entry];
	const char **inputs = ARENA_ARRAY(b->arena, const char *, o->n_inputs + (uint32_t)e->n_inputs + 1);
	if (o->n_inputs)
		memcpy(inputs, o->inputs, o->n_inputs * sizeof *inputs);
	for (int32_t i = 0; i < e->n_inputs; i++)
		if (!run_file_for(o->inputs, o->n_inputs, e->inputs[i].name))
			inputs[with.n_inputs++] = arena_printf(b->arena, "%s=random", e->inputs[i].name);
	with.inputs = inputs;
	if (!run_check_names(b->arena, &m, e, &with, b->error))
		return bench_fail(b, STATUS_USAGE, "");
	with.run.batch_size = (int)b->c->batch;
	if (!run_prepare(b->arena, e, &with, &b->io, b->error))
		return bench_fail(b, b->io.environment ? STATUS_ENVIRONMENT : STATUS_FAILED, "");
	return bench_has_batch(b) ||
	       bench_fail(b, STATUS_USAGE, "--batch: no input of the entry has this first dimension; it is fixed, or a file has it");
}

/* Runs a model once from its initial states. Returns the time, or -1. */
static int64_t run_model(struct bench *b, struct tri_model *model)
{
	const tri_model_desc *d = b->library.desc;
	tri_error e = {0};
	if (d->n_states)
		d->reset(model, NULL);
	int64_t began = os_now_ns();
	if (d->run(model, b->entry, b->io.tensors, &e) != TRI_OK) {
		bench_fail(b, STATUS_FAILED, e.message);
		return -1;
	}
	int64_t ns = os_now_ns() - began - b->clock_ns;
	return ns > 0 ? ns : 1;
}

static bool warm_up(struct bench *b)
{
	int64_t began = os_now_ns(), last = 0;
	for (uint32_t i = 0; i < 3 || (os_now_ns() - began < WARM_UP_NS && i < MOST_RUNS); i++)
		if ((last = run_model(b, b->plain)) < 0)
			return false;
	return true;
}

/* Runs a model for some time. The first run finds the caches as the other model left them: it does not count if others soon follow. */
static bool measure_block(struct bench *b, struct tri_model *model)
{
	int64_t began = os_now_ns();
	bool first = true;
	do {
		int64_t ns = run_model(b, model);
		if (ns < 0)
			return false;
		bool counts = !first || ns >= BLOCK_NS / 10;
		if (model == b->plain && counts)
			vec_push(&b->times, (double)ns);
		else if (model == b->hooked)
			(counts ? run_profiler_end_run : run_profiler_drop_run)(b->profiler, model);
		first = false;
	} while (os_now_ns() - began < BLOCK_NS);
	return !os_interrupted();
}

static bool is_measured(const struct bench *b, int64_t took)
{
	return b->times.len >= MOST_RUNS || (b->times.len >= FEWEST_RUNS && took >= b->c->budget_ns) ||
	       (b->times.len >= b->c->least_runs && took >= b->c->budget_ns / 3);
}

/* Whole runs and statements take turns, so that both meet the same neighbours on the machine. */
static bool bench_measure(struct bench *b)
{
	int64_t took = 0;
	bool ok = run_model(b, b->hooked) >= 0;
	const tri_profile *sums = ok ? b->library.desc->profile(b->hooked, NULL) : NULL;
	b->clock_ns = sums ? sums->clock_ns : 0;
	b->library.desc->profile_reset(b->hooked, NULL);
	run_profiler_drop_run(b->profiler, b->hooked);
	while (ok && !is_measured(b, took)) {
		int64_t began = os_now_ns();
		ok = measure_block(b, b->plain);
		took += os_now_ns() - began;
		ok = ok && measure_block(b, b->hooked);
	}
	return ok;
}

/* Names the slowest of the runs whose time is far from the others: more than three interquartile ranges above the upper quartile (Tukey 1977). Clocks
 * are coarse for short runs, so the range is a tenth of the median at least. */
static void add_outliers(struct profile *p, const double *x, uint32_t n)
{
	double low = statistics_quantile(x, n, 0.25), high = statistics_quantile(x, n, 0.75),
	       limit = high + 3 * fmax(high - low, statistics_median(x, n) / 10);
	uint32_t count = 0, named = 0;
	for (uint32_t i = 0; i < n; i++)
		count += x[i] > limit;
	if (count > BENCH_OUTLIERS)
		limit = statistics_quantile(x, n, 1 - (double)BENCH_OUTLIERS / n);
	for (uint32_t i = 0; i < n && named < BENCH_OUTLIERS; i++)
		if (x[i] > limit) {
			profile_add_fact(p, arena_printf(p->arena, "outlier.%u", i + 1), x[i]);
			named++;
		}
	profile_add_fact(p, "outliers", count);
}

static bool has_print(const tri_model_desc *d)
{
	for (uint32_t i = 0; i < d->n_units; i++)
		for (uint32_t k = 0; k < d->units[i].n_statements; k++)
			if (strcmp(d->texts + d->statements[d->units[i].first_statement + k].name, "print") == 0)
				return true;
	return false;
}

static struct profile *bench_describe(const struct bench *b, const struct options *o)
{
	struct profile *p = profile_new(PROFILE_RUN, 1);
	const double *x = b->times.at;
	uint32_t n = b->times.len;
	bool on_device = device_is_foreign(b->c->device); /* its own clock times statements */
	profile_set(p, &p->total, METRIC_WALL, 0, statistics_median(x, n));
	profile_set(p, &p->total, METRIC_LEAST, 0, statistics_quantile(x, n, 0));
	profile_set(p, &p->total, METRIC_PEAK, 0, (double)os_peak_rss_kb() * 1024);
	p->machine.device = arena_strdup(p->arena, b->c->device);
	profile_add_setting(p, "models", b->library.desc->name);
	profile_add_setting(p, "entry", b->io.entry->name);
	profile_add_setting(p, "target", b->library.desc->target);
	if (!on_device)
		profile_add_setting(p, "threads", arena_printf(p->arena, "%u", b->c->threads));
	if (b->c->batch)
		profile_add_setting(p, "batch", arena_printf(p->arena, "%u", b->c->batch));
	for (uint32_t i = 0; i < o->n_inputs; i++)
		profile_add_setting(p, arena_printf(p->arena, "input %.*s", (int)strcspn(o->inputs[i], "="), o->inputs[i]), o->inputs[i]);
	profile_add_fact(p, "runs", n);
	if (has_print(b->library.desc->device(b->plain)->desc))
		profile_add_fact(p, "prints_left_out", 1);
	profile_add_fact(p, "min_ns", statistics_quantile(x, n, 0));
	profile_add_fact(p, "p95_ns", statistics_quantile(x, n, 0.95));
	profile_add_fact(p, "deviation_ns", statistics_deviation(x, n));
	add_outliers(p, x, n);
	if (!on_device)
		profile_add_fact(p, "clock_ns", (double)b->clock_ns);
	double measured = run_profiler_finish(b->profiler, p);
	if (on_device) /* it measures launches itself */
		profile_add_fact(p, "measured_ns", measured);
	else
		run_profile_remove_hook(p, measured, b->clock_ns);
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

struct profile *bench_run(struct bench_case *c, const struct options *o, struct buf *error, enum status *s)
{
	struct bench b = {.c = c, .timeout_ns = o->run.timeout_ns, .arena = arena_new(0), .error = error, .status = s};
	struct profile *p = NULL;
	*s = STATUS_INTERRUPTED;
	if (bench_open_library(&b) && bench_prepare(&b, o) && warm_up(&b) && bench_measure(&b)) {
		p = bench_describe(&b, o);
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
