/* The graph of what is left: fragments to compile, and for each model packing its weights and then linking it. The longest way to the end goes first,
 * by the times of earlier builds; no more tasks are handed to the pool than it has workers, so that the order holds. */
#include <stdlib.h>
#include <string.h>
#include "backend/interp.h"
#include "backend/loops.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build_state.h"
#include "builder/cache.h"
#include "builder/module.h"
#include "builder/options.h"
#include "builder/progress.h"
#include "builder/timing.h"
#include "frontend/core.h"
#include "scheduler/dag.h"
#include "scheduler/pool.h"

#define PACK_NS 2000000
#define LINK_NS 2000000
#define COMMIT_NS 8000000
#define MUCH_TO_PACK ((int64_t)16 << 20)

enum task_kind { TASK_COMPILE, TASK_COMMIT, TASK_WEIGH, TASK_PACK, TASK_LINK };
struct task {
	enum task_kind kind;
	struct build *build;
	struct compile *compile;
	struct model_job *model;
	struct arena *arena; /* TASK_PACK: holds the error; may hold packed weights until the end of the build */
	const char *error;
	task_id id;
	bool ok;
};

/* One worker's code generators: one for each target and level in use. */
struct generator {
	hash128 target;
	uint8_t opt;
	bool size;
	struct codegen *codegen;
};
struct worker {
	VEC(struct generator) generators;
};

static struct codegen *generator_for(struct build *b, const struct unit_job *j, uint32_t worker, struct buf *error)
{
	struct worker *w = &b->workers[worker];
	const struct platform *t = &j->model->platform;
	for (uint32_t i = 0; i < w->generators.len; i++) {
		const struct generator *g = &w->generators.at[i];
		if (hash_eq(g->target, t->id) && g->opt == j->options.opt && g->size == j->options.size)
			return g->codegen;
	}
	struct codegen_target ct = platform_codegen(t, j->options.opt, j->options.size);
	struct generator g = {t->id, j->options.opt, j->options.size, b->codegen->open(&ct, error)};
	if (g.codegen)
		vec_push(&w->generators, g);
	return g.codegen;
}

static bool compile(struct build *b, struct compile *c, uint32_t worker)
{
	struct arena *scratch = arena_new(0);
	struct buf object = {0};
	struct tick t = timing_tick();
	const struct loop_fn *f = loops_build(scratch, build_plan_code(c->job));
	int64_t took = timing_add(b->timing, PHASE_OPT, worker + 1, c->label, t);
	t = timing_tick();
	struct codegen *g = generator_for(b, c->job, worker, &c->error);
	if (g && b->codegen->compile(g, f, &object, &c->error)) {
		c->object = cache_put(b->cache, CACHE_FRAGMENT, c->key, object.at, object.len, took + (os_now_ns() - t.wall));
		if (!c->object) { /* no cache: keep it for this build */
			char *copy = arena_alloc(c->job->arena, object.len, 16);
			c->object = memcpy(copy, object.at, object.len);
		}
		c->len = object.len;
		c->made = true;
	} else {
		c->failed = true;
	}
	c->took_ns = took + timing_add(b->timing, PHASE_CODEGEN, worker + 1, c->label, t);
	buf_free(&object);
	arena_free(scratch);
	return !c->failed;
}

/* On a worker. */
static void run_task(void *arg, uint32_t worker)
{
	struct task *t = arg;
	struct build *b = t->build;
	switch (t->kind) {
	case TASK_COMPILE:
		progress_start(b->progress, worker, t->compile->label);
		t->ok = compile(b, t->compile, worker);
		break;
	case TASK_COMMIT:
		progress_start(b->progress, worker, "read the repository");
		build_describe_commit(b);
		t->ok = true;
		break;
	case TASK_WEIGH:
		progress_start(b->progress, worker, arena_printf(t->model->arena, "lay out the weights of %s", t->model->spec->name));
		build_weigh(t->model, worker);
		t->ok = diags_errors(t->model->diags) == 0;
		break;
	case TASK_PACK:
		progress_start(b->progress, worker, arena_printf(t->arena, "pack %s", t->model->spec->name));
		t->error = build_pack(t->model, t->arena, worker);
		t->ok = !t->error;
		break;
	case TASK_LINK:
		progress_start(b->progress, worker, arena_printf(t->model->arena, "link %s", t->model->spec->name));
		build_link(t->model, worker);
		t->ok = diags_errors(t->model->diags) == 0;
		break;
	}
	progress_done(b->progress, worker);
}

static struct task *add_task(struct build *b, struct dag *d, enum task_kind kind, uint64_t cost)
{
	struct task *t = ARENA_NEW(b->session, struct task);
	t->kind = kind;
	t->build = b;
	t->id = dag_add(d, t, cost);
	return t;
}

/* Much is packed by all workers, a little by one. */
static uint32_t packers_of(const struct build *b, const struct model_job *m)
{
	int64_t bytes = 0;
	for (uint32_t i = 0; i < m->program->n_params; i++)
		bytes += tensor_bytes(&m->bound.params[i]);
	return bytes > MUCH_TO_PACK ? pool_jobs(b->pool) : 1;
}

static void add_packer(struct build *b, struct dag *d, const struct task *weigh, const struct task *link)
{
	struct task *pack = add_task(b, d, TASK_PACK, PACK_NS);
	pack->model = weigh->model;
	pack->arena = arena_new(0);
	vec_push(&b->packers, pack);
	dag_need(d, pack->id, weigh->id);
	dag_need(d, link->id, pack->id);
}

static void add_model(struct build *b, struct dag *d, struct model_job *m, const struct task *const *compiles, const struct task *commit)
{
	struct task *weigh = add_task(b, d, TASK_WEIGH, PACK_NS), *link = add_task(b, d, TASK_LINK, LINK_NS);
	uint64_t at;
	weigh->model = link->model = m;
	for (uint32_t i = 0; i < packers_of(b, m); i++)
		add_packer(b, d, weigh, link);
	if (commit)
		dag_need(d, link->id, commit->id);
	for (uint32_t i = 0; i < m->program->n_units; i++) {
		const struct unit_job *j = &m->units[i];
		if (j->fragment && map_get(&b->compile_index, j->key, &at) && compiles[at])
			dag_need(d, link->id, compiles[at]->id);
	}
}

static struct dag *make_graph(struct build *b)
{
	struct dag *d = dag_new();
	const struct task **compiles = ARENA_ARRAY(b->session, const struct task *, b->compiles.len + 1);
	for (uint32_t i = 0; i < b->compiles.len; i++) {
		struct compile *c = b->compiles.at[i];
		if (c->object)
			continue;
		struct task *t = add_task(b, d, TASK_COMPILE, (uint64_t)c->expected_ns);
		t->compile = c;
		compiles[i] = t;
	}
	const struct task *commit = NULL;
	for (uint32_t i = 0; i < b->n_models && b->options->stop == STOP_NONE; i++) {
		struct model_job *m = &b->models[i];
		if (m->failed || m->current)
			continue;
		if (b->in_repository && !commit)
			commit = add_task(b, d, TASK_COMMIT, COMMIT_NS);
		add_model(b, d, m, compiles, commit);
	}
	return d;
}

static void run_graph(struct build *b, struct dag *d)
{
	const task_id *cycle;
	uint32_t n;
	bool stop = false;
	if (!dag_start(d, &cycle, &n))
		return;
	progress_total(b->progress, dag_count(d));
	for (;;) {
		task_id id;
		stop |= b->interrupted |= os_interrupted();
		while (!stop && pool_pending(b->pool) < pool_jobs(b->pool) && (id = dag_next(d)) != TASK_NONE)
			pool_submit(b->pool, run_task, dag_payload(d, id));
		struct task *t = pool_wait(b->pool, 100);
		progress_draw(b->progress);
		if (t) {
			dag_done(d, t->id, t->ok);
			stop |= !t->ok && !b->spec.keep_going;
		} else if (pool_pending(b->pool) == 0) {
			break;
		}
	}
	progress_clear(b->progress);
}

static void report_compile(struct build *b, const struct compile *c)
{
	struct diag *g = diag_add(b->diags, DIAG_CODEGEN, c->job->unit->at, "%s could not be compiled: %s", c->job->unit->name,
				  c->error.at ? c->error.at : "no reason given");
	diag_note(b->diags, g, "this is a limit or a mistake of the compiler");
}

static void report_packer(const struct task *t)
{
	struct model_job *m = t->model;
	if (t->error && !t->build->interrupted)
		diag_add(m->diags, DIAG_WEIGH, m->spec->entry_at, "model `%s`: %s", m->spec->name, t->error);
}

static bool open_codegen(struct build *b)
{
	const char *error;
	bool needed = false;
	for (uint32_t i = 0; i < b->compiles.len && !needed; i++)
		needed = !b->compiles.at[i]->object;
	if (!needed || b->codegen)
		return true;
	struct tick t = timing_tick();
	b->codegen = module_open(b->session, "codegen", CODEGEN_ENTRY, CODEGEN_ABI, &error);
	timing_add(b->timing, PHASE_CODEGEN, 0, "open the code generator", t);
	if (!b->codegen) {
		diag_add(b->diags, DIAG_MODULE, SPAN_NONE, "%s", error);
		b->environment = true;
	}
	return b->codegen != NULL;
}

bool build_run_tasks(struct build *b)
{
	if (!open_codegen(b))
		return false;
	b->workers = calloc(pool_jobs(b->pool), sizeof *b->workers);
	if (!b->workers)
		abort();
	struct dag *d = make_graph(b);
	run_graph(b, d);
	dag_free(d);
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

void build_free_workers(struct build *b)
{
	for (uint32_t i = 0; b->workers && i < pool_jobs(b->pool); i++) {
		struct worker *w = &b->workers[i];
		for (uint32_t k = 0; k < w->generators.len; k++)
			b->codegen->close(w->generators.at[k].codegen);
		vec_free(&w->generators);
	}
	free(b->workers);
	b->workers = NULL;
	for (uint32_t i = 0; i < b->packers.len; i++)
		arena_free(b->packers.at[i]->arena);
	vec_free(&b->packers);
}
