#include "builder/cli/commands/bench_report.h"
#include <string.h>
#include "base/arena.h"
#include "builder/profile/figures.h"
#include "builder/profile/kernel_rows.h"

static bool is_on_device(const struct profile *p) { return profile_fact(p, "utilisation", -1) >= 0; }
static const char *time_of(const struct bench_report *b, double ns) { return figure_new(b->r.arena, UNIT_NS, ns); }

static void put_outliers(struct bench_report *b, const struct profile *p)
{
	const char *prefix = "outlier.";
	double all = profile_fact(p, "outliers", 0);
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->facts.len; i++)
		if (strncmp(p->facts.at[i].name, prefix, strlen(prefix)) == 0)
			report_say(&b->r, "%s run %s took %s", n++ ? "," : "outliers:", p->facts.at[i].name + strlen(prefix),
				   time_of(b, p->facts.at[i].value));
	if (all > n)
		report_say(&b->r, ", and %.0f more", all - n);
	if (n)
		report_say(&b->r, "\n");
}

static void put_transfer(struct bench_report *b, const struct profile *p, const char *from_or_to, const char *what, const char *end)
{
	struct arena *a = b->r.arena;
	double ns = profile_fact(p, arena_printf(a, "transfer.%s_device_ns", from_or_to), 0),
	       bytes = profile_fact(p, arena_printf(a, "transfer.%s_device_bytes", from_or_to), 0);
	report_say(&b->r, " %s %s in %s", what, figure_new(a, UNIT_BYTES, bytes), time_of(b, ns));
	if (ns > 0)
		report_say(&b->r, " (%.1f GB/s)", bytes / ns);
	report_put(&b->r, end);
}

static void put_raised(struct bench_report *b, double measured, const char *type)
{
	if (measured > 0)
		report_say(&b->r, "the ceiling of %s was measured at %.0f GOP/s; a statement is faster, so it is raised\n", type,
			   measured / 1e9);
}

static void put_whole(struct bench_report *b, const struct bench_case *bench, const struct profile *p)
{
	double whole = profile_median(p, &p->total, METRIC_WALL), operations = profile_median(p, &p->total, METRIC_OPERATIONS);
	const struct ceilings most = kernel_ceilings(p);
	struct report_options o = b->r.options;
	report_say(&b->r, b->first_rate > 0 ? "\n%s on %s" : "%s on %s", profile_setting(p, "models"), bench->device);
	if (!is_on_device(p))
		report_say(&b->r, ", %u thread%s", bench->threads, bench->threads == 1 ? "" : "s");
	if (bench->batch)
		report_say(&b->r, ", batch %u", bench->batch);
	report_say(&b->r, "\nmedian %s, least %s, p95 %s, deviation %s, %.0f runs\n", time_of(b, whole),
		   time_of(b, profile_fact(p, "min_ns", 0)), time_of(b, profile_fact(p, "p95_ns", 0)),
		   time_of(b, profile_fact(p, "deviation_ns", 0)), profile_fact(p, "runs", 0));
	put_outliers(b, p);
	report_say(&b->r, "%.3f GOP, %s: %.1f GOP/s; ceilings: %.0f GOP/s float32, %.0f int8, %.1f GB/s read, %.1f copy\n",
		   operations / 1e9, figure_new(b->r.arena, UNIT_BYTES, profile_median(p, &p->total, METRIC_BYTES)), operations / whole,
		   most.float_ops / 1e9, most.int8_ops / 1e9, most.read_bytes / 1e9, most.copy_bytes / 1e9);
	put_raised(b, profile_fact(p, "ceiling.float_measured", 0), "float32");
	put_raised(b, profile_fact(p, "ceiling.int8_measured", 0), "int8");
	if (is_on_device(p)) {
		report_say(&b->r, "device busy %.0f %% of a run, transfers %.1f %%:", 100 * profile_fact(p, "utilisation", 0),
			   100 * profile_fact(p, "transfer.share", 0));
		put_transfer(b, p, "to", "inputs", ",");
		put_transfer(b, p, "from", "outputs", "\n");
	}
	report_say(&b->r, "\n");
	o.top = o.top ? o.top : 20;
	report_kernels(p, &o, b->r.out);
}

COLUMNS(columns, ONLY_TEXT("device", WORD), ONLY_TEXT("threads", WHOLE), ONLY_TEXT("batch", COUNT), ONLY_TEXT("median", NS),
	ONLY_TEXT("GOP/s", TENTHS), ONLY_TEXT("rows/s", COUNT), ONLY_TEXT("runs/s", COUNT), ONLY_TEXT("speed-up", HUNDREDTHS));

void bench_report_begin(struct bench_report *b, const struct report_options *options, struct buf *out)
{
	*b = (struct bench_report){.r = report_open(options, out, NULL)};
	b->summary = TABLE(&b->r, columns);
}

void bench_report_add(struct bench_report *b, const struct bench_case *bench, const struct profile *p)
{
	double ns = profile_median(p, &p->total, METRIC_WALL), rate = (bench->batch ? bench->batch : 1) / ns * 1e9;
	put_whole(b, bench, p);
	b->first_rate = b->first_rate > 0 ? b->first_rate : rate;
	TABLE_ROW(&b->summary, word(arena_strdup(b->r.arena, bench->device)), is_on_device(p) ? word("") : figure(bench->threads),
		  bench->batch ? figure(bench->batch) : word(""), figure(ns), figure(profile_median(p, &p->total, METRIC_OPERATIONS) / ns),
		  figure_or(bench->batch, rate, NULL), figure_or(!bench->batch, rate, NULL), figure(rate / b->first_rate));
}

void bench_report_end(struct bench_report *b)
{
	if (table_rows(&b->summary) > 1) { /* with one case the report has said it all */
		report_say(&b->r, "\n");
		table_print(&b->summary, NULL, NULL);
	}
	vec_free(&b->summary.cells);
	report_close(&b->r);
}
