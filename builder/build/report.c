/* What a build says when it has ended: diagnostics, and the summary or the record. */
#include <string.h>
#include "base/diag.h"
#include "base/map.h"
#include "base/os.h"
#include "builder/build/build_summary.h"
#include "builder/build/state.h"
#include "builder/build/timing.h"
#include "builder/manifest/options.h"
#include "frontend/frontend.h"
#include "scheduler/pool.h"

bool build_tells(const struct build *b) { return b->options->json <= 0 && !b->options->quiet; }

bool build_asks_text(const struct options *o) { return o->stop != STOP_NONE || o->dumps; }

/* Models may share files. */
static uint32_t count_files(const struct build *b)
{
	struct map seen = {0};
	uint32_t n = 0;
	for (uint32_t i = 0; i < b->n_models; i++)
		for (uint32_t k = 0; k < frontend_files(b->models[i].frontend); k++)
			n += map_put(&seen, map_key_str(frontend_file_path(b->models[i].frontend, k)), 1);
	map_free(&seen);
	return n;
}

static const char *plural(uint32_t n) { return n == 1 ? "" : "s"; }

/* What the models have that this build was to make again. */
static void print_unchanged(const struct build *b)
{
	const char *first = NULL;
	uint32_t n = 0;
	for (uint32_t i = 0; i < b->n_models; i++) {
		const struct model_job *m = &b->models[i];
		const char *output = m->library ? m->library : m->opencl;
		struct file_stamp stamp;
		if (!output || m->written || m->current || !os_stamp(output, &stamp))
			continue;
		first = first ? first : output;
		n++;
	}
	if (n == 1)
		fprintf(b->err, "; %s is unchanged", first);
	else if (n)
		fprintf(b->err, "; %s and %u other%s are unchanged", first, n - 1, plural(n - 1));
}

/* The last line of what failed, one for each build. */
static void print_footer(const struct build *b)
{
	uint32_t errors = diags_errors(b->diags), warnings = diags_warnings(b->diags);
	fputs("error: ", b->err);
	if (errors)
		fprintf(b->err, "%u error%s", errors, plural(errors));
	if (warnings)
		fprintf(b->err, "%s%u warning%s", errors ? ", " : "", warnings, plural(warnings));
	if (!errors && !warnings)
		fputs("the build failed", b->err);
	if (!errors && warnings)
		fputs(", and warnings are denied", b->err);
	if (!b->check && !b->options->dry_run && !build_asks_text(b->options))
		print_unchanged(b);
	fputc('\n', b->err);
}

static void print_check_summary(struct build *b)
{
	uint32_t warnings = diags_warnings(b->diags), files = count_files(b);
	char warned[48] = "";
	if (warnings)
		snprintf(warned, sizeof warned, ", %u warning%s,", warnings, plural(warnings));
	if (build_tells(b))
		fprintf(b->out, "trib: no errors%s in %u file%s\n", warned, files, plural(files));
}

static void print_summary(struct build *b, enum status s, int64_t wall)
{
	double seconds = (double)wall / 1e9;
	if (s == STATUS_INTERRUPTED)
		fprintf(b->err, "trib: interrupted\n");
	else if (s == STATUS_USAGE)
		return; /* no build was tried */
	else if (s != STATUS_OK)
		print_footer(b);
	else if (b->check)
		print_check_summary(b);
	else if (!build_tells(b) || b->options->dry_run || build_asks_text(b->options))
		return;
	else if (b->compiled == 0 && b->linked == 0)
		fprintf(b->out, "trib: nothing to do\n");
	else if (b->options->lazy)
		fprintf(b->out, "trib: %u left for their first call, %u in the cache, %u linked in %.2f s\n", b->later, b->reused,
			b->linked, seconds);
	else
		fprintf(b->out, "trib: %u compiled, %u reused, %u linked in %.2f s\n", b->compiled, b->reused, b->linked, seconds);
}

static void print_warnings(struct build *b)
{
	for (char *line = b->warnings.at; line && *line;) {
		char *end = strchr(line, '\n');
		if (end)
			*end = 0;
		enum diag_code code = strstr(line, "damaged") ? DIAG_STORE_DAMAGED : DIAG_STORE_UNUSABLE;
		diag_add(b->diags, code, SPAN_NONE, "%s", line);
		line = end ? end + 1 : NULL;
	}
}

static void collect_times(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		const struct frontend_times *t = frontend_times(b->models[i].frontend);
		timing_add_ns(b->timing, PHASE_LEX, t->lex, t->lex);
		timing_add_ns(b->timing, PHASE_PARSE, t->parse, t->parse);
		timing_add_ns(b->timing, PHASE_TYPECHECK, t->check, t->check);
		timing_add_ns(b->timing, PHASE_ELABORATE, t->elaborate, t->elaborate);
	}
}

void build_report(struct build *b, enum status s)
{
	int64_t wall = os_now_ns() - b->started;
	collect_times(b);
	print_warnings(b);
	diags_sort_by_use(b->diags, b->sources);
	if (b->options->json > 0) {
		struct build_summary r = {.type = b->check ? "check" : "build",
					  .ok = s == STATUS_OK,
					  .wall_ns = wall,
					  .total = b->units,
					  .compiled = b->compiled,
					  .reused = b->reused,
					  .failed = b->failed_units,
					  .later = b->later,
					  .hits = b->hits,
					  .misses = b->misses,
					  .packed = b->packed,
					  .kept = b->kept_packed,
					  .jobs = b->pool ? pool_jobs(b->pool) : 1,
					  .outputs = b->outputs.at,
					  .n_outputs = b->outputs.len};
		struct buf line = {0};
		diags_print_json(b->diags, b->sources, b->out);
		build_summary_print(&r, b->timing, &line);
		fputs(line.at, b->out);
		buf_free(&line);
		if (b->told)
			b->told(b, s, b->told_ctx);
		return;
	}
	if (diags_count(b->diags))
		diags_print(b->diags, b->sources, b->err, terminal_has_color(fileno(b->err), b->options->color));
	if (b->told)
		b->told(b, s, b->told_ctx);
	else
		print_summary(b, s, wall);
	if (b->spec.timing || b->options->timing > 0)
		timing_print(b->timing, b->out, wall);
}
