#include "builder/cli/bench_report.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/foreign.h"
#include "builder/profile/figures.h"
#include "builder/profile/kernel_rows.h"
#include "builder/profile/reports.h"

static enum foreign_form form_of(const struct bench_report *b) { return b->markdown ? FOREIGN_MARKDOWN : FOREIGN_LINE; }
static bool is_on_device(const struct profile *p) { return profile_fact(p, "utilisation", -1) >= 0; }

static void put_outliers(struct bench_report *b, const struct profile *p)
{
	const char *prefix = "outlier.";
	double all = profile_fact(p, "outliers", 0);
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->facts.len; i++) {
		char text[FIGURE_SIZE];
		if (strncmp(p->facts.at[i].name, prefix, strlen(prefix)) == 0)
			foreign_printf(&b->text, form_of(b), "%s run %s took %s",
				       n++ ? "," : "outliers:", p->facts.at[i].name + strlen(prefix),
				       figure_text(UNIT_NS, p->facts.at[i].value, text));
	}
	if (all > n)
		foreign_printf(&b->text, form_of(b), ", and %.0f more", all - n);
	if (n)
		buf_putc(&b->text, '\n');
}

static void put_transfer(struct bench_report *b, const struct profile *p, const char *from_or_to, const char *word)
{
	char size[FIGURE_SIZE], time[FIGURE_SIZE];
	double ns = profile_fact(p, arena_printf(b->arena, "transfer.%s_device_ns", from_or_to), 0),
	       bytes = profile_fact(p, arena_printf(b->arena, "transfer.%s_device_bytes", from_or_to), 0);
	foreign_printf(&b->text, form_of(b), " %s %s in %s", word, figure_text(UNIT_BYTES, bytes, size), figure_text(UNIT_NS, ns, time));
	if (ns > 0)
		foreign_printf(&b->text, form_of(b), " (%.1f GB/s)", bytes / ns);
	buf_puts(&b->text, *from_or_to == 't' ? "," : "\n\n");
}

static void put_device(struct bench_report *b, const struct profile *p)
{
	foreign_printf(&b->text, form_of(b), "device busy %.0f %% of a run, transfers %.1f %%:", 100 * profile_fact(p, "utilisation", 0),
		       100 * profile_fact(p, "transfer.share", 0));
	put_transfer(b, p, "to", "inputs");
	put_transfer(b, p, "from", "outputs");
}

static void put_raised(struct bench_report *b, const struct profile *p, const char *fact, const char *type)
{
	double measured = profile_fact(p, fact, 0);
	if (measured > 0)
		foreign_printf(&b->text, form_of(b),
			       "the ceiling of %s was measured at %.0f GOP/s; a statement is faster, so it is raised\n", type,
			       measured / 1e9);
}

static void put_whole(struct bench_report *b, const struct bench_case *c, const struct profile *p)
{
	char median[FIGURE_SIZE], least[FIGURE_SIZE], p95[FIGURE_SIZE], deviation[FIGURE_SIZE], read[FIGURE_SIZE];
	double whole = profile_median(p, &p->total, METRIC_WALL) / 1e9;
	const struct ceilings most = kernel_ceilings(p);
	if (b->first_rate > 0)
		buf_putc(&b->text, '\n');
	foreign_printf(&b->text, form_of(b), "%s on %s", profile_setting(p, "models"), c->device);
	if (!is_on_device(p))
		foreign_printf(&b->text, form_of(b), ", %u thread%s", c->threads, c->threads == 1 ? "" : "s");
	buf_puts(&b->text, c->batch ? arena_printf(b->arena, ", batch %u\n", c->batch) : "\n");
	foreign_printf(&b->text, form_of(b), "median %s, least %s, p95 %s, deviation %s, %.0f runs\n",
		       figure_text(UNIT_NS, whole * 1e9, median), figure_text(UNIT_NS, profile_fact(p, "min_ns", 0), least),
		       figure_text(UNIT_NS, profile_fact(p, "p95_ns", 0), p95),
		       figure_text(UNIT_NS, profile_fact(p, "deviation_ns", 0), deviation), profile_fact(p, "runs", 0));
	put_outliers(b, p);
	foreign_printf(&b->text, form_of(b),
		       "%.3f GOP, %s: %.1f GOP/s; ceilings: %.0f GOP/s float32, %.0f int8, %.1f GB/s read, %.1f copy\n",
		       profile_median(p, &p->total, METRIC_OPERATIONS) / 1e9,
		       figure_text(UNIT_BYTES, profile_median(p, &p->total, METRIC_BYTES), read),
		       profile_median(p, &p->total, METRIC_OPERATIONS) / 1e9 / whole, most.float_ops / 1e9, most.int8_ops / 1e9,
		       most.read_bytes / 1e9, most.copy_bytes / 1e9);
	put_raised(b, p, "ceiling.float_measured", "float32");
	put_raised(b, p, "ceiling.int8_measured", "int8");
	if (is_on_device(p))
		put_device(b, p);
	else
		buf_putc(&b->text, '\n');
	report_kernels(b->arena, p,
		       &(struct report_options){.format = b->markdown ? REPORT_MARKDOWN : REPORT_TEXT, .top = b->top ? b->top : 20},
		       &b->text);
}

static void add_summary(struct bench_report *b, const struct bench_case *c, const struct profile *p)
{
	char text[FIGURE_SIZE];
	double ns = profile_median(p, &p->total, METRIC_WALL);
	double rate = (c->batch ? c->batch : 1) / ns * 1e9;
	b->first_rate = b->first_rate > 0 ? b->first_rate : rate;
	if (!c->batch) /* how many rows the inputs have is not known here */
		b->summary.columns[5].title = "runs/s";
	table_add(&b->summary, c->device);
	table_add(&b->summary, is_on_device(p) ? "" : arena_printf(b->arena, "%u", c->threads));
	table_add(&b->summary, c->batch ? figure_text(UNIT_COUNT, c->batch, text) : "");
	table_add(&b->summary, figure_text(UNIT_NS, ns, text));
	table_addf(&b->summary, "%.1f", profile_median(p, &p->total, METRIC_OPERATIONS) / ns);
	table_add(&b->summary, figure_text(UNIT_COUNT, rate, text));
	table_addf(&b->summary, "%.2f", rate / b->first_rate);
}

void bench_report_begin(struct bench_report *b, struct arena *a)
{
	*b = (struct bench_report){.arena = a};
	b->summary = (struct table){.arena = a,
				    .columns = {{"device", false},
						{"threads", true},
						{"batch", true},
						{"median", true},
						{"GOP/s", true},
						{"rows/s", true},
						{"speed-up", true}},
				    .n_columns = 7};
}

void bench_report_add(struct bench_report *b, const struct bench_case *c, const struct profile *p)
{
	put_whole(b, c, p);
	add_summary(b, c, p);
}

void bench_report_end(struct bench_report *b)
{
	if (b->summary.cells.len > b->summary.n_columns) { /* with one case the report has said it all */
		buf_putc(&b->text, '\n');
		table_print(&b->summary, b->markdown, &b->text);
	}
	vec_free(&b->summary.cells);
}
