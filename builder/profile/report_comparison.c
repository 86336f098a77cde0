#include <math.h>
#include "base/arena.h"
#include "base/foreign.h"
#include "builder/profile/compare.h"
#include "builder/profile/figures.h"
#include "builder/profile/report.h"

/* The columns of text; JSON has a row for each metric of each item. */
COLUMNS(columns, COLUMN("kind", "kind", WORD), COLUMN("item", "item", WORD), ONLY_TEXT("metric", WORD), ONLY_JSON("metric"),
	COLUMN("before", "before", RIGHT), COLUMN("after", "after", RIGHT), COLUMN("ratio", "change", CHANGE), ONLY_TEXT("interval", RIGHT),
	ONLY_TEXT("verdict", WORD), ONLY_JSON("before_median"), ONLY_JSON("after_median"), ONLY_JSON("before_mean"),
	ONLY_JSON("after_mean"), ONLY_JSON("low"), ONLY_JSON("high"), ONLY_JSON("p"), COLUMN("tested", NULL, BOOL), ONLY_JSON("change"),
	ONLY_JSON("reason"));

static const char *interval(struct arena *a, const struct compared *compared)
{
	char low[FIGURE_SIZE], high[FIGURE_SIZE];
	if (!compared->is_tested || compared->ratio.low <= 0)
		return "";
	return arena_printf(a, "%s to %s", figure_change(compared->ratio.low, low),
			    isfinite(compared->ratio.high) ? figure_change(compared->ratio.high, high) : "unknown");
}

/* The figures of a row have the unit of its metric. */
static struct cell value_cell(struct report *r, const struct compared *x, double value)
{
	return report_is_json(r) ? figure(value) : word(figure_new(r->arena, profile_metrics[x->metric].unit, value));
}

static void report_comparison_add_row(struct table *table, const struct comparison *c, const struct compared *x, bool with_verdict)
{
	struct report *r = table->report;
	bool json = report_is_json(r), is_new = x->change == CHANGE_NEW && !json, is_gone = x->change == CHANGE_REMOVED && !json;
	const struct metric_row *m = &profile_metrics[x->metric];
	const char *change = change_table[x->change].name;
	const char *verdict = x->reason ? arena_printf(r->arena, "%s: %s", change, x->reason) : change;
	TABLE_ROW(table, word(compare_is_whole(x) ? "total" : profile_item_kinds[x->kind]), word(compare_name(c, x)), word(m->title),
		  word(m->name), is_new ? word("") : value_cell(r, x, x->before_value),
		  is_gone ? word("") : value_cell(r, x, x->after_value), is_new || is_gone ? word("") : figure(x->ratio.estimate),
		  word(interval(r->arena, x)), with_verdict ? word(verdict) : blank(NULL), figure(x->medians[0]), figure(x->medians[1]),
		  figure(x->means[0]), figure(x->means[1]), figure(x->ratio.low), figure(x->ratio.high), figure(x->ratio.p),
		  figure(x->is_tested), word(change), word(x->reason));
}

static void report_comparison_put_list(struct report *r, const struct comparison *c, enum change change)
{
	uint32_t n, top = r->options.top;
	const uint32_t *rows = compare_rows(c, change, &n);
	struct table t = TABLE(r, columns);
	for (uint32_t i = 0; i < n && i < top; i++)
		report_comparison_add_row(&t, c, &c->rows[rows[i]], change == CHANGE_UNDECIDED);
	const char *of = n > top ? arena_printf(r->arena, "%u of %u", top, n) : arena_printf(r->arena, "%u", n);
	table_print(&t, NULL, arena_printf(r->arena, "%s (%s)", change_table[change].title, of));
}

/* What was measured, beside the values above that are compared: of times, the fastest samples at the pace of one machine. */
static void put_samples(struct report *r, const struct comparison *c)
{
	COLUMNS(of_samples, ONLY_TEXT("whole process", WORD), ONLY_TEXT("median before", RIGHT), ONLY_TEXT("after", RIGHT),
		ONLY_TEXT("mean before", RIGHT), ONLY_TEXT("after", RIGHT));
	struct table t = TABLE(r, of_samples);
	for (uint32_t i = 0; i < c->n_rows && compare_is_whole(&c->rows[i]); i++) {
		const struct compared *x = &c->rows[i];
		TABLE_ROW(&t, word(profile_metrics[x->metric].title), value_cell(r, x, x->medians[0]), value_cell(r, x, x->medians[1]),
			  value_cell(r, x, x->means[0]), value_cell(r, x, x->means[1]));
	}
	report_say(r, "\n");
	table_print(&t, NULL, NULL);
}

static void report_comparison_put_sides(struct report *r, const struct comparison *c, const char *before, const char *after)
{
	struct buf differences = {0};
	const struct profile *p = c->before, *q = c->after;
	report_say(r, "before: %s, %u sample%s, trib %s\nafter:  %s, %u sample%s, trib %s\n", before, p->n_samples,
		   p->n_samples == 1 ? "" : "s", p->version, after, q->n_samples, q->n_samples == 1 ? "" : "s", q->version);
	if (fabs(c->speed - 1) > 0.01)
		report_say(r, "the machine was %.1f %% %s after; times are corrected for it\n", fabs(1 - c->speed) * 100,
			   c->speed < 1 ? "slower" : "faster");
	if (!compare_conditions(p, q, r->options.format == REPORT_MARKDOWN ? FOREIGN_MARKDOWN : FOREIGN_LINE, &differences)) {
		report_say(r, "the conditions differ, so this says nothing about one change alone:\n");
		buf_puts(r->out, report_is_json(r) ? "" : differences.at);
	}
	buf_free(&differences);
}

static void put_summary(struct report *r, const struct comparison *c)
{
	double visible = compare_visible(c, METRIC_WALL);
	bool is_tested = c->before->n_samples >= 4 && c->after->n_samples >= 4;
	for (uint32_t i = 0; i < CHANGES; i++)
		report_say(r, i ? ", %u %s" : "\n%u %s", c->counts[i], change_table[i].title);
	report_say(r, "\n");
	if (visible > 0)
		report_say(r, "with this noise a change of the whole time by %.1f %% can be seen\n", visible * 100);
	if (is_tested && !c->can_decide)
		report_say(r, "too few samples: %u and %u cannot show a change of one part; record at least 10\n", c->before->n_samples,
			   c->after->n_samples);
	if (!is_tested)
		report_say(r, "too few samples for a test: smaller changes than 30 %% are undecided; record at least 4, better 10\n");
}

static void report_comparison_put_json(struct report *r, const struct comparison *c, const char *before, const char *after)
{
	report_member(r, "before", word(before));
	report_member(r, "after", word(after));
	report_member(r, "speed", figure(c->speed));
	report_member(r, "visible", figure(compare_visible(c, METRIC_WALL)));
	json_member_open(&r->json, "counts", '{');
	for (uint32_t i = 0; i < CHANGES; i++)
		report_member(r, change_table[i].name, figure(c->counts[i]));
	json_close(&r->json, '}');
}

void report_comparison(const struct comparison *c, const char *before_name, const char *after_name, const struct report_options *options,
		       struct buf *out)
{
	struct report r = report_open(options, out, "comparison");
	struct table t = TABLE(&r, columns);
	bool json = report_is_json(&r);
	if (json)
		report_comparison_put_json(&r, c, before_name, after_name);
	else
		report_comparison_put_sides(&r, c, before_name, after_name);
	for (uint32_t i = 0; i < c->n_rows && (json || compare_is_whole(&c->rows[i])); i++)
		report_comparison_add_row(&t, c, &c->rows[i], true);
	report_say(&r, "\n");
	table_print(&t, "rows", NULL);
	if (!json) {
		put_samples(&r, c);
		for (enum change i = CHANGE_NOT_JUDGED + 1; i < CHANGES; i++)
			report_comparison_put_list(&r, c, i);
		put_summary(&r, c);
	}
	report_close(&r);
}
