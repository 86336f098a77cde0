#include "builder/profile/ab.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "builder/profile/figures.h"
#include "builder/profile/reports.h"
#include "builder/profile/table.h"

#define MOST_MEMORY 1.5

static const char *const verdicts[] = {[AB_EQUAL] = "no difference outside the noise",
				       [AB_BETTER] = "b is better",
				       [AB_WORSE] = "b is slower",
				       [AB_LARGER] = "b is faster, but takes more than 1.5 times the memory"};

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

static void add_side(struct table *t, const char *letter, const struct ab_side *s)
{
	char text[FIGURE_SIZE];
	const double *walls = s->profile->total.of[METRIC_WALL];
	uint32_t n = s->profile->n_samples;
	table_addf(t, "%s: %s", letter, s->name);
	table_add(t, figure_text(UNIT_NS, statistics_median(walls, n), text));
	table_add(t, figure_text(UNIT_NS, statistics_mean(walls, n), text));
	table_add(t, figure_text(UNIT_NS, statistics_quantile(walls, n, 0), text));
	table_add(t, figure_text(UNIT_NS, statistics_deviation(walls, n), text));
	table_add(t, figure_text(UNIT_NS, profile_median(s->profile, &s->profile->total, METRIC_CPU), text));
	table_add(t, figure_text(UNIT_BYTES, profile_median(s->profile, &s->profile->total, METRIC_PEAK), text));
}

static void print_text(const struct ab_result *r, const struct report_options *o, struct buf *out)
{
	struct arena *a = arena_new(0);
	struct table t = {.arena = a,
			  .columns = {{"side", false},
				      {"wall", true},
				      {"mean", true},
				      {"least", true},
				      {"deviation", true},
				      {"CPU", true},
				      {"peak memory", true}},
			  .n_columns = 7};
	add_side(&t, "a", &r->a);
	add_side(&t, "b", &r->b);
	table_print(&t, o->format == REPORT_MARKDOWN, out);
	report_printf(o, out, "\nspeed-up of b: %.3f", 1 / r->time.estimate);
	if (r->time.low > 0)
		report_printf(o, out, ", at 95 %% between %.3f and %.3f", 1 / r->time.high, 1 / r->time.low);
	else
		buf_puts(out, " (too few pairs for an interval: measure at least 6)");
	report_printf(o, out, "; memory x %.2f; %u pairs\nverdict: %s\n", r->memory, r->a.profile->n_samples, verdicts[r->verdict]);
	arena_free(a);
}

static void print_json(const struct ab_result *r, struct buf *out)
{
	static const char *const words[] = {[AB_EQUAL] = "equal", [AB_BETTER] = "better", [AB_WORSE] = "worse", [AB_LARGER] = "larger"};
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", "ab");
	json_member_str(&w, "a", r->a.name);
	json_member_str(&w, "b", r->b.name);
	json_member_int(&w, "pairs", r->a.profile->n_samples);
	json_member_real(&w, "speed_up", 1 / r->time.estimate);
	json_member_real(&w, "low", 1 / r->time.high);
	json_member_real(&w, "high", 1 / r->time.low);
	json_member_real(&w, "p", r->time.p);
	json_member_real(&w, "memory", r->memory);
	json_member_str(&w, "verdict", words[r->verdict]);
	json_close(&w, '}');
	buf_putc(out, '\n');
}

void ab_report(const struct ab_result *r, const struct report_options *o, struct buf *out)
{
	if (o->format == REPORT_JSON)
		print_json(r, out);
	else
		print_text(r, o, out);
}
