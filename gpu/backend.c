/* Libraries for OpenCL devices: fragments are serialized loops, which become the text of one program when the library is linked. */
#include "backend/link/backend.h"
#include "backend/ir/ir.h"
#include "backend/loops/ir/serialize.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/diag.h"
#include "gpu/opencl.h"

static const struct target *device_target(const struct target *cpu)
{
	(void)cpu;
	return target_get(TARGET_OPENCL);
}

static const char *refuse(struct arena *a, const struct target *t)
{
	return t->arch == ARCH_OPENCL ? NULL : arena_printf(a, "%s is no OpenCL device", t->name);
}

/* The sequence of kernel launches is fixed at build time. */
static bool supports(const struct plan *p, const char *model, struct diags *diags)
{
	const struct ir_fn *f = p->run_fn;
	bool ok = true;
	for (ir_ref r = 0; r < f->n_insts; r++) {
		const struct ir_inst *i = ir_at(f, r);
		if (p->options.target->control_flow || (i->op != OP_IF && i->op != OP_LOOP))
			continue;
		struct diag *g = diag_add(diags, DIAG_OPENCL_FLOW, ir_span(f, i), "%s cannot be compiled for OpenCL",
					  i->op == OP_IF ? "a run-time `if`" : "a run-time loop");
		diag_note(diags, g, "model `%s` has `emit = opencl`; only its library for the CPU can run it", model);
		diag_help(diags, g, "remove `opencl` from `emit`, or use `where(c, a, b)` and a loop with a constant trip count");
		ok = false;
	}
	return ok;
}

static bool emit(const struct emit_request *r, struct buf *fragment, struct buf *error)
{
	(void)error;
	loops_serialize(r->loops, fragment);
	return true;
}

static bool link(const struct backend_link *l, struct object **objects, uint32_t *n, const char **error)
{
	uint32_t n_units = l->in->program->n_units;
	const struct loop_fn **units = ARENA_ARRAY(l->arena, const struct loop_fn *, n_units + 1);
	for (uint32_t i = 0; i < n_units; i++) {
		const struct backend_fragment *f = &l->fragments[i];
		if (f->bytes && !(units[i] = loops_deserialize(l->arena, f->bytes, f->len, error)))
			return false;
	}
	objects[0] = opencl_model_object(l->arena, l->in, l->weights, l->info, units);
	*n = 1;
	return true;
}

static const void *runtime(const struct target *t, uint32_t i, const char **name, size_t *len)
{
	(void)t;
	*name = "opencl runtime";
	return opencl_runtime_object(i, len);
}

static const char *const needed[] = {"libOpenCL.so.1", "libm.so.6", "libc.so.6", NULL};

const struct backend opencl_backend = {.name = "opencl",
				       .title = "OpenCL",
				       .has_devices = true,
				       .needed = needed,
				       .target = device_target,
				       .refuse = refuse,
				       .supports = supports,
				       .emit = emit,
				       .print = opencl_program,
				       .link = link,
				       .runtime = runtime};
