#include <math.h>
#include "builder/profile/figures.h"
#include "builder/profile/kernel_rows.h"
#include "builder/profile/report.h"

COLUMNS(columns, ONLY_TEXT("statement", WORD), ONLY_TEXT("at", WORD), ONLY_TEXT("calls", COUNT), ONLY_TEXT("time", NS),
	ONLY_TEXT("share", PERCENT), ONLY_TEXT("CPUs", TENTHS), ONLY_TEXT("memory", BYTES), ONLY_JSON("bytes_per_second"),
	ONLY_TEXT("GB/s", TENTHS), ONLY_JSON("operations_per_second"), ONLY_TEXT("GOP/s", TENTHS),
	COLUMN("operations_per_byte", "OP/B", TENTHS), COLUMN("bound", "bound", WORD), COLUMN("roofline", "roofline", SHARE),
	ONLY_TEXT("group", WHOLE), ONLY_TEXT("occupancy", SHARE), COLUMN("verdict", "verdict", WORD));
enum { COLUMNS = sizeof columns / sizeof *columns };

static void report_kernels_add_row(struct table *table, const struct profile *p, const struct kernel_row *k)
{
	struct arena *a = table->report->arena;
	const struct profile_item *i = &p->items.at[k->item];
	double seconds = k->ns / 1e9, whole = kernel_whole(p), wall = profile_value(p, k->item, METRIC_WALL),
	       peak = profile_value(p, k->item, METRIC_PEAK), bytes = seconds > 0 ? k->bytes / seconds : 0,
	       operations = seconds > 0 ? k->operations / seconds : 0;
	bool on_device = i->values.of[METRIC_WORK_GROUP];
	TABLE_ROW(table, word(profile_item_path(a, p, k->item)), word(i->at), figure(profile_value(p, k->item, METRIC_CALLS)),
		  figure(k->ns), figure(whole > 0 ? k->ns / whole : 0),
		  figure_or(i->values.of[METRIC_CPU], wall > 0 ? profile_value(p, k->item, METRIC_CPU) / wall : 0, NULL),
		  figure_or(peak > 0, peak, NULL), figure(bytes), figure(bytes / 1e9), figure(operations), figure(operations / 1e9),
		  figure(k->intensity), word(kernel_classes[k->class]),
		  figure_or(k->has_ceilings && k->share > 0, k->share, k->has_ceilings ? "" : NULL),
		  figure_or(on_device, profile_value(p, k->item, METRIC_WORK_GROUP), NULL),
		  figure_or(on_device, profile_value(p, k->item, METRIC_OCCUPANCY), NULL),
		  k->has_ceilings ? word(kernel_verdict(a, p, k)) : blank(NULL));
}

#define UNCERTAIN 0.1 /* parts of a run */

/* How the runs that the statements were measured in differ from one without the hook, and what was done about it. */
static void put_correction(struct report *r, const struct profile *p)
{
	double whole = profile_median(p, &p->total, METRIC_WALL), measured = profile_fact(p, "measured_ns", whole),
	       each = profile_fact(p, "hook_ns", 0), scale = profile_fact(p, "scale", 0);
	char text[FIGURE_SIZE];
	if (whole <= 0 || fabs(measured / whole - 1) < 0.005)
		return;
	report_say(r, "runs that are measured by statements take %s, %.1f %% %s than others", figure_text(UNIT_NS, measured, text),
		   100 * fabs(measured / whole - 1), measured > whole ? "more" : "less");
	if (each > 0)
		report_say(r, "; %s a call is taken off", figure_text(UNIT_NS, each, text));
	if (scale <= 0) /* a device measured them */
		report_say(r, "; shares are of them");
	else if (fabs(scale - 1) >= 0.005)
		report_say(r, "; all times are scaled by %.2f", scale);
	report_say(r, "\n");
	if (scale > 0 && fabs(scale - 1) > UNCERTAIN)
		report_say(r, "other load of the machine cannot be separated from the statements: measure again when it is idle\n");
}

/* What the statements add up to, and what could not be separated. */
static void put_sums(struct report *r, const struct profile *p, const struct kernel_row *rows, uint32_t n, uint32_t shown)
{
	double whole = kernel_whole(p), sum = 0, sum_short = 0;
	uint32_t n_short = 0;
	char text[FIGURE_SIZE], more[FIGURE_SIZE];
	for (uint32_t i = 0; i < n; i++) {
		sum += rows[i].ns;
		sum_short += rows[i].is_short ? rows[i].ns : 0;
		n_short += rows[i].is_short;
	}
	report_say(r, "\n%u of %u statements; all of them together are %.1f %% of a run\n", shown, n, whole > 0 ? 100 * sum / whole : 0);
	if (whole > sum)
		report_say(r, "outside of its statements a run takes %s, %.1f %%\n", figure_text(UNIT_NS, whole - sum, text),
			   100 * (1 - sum / whole));
	put_correction(r, p);
	if (n_short)
		report_say(r, "statements below %s cannot be separated from the clock: %s in %u statement%s together\n",
			   figure_text(UNIT_NS, kernel_shortest(p), text), figure_text(UNIT_NS, sum_short, more), n_short,
			   n_short == 1 ? "" : "s");
}

void report_kernels(const struct profile *p, const struct report_options *options, struct buf *out)
{
	struct report r = report_open(options, out, NULL);
	struct table t = TABLE(&r, columns);
	uint32_t n;
	const struct kernel_row *rows = kernel_rows(r.arena, p, &n);
	for (uint32_t i = 0; i < n && i < options->top; i++)
		if (rows[i].ns >= options->threshold_ns)
			report_kernels_add_row(&t, p, &rows[i]);
	uint32_t shown = table_rows(&t);
	table_print(&t, NULL, NULL);
	if (shown)
		put_sums(&r, p, rows, n, shown);
	report_close(&r);
}

void report_kernel_members(struct report *r, const struct profile *p, uint32_t item)
{
	if (!profile_is_code(&p->items.at[item]))
		return;
	struct table t = TABLE(r, columns);
	struct kernel_row row = kernel_row(p, item);
	report_kernels_add_row(&t, p, &row);
	report_members(r, columns, t.cells.at, COLUMNS);
	vec_free(&t.cells);
}
