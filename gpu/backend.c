/* Libraries for OpenCL devices: fragments are serialized loops, which become the texts of programs when the library is linked. */
#include <string.h>
#include "backend/link/backend.h"
#include "backend/ir/ir.h"
#include "backend/loops/ir/serialize.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/diag.h"
#include "gpu/opencl.h"

static const struct target *backend_target(struct arena *a, const struct target *cpu, bool dense, const char **error)
{
	(void)a, (void)cpu, (void)dense, (void)error;
	return target_get(TARGET_OPENCL);
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

static void backend_print(const struct plan *const *units, uint32_t n, struct buf *out)
{
	struct arena *a = arena_new(0);
	const struct loop_fn **loops = ARENA_ARRAY(a, const struct loop_fn *, n);
	for (enum tri_cl_variant v = 0; v < TRI_CL_VARIANTS; v++) {
		for (uint32_t i = 0; i < n; i++)
			loops[i] = v == TRI_CL_WIDE ? units[i]->also : units[i]->loops;
		buf_puts(out, v == TRI_CL_WIDE ? "\n/* ==== for processors ==== */\n" : "/* ==== for devices with work groups ==== */\n");
		opencl_program(v, loops, n, out);
	}
	arena_free(a);
}

/* A fragment is the loops of both variants, each behind its length. */
static bool backend_emit(const struct emit_request *r, struct buf *fragment, struct buf *error)
{
	(void)error;
	for (enum tri_cl_variant v = 0; v < TRI_CL_VARIANTS; v++) {
		struct buf loops = {0};
		loops_serialize(v == TRI_CL_WIDE ? r->plan->also : r->plan->loops, &loops);
		buf_u64(fragment, loops.len);
		buf_put(fragment, loops.at, loops.len);
		buf_free(&loops);
	}
	return true;
}

static bool read_fragment(struct arena *a, const struct backend_fragment *f, const struct loop_fn **units[TRI_CL_VARIANTS], uint32_t unit,
			  const char **error)
{
	const char *at = f->bytes;
	size_t left = f->len;
	uint32_t first = 0;
	for (enum tri_cl_variant v = 0; v < TRI_CL_VARIANTS; v++) {
		uint64_t len = 0;
		if (left >= sizeof len)
			memcpy(&len, at, sizeof len);
		*error = "its loop IR is incomplete";
		if (left < sizeof len || len > left - sizeof len)
			return false;
		struct loop_fn *loops = loops_deserialize(a, at + sizeof len, len, error);
		if (!loops)
			return false;
		loops->first_statement = first;
		first = loops_next_statement(loops);
		units[v][unit] = loops;
		at += sizeof len + len;
		left -= sizeof len + len;
	}
	return true;
}

static bool backend_assemble(const struct backend_model *m, struct backend_output *out, const char **error)
{
	uint32_t n_units = m->in->program->n_units;
	const struct loop_fn **units[TRI_CL_VARIANTS];
	for (enum tri_cl_variant v = 0; v < TRI_CL_VARIANTS; v++)
		units[v] = ARENA_ARRAY(m->arena, const struct loop_fn *, n_units + 1);
	for (uint32_t i = 0; i < n_units; i++)
		if (m->fragments[i].bytes && !read_fragment(m->arena, &m->fragments[i], units, i, error))
			return false;
	struct opencl_units all = {{units[TRI_CL_GROUPS], units[TRI_CL_WIDE]}};
	out->objects[out->n_objects++] = opencl_model_object(m->arena, m->in, m->weights, m->info, &all);
	return true;
}

static const void *backend_runtime(const struct target *t, uint32_t i, const char **name, size_t *len)
{
	(void)t;
	*name = "opencl runtime";
	return opencl_runtime_object(i, len);
}

static const char *const needed[] = {"libOpenCL.so.1", "libm.so.6", "libc.so.6", NULL};

static const struct backend_library library = {.has_devices = true, .needed = needed, .runtime = backend_runtime};

const struct backend opencl_backend = {.name = "opencl",
				       .title = "OpenCL",
				       .stage = BACKEND_LOOPS,
				       .assemble = backend_assemble,
				       .library = &library,
				       .weights = BACKEND_WEIGHTS_INSIDE,
				       .target = backend_target,
				       .supports = supports,
				       .emit = backend_emit,
				       .print = backend_print};
