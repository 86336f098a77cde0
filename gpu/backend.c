/* Libraries for OpenCL devices: fragments are serialized loops, which become the texts of programs when the library is linked. */
#include <string.h>
#include "backend/link/backend.h"
#include "backend/link/elf/lines.h"
#include "backend/ir/ir.h"
#include "backend/target/target.h"
#include "backend/link/model/model_names.h"
#include "backend/loops/ir/serialize.h"
#include "backend/text/c/names.h"
#include "base/arena.h"
#include "frontend/hir/hir.h"
#include "gpu/cuda_host.h"
#include "gpu/opencl.h"

static const struct target *backend_target(struct arena *a, const struct target *cpu, bool dense, const char **error)
{
	(void)a, (void)cpu, (void)dense, (void)error;
	return target_get(TARGET_OPENCL);
}

/* Where the statements of plans come from. */
struct plan_notes {
	const struct plan *const *units;
	const struct ir_notes *notes;
};

static void note_of_plan(const void *ctx, uint32_t unit, const struct loop_fn *f, uint32_t stmt, struct buf *out)
{
	const struct plan_notes *p = ctx;
	const struct loop_stmt *s = &f->stmts[stmt];
	size_t before = out->len, last = before;
	for (uint32_t k = 0; k < s->n_values; k++) {
		size_t at = out->len;
		buf_puts(out, k ? ", " : "");
		p->notes->note(p->notes->context, p->units[unit]->run_fn, s->values[k], out);
		size_t skip = k ? 2 : 0; /* values of one operation have one note */
		if (k && last != at && out->len - at - skip == at - last && !memcmp(out->at + at + skip, out->at + last, at - last))
			out->len = at;
		else
			last = at + skip;
	}
}

/* The loops of plans for a variant. In `a`. */
static const struct loop_fn **loops_of_plans(struct arena *a, enum tri_cl_variant v, const struct plan *const *units, uint32_t n)
{
	const struct loop_fn **loops = ARENA_ARRAY(a, const struct loop_fn *, n);
	for (uint32_t i = 0; i < n; i++)
		loops[i] = v == TRI_CL_WIDE ? units[i]->also : units[i]->loops;
	opencl_fit_constants(a, v, loops, n);
	return loops;
}

static void backend_print(const struct plan *const *units, uint32_t n, const struct ir_notes *notes, struct buf *out)
{
	const struct plan_notes from = {units, notes};
	struct arena *a = arena_new(0);
	for (enum tri_cl_variant v = 0; v < TRI_CL_VARIANTS; v++) {
		buf_puts(out, v == TRI_CL_WIDE ? "\n/* ==== for processors ==== */\n" : "/* ==== for devices with work groups ==== */\n");
		opencl_program(v, loops_of_plans(a, v, units, n), n, &(struct opencl_notes){note_of_plan, &from}, out);
	}
	arena_free(a);
}

static bool backend_assemble(const struct backend_model *m, struct backend_output *out, const char **error)
{
	struct opencl_units units;
	if (!opencl_read_fragments(m, &units, error))
		return false;
	if (opencl_uses_float64(units.of[TRI_CL_GROUPS], m->in->program->n_units))
		out->needs = "float64 (cl_khr_fp64)";
	out->objects[out->n_objects++] = opencl_model_object(m->arena, m->in, m->weights, m->info, &units);
	return true;
}

static const void *backend_runtime(const struct target *t, uint32_t i, const char **name, size_t *len)
{
	(void)t;
	return opencl_runtime_object(i, name, len);
}

static const char *const needed[] = {"libm.so.6", "libc.so.6", NULL};

static const struct backend_library library = {.has_devices = true, .needed = needed, .runtime = backend_runtime};

const struct backend opencl_backend = {.name = "opencl",
				       .title = "OpenCL",
				       .stage = BACKEND_LOOPS,
				       .assemble = backend_assemble,
				       .library = &library,
				       .weights = BACKEND_WEIGHTS_INSIDE,
				       .target = backend_target,
				       .emit = opencl_emit_fragment,
				       .print = backend_print};

/* ---- the programs as files, to be read ---- */

static void note_of_lines(const void *ctx, uint32_t unit, const struct loop_fn *f, uint32_t stmt, struct buf *out)
{
	const struct model_input *in = ctx;
	const struct unit_lines *l = in->lines ? in->lines[unit] : NULL;
	const struct line_statement *s = l ? &l->statements[f->first_statement + stmt] : NULL;
	for (uint32_t k = 0; s && k < s->n_origins; k++) {
		const struct line_origin *o = &l->origins[s->origins[k]];
		buf_printf(out, "%s%s:%u:%u %s%s%s", k ? ", " : "", o->file, o->line, o->column, o->operation, *o->layer ? " " : "",
			   o->layer);
	}
}

static bool source_assemble(const struct backend_model *m, struct backend_output *out, const char **error)
{
	static const char *const devices[TRI_CL_VARIANTS] = {"devices with work groups", "processors"};
	struct opencl_units units;
	if (!opencl_read_fragments(m, &units, error))
		return false;
	for (enum tri_cl_variant v = 0; v < TRI_CL_VARIANTS; v++) {
		buf_printf(&out->files[v].text,
			   "/* The kernels of %s for %s, by %s. The library that `emit = opencl` makes has this program. */\n",
			   m->info->name, devices[v], m->info->compiler);
		opencl_program(v, units.of[v], m->in->program->n_units, &(struct opencl_notes){note_of_lines, m->in}, &out->files[v].text);
	}
	return true;
}

const struct backend opencl_source_backend = {.name = "opencl-source",
					      .title = "OpenCL C",
					      .stage = BACKEND_LOOPS,
					      .assemble = source_assemble,
					      .weights = BACKEND_NO_WEIGHTS,
					      .target = backend_target,
					      .emit = opencl_emit_fragment,
					      .print = backend_print};

/* ---- CUDA sources ---- */

static void cuda_print(const struct plan *const *units, uint32_t n, const struct ir_notes *notes, struct buf *out)
{
	const struct plan_notes from = {units, notes};
	struct arena *a = arena_new(0);
	cuda_program(loops_of_plans(a, TRI_CL_GROUPS, units, n), n, &(struct opencl_notes){note_of_plan, &from}, out);
	arena_free(a);
}

static bool cuda_assemble(const struct backend_model *m, struct backend_output *out, const char **error)
{
	uint32_t n = m->in->program->n_units;
	const struct loop_fn **units = ARENA_ARRAY(m->arena, const struct loop_fn *, n + 1);
	struct buf *kernels = &out->files[0].text;
	for (uint32_t i = 0; i < n; i++)
		if (m->fragments[i].bytes && !(units[i] = loops_deserialize(m->arena, m->fragments[i].bytes, m->fragments[i].len, error)))
			return false;
	opencl_fit_constants(m->arena, TRI_CL_GROUPS, units, n);
	model_title_put(kernels, m->info);
	buf_printf(kernels, "Compile it with nvcc --fmad=false, and %s_cuda.c, which launches its kernels. */\n", m->info->name);
	cuda_program(units, n, &(struct opencl_notes){note_of_lines, m->in}, kernels);
	cuda_host_put(m, units, kernels, &out->files[1].text, &out->files[2].text);
	return true;
}

/* The names that the C library or CUDA has. */
static const char *cuda_name_fault(const char *model)
{
	return !strncmp(model, "cuda", 4) || !strcmp(model, "dim3") ? "CUDA has this name" : c_name_fault(model);
}

enum { WEIGHTS_INSIDE = 1 << 20 };

const struct backend cuda_backend = {.name = "cuda",
				     .title = "CUDA",
				     .stage = BACKEND_LOOPS,
				     .assemble = cuda_assemble,
				     .name_fault = cuda_name_fault,
				     .weights = BACKEND_WEIGHTS_BESIDE,
				     .most_inside = WEIGHTS_INSIDE,
				     .target = backend_target,
				     .print = cuda_print};
