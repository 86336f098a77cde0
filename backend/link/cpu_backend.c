/* Libraries for processors: fragments are objects, or loops that a lazy library compiles at the first call. */
#include "backend/link/backend.h"
#include "backend/link/lazy/lazy.h"
#include "backend/link/model/model.h"
#include "backend/link/model/runtime_objects.h"
#include "backend/loops/ir/serialize.h"
#include "backend/target/codegen.h"
#include "base/arena.h"
#include "base/measure.h"
#include "frontend/hir/hir.h"

static const struct target *cpu_backend_target(struct arena *a, const struct target *cpu, bool dense, const char **error)
{
	(void)error;
	return target_dense(a, cpu, dense);
}

static void begin_stage(const char *name) { measure_begin(name); }

static bool cpu_backend_emit(const struct emit_request *r, struct buf *fragment, struct buf *error)
{
	static const struct codegen_stages stages = {begin_stage, measure_end};
	const struct plan_options *o = &r->plan->options;
	if (r->is_lazy) {
		loops_serialize(r->plan->loops, fragment);
		return true;
	}
	struct codegen_target t = codegen_target_for(o->target, o->opt, o->size, o->profile_hook);
	const struct codegen_api *api;
	struct codegen *g = r->generator(r->ctx, &t, &api, error);
	if (!g)
		return false;
	api->measure(g, measure_log_of_thread ? &stages : NULL);
	return api->compile(g, r->plan->loops, fragment, error);
}

/* In place of the fragments a lazy library has stubs, which compile units at the first call. */
static struct object *stubs(const struct backend_model *m, const char **error)
{
	const struct hir_program *p = m->in->program;
	struct lazy_unit *units = ARENA_ARRAY(m->arena, struct lazy_unit, p->n_units + 1);
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->n_units; i++) {
		const struct backend_fragment *f = &m->fragments[i];
		if (f->bytes)
			units[n++] =
				(struct lazy_unit){p->units[i]->name, p->units[i]->symbol,     f->bytes, f->len, f->key, f->options->opt,
						   f->options->size,  f->options->profile_hook};
	}
	return lazy_object(m->arena, units, n, m->lazy, error);
}

/* The units are in the program's order. */
static bool cpu_backend_assemble(const struct backend_model *m, struct backend_output *out, const char **error)
{
	struct object *model = model_object(m->arena, m->in, m->weights, m->info);
	if (!model) {
		*error = "its descriptor could not be made";
		return false;
	}
	out->objects[out->n_objects++] = model;
	for (uint32_t i = 0; !m->lazy && i < m->in->program->n_units; i++)
		if (m->fragments[i].object)
			out->objects[out->n_objects++] = m->fragments[i].object;
	if (m->lazy)
		out->objects[out->n_objects++] = stubs(m, error);
	return !*error;
}

static const void *cpu_backend_runtime(const struct target *t, uint32_t i, const char **name, size_t *len)
{
	/* v4 without VNNI uses the micro-kernels of v3 */
	static const enum runtime_level levels[CPU_LEVELS] = {RUNTIME_BASE, RUNTIME_V3, RUNTIME_V3, RUNTIME_VNNI};
	*name = runtime_object_name(i);
	return runtime_object(levels[t->level], i, len);
}

static const char *const needed[] = {"libm.so.6", "libc.so.6", NULL};

static const struct backend_library library = {.emits_objects = true, .needed = needed, .runtime = cpu_backend_runtime};

const struct backend cpu_backend = {.name = "cpu",
				    .title = "the CPU",
				    .stage = BACKEND_LOOPS,
				    .assemble = cpu_backend_assemble,
				    .library = &library,
				    .weights = BACKEND_WEIGHTS_BESIDE,
				    .target = cpu_backend_target,
				    .emit = cpu_backend_emit};
