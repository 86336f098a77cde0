/* trib bench: times a model and each of its statements, beside what the machine can do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/build/build.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/cli/profile.h"
#include "builder/cli/project.h"
#include "builder/profile/figures.h"
#include "builder/profile/table.h"
#include "builder/run/bench.h"
#include "builder/run/bench_check.h"
#include "builder/run/device_ceilings.h"
#include "builder/run/roofline.h"

#define MOST_CASES 64
#define BUDGET_NS 3e9
#define LEAST_RUNS 100
#define MOST_CHECKED 1e9 /* operations that the interpreter does in a second or two */

/* One invocation. */
struct bencher {
	const struct options *o;
	struct arena *arena;
	const struct model_spec *model;
	double budget_ns;
	struct ceilings ceilings; /* of the present case */
	struct buf report;
	struct table summary; /* a row for each case */
	double first_rate;    /* rows a second of the first case; 0: none yet */
};

static const char *const *split_list(struct arena *a, const char *text, const char *otherwise)
{
	const char **list = ARENA_ARRAY(a, const char *, MOST_CASES + 1);
	uint32_t n = 0;
	for (text = text ? text : otherwise; *text && n < MOST_CASES; text += *text == ',') {
		size_t len = strcspn(text, ",");
		if (len)
			list[n++] = arena_strndup(a, text, len);
		text += len;
	}
	return list;
}

/* Reads a number from 1 to `most`. 0: it is none; reported. */
static uint32_t number_of(const char *flag, const char *text, unsigned long most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	if (end != text && !*end && n > 0 && n <= most)
		return (uint32_t)n;
	fail_usage("%s wants numbers from 1 to %lu such as 1,2, not `%s`", flag, most, text);
	return 0;
}

static bool check_device(const struct bencher *b, const char *device)
{
	struct options of_device = *b->o;
	of_device.device = device;
	if (run_on_reference(&of_device))
		fail_usage("`trib bench` measures compiled code: --device cpu or opencl");
	return !run_on_reference(&of_device) && run_check_device(&of_device);
}

/* ---- the library ---- */

/* Builds the model with the profile hook, beside the project's own outputs. NULL: errors were printed. */
static const char *build_library(struct bencher *b, const char *device, enum status *s)
{
	struct options build = *b->o, of_device = *b->o;
	char *text = NULL;
	size_t len;
	bool on_cpu = strncmp(device, "opencl", 6) != 0;
	FILE *quiet = open_memstream(&text, &len);
	build.operands = &b->model->name;
	build.n_operands = 1;
	build.emit = on_cpu ? "library" : "opencl";
	build.out = BENCH_FOLDER;
	build.profile_hook = 1;
	build.quiet = true;
	build.action = 0;
	*s = quiet ? build_run(&build, quiet, stderr) : STATUS_ENVIRONMENT;
	if (quiet)
		fclose(quiet);
	free(text);
	if (*s != STATUS_OK)
		return NULL;
	struct model_spec m = *b->model;
	m.out = BENCH_FOLDER;
	m.emit = UINT64_MAX;
	of_device.device = device;
	return run_library_path(b->arena, &m, &of_device, s);
}

/* ---- the report ---- */

static void add_row(struct table *t, struct arena *a, const struct profile *p, const struct bench_row *r)
{
	const struct profile_item *i = &p->items.at[r->item];
	char text[FIGURE_SIZE];
	double seconds = r->ns / 1e9, whole = profile_median(p, &p->total, METRIC_WALL);
	table_add(t, profile_item_path(a, p, r->item));
	table_add(t, i->at);
	table_add(t, figure_text(UNIT_COUNT, profile_median(p, &i->values, METRIC_CALLS), text));
	table_add(t, figure_text(UNIT_NS, r->ns, text));
	table_addf(t, "%.1f %%", whole > 0 ? 100 * r->ns / whole : 0);
	table_addf(t, "%.1f", seconds > 0 ? r->bytes / seconds / 1e9 : 0);
	table_addf(t, "%.1f", seconds > 0 ? r->operations / seconds / 1e9 : 0);
	table_addf(t, "%.1f", r->intensity);
	table_add(t, bench_class_text(r->class));
	table_addf(t, "%.0f %%", 100 * r->share);
	table_add(t, bench_verdict(a, p, r));
}

static void put_rows(struct bencher *b, const struct profile *p)
{
	uint32_t n, top = b->o->top ? (uint32_t)b->o->top : 20;
	const struct bench_row *rows = bench_rows(b->arena, p, &b->ceilings, &n);
	struct table t = {.arena = b->arena,
			  .columns = {{"statement", false},
				      {"at", false},
				      {"calls", true},
				      {"time", true},
				      {"share", true},
				      {"GB/s", true},
				      {"GOP/s", true},
				      {"OP/B", true},
				      {"bound", false},
				      {"roofline", true},
				      {"verdict", false}},
			  .n_columns = 11};
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += rows[i].ns;
	for (uint32_t i = 0; i < n && i < top; i++)
		add_row(&t, b->arena, p, &rows[i]);
	table_print(&t, b->o->format == PRINT_MARKDOWN, &b->report);
	double whole = profile_median(p, &p->total, METRIC_WALL);
	buf_printf(&b->report, "\n%u of %u statements; all of them together are %.1f %% of a run\n", n < top ? n : top, n,
		   whole > 0 ? 100 * sum / whole : 0);
}

static void put_case(struct bencher *b, const struct bench_case *c, const struct profile *p)
{
	char median[FIGURE_SIZE], least[FIGURE_SIZE], p95[FIGURE_SIZE], deviation[FIGURE_SIZE], read[FIGURE_SIZE];
	double outliers = profile_fact(p, "outliers", 0), whole = profile_median(p, &p->total, METRIC_WALL) / 1e9;
	buf_printf(&b->report, "%s%s on %s, %u thread%s%s\n", b->first_rate > 0 ? "\n" : "", profile_setting(p, "models"), c->device,
		   c->threads, c->threads == 1 ? "" : "s", c->batch ? arena_printf(b->arena, ", batch %u", c->batch) : "");
	buf_printf(&b->report, "median %s, least %s, p95 %s, deviation %s, %.0f runs, %.0f outlier%s\n",
		   figure_text(UNIT_NS, whole * 1e9, median), figure_text(UNIT_NS, profile_fact(p, "min_ns", 0), least),
		   figure_text(UNIT_NS, profile_fact(p, "p95_ns", 0), p95),
		   figure_text(UNIT_NS, profile_fact(p, "deviation_ns", 0), deviation), profile_fact(p, "runs", 0), outliers,
		   outliers == 1 ? "" : "s");
	buf_printf(&b->report, "%.3f GOP, %s: %.1f GOP/s; ceilings: %.0f GOP/s float32, %.0f int8, %.1f GB/s read, %.1f copy\n\n",
		   profile_median(p, &p->total, METRIC_OPERATIONS) / 1e9,
		   figure_text(UNIT_BYTES, profile_median(p, &p->total, METRIC_BYTES), read),
		   profile_median(p, &p->total, METRIC_OPERATIONS) / 1e9 / whole, b->ceilings.float_ops / 1e9, b->ceilings.int8_ops / 1e9,
		   b->ceilings.read_bytes / 1e9, b->ceilings.copy_bytes / 1e9);
	put_rows(b, p);
}

/* ---- cases ---- */

static bool find_ceilings(struct bencher *b, struct profile *p, const struct bench_case *c)
{
	const char *name;
	struct buf why = {0};
	bool ok = device_ceilings(b->arena, c->device, c->threads, false, &b->ceilings, &name, &why);
	if (!ok)
		fail_environment("cannot measure `%s`: %s", c->device, why.at);
	buf_free(&why);
	if (!ok)
		return false;
	profile_add_setting(p, "device", name);
	profile_add_fact(p, "ceiling.read_bytes", b->ceilings.read_bytes);
	profile_add_fact(p, "ceiling.copy_bytes", b->ceilings.copy_bytes);
	profile_add_fact(p, "ceiling.float_ops", b->ceilings.float_ops);
	profile_add_fact(p, "ceiling.int8_ops", b->ceilings.int8_ops);
	return true;
}

static void add_case(struct bencher *b, const struct bench_case *c, const struct profile *p)
{
	char text[FIGURE_SIZE];
	double ns = profile_median(p, &p->total, METRIC_WALL);
	double rate = (c->batch ? c->batch : 1) / ns * 1e9;
	b->first_rate = b->first_rate > 0 ? b->first_rate : rate;
	table_add(&b->summary, c->device);
	table_addf(&b->summary, "%u", c->threads);
	table_add(&b->summary, c->batch ? figure_text(UNIT_COUNT, c->batch, text) : "");
	table_add(&b->summary, figure_text(UNIT_NS, ns, text));
	table_addf(&b->summary, "%.1f", profile_median(p, &p->total, METRIC_OPERATIONS) / ns);
	table_add(&b->summary, figure_text(UNIT_COUNT, rate, text));
	table_addf(&b->summary, "%.2f", rate / b->first_rate);
}

/* With one case the report has said it all. */
static void put_summary(struct bencher *b)
{
	if (b->o->format != PRINT_JSON && b->summary.cells.len > b->summary.n_columns) {
		buf_putc(&b->report, '\n');
		table_print(&b->summary, b->o->format == PRINT_MARKDOWN, &b->report);
	}
	vec_free(&b->summary.cells);
}

static enum status run_case(struct bencher *b, const struct bench_case *c, struct profile **all)
{
	struct buf error = {0};
	enum status s;
	struct profile *p = bench_run(c, b->o, &error, &s);
	if (!p) {
		fprintf(stderr, "trib: %s\n", error.len ? error.at : "interrupted");
		buf_free(&error);
		return s;
	}
	buf_free(&error);
	if (!find_ceilings(b, p, c)) {
		profile_free(p);
		return STATUS_ENVIRONMENT;
	}
	if (b->o->format == PRINT_JSON)
		profile_print(p, &b->report);
	else
		put_case(b, c, p);
	add_case(b, c, p);
	if (!*all)
		*all = p;
	else
		profile_free(p);
	return STATUS_OK;
}

/* Only models that the interpreter runs in a moment. */
static enum status check_results(struct bencher *b, const struct bench_case *c, const struct profile *p)
{
	struct options of_model = *b->o;
	struct buf text = {0};
	double work = profile_median(p, &p->total, METRIC_OPERATIONS) / (c->batch ? c->batch : 1);
	enum status s = STATUS_OK;
	of_model.operands = &b->model->name;
	of_model.n_operands = 1;
	of_model.device = c->device;
	if (work > MOST_CHECKED)
		buf_printf(&text, "not compared with the reference interpreter: %.1f GOP would take it long", work / 1e9);
	else
		s = bench_check(b->arena, &of_model, c->library, &text);
	if (s != STATUS_OK)
		fprintf(stderr, "trib: %s\n", text.at);
	else if (b->o->format != PRINT_JSON)
		buf_printf(&b->report, "results: %s\n", text.at);
	buf_free(&text);
	return s;
}

static enum status write_roofline(struct bencher *b, const struct profile *p)
{
	struct buf svg = {0};
	uint32_t n;
	const struct bench_row *rows = bench_rows(b->arena, p, &b->ceilings, &n);
	roofline_print(p, rows, n, &b->ceilings, &svg);
	bool ok = os_write_atomic(b->o->roofline, svg.at, svg.len, 0666, false);
	buf_free(&svg);
	return ok ? STATUS_OK : fail_environment("cannot write `%s`: %s", b->o->roofline, strerror(errno));
}

static enum status run_cases(struct bencher *b, struct profile **first)
{
	struct arena *a = b->arena;
	const struct options *o = b->o;
	const char *const *devices = split_list(a, o->compare ? o->compare : o->device, "cpu"), *const *batches =
													split_list(a, o->batches, "0");
	const char *const *threads = split_list(a, o->thread_list, arena_printf(a, "%u", os_cpu_count()));
	enum status s = STATUS_OK;
	for (uint32_t d = 0; devices[d] && s == STATUS_OK; d++) {
		if (!check_device(b, devices[d]))
			return STATUS_USAGE;
		const char *library = build_library(b, devices[d], &s);
		bool check = library != NULL;
		for (uint32_t k = 0; library && batches[k] && s == STATUS_OK; k++)
			for (uint32_t t = 0; threads[t] && s == STATUS_OK; t++) {
				struct bench_case c = {.library = library,
						       .device = devices[d],
						       .budget_ns = (int64_t)b->budget_ns,
						       .least_runs = LEAST_RUNS};
				c.batch = o->batches ? number_of("--batch", batches[k], 1000000) : 0;
				c.threads = number_of("--threads", threads[t], 4 * os_cpu_count());
				s = c.threads && (c.batch || !o->batches) ? run_case(b, &c, first) : STATUS_USAGE;
				if (s == STATUS_OK && check)
					s = check_results(b, &c, *first);
				check = false;
			}
	}
	return s;
}

static enum status find_model(struct bencher *b, struct build_spec *spec)
{
	enum status s = project_read(b->arena, b->o, spec);
	if (s != STATUS_OK)
		return s;
	if (spec->n_models > 1 && !b->o->n_operands)
		return fail_usage("tri.build has several models: name one, as in `trib bench %s`", spec->models[0].name);
	b->model = &spec->models[0];
	return STATUS_OK;
}

enum status cmd_bench(const struct options *o)
{
	struct bencher b = {.o = o, .arena = arena_new(0), .budget_ns = BUDGET_NS};
	b.summary = (struct table){.arena = b.arena,
				   .columns = {{"device", false},
					       {"threads", true},
					       {"batch", true},
					       {"median", true},
					       {"GOP/s", true},
					       {"rows/s", true},
					       {"speed-up", true}},
				   .n_columns = 7};
	struct build_spec spec;
	struct profile *first = NULL;
	enum metric_unit unit = UNIT_NS;
	enum status s = STATUS_OK;
	os_catch_interrupts();
	if (o->max_time && (!figure_parse(o->max_time, &unit, &b.budget_ns) || unit != UNIT_NS))
		s = fail_usage("--max-time wants a time such as 3s, not `%s`", o->max_time);
	if (s == STATUS_OK)
		s = find_model(&b, &spec);
	if (s == STATUS_OK)
		s = run_cases(&b, &first);
	put_summary(&b);
	if (b.report.len)
		fputs(b.report.at, stdout);
	if (s == STATUS_OK && o->profile_out && !profile_write(first, o->profile_out))
		s = fail_environment("cannot write `%s`: %s", o->profile_out, strerror(errno));
	if (s == STATUS_OK && o->roofline)
		s = write_roofline(&b, first);
	profile_free(first);
	buf_free(&b.report);
	arena_free(b.arena);
	return s;
}
