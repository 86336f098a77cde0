#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "builder/profile/figures.h"
#include "builder/profile/gate.h"
#include "builder/profile/reports.h"

static const char *const verdicts[] = {[GATE_PASSED] = "passed", [GATE_UNDECIDED] = "undecided", [GATE_FAILED] = "failed"};

static enum profile_metric metric_of(const struct gate_finding *f) { return f->budget ? f->budget->metric : f->row->metric; }

static double visible_change(const struct gate_result *r) { return compare_visible(r->comparison, r->options.metric); }

static void put_finding(const struct gate_result *r, const struct gate_finding *f, const struct report_options *o, struct buf *out)
{
	char before[FIGURE_SIZE], after[FIGURE_SIZE], low[FIGURE_SIZE], high[FIGURE_SIZE];
	const struct metric_row *m = &profile_metrics[metric_of(f)];
	const char *word = f->verdict == GATE_FAILED ? "REGRESSION" : f->verdict == GATE_PASSED ? "ALLOWED" : "UNDECIDED";
	if (f->budget) {
		report_printf(o, out, "OVER BUDGET %s: %s %s, the budget is %s", f->item, m->title, figure_text(m->unit, f->value, after),
			      f->budget->text);
	} else {
		report_printf(o, out, "%s %s: %s %s, was %s (%s", word, f->item, m->title, figure_text(m->unit, f->row->after_value, after),
			      figure_text(m->unit, f->row->before_value, before), figure_change(f->row->ratio.estimate, low));
		if (f->row->is_tested && f->row->ratio.low > 0)
			report_printf(o, out, ", between %s and %s", figure_change(f->row->ratio.low, low),
				      figure_change(f->row->ratio.high, high));
		report_printf(o, out, "; %s is allowed)", figure_change(r->options.threshold, low));
	}
	if (f->cause)
		report_printf(o, out, "; %s", f->cause);
}

static void print_text(const struct gate_result *r, const struct report_options *o, struct buf *out)
{
	const char *bullet = o->format == REPORT_MARKDOWN ? "- " : "";
	if (o->format == REPORT_MARKDOWN)
		report_printf(o, out, "### Profile check: %s\n\n", verdicts[r->verdict]);
	for (uint32_t i = 0; i < r->findings.len && i < o->top; i++) {
		buf_puts(out, bullet);
		put_finding(r, &r->findings.at[i], o, out);
		buf_putc(out, '\n');
	}
	if (r->findings.len > o->top)
		report_printf(o, out, "%sand %u more\n", bullet, r->findings.len - o->top);
	if (o->format == REPORT_MARKDOWN)
		buf_putc(out, '\n');
	double visible = visible_change(r);
	if (visible > 0)
		report_printf(o, out, "with this noise a change of the whole %s time by %.1f %% can be seen\n",
			      profile_metrics[r->options.metric].title, visible * 100);
	if (!r->comparison->can_decide)
		report_printf(o, out, "too few samples: %u and %u cannot show a change of one part; record at least 10\n",
			      r->comparison->before->n_samples, r->comparison->after->n_samples);
	report_printf(o, out, "check %s%s\n", verdicts[r->verdict], r->verdict == GATE_UNDECIDED ? ": only a sure regression fails" : "");
}

static void print_finding_json(struct json_writer *w, const struct gate_finding *f)
{
	json_open(w, '{');
	json_member_str(w, "verdict", verdicts[f->verdict]);
	json_member_str(w, "item", f->item);
	json_member_str(w, "metric", profile_metrics[metric_of(f)].name);
	if (f->budget) {
		json_member_str(w, "budget", f->budget->text);
		json_member_num(w, "value", f->value);
	} else {
		json_member_num(w, "before", f->row->before_value);
		json_member_num(w, "value", f->row->after_value);
		json_member_real(w, "ratio", f->row->ratio.estimate);
		json_member_real(w, "low", f->row->ratio.low);
		json_member_real(w, "high", f->row->ratio.high);
	}
	json_member_str(w, "cause", f->cause);
	json_close(w, '}');
}

static void print_json(const struct gate_result *r, struct buf *out)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", "check");
	json_member_str(&w, "verdict", verdicts[r->verdict]);
	json_member_real(&w, "threshold", r->options.threshold);
	json_member_real(&w, "visible", visible_change(r));
	json_member_open(&w, "findings", '[');
	for (uint32_t i = 0; i < r->findings.len; i++)
		print_finding_json(&w, &r->findings.at[i]);
	json_close(&w, ']');
	json_close(&w, '}');
	buf_putc(out, '\n');
}

void report_gate(const struct gate_result *r, const struct report_options *o, struct buf *out)
{
	if (o->format == REPORT_JSON)
		print_json(r, out);
	else
		print_text(r, o, out);
}
