#include "backend/link/backend.h"
#include "backend/loops/ir/loops.h"
#include "base/measure.h"
#include "base/os.h"
#include "builder/build/build_steps.h"
#include "builder/build/generators.h"
#include "builder/build/session.h"
#include "builder/build/timing.h"
#include "builder/cache/cache.h"

/* Stores what was made of the unit in the cache, or else in memory. The plan's code is no longer needed. */
static void store(struct build_context *c, struct compile *f, struct buf *made, int64_t took_ns)
{
	f->len = made->len;
	f->object = cache_put(c->stores.cache, f->is_object ? CACHE_FRAGMENT : CACHE_LOOPS, f->key, made->at, made->len, took_ns);
	if (!f->object) {
		f->uncached = *made;
		f->object = f->uncached.at;
		*made = (struct buf){0};
	}
	plan_cache_share(f->job);
	plan_cache_drop_code(f->job);
}

static bool emit(const struct build_context *c, struct compile *f, const struct loop_fn *loops, uint32_t worker, struct buf *made)
{
	const struct plan_options *o = &f->job->options;
	struct emit_request r = {.loops = loops};
	if (f->is_object) {
		struct codegen_target target = codegen_target_for(o->target, o->opt, o->size, o->profile_hook);
		r.api = generators_api(c->session->generators);
		r.generator = generators_get(c->session->generators, worker, &target, &f->error);
		if (!r.generator)
			return false;
	}
	return f->job->variant->backend->emit(&r, made, &f->error);
}

bool compile_unit(struct build_context *c, struct compile *f, uint32_t worker)
{
	struct buf made = {0};
	int64_t began = os_now_ns();
	const char *name = f->job->unit->name;
	phase_begin(PHASE_OPT, name);
	const struct loop_fn *loops = plan_cache_code(f->job)->loops;
	measure_end();
	phase_begin(PHASE_CODEGEN, name);
	measure_begin("emit");
	bool ok = emit(c, f, loops, worker, &made);
	measure_end();
	if (ok)
		store(c, f, &made, os_now_ns() - began);
	measure_end();
	f->is_made = ok && !variant_is_lazy(f->job->variant);
	f->has_failed = !ok;
	buf_free(&made);
	return ok;
}
