#include <math.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "builder/profile/compare.h"
#include "builder/profile/figures.h"
#include "builder/profile/reports.h"
#include "builder/profile/table.h"

static const char *kind_of(const struct compared *r) { return compare_is_whole(r) ? "total" : profile_item_kind_text(r->kind); }

static void add_interval(struct table *t, const struct compared *r)
{
	char low[FIGURE_SIZE], high[FIGURE_SIZE];
	if (r->is_tested && r->ratio.low > 0)
		table_addf(t, "%s to %s", r->ratio.low > 0 ? figure_change(r->ratio.low, low) : "unknown",
			   isfinite(r->ratio.high) ? figure_change(r->ratio.high, high) : "unknown");
	else
		table_add(t, "");
}

static void add_row(struct table *t, const struct comparison *c, const struct compared *r, bool with_verdict)
{
	char text[FIGURE_SIZE];
	enum metric_unit unit = profile_metrics[r->metric].unit;
	table_add(t, kind_of(r));
	table_add(t, compare_name(c, r));
	table_add(t, profile_metrics[r->metric].title);
	table_add(t, r->change == CHANGE_NEW ? "" : figure_text(unit, r->before_value, text));
	table_add(t, r->change == CHANGE_REMOVED ? "" : figure_text(unit, r->after_value, text));
	table_add(t, r->change == CHANGE_NEW || r->change == CHANGE_REMOVED ? "" : figure_change(r->ratio.estimate, text));
	add_interval(t, r);
	if (with_verdict)
		table_addf(t, "%s%s%s", change_table[r->change].name, r->reason ? ": " : "", r->reason ? r->reason : "");
}

static struct table new_table(struct arena *a, bool with_verdict)
{
	return (struct table){.arena = a,
			      .columns = {{"kind", false},
					  {"item", false},
					  {"metric", false},
					  {"before", true},
					  {"after", true},
					  {"change", true},
					  {"interval", true},
					  {"verdict", false}},
			      .n_columns = with_verdict ? 8 : 7};
}

static void put_title(const struct report_options *o, const char *title, uint32_t n, uint32_t of, struct buf *out)
{
	report_printf(o, out, o->format == REPORT_MARKDOWN ? "\n### %s (%u" : "\n%s (%u", title, n);
	report_printf(o, out, n < of ? " of %u)\n" : ")\n", of);
	if (o->format == REPORT_MARKDOWN)
		buf_putc(out, '\n');
}

static void put_list(const struct comparison *c, enum change change, const struct report_options *o, struct buf *out)
{
	uint32_t n, shown;
	const uint32_t *rows = compare_rows(c, change, &n);
	bool with_reason = change == CHANGE_UNDECIDED;
	struct table t = new_table(c->arena, with_reason);
	if (!n)
		return;
	shown = n < o->top ? n : o->top;
	for (uint32_t i = 0; i < shown; i++)
		add_row(&t, c, &c->rows[rows[i]], with_reason);
	put_title(o, change_table[change].title, shown, n, out);
	table_print(&t, o->format == REPORT_MARKDOWN, out);
}

/* What was measured, beside the values above that are compared: of times, the fastest samples at the pace of one machine. */
static void put_samples(const struct comparison *c, const struct report_options *o, struct buf *out)
{
	struct table t = {
		.arena = c->arena,
		.columns = {{"whole process", false}, {"median before", true}, {"after", true}, {"mean before", true}, {"after", true}},
		.n_columns = 5};
	char text[FIGURE_SIZE];
	for (uint32_t i = 0; i < c->n_rows && compare_is_whole(&c->rows[i]); i++) {
		const struct compared *r = &c->rows[i];
		const double values[] = {r->medians[0], r->medians[1], r->means[0], r->means[1]};
		table_add(&t, profile_metrics[r->metric].title);
		for (uint32_t k = 0; k < 4; k++)
			table_add(&t, figure_text(profile_metrics[r->metric].unit, values[k], text));
	}
	buf_putc(out, '\n');
	table_print(&t, o->format == REPORT_MARKDOWN, out);
}

static void put_sides(const struct comparison *c, const char *before, const char *after, const struct report_options *o, struct buf *out)
{
	struct buf differences = {0};
	report_printf(o, out, "before: %s, %u sample%s, trib %s\nafter:  %s, %u sample%s, trib %s\n", before, c->before->n_samples,
		      c->before->n_samples == 1 ? "" : "s", c->before->version, after, c->after->n_samples,
		      c->after->n_samples == 1 ? "" : "s", c->after->version);
	if (fabs(c->speed - 1) > 0.01)
		report_printf(o, out, "the machine was %.1f %% %s after; times are corrected for it\n", fabs(1 - c->speed) * 100,
			      c->speed < 1 ? "slower" : "faster");
	if (!compare_conditions(c->before, c->after, report_form(o), &differences)) {
		buf_puts(out, "the conditions differ, so this says nothing about one change alone:\n");
		buf_put(out, differences.at, differences.len);
	}
	buf_free(&differences);
}

static void put_summary(const struct comparison *c, const struct report_options *o, struct buf *out)
{
	buf_putc(out, '\n');
	for (uint32_t i = 0; i < CHANGES; i++)
		report_printf(o, out, "%s%u %s", i ? ", " : "", c->counts[i], change_table[i].title);
	buf_putc(out, '\n');
	double visible = compare_visible(c, METRIC_WALL);
	if (visible > 0)
		report_printf(o, out, "with this noise a change of the whole time by %.1f %% can be seen\n", visible * 100);
	bool is_tested = c->before->n_samples >= 4 && c->after->n_samples >= 4;
	if (is_tested && !c->can_decide)
		report_printf(o, out, "too few samples: %u and %u cannot show a change of one part; record at least 10\n",
			      c->before->n_samples, c->after->n_samples);
	if (!is_tested)
		buf_puts(out, "too few samples for a test: smaller changes than 30 % are undecided; record at least 4, better 10\n");
}

static void print_text(const struct comparison *c, const char *before, const char *after, const struct report_options *o, struct buf *out)
{
	struct table totals = new_table(c->arena, true);
	put_sides(c, before, after, o, out);
	buf_putc(out, '\n');
	for (uint32_t i = 0; i < c->n_rows && compare_is_whole(&c->rows[i]); i++)
		add_row(&totals, c, &c->rows[i], true);
	table_print(&totals, o->format == REPORT_MARKDOWN, out);
	put_samples(c, o, out);
	for (uint32_t i = CHANGE_NOT_JUDGED + 1; i < CHANGES; i++)
		put_list(c, (enum change)i, o, out);
	put_summary(c, o, out);
}

static void print_row_json(struct json_writer *w, const struct comparison *c, const struct compared *r)
{
	arena_mark_t m = arena_mark(c->arena);
	json_open(w, '{');
	json_member_str(w, "kind", kind_of(r));
	json_member_str(w, "item", compare_name(c, r));
	arena_release(c->arena, m);
	json_member_str(w, "metric", profile_metrics[r->metric].name);
	json_member_num(w, "before", r->before_value);
	json_member_num(w, "after", r->after_value);
	json_member_num(w, "before_median", r->medians[0]);
	json_member_num(w, "after_median", r->medians[1]);
	json_member_num(w, "before_mean", r->means[0]);
	json_member_num(w, "after_mean", r->means[1]);
	json_member_real(w, "ratio", r->ratio.estimate);
	json_member_real(w, "low", r->ratio.low);
	json_member_real(w, "high", r->ratio.high);
	json_member_real(w, "p", r->ratio.p);
	json_member_bool(w, "tested", r->is_tested);
	json_member_str(w, "change", change_table[r->change].name);
	json_member_str(w, "reason", r->reason);
	json_close(w, '}');
}

static void print_json(const struct comparison *c, const char *before, const char *after, struct buf *out)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", "comparison");
	json_member_str(&w, "before", before);
	json_member_str(&w, "after", after);
	json_member_real(&w, "speed", c->speed);
	json_member_real(&w, "visible", compare_visible(c, METRIC_WALL));
	json_member_open(&w, "counts", '{');
	for (uint32_t i = 0; i < CHANGES; i++)
		json_member_int(&w, change_table[i].name, c->counts[i]);
	json_close(&w, '}');
	json_member_open(&w, "rows", '[');
	for (uint32_t i = 0; i < c->n_rows; i++)
		print_row_json(&w, c, &c->rows[i]);
	json_close(&w, ']');
	json_close(&w, '}');
	buf_putc(out, '\n');
}

void report_comparison(const struct comparison *c, const char *before_name, const char *after_name, const struct report_options *o,
		       struct buf *out)
{
	if (o->format == REPORT_JSON)
		print_json(c, before_name, after_name, out);
	else
		print_text(c, before_name, after_name, o, out);
}
