#include <math.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "builder/profile/figures.h"
#include "builder/profile/kernel_rows.h"
#include "builder/profile/report_view.h"
#include "builder/profile/table.h"

/* Columns that not every profile has. */
struct columns {
	bool device, processor, memory, ceilings;
};

static void add_row(struct table *t, struct arena *a, const struct profile *p, const struct kernel_row *r, const struct columns *c)
{
	const struct profile_item *i = &p->items.at[r->item];
	char text[FIGURE_SIZE];
	double seconds = r->ns / 1e9, whole = profile_median(p, &p->total, METRIC_WALL);
	table_add(t, profile_item_path(a, p, r->item));
	table_add(t, i->at);
	table_add(t, figure_text(UNIT_COUNT, profile_median(p, &i->values, METRIC_CALLS), text));
	table_add(t, figure_text(UNIT_NS, r->ns, text));
	table_addf(t, "%.1f %%", whole > 0 ? 100 * r->ns / whole : 0);
	double wall = profile_median(p, &i->values, METRIC_WALL);
	if (c->processor)
		table_addf(t, "%.1f", wall > 0 ? profile_median(p, &i->values, METRIC_CPU) / wall : 0);
	if (c->memory)
		table_add(t, figure_text(UNIT_BYTES, profile_median(p, &i->values, METRIC_PEAK), text));
	table_addf(t, "%.1f", seconds > 0 ? r->bytes / seconds / 1e9 : 0);
	table_addf(t, "%.1f", seconds > 0 ? r->operations / seconds / 1e9 : 0);
	table_addf(t, "%.1f", r->intensity);
	table_add(t, kernel_class_text(r->class));
	if (c->ceilings)
		table_add(t, r->share > 0 ? arena_printf(a, "%.0f %%", 100 * r->share) : "");
	if (c->device) {
		table_addf(t, "%.0f", profile_median(p, &i->values, METRIC_WORK_GROUP));
		table_addf(t, "%.0f %%", 100 * profile_median(p, &i->values, METRIC_OCCUPANCY));
	}
	if (c->ceilings)
		table_add(t, kernel_verdict(a, p, r));
}

static void add_column(struct table *t, bool shown, const char *title, bool is_number)
{
	if (shown)
		t->columns[t->n_columns++] = (struct table_column){title, is_number};
}

static struct table new_table(struct arena *a, const struct columns *c)
{
	struct table t = {.arena = a};
	add_column(&t, true, "statement", false);
	add_column(&t, true, "at", false);
	add_column(&t, true, "calls", true);
	add_column(&t, true, "time", true);
	add_column(&t, true, "share", true);
	add_column(&t, c->processor, "CPUs", true);
	add_column(&t, c->memory, "memory", true);
	add_column(&t, true, "GB/s", true);
	add_column(&t, true, "GOP/s", true);
	add_column(&t, true, "OP/B", true);
	add_column(&t, true, "bound", false);
	add_column(&t, c->ceilings, "roofline", true);
	add_column(&t, c->device, "group", true);
	add_column(&t, c->device, "occupancy", true);
	add_column(&t, c->ceilings, "verdict", false);
	return t;
}

#define UNCERTAIN 0.1 /* parts of a run */

/* How the runs that the statements were measured in differ from one without the hook, and what was done about it. */
static void put_correction(const struct profile *p, const struct report_options *o, struct buf *out)
{
	double whole = profile_median(p, &p->total, METRIC_WALL), measured = profile_fact(p, "measured_ns", whole),
	       each = profile_fact(p, "hook_ns", 0), scale = profile_fact(p, "scale", 1);
	char text[FIGURE_SIZE];
	if (whole <= 0 || fabs(measured / whole - 1) < 0.005)
		return;
	report_printf(o, out, "runs that are measured by statements take %s, %.1f %% %s than others", figure_text(UNIT_NS, measured, text),
		      100 * fabs(measured / whole - 1), measured > whole ? "more" : "less");
	if (each > 0)
		report_printf(o, out, "; %s a call is taken off", figure_text(UNIT_NS, each, text));
	if (fabs(scale - 1) >= 0.005)
		report_printf(o, out, "; all times are scaled by %.2f", scale);
	buf_putc(out, '\n');
	if (fabs(scale - 1) > UNCERTAIN)
		buf_puts(out, "other load of the machine cannot be separated from the statements: measure again when it is idle\n");
}

/* What the statements add up to, and what could not be separated. */
static void put_sums(const struct profile *p, const struct kernel_row *rows, uint32_t n, uint32_t shown, const struct report_options *o,
		     struct buf *out)
{
	double whole = profile_median(p, &p->total, METRIC_WALL), outside = profile_fact(p, "outside_ns", 0), sum = 0, sum_short = 0;
	uint32_t n_short = 0;
	char text[FIGURE_SIZE], more[FIGURE_SIZE];
	for (uint32_t i = 0; i < n; i++) {
		sum += rows[i].ns;
		sum_short += rows[i].is_short ? rows[i].ns : 0;
		n_short += rows[i].is_short;
	}
	report_printf(o, out, "\n%u of %u statements; all of them together are %.1f %% of a run\n", shown, n,
		      whole > 0 ? 100 * sum / whole : 0);
	if (outside > 0)
		report_printf(o, out, "outside of its statements a run takes %s, %.1f %%\n", figure_text(UNIT_NS, outside, text),
			      100 * outside / whole);
	put_correction(p, o, out);
	if (n_short)
		report_printf(o, out, "statements below %s cannot be separated from the clock: %s in %u statement%s together\n",
			      figure_text(UNIT_NS, kernel_shortest(p), text), figure_text(UNIT_NS, sum_short, more), n_short,
			      n_short == 1 ? "" : "s");
}

void report_kernels(struct arena *a, const struct profile *p, const struct report_options *o, struct buf *out)
{
	uint32_t n, shown = 0;
	const struct kernel_row *rows = kernel_rows(a, p, &n);
	struct columns c = {.ceilings = kernel_ceilings(p).read_bytes > 0};
	for (uint32_t i = 0; i < n; i++) {
		const struct profile_values *v = &p->items.at[rows[i].item].values;
		shown += i < o->top && rows[i].ns >= o->threshold_ns;
		c.device |= v->of[METRIC_WORK_GROUP] != NULL;
		c.processor |= v->of[METRIC_CPU] != NULL;
		c.memory |= profile_median(p, v, METRIC_PEAK) > 0;
	}
	if (!shown)
		return;
	struct table t = new_table(a, &c);
	for (uint32_t i = 0; i < shown; i++)
		add_row(&t, a, p, &rows[i], &c);
	table_print(&t, o->format == REPORT_MARKDOWN, out);
	put_sums(p, rows, n, shown, o, out);
}

void report_kernel(const struct view *v, struct json_writer *w, uint32_t item)
{
	const struct profile_item *i = &v->p->items.at[item];
	if (i->kind != ITEM_STATEMENT && i->kind != ITEM_KERNEL)
		return;
	struct kernel_row r = kernel_row(v->p, item);
	double seconds = r.ns / 1e9;
	json_member_num(w, "bytes_per_second", seconds > 0 ? r.bytes / seconds : 0);
	json_member_num(w, "operations_per_second", seconds > 0 ? r.operations / seconds : 0);
	json_member_num(w, "operations_per_byte", r.intensity);
	json_member_str(w, "bound", kernel_class_text(r.class));
	if (!r.has_ceilings)
		return;
	if (r.share > 0)
		json_member_num(w, "roofline", r.share);
	json_member_str(w, "verdict", kernel_verdict(v->a, v->p, &r));
}
