#include "builder/build/report/report.h"
#include <errno.h>
#include <string.h>
#include "backend/passes/pass.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/map.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/build/model/interface.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/report/build_profile.h"
#include "builder/build/session/build_result.h"
#include "builder/build/session/context.h"
#include "builder/build/session/session.h"
#include "builder/build/session/status.h"
#include "builder/build/sources/sources.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/profile/profile.h"
#include "builder/profile/report.h"
#include "builder/profile/served.h"
#include "builder/profile/trace.h"
#include "frontend/frontend.h"
#include "scheduler/pool.h"

#define COSTLIEST 10

static void print_pass(void *writer, const char *name, const struct pass_figures *figures)
{
	struct json_writer *w = writer;
	json_member_open(w, name, '{');
	json_member_num(w, "wall_ms", (double)figures->wall_ns / 1e6);
	json_member_int(w, "runs", (int64_t)figures->runs);
	json_member_int(w, "changes", (int64_t)figures->changes);
	json_member_int(w, "bytes", (int64_t)figures->bytes);
	json_close(w, '}');
}

void build_summary_print(const struct build_summary *s, const struct timing *timing, struct buf *out)
{
	const struct build_result *r = s->result;
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", s->type);
	json_member_bool(&w, "ok", s->ok);
	json_member_num(&w, "wall_ms", (double)s->wall_ns / 1e6);
	json_member_open(&w, "phases_ms", '{');
	for (uint32_t i = 0; i < PHASE_COUNT; i++)
		json_member_num(&w, phase_text((enum phase)i), timing ? (double)timing_wall(timing, (enum phase)i) / 1e6 : 0);
	json_close(&w, '}');
	if (timing && timing_watches_passes(timing)) {
		json_member_open(&w, "passes", '{');
		timing_each_pass(timing, print_pass, &w);
		json_close(&w, '}');
	}
	json_member_open(&w, "units", '{');
	json_member_int(&w, "total", r->units);
	json_member_int(&w, "compiled", r->compiled);
	json_member_int(&w, "reused", r->reused);
	json_member_int(&w, "failed", r->failed);
	json_member_int(&w, "later", r->later);
	json_close(&w, '}');
	json_member_open(&w, "cache", '{');
	json_member_int(&w, "hits", r->hits);
	json_member_int(&w, "misses", r->misses);
	lookups_print(&w, s->lookups);
	json_close(&w, '}');
	json_member_open(&w, "weights", '{');
	json_member_int(&w, "packed", r->packed);
	json_member_int(&w, "reused", r->packed_before);
	json_close(&w, '}');
	json_member_int(&w, "peak_rss_kb", (int64_t)os_peak_rss_kb());
	json_member_int(&w, "jobs", s->jobs);
	json_member_num(&w, "efficiency", r->efficiency);
	json_member_open(&w, "outputs", '[');
	for (uint32_t i = 0; i < r->outputs.len; i++)
		json_str(&w, r->outputs.at[i]);
	json_close(&w, ']');
	json_close(&w, '}');
	buf_putc(out, '\n');
}

/* Models may share files. */
static uint32_t count_files(const struct project *p)
{
	struct map seen = {0};
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->n_models; i++)
		for (uint32_t k = 0; k < frontend_files(p->models[i].frontend); k++)
			n += map_put(&seen, map_key_str(frontend_file_path(p->models[i].frontend, k)), 1);
	map_free(&seen);
	return n;
}

static const char *plural(uint32_t n) { return n == 1 ? "" : "s"; }

/* Names the libraries that the failed build leaves as they were. */
static void print_unchanged(FILE *err, const struct project *p)
{
	const char *first = NULL;
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->n_models; i++) {
		const struct model_job *m = &p->models[i];
		const char *output = model_output(m);
		struct file_stamp stamp;
		if (!output || m->link.written || m->link.is_current || !os_stamp(output, &stamp))
			continue;
		first = first ? first : output;
		n++;
	}
	if (n == 1)
		print(err, "; %s is unchanged", first);
	else if (n)
		print(err, "; %s and %u other%s are unchanged", first, n - 1, plural(n - 1));
}

/* The last line of a failed build. */
static void print_footer(struct diags *diags, const struct build_request *request, const struct project *p)
{
	uint32_t errors = diags_errors(diags), warnings = diags_warnings(diags);
	const struct options *o = request->options;
	FILE *err = request->err;
	print(err, "error: ");
	if (errors)
		print(err, "%u error%s", errors, plural(errors));
	if (warnings)
		print(err, "%s%u warning%s", errors ? ", " : "", warnings, plural(warnings));
	if (!errors && !warnings)
		print(err, "the build failed");
	if (!errors && warnings)
		print(err, ", and warnings are denied");
	if (!request->check && !o->dry_run && !options_print_stage(o))
		print_unchanged(err, p);
	print(err, "\n");
}

static void print_check_summary(struct diags *diags, const struct build_request *request, const struct project *p)
{
	uint32_t warnings = diags_warnings(diags), files = count_files(p);
	char warned[48] = "";
	if (warnings)
		snprintf(warned, sizeof warned, ", %u warning%s,", warnings, plural(warnings));
	if (request_is_chatty(request))
		print(request->out, "trib: no errors%s in %u file%s\n", warned, files, plural(files));
}

static void print_build_summary(FILE *out, const struct build_result *r, bool lazy, int64_t wall_ns)
{
	double seconds = (double)wall_ns / 1e9;
	if (r->compiled == 0 && r->linked == 0)
		print(out, "trib: nothing to do\n");
	else if (lazy)
		print(out, "trib: %u left for their first call, %u in the cache, %u linked in %.2f s\n", r->later, r->reused, r->linked,
		      seconds);
	else
		print(out, "trib: %u compiled, %u reused, %u linked in %.2f s\n", r->compiled, r->reused, r->linked, seconds);
}

static void report_print_summary(struct diags *diags, const struct build_request *request, const struct project *p,
				 const struct build_result *r, enum status s, int64_t wall_ns)
{
	const struct options *o = request->options;
	if (s == STATUS_INTERRUPTED)
		print(request->err, "trib: interrupted\n");
	else if (s == STATUS_USAGE)
		return; /* no build was tried */
	else if (s != STATUS_OK)
		print_footer(diags, request, p);
	else if (request->check)
		print_check_summary(diags, request, p);
	else if (request_is_chatty(request) && !o->dry_run && !options_print_stage(o))
		print_build_summary(request->out, r, o->lazy, wall_ns);
}

/* Prints the features that linked libraries need and some devices lack, and what happens without them. */
static void print_needs(const struct build_request *request, const struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++) {
		const struct model_job *m = &p->models[i];
		for (uint32_t k = 0; k < m->n_variants; k++)
			if (m->variants[k].needs)
				print(request->out, "%s: needs a device with %s; without one %s\n", m->spec->name, m->variants[k].needs,
				      m->spec->has_fallback ? "the CPU runs it"
							    : "it does not run: `fallback = cpu` adds code for the CPU");
	}
}

/* Makes diagnostics of the stores' warnings. */
static void add_store_warnings(struct diags *diags, struct buf *warnings)
{
	for (char *line = warnings->at; line && *line;) {
		char *end = strchr(line, '\n');
		if (end)
			*end = 0;
		enum diag_code code = strstr(line, "damaged") ? DIAG_STORE_DAMAGED : DIAG_STORE_UNUSABLE;
		diag_add(diags, code, SPAN_NONE, "%s", line);
		line = end ? end + 1 : NULL;
	}
}

static void report_print_json(const struct build_context *c, const struct build_result *r, enum status s, int64_t wall_ns)
{
	const struct build_summary summary = {.type = c->request.check ? "check" : "build",
					      .ok = s == STATUS_OK,
					      .wall_ns = wall_ns,
					      .jobs = c->session->pool ? pool_jobs(c->session->pool) : 1,
					      .result = r,
					      .lookups = c->lookups};
	struct buf line = {0};
	diags_print_json(c->diags, c->sources, c->request.out);
	build_summary_print(&summary, c->timing, &line);
	print_text(c->request.out, &line);
	buf_free(&line);
}

/* An error of a file that was asked for is an error of the environment. */
static void report_file(struct diags *diags, struct build_outcome *outcome, const char *path, bool ok)
{
	if (ok)
		return;
	diag_add(diags, DIAG_FILE_WRITE, SPAN_NONE, "cannot write `%s`: %s", path, strerror(errno));
	outcome->environment = true;
}

/* True if --profile-if-slower-than does not hold the profile back. */
static bool is_slow(const struct options *o, int64_t wall_ns) { return (double)wall_ns > o->slower_than_ns; }

struct profile *report_profile_of(struct build_context *c, const struct project *p, struct build_result *r)
{
	const struct options *o = c->request.options;
	int64_t wall_ns = os_now_ns() - r->started;
	if (!c->timing)
		return NULL;
	struct profile *made = build_profile(c, p, r, wall_ns);
	r->efficiency = profile_fact(made, "efficiency", 0);
	if (o->trace_file)
		report_file(c->diags, &c->outcome, o->trace_file, profile_write_trace(made, r->started, o->trace_file));
	if (o->profile_out && is_slow(o, wall_ns))
		report_file(c->diags, &c->outcome, o->profile_out, profile_write(made, o->profile_out));
	if (c->outcome.done && (r->compiled || r->linked) && !c->request.single && served_is_wanted())
		report_file(c->diags, &c->outcome, SERVED_PROFILE, profile_write(made, SERVED_PROFILE));
	return made;
}

enum status report_print(struct build_context *c, const struct project *p, const struct build_result *r)
{
	const struct build_request *q = &c->request;
	int64_t wall_ns = os_now_ns() - r->started;
	add_store_warnings(c->diags, &c->stores.warnings);
	diags_sort_by_use(c->diags, c->sources);
	if (diags_errors(c->diags) || q->options->json > 0)
		sources_verify_edits(c->diags, p);
	report_annotations(c);
	enum status s = context_status(c);
	if (s == STATUS_OK)
		interfaces_print(&c->request, p);
	if (q->options->json > 0) {
		report_print_json(c, r, s, wall_ns);
		return s;
	}
	if (diags_count(c->diags))
		diags_print(c->diags, c->sources, q->err, terminal_has_color(fileno(q->err), q->options->color));
	if (s == STATUS_OK && request_is_chatty(q))
		print_needs(q, p);
	if (!q->caller_reports)
		report_print_summary(c->diags, &c->request, p, r, s, wall_ns);
	return s;
}

void report_timing(const struct build_request *request, const struct build_spec *spec, const struct profile *profile)
{
	const struct options *o = request->options;
	const struct report_options how = {.format = REPORT_TEXT, .top = COSTLIEST};
	struct buf text = {0};
	if (!profile || !(spec->timing || o->timing > 0) || o->json > 0)
		return;
	report_profile(profile, &how, &text);
	print_text(request->out, &text);
	buf_free(&text);
}
