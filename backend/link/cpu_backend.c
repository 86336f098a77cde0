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

static const struct target *same_target(const struct target *cpu) { return cpu; }

static const char *refuse(struct arena *a, const struct target *t)
{
	return t->arch == ARCH_X86_64 ? NULL : arena_printf(a, "this trib has no code generator for %s", t->name);
}

static bool supports_all(const struct plan *p, const char *model, struct diags *diags)
{
	(void)p, (void)model, (void)diags;
	return true;
}

static void begin_stage(const char *name) { measure_begin(name); }

static bool emit(const struct emit_request *r, struct buf *fragment, struct buf *error)
{
	static const struct codegen_stages stages = {begin_stage, measure_end};
	if (r->api) {
		r->api->measure(r->generator, measure_log_of_thread ? &stages : NULL);
		return r->api->compile(r->generator, r->loops, fragment, error);
	}
	loops_serialize(r->loops, fragment);
	return true;
}

/* In place of the fragments a lazy library has stubs, which compile units at the first call. */
static struct object *stubs(const struct backend_link *l, const char **error)
{
	const struct hir_program *p = l->in->program;
	struct lazy_unit *units = ARENA_ARRAY(l->arena, struct lazy_unit, p->n_units + 1);
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->n_units; i++) {
		const struct backend_fragment *f = &l->fragments[i];
		if (f->bytes)
			units[n++] =
				(struct lazy_unit){p->units[i]->name, p->units[i]->symbol,     f->bytes, f->len, f->key, f->options->opt,
						   f->options->size,  f->options->profile_hook};
	}
	return lazy_object(l->arena, units, n, l->lazy, error);
}

/* The units are in the program's order. */
static bool link(const struct backend_link *l, struct object **objects, uint32_t *n, const char **error)
{
	*n = 0;
	*error = "its descriptor could not be made";
	objects[*n] = model_object(l->arena, l->in, l->weights, l->info);
	if (!objects[(*n)++])
		return false;
	for (uint32_t i = 0; !l->lazy && i < l->in->program->n_units; i++)
		if (l->fragments[i].object)
			objects[(*n)++] = l->fragments[i].object;
	if (!l->lazy)
		return true;
	*error = NULL;
	objects[(*n)++] = stubs(l, error);
	return !*error;
}

static const void *runtime(const struct target *t, uint32_t i, const char **name, size_t *len)
{
	/* v4 without VNNI uses the micro-kernels of v3 */
	static const enum runtime_level levels[CPU_LEVELS] = {RUNTIME_BASE, RUNTIME_V3, RUNTIME_V3, RUNTIME_VNNI};
	*name = runtime_object_name(i);
	return runtime_object(levels[t->level], i, len);
}

static const char *const needed[] = {"libm.so.6", "libc.so.6", NULL};

const struct backend cpu_backend = {.name = "cpu",
				    .title = "the CPU",
				    .has_weight_file = true,
				    .emits_objects = true,
				    .needed = needed,
				    .target = same_target,
				    .refuse = refuse,
				    .supports = supports_all,
				    .emit = emit,
				    .link = link,
				    .runtime = runtime};
