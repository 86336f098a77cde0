#include "backend/loops/loops.h"
#include "backend/loops/serialize.h"
#include "base/arena.h"
#include "base/os.h"
#include "builder/build/build_steps.h"
#include "builder/build/generators.h"
#include "builder/build/session.h"
#include "builder/build/timing.h"
#include "builder/cache/cache.h"

/* Stores what was made of the unit in the cache, or else in memory. The plan's code is no longer needed. */
static void store(struct build_context *c, struct compile *f, enum cache_kind kind, struct buf *made, int64_t took_ns)
{
	f->len = made->len;
	f->object = cache_put(c->stores.cache, kind, f->key, made->at, made->len, took_ns);
	if (!f->object) {
		f->uncached = *made;
		f->object = f->uncached.at;
		*made = (struct buf){0};
	}
	plan_cache_share(f->job);
	plan_cache_drop_code(f->job);
}

bool compile_loops(struct build_context *c, struct compile *f, uint32_t worker)
{
	struct buf loops = {0};
	struct tick t = timing_tick();
	loops_serialize(plan_cache_code(f->job)->loops, &loops);
	store(c, f, CACHE_LOOPS, &loops, timing_add(c->timing, PHASE_OPT, worker + 1, f->label, t));
	buf_free(&loops);
	return true;
}

bool compile_unit(struct build_context *c, struct compile *f, uint32_t worker)
{
	struct buf object = {0};
	struct tick t = timing_tick();
	const struct loop_fn *loops = plan_cache_code(f->job)->loops;
	int64_t took = timing_add(c->timing, PHASE_OPT, worker + 1, f->label, t);
	t = timing_tick();
	const struct plan_options *o = &f->job->options;
	struct generators *generators = c->session->generators;
	struct codegen_target target = codegen_target_for(o->target, o->opt, o->size);
	struct codegen *g = generators_get(generators, worker, &target, &f->error);
	f->is_made = g && generators_api(generators)->compile(g, loops, &object, &f->error);
	f->has_failed = !f->is_made;
	if (f->is_made)
		store(c, f, CACHE_FRAGMENT, &object, took + (os_now_ns() - t.wall));
	timing_add(c->timing, PHASE_CODEGEN, worker + 1, f->label, t);
	buf_free(&object);
	return f->is_made;
}
