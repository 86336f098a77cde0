#include "builder/build/plan/compile.h"
#include "backend/link/backend.h"
#include "backend/loops/ir/serialize.h"
#include "base/measure.h"
#include "base/os.h"
#include "builder/build/model/model.h"
#include "builder/build/plan/plan_cache.h"
#include "builder/build/session/generators.h"
#include "builder/build/session/stores.h"
#include "builder/build/timing/timing.h"
#include "builder/cache/cache.h"

/* Stores what was made of the unit in the cache, or else in memory. The plan's code is no longer needed. */
static void compile_store(const struct stores *stores, struct compile *f, struct buf *made, int64_t took_ns)
{
	f->len = made->len;
	f->object = cache_put(stores->cache, f->is_object ? CACHE_FRAGMENT : CACHE_LOOPS, f->key, made->at, made->len, took_ns);
	if (!f->object) {
		f->uncached = *made;
		f->object = f->uncached.at;
		*made = (struct buf){0};
	}
	plan_cache_share(stores, f->job);
	plan_cache_drop_code(f->job);
}

struct compiler {
	struct generators *generators;
	uint32_t worker;
};

static struct codegen *get_generator(void *ctx, const struct codegen_target *target, const struct codegen_api **api, struct buf *error)
{
	const struct compiler *own = ctx;
	*api = generators_api(own->generators);
	return generators_get(own->generators, own->worker, target, error);
}

static bool compile_emit(struct generators *generators, struct compile *f, const struct plan *p, uint32_t worker, struct buf *made)
{
	const struct variant *v = f->job->variant;
	struct compiler own = {generators, worker};
	struct emit_request r = {.plan = p, .is_lazy = v->is_lazy, .generator = get_generator, .ctx = &own};
	if (v->backend->emit)
		return v->backend->emit(&r, made, &f->error);
	loops_serialize(p->loops, made);
	return true;
}

bool compile_unit(struct generators *generators, const struct stores *stores, struct compile *f, uint32_t worker)
{
	struct buf made = {0};
	int64_t began = os_now_ns();
	const char *name = f->job->unit->name;
	phase_begin(PHASE_OPT, name);
	const struct plan *p = plan_cache_code(f->job);
	measure_end();
	phase_begin(PHASE_CODEGEN, name);
	measure_begin("emit");
	bool ok = compile_emit(generators, f, p, worker, &made);
	measure_end();
	if (ok)
		compile_store(stores, f, &made, os_now_ns() - began);
	measure_end();
	f->is_made = ok && !f->job->variant->is_lazy;
	f->has_failed = !ok;
	buf_free(&made);
	return ok;
}
