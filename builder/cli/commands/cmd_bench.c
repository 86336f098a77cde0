/* trib bench: times a model and each of its statements, beside what the machine can do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/path.h"
#include "base/print.h"
#include "builder/build/build.h"
#include "builder/manifest/backends.h"
#include "builder/build/model/model.h"
#include "builder/build/session/context.h"
#include "builder/build/session/folders.h"
#include "builder/build/session/status.h"
#include "builder/cli/commands/bench_kernels.h"
#include "builder/cli/commands/bench_report.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/cli/profile/profile.h"
#include "builder/cli/project.h"
#include "builder/profile/figures.h"
#include "builder/run/bench_check.h"
#include "builder/run/device_ceilings.h"
#include "builder/run/drivers.h"
#include "builder/run/library.h"
#include "builder/run/roofline.h"

#define MOST_CASES 64
#define BUDGET_NS 3e9
#define LEAST_RUNS 100
#define MOST_CHECKED 4e10 /* operations that the interpreter does in 15 seconds */

/* One invocation. */
struct bencher {
	const struct options *o;
	struct arena *arena;
	const struct model_spec *model;
	const char *const *devices;        /* NULL ends it */
	const uint32_t *batches, *threads; /* 0 ends them; a first batch of 0: of the inputs */
	double budget_ns;
	const char *device; /* the present one */
	bool noted_prints;
	struct bench_report report;
	struct buf text, json;
};

/* Returns the words between commas; NULL ends them. NULL: there are none; reported. */
static const char *const *split_list(struct arena *a, const char *flag, const char *text)
{
	const char **list = ARENA_ARRAY(a, const char *, MOST_CASES + 1);
	uint32_t n = 0;
	for (const char *at = text; *at && n < MOST_CASES; at += *at == ',') {
		size_t len = strcspn(at, ",");
		if (len)
			list[n++] = arena_strndup(a, at, len);
		at += len;
	}
	if (!n)
		fail_usage("%s wants a list such as 1,2, not `%s`", flag, text);
	return n ? list : NULL;
}

/* Reads numbers from 1 to `most`; 0 ends them. NULL: reported. */
static const uint32_t *read_numbers(struct arena *a, const char *flag, const char *text, unsigned long most)
{
	uint32_t *numbers = ARENA_ARRAY(a, uint32_t, MOST_CASES + 1), n = 0;
	const char *const *list = split_list(a, flag, text);
	for (uint32_t i = 0; list && list[i]; i++) {
		char *end;
		unsigned long v = strtoul(list[i], &end, 10);
		if (*end || v == 0 || v > most) {
			fail_usage("%s wants numbers from 1 to %lu such as 1,2, not `%s`", flag, most, list[i]);
			return NULL;
		}
		numbers[n++] = (uint32_t)v;
	}
	return list ? numbers : NULL;
}

static bool check_device(const char *device)
{
	struct run_options of_device = {.device = device};
	if (run_on_reference(&of_device))
		fail_usage("`trib bench` measures compiled code: --device cpu or opencl");
	return !run_on_reference(&of_device) && run_check_device(&of_device);
}

/* Reads the lists of the flags before anything is built. False: reported. */
static bool read_cases(struct bencher *b)
{
	static const uint32_t of_inputs[2] = {0};
	struct arena *a = b->arena;
	const struct options *o = b->o;
	b->devices = split_list(a, o->bench.compare ? "--compare" : "--device",
				o->bench.compare ? o->bench.compare
				: o->run.device  ? o->run.device
						 : "cpu");
	for (uint32_t i = 0; b->devices && b->devices[i]; i++)
		if (!check_device(b->devices[i]))
			return false;
	b->batches = o->bench.batches ? read_numbers(a, "--batch", o->bench.batches, 1000000) : of_inputs;
	b->threads = read_numbers(a, "--threads", o->bench.thread_list ? o->bench.thread_list : arena_printf(a, "%u", os_cpu_count()),
				  4UL * os_cpu_count());
	return b->devices && b->batches && b->threads;
}

/* ---- the library ---- */

/* Builds the model with the profile hook, beside the project's own outputs. A bench_build. */
static const char *build_library(void *ctx, uint32_t unit_entries, enum status *s)
{
	struct bencher *b = ctx;
	const char *device = b->device;
	struct options build = *b->o, of_device = *b->o;
	char *text = NULL;
	size_t len;
	uint32_t n_emits;
	FILE *quiet = open_memstream(&text, &len);
	build.operands = &b->model->name;
	build.n_operands = 1;
	build.emit = emit_names(&n_emits)[emit_of_device(device)];
	build.out = unit_entries ? BENCH_UNITS_FOLDER : BENCH_FOLDER;
	build.unit_entries = unit_entries;
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
	m.out = build.out;
	m.emit = UINT64_MAX;
	of_device.run.device = device;
	return run_library_path(b->arena, &m, &of_device, s);
}

/* ---- cases ---- */

/* Once. */
static void note_prints(struct bencher *b, const struct profile *p)
{
	if (!b->noted_prints && profile_fact(p, "prints_left_out", 0) > 0)
		print(stderr, "trib: note: what the model prints is left out while it is measured\n");
	b->noted_prints |= profile_fact(p, "prints_left_out", 0) > 0;
}

/* Measures a case. Returns its profile with the ceilings of the device; NULL: *s says why, an error was printed. */
static struct profile *measure_case(struct bencher *b, struct bench_case *bench, enum status *s)
{
	struct buf error = {0};
	struct profile *p = bench_run(bench, b->o, &error, s);
	if (!p) {
		print(stderr, "trib: %s\n", error.len ? error.at : "interrupted");
	} else if (!device_ceilings_add(p, bench->device, bench->threads, &error)) {
		*s = fail_environment("cannot measure `%s`: %s", bench->device, error.at);
		profile_free(p);
		p = NULL;
	}
	buf_free(&error);
	return p;
}

static enum status bench_run_case(struct bencher *b, struct bench_case *bench, struct profile **first)
{
	enum status s;
	struct profile *p = measure_case(b, bench, &s);
	if (!p)
		return s;
	note_prints(b, p);
	if (b->o->format == PRINT_JSON)
		profile_print(p, &b->json);
	else
		bench_report_add(&b->report, bench, p);
	if (*first)
		profile_free(p);
	else
		*first = p;
	return STATUS_OK;
}

/* With one row of the inputs, and only if the interpreter does not take too long. */
static enum status check_results(struct bencher *b, const struct bench_case *bench, const struct profile *p)
{
	struct options of_model = *b->o;
	struct buf text = {0};
	double work = profile_median(p, &p->total, METRIC_OPERATIONS) / (bench->batch ? bench->batch : 1);
	enum status s = STATUS_OK;
	of_model.operands = &b->model->name;
	of_model.n_operands = 1;
	of_model.run.device = bench->device;
	of_model.run.no_print = true;
	if (work > MOST_CHECKED)
		buf_printf(&text, "not compared with the reference interpreter, which needs about %.0f s for %.1f GOP",
			   15 * work / MOST_CHECKED, work / 1e9);
	else
		s = bench_check(b->arena, &of_model, bench->library, build_library, b, &text);
	if (s != STATUS_OK)
		print(stderr, "trib: %s\n", text.at);
	else
		report_say(&b->report.r, "results: %s\n", text.at);
	buf_free(&text);
	return s;
}

static enum status write_roofline(struct bencher *b, const struct profile *p)
{
	struct buf svg = {0};
	roofline_print(p, &svg);
	bool ok = os_write_atomic(b->o->bench.roofline, svg.at, svg.len, 0666, false);
	buf_free(&svg);
	return ok ? STATUS_OK : fail_environment("cannot write `%s`: %s", b->o->bench.roofline, strerror(errno));
}

/* The results of the first case are checked. A device has no threads of the CPU; its fallback has all of them. */
static enum status run_device(struct bencher *b, const char *device, struct profile **first)
{
	const uint32_t of_fallback[2] = {os_cpu_count()}, *threads = device_is_foreign(device) ? of_fallback : b->threads;
	enum status s = STATUS_OK;
	b->device = device;
	const char *library = build_library(b, 0, &s);
	for (uint32_t k = 0; library && (k == 0 || b->batches[k]) && s == STATUS_OK; k++)
		for (uint32_t t = 0; threads[t] && s == STATUS_OK; t++) {
			struct bench_case c = {library, device, threads[t], b->batches[k], (int64_t)b->budget_ns, LEAST_RUNS};
			s = bench_run_case(b, &c, first);
			device = c.device;
			if (s == STATUS_OK && k == 0 && t == 0)
				s = check_results(b, &c, *first);
		}
	return s;
}

static enum status bench_find_model(struct bencher *b, struct build_spec *spec)
{
	enum status s = project_read(b->arena, b->o, spec);
	if (s != STATUS_OK)
		return s;
	if (spec->n_models > 1 && !b->o->n_operands)
		return fail_usage("tri.build has several models: name one, as in `trib bench %s`", spec->models[0].name);
	b->model = &spec->models[0];
	return STATUS_OK;
}

/* ---- trib devices --kernels ---- */

#define LAUNCHES_NS 2e8
#define LEAST_LAUNCHES 3

/* Measures the launches of one entry. */
static enum status add_launches(struct bencher *b, const char *library, const char *entry, const struct report_options *how)
{
	enum status s;
	struct buf error = {0};
	struct options of_entry = *b->o;
	of_entry.entry = entry;
	struct bench_case c = {library, b->device, 1, 0, LAUNCHES_NS, LEAST_LAUNCHES};
	struct profile *p = bench_run(&c, &of_entry, &error, &s);
	if (p) {
		report_launches(p, b->model->name, b->device, how, &b->text);
		note_prints(b, p);
	} else {
		print(stderr, "trib: %s\n", error.len ? error.at : "interrupted");
	}
	profile_free(p);
	buf_free(&error);
	return s;
}

/* Of the entry that the options name, or of all. */
static enum status add_entries(struct bencher *b, const struct report_options *how)
{
	enum status s;
	struct library lib;
	const char *why, *path = build_library(b, 0, &s);
	if (!path)
		return s;
	if (!library_open(b->arena, path, &lib, &why))
		return fail_environment("%s", why);
	for (uint32_t i = 0; i < lib.desc->n_entries && s == STATUS_OK; i++)
		if (!b->o->entry || i == 0)
			s = add_launches(b, path, b->o->entry ? b->o->entry : lib.desc->entries[i].name, how);
	library_close(&lib);
	return s;
}

enum status bench_kernels(const struct options *o, const char *model, const char *device)
{
	struct options of_model = *o;
	struct build_spec spec;
	of_model.operands = &model;
	of_model.n_operands = 1;
	struct bencher b = {.o = &of_model, .arena = arena_new(0), .device = device};
	const struct report_options how = report_options_of(o);
	enum status s = bench_find_model(&b, &spec);
	if (s == STATUS_OK)
		s = add_entries(&b, &how);
	print_text(stdout, &b.text);
	buf_free(&b.text);
	arena_free(b.arena);
	return s;
}

/* ---- trib bench ---- */

enum status cmd_bench(const struct options *o)
{
	struct bencher b = {.o = o, .arena = arena_new(0), .budget_ns = BUDGET_NS};
	struct report_options how = report_options_of(o);
	how.top = (uint32_t)o->top;
	bench_report_begin(&b.report, &how, &b.text);
	struct build_spec spec;
	struct profile *first = NULL;
	enum status s;
	drivers_supervise(o->bench.compare ? o->bench.compare : o->run.device);
	os_catch_interrupts();
	s = max_time_of(o, &b.budget_ns) && read_cases(&b) ? bench_find_model(&b, &spec) : STATUS_USAGE;
	for (uint32_t d = 0; s == STATUS_OK && b.devices[d]; d++)
		s = run_device(&b, b.devices[d], &first);
	bench_report_end(&b.report);
	print_text(stdout, &b.text);
	print_text(stdout, &b.json);
	if (s == STATUS_OK && o->profile_out && !profile_write(first, o->profile_out))
		s = fail_environment("cannot write `%s`: %s", o->profile_out, strerror(errno));
	if (s == STATUS_OK && o->bench.roofline)
		s = write_roofline(&b, first);
	profile_free(first);
	buf_free(&b.text);
	buf_free(&b.json);
	arena_free(b.arena);
	return s;
}
