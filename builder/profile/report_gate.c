#include "builder/profile/figures.h"
#include "builder/profile/gate.h"
#include "builder/profile/report.h"

static const char *const verdicts[] = {[GATE_PASSED] = "passed", [GATE_UNDECIDED] = "undecided", [GATE_FAILED] = "failed"};
static const char *const words[] = {[GATE_PASSED] = "ALLOWED", [GATE_UNDECIDED] = "UNDECIDED", [GATE_FAILED] = "REGRESSION"};

static enum profile_metric metric_of(const struct gate_finding *finding)
{
	return finding->budget ? finding->budget->metric : finding->row->metric;
}

static void put_finding(struct report *r, const struct gate_result *result, const struct gate_finding *finding)
{
	char before[FIGURE_SIZE], after[FIGURE_SIZE], low[FIGURE_SIZE], high[FIGURE_SIZE];
	const struct metric_row *m = &profile_metrics[metric_of(finding)];
	const struct compared *row = finding->row;
	report_put(r, r->options.format == REPORT_MARKDOWN ? "- " : "");
	if (finding->budget) {
		report_say(r, "OVER BUDGET %s: %s %s, the budget is %s", finding->item, m->title,
			   figure_text(m->unit, finding->value, after), finding->budget->text);
	} else {
		report_say(r, "%s %s: %s %s, was %s (%s", words[finding->verdict], finding->item, m->title,
			   figure_text(m->unit, row->after_value, after), figure_text(m->unit, row->before_value, before),
			   figure_change(row->ratio.estimate, low));
		if (row->is_tested && row->ratio.low > 0)
			report_say(r, ", between %s and %s", figure_change(row->ratio.low, low), figure_change(row->ratio.high, high));
		report_say(r, "; %s is allowed)", figure_change(result->options.threshold, low));
	}
	report_say(r, "%s%s\n", finding->cause ? "; " : "", finding->cause ? finding->cause : "");
}

static void put_findings(struct report *r, const struct gate_result *result)
{
	COLUMNS(columns, ONLY_JSON("verdict"), ONLY_JSON("item"), ONLY_JSON("metric"), ONLY_JSON("budget"), ONLY_JSON("before"),
		ONLY_JSON("value"), ONLY_JSON("ratio"), ONLY_JSON("low"), ONLY_JSON("high"), ONLY_JSON("cause"));
	struct table t = TABLE(r, columns);
	uint32_t shown = result->findings.len < r->options.top ? result->findings.len : r->options.top;
	for (uint32_t i = 0; i < shown && !report_is_json(r); i++)
		put_finding(r, result, &result->findings.at[i]);
	if (result->findings.len > shown)
		report_say(r, r->options.format == REPORT_MARKDOWN ? "- and %u more\n" : "and %u more\n", result->findings.len - shown);
	for (uint32_t i = 0; i < result->findings.len; i++) {
		const struct gate_finding *f = &result->findings.at[i];
		const struct compared *x = f->row;
		TABLE_ROW(&t, word(verdicts[f->verdict]), word(f->item), word(profile_metrics[metric_of(f)].name),
			  f->budget ? word(f->budget->text) : blank(""), x ? figure(x->before_value) : blank(""),
			  figure(x ? x->after_value : f->value), x ? figure(x->ratio.estimate) : blank(""),
			  x ? figure(x->ratio.low) : blank(""), x ? figure(x->ratio.high) : blank(""), word(f->cause));
	}
	if (report_is_json(r))
		table_print(&t, "findings", NULL);
	vec_free(&t.cells);
}

void report_gate(const struct gate_result *result, const struct report_options *options, struct buf *out)
{
	struct report r = report_open(options, out, "check");
	const struct comparison *c = result->comparison;
	double visible = compare_visible(c, result->options.metric);
	if (options->format == REPORT_MARKDOWN)
		report_say(&r, "### Profile check: %s\n\n", verdicts[result->verdict]);
	report_member(&r, "verdict", word(verdicts[result->verdict]));
	report_member(&r, "threshold", figure(result->options.threshold));
	report_member(&r, "visible", figure(visible));
	put_findings(&r, result);
	if (options->format == REPORT_MARKDOWN)
		report_say(&r, "\n");
	if (visible > 0)
		report_say(&r, "with this noise a change of the whole %s time by %.1f %% can be seen\n",
			   profile_metrics[result->options.metric].title, visible * 100);
	if (!c->can_decide)
		report_say(&r, "too few samples: %u and %u cannot show a change of one part; record at least 10\n", c->before->n_samples,
			   c->after->n_samples);
	report_say(&r, "check %s%s\n", verdicts[result->verdict],
		   result->verdict == GATE_UNDECIDED ? ": only a sure regression fails" : "");
	report_close(&r);
}
