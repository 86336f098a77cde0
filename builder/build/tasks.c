/* The graph of what is left: fragments to compile, and for each model packing its weights and then linking it. The longest way to the end goes first,
 * by the times of earlier builds. */
#include <stdlib.h>
#include <string.h>
#include "backend/interp/interp.h"
#include "backend/loops/loops.h"
#include "backend/loops/serialize.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build/generators.h"
#include "builder/build/progress.h"
#include "builder/build/session.h"
#include "builder/build/state.h"
#include "builder/build/timing.h"
#include "builder/cache/cache.h"
#include "builder/manifest/options.h"
#include "builder/store/costs.h"
#include "frontend/hir/hir.h"
#include "scheduler/cancel.h"
#include "scheduler/pool.h"

#define CODEGEN_BYTES ((uint64_t)4 << 20)
#define MUCH_TO_PACK ((int64_t)16 << 20)

enum task_kind { TASK_COMPILE, TASK_COMMIT, TASK_WEIGH, TASK_PACK, TASK_LINK };
struct piece {
	enum task_kind kind;
	const char *label;
	hash128 key; /* of its cost */
	struct build *build;
	struct task *task;
	int64_t expected_ns;
	struct compile *compile;
	struct model_job *model;
	struct arena *arena; /* TASK_PACK: holds the error; may hold packed weights until the end of the build */
	const char *error;
};

/* Keeps what was made of a unit, in the cache or else for this build; nothing more is made of its code. */
static void keep(struct build *b, struct compile *c, enum cache_kind kind, struct buf *made, int64_t took_ns)
{
	c->len = made->len;
	c->object = cache_put(b->cache, kind, c->key, made->at, made->len, took_ns);
	if (!c->object) {
		c->kept = *made;
		c->object = c->kept.at;
		*made = (struct buf){0};
	}
	build_share_plan(c->job);
	build_drop_code(c->job);
}

/* For a lazy library: all but the code. */
static bool leave_for_later(struct build *b, struct compile *c, uint32_t worker)
{
	struct arena *scratch = arena_new(0);
	struct buf loops = {0};
	struct tick t = timing_tick();
	loops_write(loops_build(scratch, build_plan_code(c->job)), &loops);
	keep(b, c, CACHE_LOOPS, &loops, timing_add(b->timing, PHASE_OPT, worker + 1, c->label, t));
	buf_free(&loops);
	arena_free(scratch);
	return true;
}

static bool compile(struct build *b, struct compile *c, uint32_t worker)
{
	struct arena *scratch = arena_new(0);
	struct buf object = {0};
	struct tick t = timing_tick();
	const struct loop_fn *f = loops_build(scratch, build_plan_code(c->job));
	int64_t took = timing_add(b->timing, PHASE_OPT, worker + 1, c->label, t);
	t = timing_tick();
	const struct plan_options *o = &c->job->options;
	struct codegen *g = generators_get(b->generators, worker, &c->job->model->platform, o->opt, o->size, &c->error);
	if (g && generators_api(b->generators)->compile(g, f, &object, &c->error)) {
		keep(b, c, CACHE_FRAGMENT, &object, took + (os_now_ns() - t.wall));
		c->made = true;
	} else {
		c->failed = true;
	}
	timing_add(b->timing, PHASE_CODEGEN, worker + 1, c->label, t);
	buf_free(&object);
	arena_free(scratch);
	return !c->failed;
}

/* LLVM has memory of its own. */
static uint64_t unseen_memory(enum task_kind kind) { return kind == TASK_COMPILE ? CODEGEN_BYTES : 0; }

/* On a worker. */
static bool run_piece(void *arg, struct task_run *run)
{
	struct piece *t = arg;
	struct build *b = t->build;
	bool ok = true;
	arena_peak_begin();
	progress_start(b->progress, run->worker, t->label, t->expected_ns);
	switch (t->kind) {
	case TASK_COMPILE: ok = b->options->lazy ? leave_for_later(b, t->compile, run->worker) : compile(b, t->compile, run->worker); break;
	case TASK_COMMIT: build_describe_commit(b); break;
	case TASK_WEIGH:
		build_layout_weights(t->model, run->worker);
		ok = diags_errors(t->model->diags) == 0;
		break;
	case TASK_PACK:
		t->error = build_pack(t->model, t->arena, run->worker);
		ok = !t->error;
		break;
	case TASK_LINK:
		build_link(t->model, run->worker);
		ok = diags_errors(t->model->diags) == 0;
		break;
	}
	progress_done(b->progress, run->worker);
	run->memory = arena_peak_end() + unseen_memory(t->kind);
	return ok;
}

static struct piece *add_piece(struct build *b, struct batch *batch, enum task_kind kind, const char *label, hash128 key)
{
	static const uint64_t first_guess_ns[] = {
		[TASK_COMPILE] = 5000000, [TASK_COMMIT] = 8000000, [TASK_WEIGH] = 2000000, [TASK_PACK] = 2000000, [TASK_LINK] = 2000000};
	struct piece *t = ARENA_NEW(b->session, struct piece);
	t->kind = kind;
	t->label = label;
	t->build = b;
	t->key = key;
	struct cost c = cost_find(b->project, t->key, (struct cost){first_guess_ns[kind], unseen_memory(kind)});
	t->expected_ns = (int64_t)c.ns;
	b->expected_ns += t->expected_ns;
	t->task = batch_add(batch,
			    &(struct task_spec){.run = run_piece, .arg = t, .cost_ns = c.ns, .memory = c.memory, .cancel = &b->cancel});
	b->n_pieces++;
	return t;
}

static void note_cost(struct build *b, const struct task_result *r)
{
	const struct piece *t = r->arg;
	if (r->end == TASK_DONE)
		cost_note(b->project, t->key, (struct cost){(uint64_t)r->wall_ns, r->memory});
}

/* Much is packed by all workers, a little by one. */
static uint32_t packers_of(const struct build *b, const struct model_job *m)
{
	int64_t bytes = 0;
	for (uint32_t i = 0; i < m->program->n_params; i++)
		bytes += tensor_bytes(&m->bound.params[i]);
	return bytes > MUCH_TO_PACK ? pool_jobs(b->pool) : 1;
}

static struct piece *add_model_piece(struct build *b, struct batch *batch, enum task_kind kind, const char *verb, struct model_job *m)
{
	const char *label = arena_printf(b->session, "%s %s", verb, m->spec->name);
	struct piece *t = add_piece(b, batch, kind, label, cost_key(label, m->platform.id, m->spec->plan.opt));
	t->model = m;
	return t;
}

static void add_packer(struct build *b, struct batch *batch, const struct piece *weigh, const struct piece *link)
{
	struct piece *pack = add_model_piece(b, batch, TASK_PACK, "pack", weigh->model);
	pack->arena = arena_new(0);
	vec_push(&b->packers, pack);
	batch_need(batch, pack->task, weigh->task);
	batch_need(batch, link->task, pack->task);
}

static void add_model(struct build *b, struct batch *batch, struct model_job *m, const struct piece *const *compiles,
		      const struct piece *commit)
{
	struct piece *weigh = add_model_piece(b, batch, TASK_WEIGH, "lay out the weights of", m);
	struct piece *link = add_model_piece(b, batch, TASK_LINK, "link", m);
	uint64_t at;
	for (uint32_t i = 0; i < packers_of(b, m); i++)
		add_packer(b, batch, weigh, link);
	if (commit)
		batch_need(batch, link->task, commit->task);
	for (uint32_t i = 0; i < m->program->n_units; i++) {
		const struct unit_job *j = &m->units[i];
		if (j->fragment && map_get(&b->compile_index, j->key, &at) && compiles[at])
			batch_need(batch, link->task, compiles[at]->task);
	}
}

static struct batch *make_graph(struct build *b)
{
	struct batch *batch = pool_new_batch(b->pool);
	const struct piece **compiles = ARENA_ARRAY(b->session, const struct piece *, b->compiles.len + 1);
	for (uint32_t i = 0; i < b->compiles.len; i++) {
		struct compile *c = b->compiles.at[i];
		if (c->object)
			continue;
		const struct unit_job *j = c->job;
		struct piece *t =
			add_piece(b, batch, TASK_COMPILE, c->label, cost_key_unit(j->unit->name, j->model->platform.id, build_unit_opt(j)));
		t->compile = c;
		compiles[i] = t;
	}
	const struct piece *commit = NULL;
	for (uint32_t i = 0; i < b->n_models && b->options->stop == STOP_NONE; i++) {
		struct model_job *m = &b->models[i];
		if (m->failed || m->current)
			continue;
		if (b->in_repository && !commit)
			commit = add_piece(b, batch, TASK_COMMIT, "read the repository", cost_key("commit", (hash128){0, 0}, 0));
		add_model(b, batch, m, compiles, commit);
	}
	return batch;
}

static void run_graph(struct build *b, struct batch *batch)
{
	struct task_result r;
	b->cancel.most_failures = b->spec.most_failures;
	progress_total(b->progress, b->n_pieces, b->expected_ns);
	batch_submit(batch);
	do {
		if (pool_pending(b->pool) && build_stopped(b))
			cancel_set(&b->cancel);
		progress_draw(b->progress);
		if (pool_wait(b->pool, b->lasting->superseded ? 10 : 100, &r))
			note_cost(b, &r);
	} while (pool_pending(b->pool) > 0);
	progress_clear(b->progress);
}

static void report_compile(struct build *b, const struct compile *c)
{
	struct diag *g = diag_add(b->diags, DIAG_CODEGEN, c->job->unit->at, "%s could not be compiled: %s", c->job->unit->name,
				  c->error.at ? c->error.at : "no reason given");
	diag_note(b->diags, g, "this is a limit or a mistake of the compiler");
}

static void report_packer(const struct piece *t)
{
	struct model_job *m = t->model;
	if (t->error && !t->build->interrupted)
		diag_add(m->diags, DIAG_WEIGH, m->spec->entry_at, "model `%s`: %s", m->spec->name, t->error);
}

bool build_open_generators(struct build *b)
{
	char *error = NULL;
	struct tick t = timing_tick();
	b->generators = session_generators(b->lasting, &error);
	timing_add(b->timing, PHASE_CODEGEN, 0, "open the code generator", t);
	if (!b->generators) {
		diag_add(b->diags, DIAG_MODULE, SPAN_NONE, "%s", error);
		b->environment = true;
		free(error);
	}
	return b->generators != NULL;
}

static bool anything_to_compile(const struct build *b)
{
	for (uint32_t i = 0; i < b->compiles.len; i++)
		if (!b->compiles.at[i]->object)
			return true;
	return false;
}

bool build_run_tasks(struct build *b)
{
	if (!b->options->lazy && anything_to_compile(b) && !build_open_generators(b))
		return false;
	run_graph(b, make_graph(b));
	for (uint32_t i = 0; i < b->compiles.len; i++) {
		const struct compile *c = b->compiles.at[i];
		b->compiled += c->made;
		b->failed_units += c->failed;
		if (c->failed)
			report_compile(b, c);
	}
	for (uint32_t i = 0; i < b->packers.len; i++)
		report_packer(b->packers.at[i]);
	for (uint32_t i = 0; i < b->n_models; i++)
		diags_merge(b->diags, b->models[i].diags);
	return build_may_go_on(b) && !b->interrupted;
}

void build_free_packers(struct build *b)
{
	for (uint32_t i = 0; i < b->packers.len; i++)
		arena_free(b->packers.at[i]->arena);
	vec_free(&b->packers);
}
