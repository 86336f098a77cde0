/* The steps of a build on files in memory. Nothing is compiled: a unit that would be gets an object of one byte. The project's store is in a
 * folder of the test. */
#ifndef TRIB_TESTS_UNIT_BUILDER_BUILD_STEPS_FIXTURE_H
#define TRIB_TESTS_UNIT_BUILDER_BUILD_STEPS_FIXTURE_H
#include <stdio.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/diag.h"
#include "builder/build/compile_set.h"
#include "builder/build/link/link.h"
#include "builder/build/link/link_record.h"
#include "builder/build/model/interface.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/plan/compile.h"
#include "builder/build/plan/plan.h"
#include "builder/build/plan/programs.h"
#include "builder/build/plan/unit_records.h"
#include "builder/build/reuse/last_build.h"
#include "builder/build/session/context.h"
#include "builder/build/session/fragments.h"
#include "builder/build/session/session.h"
#include "builder/build/session/status.h"
#include "builder/build/session/stores.h"
#include "builder/build/session/workers.h"
#include "builder/build/sources/checks.h"
#include "builder/build/sources/params.h"
#include "builder/build/sources/sources.h"
#include "builder/build/started_build.h"
#include "builder/build/timing/progress.h"
#include "builder/cli/args.h"
#include "builder/store/inputs.h"
#include "builder/store/store.h"
#include "fake_disk.h"

#define MANIFEST "project p\n    version = 1.0\n\nmodel net\n    sources = src/*.tri\n    entry = Net\n    input x = float32 [?, 8]\n"
#define BLOCKS(constant)                                                                                        \
	"fn scale(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n    return x * " constant "\n}\n\n" \
	"fn squash(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n    return sigmoid(x) - 0.5\n}\n"
#define NET                                                                                                                           \
	"import \"blocks.tri\" as blocks\n\nlayer Net() {\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n" \
	"        return blocks.squash(blocks.scale(x))\n    }\n}\n"

struct fixture {
	char dir[64];
	struct fake_disk files;
	struct disk disk;
	struct arena *arena;
	struct args args;
	struct session session; /* its fragments take the place of the user's cache */
};

/* What one build did. */
struct outcome {
	enum build_record_state state;
	char why_stale[128], why[4][128]; /* why: of each compiled unit, "scale: …" */
	uint32_t compiled, reused, n_read, n_diags;
	bool ok, ended_early; /* ended_early: no unit had to be looked at, or --dry-run */
	enum status status;
	char error[128], said[512]; /* the first diagnostic, and the standard output */
};

static inline int setup(void **state)
{
	static char *words[] = {"trib", "build", "-q", "-j1", "--no-cache", NULL};
	struct fixture *f = calloc(1, sizeof *f);
	struct buf error = {0};
	f->disk = fake_disk(&f->files);
	f->arena = arena_new(0);
	f->session.fragments = fragments_new();
	strcpy(f->dir, "/tmp/trib-steps-XXXXXX");
	if (!mkdtemp(f->dir) || chdir(f->dir) || !args_parse(f->arena, 5, words, &f->args, &error))
		return -1;
	fake_write(&f->files, "tri.build", MANIFEST);
	fake_write(&f->files, "src/blocks.tri", BLOCKS("2.0"));
	fake_write(&f->files, "src/net.tri", NET);
	fake_wait(&f->files);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	bool ok = chdir("/") == 0 && os_remove_tree(f->dir);
	session_free(&f->session);
	arena_free(f->arena);
	free(f);
	return ok ? 0 : -1;
}

static inline bool run_front_end(struct build *b)
{
	struct build_context *c = &b->context;
	struct project *p = &b->project;
	return context_next(c, project_read_manifest(c, p)) && context_next(c, sources_load(c, p)) &&
	       context_next(c, last_build_compare_tokens(c, p, &b->last, &b->repository, &b->result)) &&
	       context_next(c, sources_check(c, p)) && context_next(c, params_open_files(c, p)) &&
	       context_next(c, sources_elaborate(c, p)) && context_next(c, programs_decide(c, p)) && context_next(c, params_bind(c, p));
}

static inline bool run_back_end(struct build *b)
{
	struct build_context *c = &b->context;
	struct project *p = &b->project;
	return context_next(c, workers_start(c, &p->spec, &b->progress)) && context_next(c, units_plan(c, p, &b->result)) &&
	       context_next(c, compile_set_find(c, p, &b->repository, &b->compiles, &b->result)) &&
	       context_next(c, compile_set_explain(c->arena, &c->request, p, &b->compiles));
}

/* In place of compiling and linking. */
static inline void publish(struct fixture *f, struct build *b, struct outcome *out)
{
	for (uint32_t i = 0; i < b->compiles.list.len; i++) {
		struct compile *one = b->compiles.list.at[i];
		if (one->object)
			continue;
		if (out->compiled < 4)
			snprintf(out->why[out->compiled++], sizeof out->why[0], "%s: %s", one->label, one->why.text);
		one->object = "o";
		one->len = 1;
	}
	for (uint32_t i = 0; i < b->project.n_models; i++) {
		const char *paths[MOST_OUTPUTS];
		uint32_t n = model_list_outputs(&b->project.models[i].outputs, paths);
		for (uint32_t k = 0; k < n && !b->project.models[i].link.is_current; k++)
			fake_write(&f->files, arena_strdup(f->arena, paths[k]), "made");
		for (uint32_t k = 0; k < n; k++)
			vec_push(&b->result.outputs, paths[k]);
		link_record_save(b->context.disk, b->context.stores.project, &b->project.models[i]);
	}
	compile_set_retain(&b->context, &b->project, &b->compiles, true);
	unit_records_save(b->context.arena, b->context.stores.project, &b->project);
	interfaces_note(&b->context, &b->project);
	checks_save(b->context.diags, &b->context.stores, &b->project);
	last_build_save(&b->context, &b->project, &b->last, &b->repository, &b->result);
	b->context.outcome.done = true;
	interfaces_print(&b->context.request, &b->project);
}

static inline struct outcome build(struct fixture *f)
{
	struct outcome out = {0};
	FILE *said = fmemopen(out.said, sizeof out.said, "w");
	const struct build_request request = {.options = &f->args.options, .out = said, .err = stderr, .disk = &f->disk};
	struct build b = {.context = context_new(&f->session, request)};
	b.context.stores.project = store_open(f->dir, true, &b.context.stores.warnings);
	b.context.stores.compiler = (hash128){1, 2};
	f->files.n_read = 0;
	b.last = last_build_find(&b.context, &b.result);
	out.ended_early = b.context.outcome.done || !run_front_end(&b) || !run_back_end(&b);
	if (!out.ended_early)
		publish(f, &b, &out);
	out.ok = b.context.outcome.done;
	out.status = context_status(&b.context);
	out.n_diags = diags_count(b.context.diags);
	snprintf(out.error, sizeof out.error, "%s", out.n_diags ? diags_at(b.context.diags, 0)->message : "");
	out.n_read = f->files.n_read;
	out.state = b.last.state;
	out.reused = b.result.reused;
	snprintf(out.why_stale, sizeof out.why_stale, "%s", b.last.why_stale ? b.last.why_stale : "");
	stores_close_project(&b.context.stores);
	project_free(&b.context, &b.project);
	compile_set_free(&b.compiles);
	progress_free(b.progress);
	vec_free(&b.result.outputs);
	context_free(&b.context);
	fclose(said);
	fake_wait(&f->files);
	return out;
}

/* A save, and some seconds. */
static inline void save(struct fixture *f, const char *path, const char *text)
{
	fake_write(&f->files, path, text);
	fake_wait(&f->files);
}
#endif
