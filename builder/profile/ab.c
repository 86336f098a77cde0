#include "builder/profile/ab.h"
#include "base/arena.h"

#define MOST_MEMORY 1.5

static const struct {
	const char *word, *sentence;
} verdicts[] = {[AB_EQUAL] = {"equal", "no difference outside the noise"},
		[AB_BETTER] = {"better", "b is better"},
		[AB_WORSE] = {"worse", "b is slower"},
		[AB_LARGER] = {"larger", "b is faster, but takes more than 1.5 times the memory"}};

struct ab_result ab_judge(const struct ab_side *a, const struct ab_side *b)
{
	const struct profile *p = a->profile, *q = b->profile;
	struct ab_result r = {*a, *b, .memory = 1};
	double before = profile_median(p, &p->total, METRIC_PEAK);
	r.time = statistics_paired_ratio(p->total.of[METRIC_WALL], q->total.of[METRIC_WALL], p->n_samples, 0.05);
	if (before > 0)
		r.memory = profile_median(q, &q->total, METRIC_PEAK) / before;
	if (r.time.low > 1)
		r.verdict = AB_WORSE;
	else if (r.time.high < 1)
		r.verdict = r.memory <= MOST_MEMORY ? AB_BETTER : AB_LARGER;
	return r;
}

static void ab_put_sides(struct report *report, const struct ab_side *a, const struct ab_side *b)
{
	COLUMNS(columns, ONLY_TEXT("side", WORD), ONLY_TEXT("wall", NS), ONLY_TEXT("mean", NS), ONLY_TEXT("least", NS),
		ONLY_TEXT("deviation", NS), ONLY_TEXT("CPU", NS), ONLY_TEXT("peak memory", BYTES));
	struct table t = TABLE(report, columns);
	for (int i = 0; i < 2; i++) {
		const struct profile *p = i ? b->profile : a->profile;
		const double *walls = p->total.of[METRIC_WALL];
		uint32_t n = p->n_samples;
		TABLE_ROW(&t, word(arena_printf(report->arena, i ? "b: %s" : "a: %s", (i ? b : a)->name)),
			  figure(statistics_median(walls, n)), figure(statistics_mean(walls, n)), figure(statistics_quantile(walls, n, 0)),
			  figure(statistics_deviation(walls, n)), figure(profile_median(p, &p->total, METRIC_CPU)),
			  figure(profile_median(p, &p->total, METRIC_PEAK)));
	}
	table_print(&t, NULL, NULL);
}

void ab_report(const struct ab_result *x, const struct report_options *options, struct buf *out)
{
	COLUMNS(columns, ONLY_JSON("a"), ONLY_JSON("b"), ONLY_JSON("pairs"), ONLY_JSON("speed_up"), ONLY_JSON("low"), ONLY_JSON("high"),
		ONLY_JSON("p"), ONLY_JSON("memory"), ONLY_JSON("verdict"));
	struct report r = report_open(options, out, "ab");
	uint32_t pairs = x->a.profile->n_samples;
	double low = 1 / x->time.high, high = 1 / x->time.low, speed_up = 1 / x->time.estimate;
	ab_put_sides(&r, &x->a, &x->b);
	report_say(&r, "\nspeed-up of b: %.3f", speed_up);
	if (x->time.low > 0)
		report_say(&r, ", at 95 %% between %.3f and %.3f", low, high);
	else
		report_say(&r, " (too few pairs for an interval: measure at least 6)");
	report_say(&r, "; memory x %.2f; %u pairs\nverdict: %s\n", x->memory, pairs, verdicts[x->verdict].sentence);
	report_members(&r, columns,
		       (struct cell[]){word(x->a.name), word(x->b.name), figure(pairs), figure(speed_up), figure(low), figure(high),
				       figure(x->time.p), figure(x->memory), word(verdicts[x->verdict].word)},
		       9);
	report_close(&r);
}
