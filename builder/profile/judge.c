/* A row is a change if all of these hold:
 * - it is not too small to matter;
 * - the rank test of its samples passes, for all rows of its family together (Holm 1979);
 * - the interval of the ratio excludes 1, and the ratio is beyond the threshold;
 * - more than that if it reads and writes files, whose time depends on the state of the system;
 * - more, too, if it needs caches and memory that other processes also use;
 * - for the wall time of the whole: other processes used about as much of the machine in both, or it differs by more than they can do;
 * - in a build it stands out from the other stages and passes, or units. Stages are compared at the pace of their processes (pace.h), as far as it is known.
 *   A machine that other processes use in another way still slows down each stage by another factor. These factors are seen in the stages that did not
 *   change, which are most of them. No machine makes a part three times as slow: two profiles whose parts differ by more are of different work.
 * With too few samples for the test, a row is a change if all samples of one side are beyond all of the other, by 30 %.
 * A row that differs without being a change says why. */
#include "builder/profile/compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"

#define NOISE_OF_ONE 0.3     /* with too few samples for a test a smaller change is noise */
#define SMALLEST_SHARE 0.002 /* of the whole: smaller items do not matter */
#define SMALLEST_NS_OF_PASSES 1000000
#define SMALLEST_NS_OF_STAGES 3000000 /* system calls and page faults of less take any time */
#define SMALLEST_NS_OF_RUNS 200       /* of many runs in a process */
#define SMALLEST_BYTES (256 << 10)
#define SMALLEST_BYTES_OF_BUILDS (1 << 20) /* more or less: the compiler takes memory in steps */
#define FILES_FACTOR 6.0                   /* creating the files of an empty cache took 1 to 4 times as long beside other processes */
#define UNIT_FACTOR 1.25                   /* of builds with many units: the first ones to be compiled also warm up the code generator */
#define MOST_OTHERS 0.1                    /* of the machine: the difference of what other processes used */
#define FEWEST_ROWS 8                      /* that show how the machine slows down each of them */
#define DEVIATIONS 3                       /* a row that differs by more stands out */
#define MOST_OF_MACHINE 3.0                /* a larger factor is no state of the machine */
#define PRIVATE_BYTES (2 << 20)            /* what a core has in caches of its own */
#define COPIED_BYTES (512 << 10)           /* of a row that mostly moves data: its sources and results take turns in these caches */
#define MEMORY_INTENSITY 5.0               /* operations a byte: with fewer, memory takes the time */
#define MEMORY_FACTOR 2.0
#define CACHE_FACTOR 1.25
#define WHOLE_FACTOR 1.1   /* the whole has parts that fit */
#define MEASURED_SHARE 0.2 /* of the machine: a neighbour used it when these factors were measured */

/* The total, all calls of a kernel, stages and passes, and units with other tasks: a build has many units, and each family has its own chance of a false
 * change. */
enum family { FAMILY_TOTAL, FAMILY_KERNELS, FAMILY_STAGES, FAMILY_UNITS, FAMILIES };

static enum family family_of(const struct compared *compared)
{
	if (compare_is_whole(compared))
		return FAMILY_TOTAL;
	if (compared->kernel)
		return FAMILY_KERNELS;
	return compared->kind == ITEM_UNIT || compared->kind == ITEM_TASK ? FAMILY_UNITS : FAMILY_STAGES;
}

/* True if the item is too small for its change to matter. */
static bool judge_is_small(const struct comparison *c, const struct compared *compared)
{
	double most = fmax(compared->before_value, compared->after_value);
	enum metric_unit unit = profile_metrics[compared->metric].unit;
	if (unit == UNIT_COUNT)
		return false;
	if (unit == UNIT_BYTES && c->before->kind == PROFILE_BUILD &&
	    fabs(compared->after_value - compared->before_value) < SMALLEST_BYTES_OF_BUILDS)
		return true;
	double whole = profile_median(c->before, &c->before->total, compared->metric) * SMALLEST_SHARE;
	return most < fmax(whole, unit != UNIT_NS                  ? SMALLEST_BYTES
				  : c->before->kind == PROFILE_RUN ? SMALLEST_NS_OF_RUNS
				  : compared->kind == ITEM_PASS    ? SMALLEST_NS_OF_PASSES
								   : SMALLEST_NS_OF_STAGES);
}

static enum change direction(double ratio) { return ratio > 1 ? CHANGE_REGRESSION : CHANGE_IMPROVEMENT; }

static void set_undecided(struct compared *compared, const char *reason)
{
	compared->change = CHANGE_UNDECIDED;
	compared->reason = reason;
}

/* True if the values differ by more than this fraction of the smaller one. */
static bool judge_differs(const struct compared *compared, double by)
{
	return fabs(compared->after_value - compared->before_value) > by * fmin(compared->before_value, compared->after_value);
}

#define TOO_FEW "too few samples"

/* Few processes say nothing of the noise: then only large changes count. */
static void judge_untested(const struct comparison *c, struct compared *compared)
{
	bool counted = profile_metrics[compared->metric].comparison == COMPARED_COUNTED;
	if (judge_differs(compared, counted ? 0 : fmax(c->options.threshold, NOISE_OF_ONE)))
		compared->change = direction(compared->after_value / compared->before_value);
	else if (judge_differs(compared, c->options.threshold))
		set_undecided(compared, TOO_FEW);
}

/* ---- what makes times uncertain ---- */

static const struct profile_values *judge_values_of(const struct profile *p, const struct compared *compared, uint32_t item)
{
	return compare_is_whole(compared) ? &p->total : item == PROFILE_NONE ? NULL : &p->items.at[item].values;
}

static bool is_of_files(const struct comparison *c, const struct compared *compared)
{
	const struct profile_values *before = judge_values_of(c->before, compared, compared->before),
				    *after = judge_values_of(c->after, compared, compared->after);
	return !compare_is_whole(compared) &&
	       ((before && profile_is_of_files(c->before, before)) || (after && profile_is_of_files(c->after, after)));
}

/* Time to wait for a processor is in the wall time, and in nothing else that is measured. */
static bool waits_alike(const struct comparison *c, const struct compared *compared)
{
	double before = profile_others_share(c->before), after = profile_others_share(c->after);
	return !compare_is_whole(compared) || compared->metric != METRIC_WALL || c->before->kind == PROFILE_RUN || before < 0 ||
	       after < 0 || fabs(before - after) < MOST_OTHERS || fabs(log(compared->ratio.estimate)) > log(MOST_OF_MACHINE);
}

/* The code of LLVM is larger than the caches of a core. Most of a unit's time is code generation. */
static bool is_of_llvm(const struct comparison *c, const struct compared *compared)
{
	enum family f = family_of(compared);
	return f == FAMILY_UNITS || (f == FAMILY_STAGES && strcmp(profile_item_root(c->before, compared->before)->name, "codegen") == 0);
}

static bool is_beside_others(const struct comparison *c) { return pace_is_disturbed(c->before, c->after); }

/* Returns the factor that others have when they use MEASURED_SHARE of the machine, grown to the share that they used. */
static double beside_others(const struct comparison *c, double factor)
{
	double share = fmax(profile_others_share(c->before), profile_others_share(c->after));
	return fmin(MOST_OF_MACHINE, 1 + (factor - 1) * fmax(1, share / MEASURED_SHARE));
}

/* How much slower other processes may make the row by what they put into shared caches. */
static double cache_factor(const struct comparison *c, const struct compared *compared)
{
	if (!is_beside_others(c))
		return 1;
	if (c->before->kind == PROFILE_BUILD &&
	    compare_is_whole(compared)) /* without its pace the machine may have slowed down all of it */
		return fmax(beside_others(c, WHOLE_FACTOR), c->pace.before ? 1 : exp(pace_most(c->before, c->after)));
	if (c->before->kind == PROFILE_BUILD)
		return is_of_llvm(c, compared) ? beside_others(c, CACHE_FACTOR) : 1;
	if (compared->bytes < (compared->operations < compared->bytes ? COPIED_BYTES : PRIVATE_BYTES))
		return 1;
	if (compare_is_whole(compared))
		return beside_others(c, WHOLE_FACTOR);
	return beside_others(c, compared->operations < MEMORY_INTENSITY * compared->bytes ? MEMORY_FACTOR : CACHE_FACTOR);
}

/* How the machine changed the times of a family: logarithms of ratios. */
struct drift {
	double least;  /* a smaller change is not the row's own */
	double common; /* of all rows */
	double most;   /* a row that differs more from it stands out */
};

static struct drift drift_of(const struct comparison *c, struct compared *const *rows, uint32_t n)
{
	double *logs = ARENA_ARRAY(c->arena, double, n + 1);
	uint32_t len = 0;
	for (uint32_t i = 0; i < n; i++)
		if (rows[i]->kind != ITEM_PHASE && profile_metrics[rows[i]->metric].unit == UNIT_NS && !is_of_files(c, rows[i]))
			logs[len++] = log(rows[i]->ratio.estimate);
	if (len < FEWEST_ROWS || c->before->kind == PROFILE_RUN)
		return (struct drift){0};
	double common = statistics_median(logs, len);
	double least = family_of(rows[0]) == FAMILY_UNITS ? log(UNIT_FACTOR) : 0;
	double most = fmin(DEVIATIONS * 1.4826 * statistics_deviation(logs, len), log(MOST_OF_MACHINE));
	return (struct drift){least, fabs(common) < pace_most(c->before, c->after) ? common : 0, most};
}

/* Beside other processes, what all stages share is the machine's. On a quiet machine it is the build's own. */
static struct drift drift_of_whole(const struct comparison *c, struct drift of_stages)
{
	return !c->pace.before ? of_stages : (struct drift){.common = is_beside_others(c) ? c->pace.common : 0};
}

/* What the machine did to all rows is taken off, but a row that then differs must also differ by itself. */
static bool is_large(const struct comparison *c, const struct compared *compared, struct drift drift)
{
	double by = log(compared->measured), least = fmax(log1p(c->options.threshold), drift.least),
	       own = log(compared->ratio.estimate) - drift.common;
	if (profile_metrics[compared->metric].unit != UNIT_NS)
		return fabs(by) > least;
	if (is_of_files(c, compared))
		return fabs(by) > fmax(least, log(FILES_FACTOR));
	return fabs(own) > fmax(fmax(least, drift.most), log(cache_factor(c, compared))) && by * own > 0 && fabs(by) > least / 2;
}

/* ---- tests ---- */

static int by_p(const void *a, const void *b)
{
	const struct compared *x = *(const struct compared *const *)a, *y = *(const struct compared *const *)b;
	return x->ratio.p != y->ratio.p ? (x->ratio.p > y->ratio.p) - (x->ratio.p < y->ratio.p) : (x > y) - (x < y);
}

/* The least p that samples of these sizes can have: all of one below all of the other. */
static double least_p(const struct comparison *c)
{
	double p = 2;
	for (uint32_t i = 1; i <= c->before->n_samples; i++)
		p *= (double)i / (c->after->n_samples + i);
	return p;
}

/* True if all samples of one side are beyond all of the other, by what a single one may differ. */
static bool are_far_apart(const struct comparison *c, const struct compared *compared)
{
	const struct profile_values *before = judge_values_of(c->before, compared, compared->before),
				    *after = judge_values_of(c->after, compared, compared->after);
	if (!before || !after)
		return false;
	const double *x = before->of[compared->metric], *y = after->of[compared->metric];
	uint32_t n = c->before->n_samples, m = c->after->n_samples;
	return statistics_quantile(y, m, 0) > (1 + NOISE_OF_ONE) * statistics_quantile(x, n, 1) ||
	       statistics_quantile(x, n, 0) > (1 + NOISE_OF_ONE) * statistics_quantile(y, m, 1);
}

/* A row that did not pass the test at `alpha`. */
static void judge_failed(const struct comparison *c, struct compared *compared, double alpha, struct drift drift)
{
	bool are_few = least_p(c) > alpha / 2; /* some tests are two */
	if (!are_few || !is_large(c, compared, drift))
		return;
	if (are_far_apart(c, compared))
		compared->change = direction(compared->ratio.estimate);
	else
		set_undecided(compared, TOO_FEW);
}

/* Many rows are tested at once, so each has to pass a sharper test: the chance of any false change among them stays alpha. */
static void judge_family(struct comparison *c, struct compared **rows, uint32_t n, double alpha, struct drift drift)
{
	uint32_t i = 0;
	if (n)
		qsort(rows, n, sizeof(struct compared *), by_p);
	for (; i < n && rows[i]->ratio.p <= alpha / (n - i); i++) {
		struct compared *r = rows[i];
		bool is_sure = profile_metrics[r->metric].unit != UNIT_NS || r->ratio.low > 1 || r->ratio.high < 1;
		if (is_sure && is_large(c, r, drift))
			r->change = direction(r->ratio.estimate);
		else if (judge_differs(r, c->options.threshold))
			set_undecided(r, is_of_files(c, r) ? "the state of the files may do this" : "other processes may do this");
	}
	for (uint32_t k = i; k < n; k++)
		judge_failed(c, rows[k], alpha / (n - i), drift);
}

/* Why the row, which is in both profiles, is not judged; NULL: it is. The rest of a phase, which only has a wall time, contains waiting. */
static const char *not_judged(const struct comparison *c, const struct compared *compared)
{
	bool is_time = profile_metrics[compared->metric].unit == UNIT_NS,
	     is_rest = compared->metric == METRIC_WALL && c->before->total.of[METRIC_CPU];
	if (!compare_is_whole(compared) && is_time && !compared->decides)
		return "another figure of it decides";
	if (!compare_is_whole(compared) && is_time && is_rest && c->options.metric != METRIC_WALL)
		return "this time contains waiting";
	return judge_is_small(c, compared) ? "too small to matter" : NULL;
}

/* True if a test of the row's family says whether it is a change. */
static bool is_for_test(const struct comparison *c, struct compared *compared)
{
	const char *reason = compared->change == CHANGE_NONE ? not_judged(c, compared) : NULL;
	if (compared->change != CHANGE_NONE)
		return false;
	if (reason && judge_differs(compared, c->options.threshold)) {
		compared->change = CHANGE_NOT_JUDGED;
		compared->reason = reason;
	} else if (!reason && !waits_alike(c, compared)) {
		if (judge_differs(compared, c->options.threshold))
			set_undecided(compared, "other processes used another share of the machine");
	} else if (!reason && !compared->is_tested) {
		judge_untested(c, compared);
	}
	return !reason && compared->change == CHANGE_NONE && compared->is_tested;
}

void judge_rows(struct comparison *c)
{
	struct compared **rows[FAMILIES];
	uint32_t n[FAMILIES] = {0};
	for (uint32_t f = 0; f < FAMILIES; f++)
		rows[f] = ARENA_ARRAY(c->arena, struct compared *, c->n_rows + 1);
	for (uint32_t i = 0; i < c->n_rows; i++) {
		struct compared *r = &c->rows[i];
		enum family f = family_of(r);
		if (is_for_test(c, r))
			rows[f][n[f]++] = r;
	}
	struct drift drift = drift_of(c, rows[FAMILY_STAGES], n[FAMILY_STAGES]);
	struct drift of_units = n[FAMILY_UNITS] < FEWEST_ROWS ? drift : drift_of(c, rows[FAMILY_UNITS], n[FAMILY_UNITS]);
	double alpha = c->options.alpha / 3;
	judge_family(c, rows[FAMILY_TOTAL], n[FAMILY_TOTAL], c->options.alpha, drift_of_whole(c, drift));
	judge_family(c, rows[FAMILY_KERNELS], n[FAMILY_KERNELS], alpha, (struct drift){0});
	judge_family(c, rows[FAMILY_STAGES], n[FAMILY_STAGES], alpha, drift);
	judge_family(c, rows[FAMILY_UNITS], n[FAMILY_UNITS], alpha, of_units);
	uint32_t most = n[FAMILY_STAGES] > 0 ? n[FAMILY_STAGES] : 1;
	c->can_decide = least_p(c) <= alpha / most;
	for (uint32_t i = 0; i < c->n_rows; i++)
		c->counts[c->rows[i].change]++;
}
