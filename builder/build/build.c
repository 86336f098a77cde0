/* The way of one build. Each step is in the build_*.c that state.h names beside it. */
#include "builder/build/build.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build/fix.h"
#include "builder/build/progress.h"
#include "builder/build/session.h"
#include "builder/build/state.h"
#include "builder/build/timing.h"
#include "builder/build/warm.h"
#include "builder/cache/cache.h"
#include "builder/cache/config.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"
#include "builder/manifest/single_file.h"
#include "builder/store/key.h"
#include "builder/store/store.h"
#include "builder/weights/triw.h"
#include "frontend/index/index.h"

#define PROJECT_FOLDER ".trib"

static bool open_project(struct build *b)
{
	b->project = store_open(PROJECT_FOLDER "/store", false, &b->warnings);
	build_record_key(b);
	return !build_asks_text(b->options) && !b->options->dry_run && b->project && build_nothing_to_do(b);
}

/* The first place where a build keeps something in the project that is a link out of it; NULL if there is none, or if the user allows it. */
static const char *kept_outside(struct build *b)
{
	static const char *const places[] = {PROJECT_FOLDER, PROJECT_FOLDER "/store", PROJECT_FOLDER "/lock", LAZY_FOLDER};
	struct cache_config c;
	struct diags *unsaid;
	struct stat st;
	uint32_t n = sizeof places / sizeof *places, i = 0;
	while (i < n && !(lstat(places[i], &st) == 0 && S_ISLNK(st.st_mode) && !outputs_is_inside(b->session, places[i])))
		i++;
	if (i == n)
		return NULL;
	unsaid = diags_new(0);
	bool allowed = cache_config_read(b->session, b->sources, NULL, b->options, &c, unsaid) && c.at[SETTING_OUT_OUTSIDE].number;
	diags_free(unsaid);
	return allowed ? NULL : places[i];
}

static bool report_outside(struct build *b, const char *place)
{
	struct diag *g =
		diag_add(b->diags, DIAG_FILE_WRITE, SPAN_NONE, "`%s` is a link that leads out of the project, or to nothing", place);
	diag_help(b->diags, g, "remove the link, or `trib config set build.out_outside true` for all your projects");
	return false;
}

/* One build at a time in a project: wait for the other, then look again. True: it did our work. Where files cannot be locked, none waits. */
static bool lock_project(struct build *b)
{
	if (b->lasting->locked || kept_outside(b) || !os_mkdirs(PROJECT_FOLDER))
		return false;
	b->lock = open(PROJECT_FOLDER "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (b->lock < 0 || flock(b->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return false;
	if (build_tells(b))
		fprintf(b->err, "trib: waiting for another build of this project\n");
	while (flock(b->lock, LOCK_EX) != 0 && errno == EINTR && !os_interrupted())
		continue;
	store_close(b->project, &b->warnings);
	return open_project(b);
}

static bool done_elsewhere(struct build *b)
{
	const struct session *s = b->lasting;
	return b->elsewhere = s->elsewhere && b->lock >= 0 && s->elsewhere(s->ctx, b->lock, &b->elsewhere_status);
}

static bool start(struct build *b)
{
	const char *outside = b->single ? NULL : kept_outside(b);
	if (outside)
		return report_outside(b, outside);
	if (!b->project && !b->single)
		b->project = store_open(PROJECT_FOLDER "/store", true, &b->warnings);
	b->compiler = key_compiler(b->session, b->project, b->inputs, &b->generator);
	b->own_inputs = inputs_count(b->inputs);
	if (hash_is_zero(b->lasting->compiler))
		b->lasting->compiler = b->compiler;
	if (hash_eq(b->lasting->compiler, b->compiler))
		return true;
	/* fragments would be kept under the name of a compiler that did not make them */
	diag_add(b->diags, DIAG_MODULE, SPAN_NONE, "trib itself was replaced while it ran: start it again");
	b->environment = true;
	return false;
}

static bool open_cache(struct build *b)
{
	struct cache_config c;
	if (!cache_config_read(b->session, b->sources, b->spec.manifest, b->options, &c, b->diags))
		return false;
	if (!c.at[SETTING_OUT_OUTSIDE].number && !outputs_check_inside(b->session, b->spec.models, b->spec.n_models, b->diags))
		return false;
	if (b->spec.no_cache || !c.at[SETTING_ENABLED].number || build_asks_text(b->options))
		return true;
	struct cache_options o = cache_config_options(b->session, &c);
	b->cache = cache_open(&o, &b->warnings);
	return true;
}

/* While the front end works, the code generator can be opened; no thread can be started meanwhile. */
static bool expect_code(struct build *b)
{
	if (build_asks_text(b->options) || b->options->dry_run || b->options->stop != STOP_NONE)
		return true;
	for (uint32_t i = 0; i < b->n_models; i++) {
		const struct model_job *m = &b->models[i];
		if (!m->library || m->failed)
			continue;
		session_expect_code(b->lasting, &m->platform, m->spec->plan.opt, m->spec->plan.size);
		break;
	}
	return true;
}

static bool deny_warnings(struct build *b) { return !b->options->deny_warnings || diags_count(b->diags) == 0; }

static bool explain(struct build *b)
{
	if (b->spec.explain || b->options->dry_run)
		build_explain(b);
	b->done = b->options->dry_run;
	return true;
}

void build_sweep(const struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++)
		if (i == 0 || strcmp(b->models[i].spec->out, b->models[i - 1].spec->out) != 0)
			os_sweep(b->models[i].spec->out);
}

static bool publish(struct build *b)
{
	b->published = os_now_ns();
	if (build_asks_text(b->options))
		return true;
	build_sweep(b);
	for (uint32_t i = 0; i < b->n_models; i++) {
		const struct model_job *m = &b->models[i];
		if (m->library)
			vec_push(&b->outputs, m->library);
		if (m->header)
			vec_push(&b->outputs, m->header);
		if (m->live)
			vec_push(&b->outputs, m->live);
		if (m->opencl)
			vec_push(&b->outputs, m->opencl);
		if (m->weights_file)
			vec_push(&b->outputs, m->weights_file);
		b->linked += !m->current;
	}
	build_save_history(b);
	build_save_checks(b);
	build_save_record(b);
	build_record_direct(b);
	return true;
}

bool build_may_go_on(struct build *b)
{
	uint32_t failed = 0;
	for (uint32_t i = 0; i < b->n_models; i++)
		failed += b->models[i].failed;
	if (b->interrupted || (failed == 0 && diags_errors(b->diags)))
		return false;
	uint32_t most = b->check ? 0 : b->spec.most_failures; /* a check tells all that it can */
	return failed == 0 || (failed < b->n_models && (most == 0 || failed < most));
}

typedef bool step_fn(struct build *);

bool build_stopped(struct build *b)
{
	const struct session *s = b->lasting;
	if (!b->superseded && s && s->superseded)
		b->superseded = s->superseded(s->ctx, b->inputs, diags_errors(b->diags) > 0);
	b->interrupted |= b->superseded || os_interrupted();
	return b->interrupted;
}

static void run_steps(struct build *b, step_fn *const *steps, size_t n)
{
	for (size_t i = 0; i < n && !b->done; i++)
		if ((i && i + 1 < n && build_stopped(b)) || !steps[i](b) || os_interrupted())
			return;
	b->done = true;
}

static void run_build(struct build *b)
{
	static step_fn *const steps[] = {
		start,
		build_read_manifest,
		open_cache,
		build_find_direct,
		build_start_workers,
		expect_code,
		build_load_sources,
		build_dump_files,
		build_compare_tokens,
		build_check,
		build_stop_after_check,
		build_open_weights,
		build_elaborate,
		build_dump,
		build_bind_weights,
		build_plan,
		build_stop_after_plan,
		deny_warnings,
		build_note_repository,
		build_find_fragments,
		explain,
		build_run_tasks,
		publish,
	};
	b->single = single_file_requested(b->options);
	if (!b->single && (open_project(b) || lock_project(b) || done_elsewhere(b)))
		return;
	if (b->single)
		build_record_key(b);
	run_steps(b, steps, sizeof steps / sizeof *steps);
}

static void run_check(struct build *b)
{
	static step_fn *const project[] = {build_read_manifest, build_load_sources, build_check,
					   build_open_weights,  build_elaborate,    build_elaborate_mains};
	static step_fn *const files[] = {build_load_files, build_check, build_elaborate_mains};
	if (b->options->n_models)
		run_steps(b, files, sizeof files / sizeof *files);
	else
		run_steps(b, project, sizeof project / sizeof *project);
}

enum status build_diags_status(const struct diags *diags, const struct options *o)
{
	enum status s = STATUS_FAILED;
	for (uint32_t i = 0; i < diags_count(diags); i++) {
		enum diag_code c = diags_at(diags, i)->code;
		bool flag = (c == DIAG_MANIFEST_TARGET && (o->cpu || o->target)) || (c == DIAG_MANIFEST_VALUE && single_file_requested(o));
		if (flag || c == DIAG_NO_MANIFEST || c == DIAG_MANIFEST_NO_MODEL || c == DIAG_MANIFEST_NO_PROFILE)
			return STATUS_USAGE;
		if (c == DIAG_FILE_READ || c == DIAG_FILE_WRITE || c == DIAG_FETCH || c == DIAG_MODULE)
			s = STATUS_ENVIRONMENT;
	}
	return s;
}

static enum status verdict(const struct build *b)
{
	if (b->interrupted || os_interrupted())
		return STATUS_INTERRUPTED;
	if (b->done && diags_errors(b->diags) == 0)
		return b->options->deny_warnings && diags_count(b->diags) ? STATUS_FAILED : STATUS_OK;
	enum status s = build_diags_status(b->diags, b->options);
	return s == STATUS_FAILED && b->environment ? STATUS_ENVIRONMENT : s;
}

static void write_trace(struct build *b)
{
	if (!b->options->trace_file || timing_write(b->timing, b->options->trace_file))
		return;
	diag_add(b->diags, DIAG_FILE_WRITE, SPAN_NONE, "cannot write the trace `%s`: %s", b->options->trace_file, strerror(errno));
	b->environment = true;
}

/* For the next build, if there is nothing to be said of this one that would have to be said again. */
static void leave_frontend(struct build *b, struct model_job *m)
{
	if (b->warm && b->done && !b->interrupted && !m->failed && diags_count(b->diags) == 0 && m->frontend)
		warm_put(b->warm, m->spec->name, m->files, m->frontend);
	else
		frontend_free(m->frontend);
}

static void free_models(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		for (uint32_t k = 0; m->units && k < m->program->n_units; k++) {
			arena_free(m->units[k].arena);
			diags_free(m->units[k].diags);
		}
		map_free(&m->unit_index);
		history_free(m->history);
		weights_close(m->weights);
		triw_close(m->triw);
		leave_frontend(b, m);
		index_free(m->symbols);
		arena_free(m->arena);
		diags_free(m->diags);
	}
	for (uint32_t i = 0; i < b->compiles.len; i++)
		buf_free(&b->compiles.at[i]->error), buf_free(&b->compiles.at[i]->kept);
}

static void cleanup(struct build *b)
{
	build_free_packers(b);
	free_models(b);
	progress_free(b->progress);
	timing_free(b->timing);
	vec_free(&b->compiles);
	vec_free(&b->outputs);
	map_free(&b->compile_index);
	map_free(&b->loaded);
	inputs_free(b->inputs);
	buf_free(&b->warnings);
	diags_free(b->diags);
	if (!b->warm)
		sources_free(b->sources);
	arena_free(b->session);
	pthread_mutex_destroy(&b->plan_lock);
	if (b->lock >= 0)
		close(b->lock);
}

static struct build begin(const struct options *o, FILE *out, FILE *err)
{
	struct build b = {.options = o, .out = out, .err = err, .lock = -1, .started = os_now_ns()};
	pthread_mutex_init(&b.plan_lock, NULL);
	b.session = arena_new(0);
	b.sources = sources_new();
	b.diags = diags_new(0);
	b.inputs = inputs_new(b.session);
	b.timing = timing_new(o->trace_file != NULL);
	return b;
}

static void close_cache(struct build *b)
{
	build_keep_objects(b);
	cache_close(b->cache, &b->warnings);
	b->cache = NULL;
}

/* What was compiled before an error or an interrupt is kept, too. */
static enum status finish(struct build *b)
{
	if (b->told && diags_errors(b->diags))
		build_stopped(b); /* what is wrong may be so no longer */
	if (!b->told)             /* who waits for more builds hears of this one first, and of the store's troubles with the next */
		close_cache(b);
	write_trace(b);
	enum status s = verdict(b);
	build_report(b, s);
	if (b->told)
		close_cache(b);
	store_close(b->project, &b->warnings);
	if (b->told) {
		b->lasting->late = b->warnings;
		b->warnings = (struct buf){0};
	}
	cleanup(b);
	return s;
}

static struct build begin_in(struct session *lasting, const struct options *o, FILE *out, FILE *err)
{
	struct build b = begin(o, out, err);
	b.lasting = lasting;
	b.warm = lasting->warm;
	if (b.warm) {
		sources_free(b.sources);
		b.sources = warm_begin(b.warm);
	}
	return b;
}

/* The other process has said and kept everything. */
static enum status end_elsewhere(struct build *b)
{
	enum status s = b->elsewhere_status;
	store_close(b->project, &b->warnings);
	cleanup(b);
	return s;
}

enum status build_run_in(struct session *lasting, const struct options *o, FILE *out, FILE *err)
{
	struct build b = begin_in(lasting, o, out, err);
	run_build(&b);
	return b.elsewhere ? end_elsewhere(&b) : finish(&b);
}

enum status build_run(const struct options *o, FILE *out, FILE *err)
{
	struct session lasting = {0};
	enum status s = build_run_in(&lasting, o, out, err);
	session_free(&lasting);
	return s;
}

enum status build_in_session(struct session *lasting, const struct options *o, build_told *told, void *ctx)
{
	struct build b = begin_in(lasting, o, stdout, stderr);
	b.told = told;
	b.told_ctx = ctx;
	b.warnings = lasting->late;
	lasting->late = (struct buf){0};
	run_build(&b);
	return finish(&b);
}

/* True if the files are there that the record says were written: not those of another build, with other flags. */
static bool has_outputs(const struct build_record *t)
{
	struct file_stamp now;
	for (uint32_t i = 0; i < t->n_outputs; i++)
		if (!os_stamp(t->outputs[i].path, &now) || !os_stamp_eq(&now, &t->outputs[i].stamp))
			return false;
	return true;
}

enum build_age build_age(const struct options *o, struct buf *why)
{
	struct session lasting = {0};
	struct build b = begin_in(&lasting, o, stdout, stderr);
	enum build_age age = open_project(&b) ? BUILD_CURRENT : b.trace && has_outputs(b.trace) ? BUILD_STALE : BUILD_UNKNOWN;
	if (age == BUILD_STALE && b.why_stale)
		buf_puts(why, b.why_stale);
	store_close(b.project, &b.warnings);
	cleanup(&b);
	session_free(&lasting);
	return age;
}

static enum status visit_after(const struct options *o, step_fn *const *steps, size_t n, build_visitor *visit, void *ctx)
{
	struct build b = begin(o, stdout, stderr);
	run_steps(&b, steps, n);
	enum status s = verdict(&b);
	if (s == STATUS_OK)
		s = visit(&b, ctx);
	fflush(stdout);
	diags_sort(b.diags);
	if (diags_count(b.diags))
		diags_print(b.diags, b.sources, stderr, terminal_has_color(2, o->color));
	store_close(b.project, &b.warnings);
	cleanup(&b);
	return s;
}

enum status build_visit_manifest(const struct options *o, build_visitor *visit, void *ctx)
{
	static step_fn *const steps[] = {build_read_manifest};
	return visit_after(o, steps, sizeof steps / sizeof *steps, visit, ctx);
}

static bool start_session(struct session *lasting, const struct options *o, step_fn *const *steps, size_t n)
{
	struct build b = begin_in(lasting, o, stdout, stderr);
	run_steps(&b, steps, n);
	enum status s = verdict(&b);
	cleanup(&b);
	return s == STATUS_OK;
}

bool build_start_pool(struct session *lasting, const struct options *o)
{
	static step_fn *const steps[] = {build_read_manifest, build_start_workers};
	return start_session(lasting, o, steps, sizeof steps / sizeof *steps);
}

bool build_start_frontends(struct session *lasting, const struct options *o)
{
	static step_fn *const steps[] = {build_read_manifest, build_load_sources, build_check, build_open_weights, build_elaborate};
	return start_session(lasting, o, steps, sizeof steps / sizeof *steps);
}

enum status build_visit(const struct options *o, build_visitor *visit, void *ctx)
{
	static step_fn *const steps[] = {build_read_manifest, build_load_sources, build_check,
					 build_open_weights,  build_elaborate,    build_bind_weights};
	return visit_after(o, steps, sizeof steps / sizeof *steps, visit, ctx);
}

enum status build_visit_elaborated(const struct options *o, build_visitor *visit, void *ctx)
{
	static step_fn *const steps[] = {build_read_manifest, build_load_sources, build_check, build_open_weights, build_elaborate};
	return visit_after(o, steps, sizeof steps / sizeof *steps, visit, ctx);
}

enum status build_visit_params(const struct options *o, build_visitor *visit, void *ctx)
{
	static step_fn *const steps[] = {build_read_manifest, build_load_sources, build_check, build_open_weights_if_there,
					 build_elaborate_known};
	return visit_after(o, steps, sizeof steps / sizeof *steps, visit, ctx);
}

static bool add_indexes(struct build *b)
{
	b->project = store_open(PROJECT_FOLDER "/store", false, &b->warnings);
	for (uint32_t i = 0; i < b->n_models; i++) {
		b->models[i].symbols = index_new();
		frontend_set_index(b->models[i].frontend, b->models[i].symbols);
	}
	return true;
}

static bool finish_indexes(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		frontend_set_index(b->models[i].frontend, NULL);
		index_finish(b->models[i].symbols);
	}
	return true;
}

enum status build_visit_indexed(const struct options *o, build_visitor *visit, void *ctx)
{
	static step_fn *const steps[] = {build_read_manifest, add_indexes,     build_load_sources, build_check,
					 build_open_weights,  build_elaborate, finish_indexes};
	return visit_after(o, steps, sizeof steps / sizeof *steps, visit, ctx);
}

enum status build_visit_checked(const struct options *o, bool files, build_visitor *visit, void *ctx)
{
	static step_fn *const of_project[] = {build_read_manifest, build_load_sources, build_check};
	static step_fn *const of_files[] = {build_load_files, build_check};
	if (files)
		return visit_after(o, of_files, sizeof of_files / sizeof *of_files, visit, ctx);
	return visit_after(o, of_project, sizeof of_project / sizeof *of_project, visit, ctx);
}

enum status build_visit_dependencies(const struct options *o, build_visitor *visit, void *ctx)
{
	static step_fn *const steps[] = {build_update_dependencies};
	return visit_after(o, steps, sizeof steps / sizeof *steps, visit, ctx);
}

enum { MOST_ROUNDS = 200 }; /* an edit may uncover another error; two that undo each other would go on for ever */

enum status check_run(const struct options *o, FILE *out, FILE *err)
{
	struct fixes fixes = {0};
	for (uint32_t round = 0, fixed = o->fix; fixed && round < MOST_ROUNDS; round++) {
		struct build b = begin(o, out, err);
		b.check = true;
		run_check(&b);
		diags_sort(b.diags);
		fixed = fix_sources(&b, &fixes);
		bool failed = b.environment && fixed == 0;
		if (failed || o->diff || os_interrupted()) {
			enum status s = verdict(&b);
			fixes_print(&fixes, o->json > 0, o->json > 0 ? out : err);
			if (failed)
				build_report(&b, s);
			cleanup(&b);
			return s;
		}
		cleanup(&b);
	}
	fixes_print(&fixes, o->json > 0, o->json > 0 ? out : err);
	struct build b = begin(o, out, err);
	b.check = true;
	run_check(&b);
	return finish(&b);
}
