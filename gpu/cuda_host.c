/* Prints the host file of a CUDA model. It has the interface of `emit = c` (backend/text/c), with all tensors in the memory of the device.
 *
 * Steps: gpu/flatten.c lists the steps of an entry, as for OpenCL libraries. Each entry becomes a function tri_steps_PREFIX. A step is a line of it, which calls a
 * function of cuda_host.parts; sizes in the arguments are expressions over the symbols n0, n1 …
 * Kernels: the host file numbers them in an enumeration, the file of the kernels has the pointers in an array NAME_kernels.
 * Weights and constants: the host file has them as arrays, or as offsets in the weight file. On the device they share one allocation. */
#include "gpu/cuda_host.h"
#include <string.h>
#include "backend/link/backend.h"
#include "backend/link/model/model_names.h"
#include "backend/runtime/abi/triw.h"
#include "backend/text/c/entry.h"
#include "backend/text/c/model.h"
#include "backend/text/c/parts.h"
#include "backend/text/c/unit.h"
#include "backend/text/printer.h"
#include "base/arena.h"
#include "base/bug.h"
#include "frontend/hir/hir.h"
#include "gpu/embedded.h"
#include "gpu/flatten.h"

enum { RECORD = 256, ALIGN = 256 }; /* RECORD: bytes of the record of run-time errors, before the weights */

struct host_printer {
	const struct backend_model *m;
	struct text_printer e; /* of the host file; its dims: those of the entry that is printed */
	struct flatten f;
	const struct loop_fn *fn; /* of the entry's unit */
	struct flat_entry *entries;
	uint64_t *places; /* of each blob and constant, among the weights on the device */
	uint64_t bytes;   /* of those */
	uint32_t n_blobs; /* in the table tri_blobs */
	VEC(const char *) kernels;
	uint32_t most_arguments; /* of one */
};

/* ---- weights ---- */

static void host_put_constants(const struct host_printer *p)
{
	for (uint32_t i = 0; i < p->f.consts.len; i++) {
		const struct flat_const *c = &p->f.consts.at[i];
		buf_printf(p->e.out, "static const unsigned char tri_constant%u[%zu] = {", i, c->len + 1);
		for (size_t k = 0; k < c->len; k++)
			buf_printf(p->e.out, "%s%u", !k ? "" : k % 32 ? ", " : ",\n\t", ((const unsigned char *)c->bytes)[k]);
		buf_puts(p->e.out, "};\n\n");
	}
}

static void host_put_blob(struct host_printer *p, const char *from, uint64_t offset, uint64_t len)
{
	buf_printf(p->e.out, "\n\t{%s, %llu, %llu, %llu},", from, (unsigned long long)offset, (unsigned long long)p->bytes,
		   (unsigned long long)len);
	p->bytes += (len + ALIGN - 1) / ALIGN * ALIGN;
	p->n_blobs++;
}

/* Blobs with equal bytes have one place. */
static void host_put_blobs(struct host_printer *p)
{
	struct arena *a = p->e.scratch;
	const struct model_weights *w = p->m->weights;
	const uint32_t *arrays = c_weights_put(a, w, p->e.out);
	struct map by_bytes = {0};
	host_put_constants(p);
	p->places = ARENA_ARRAY(a, uint64_t, w->n_blobs + p->f.consts.len + 1);
	p->bytes = RECORD;
	buf_puts(p->e.out, "static const struct tri_blob tri_blobs[] = {");
	for (uint32_t i = 0; i < w->n_blobs; i++) {
		const struct model_blob *b = &w->blobs[i];
		uint64_t bytes[] = {b->offset, b->len};
		p->places[i] = p->bytes;
		if (!b->len || map_get(&by_bytes, map_key_bytes(bytes, sizeof bytes), &p->places[i]))
			continue;
		map_put(&by_bytes, map_key_bytes(bytes, sizeof bytes), p->bytes);
		host_put_blob(p, b->bytes ? arena_printf(a, "tri_weight%u", arrays[i]) : "NULL",
			      b->bytes ? 0 : triw_tensors_at(w->n_blobs) + b->offset, b->len);
	}
	for (uint32_t i = 0; i < p->f.consts.len; i++) {
		p->places[w->n_blobs + i] = p->bytes;
		host_put_blob(p, arena_printf(a, "tri_constant%u", i), 0, p->f.consts.at[i].len);
	}
	buf_puts(p->e.out, "\n\t{NULL, 0, 0, 0}};\n\n");
	map_free(&by_bytes);
}

/* ---- steps ---- */

static const char *place_text(const struct host_printer *p, const struct flat_arg *x)
{
	struct arena *a = p->e.scratch;
	const char *offset = text_dim(&p->e, x->offset);
	switch (x->kind) {
	case TRI_CL_INPUT: return arena_printf(a, "io[%u]", x->index);
	case TRI_CL_OUTPUT: return arena_printf(a, "io[%u]", p->fn->n_inputs + x->index);
	case TRI_CL_BLOB: return arena_printf(a, "run->weights + %llu", (unsigned long long)p->places[x->index]);
	case TRI_CL_SCRATCH: return arena_printf(a, "scratch + %s", offset);
	}
	BUG("argument kind");
}

static void host_put_kernel(struct host_printer *p, const struct flat_step *l)
{
	struct buf *out = p->e.out;
	buf_printf(out, "\ttri_launch(run, %s_kernels[KERNEL_%s], %s, %u, ", p->m->info->name, l->kernel, text_dim(&p->e, l->items),
		   l->group);
	for (uint32_t i = 0; i < l->n_args; i++)
		buf_printf(out, "%s%s", i ? ", " : "(const void *const[]){", place_text(p, &l->args[i]));
	buf_printf(out, "%s, %u, ", l->n_args ? "}" : "NULL", l->n_args);
	for (uint32_t i = 0; i < l->n_dims; i++)
		buf_printf(out, "%s%s", i ? ", " : "(const int64_t[]){", text_dim(&p->e, l->dims[i]));
	buf_printf(out, "%s, %u);\n", l->n_dims ? "}" : "NULL", l->n_dims);
}

static void host_put_print(const struct host_printer *p, const struct flat_step *l)
{
	const struct loop_effect *x = l->effect;
	struct buf *out = p->e.out, bytes = {0};
	uint32_t at = 0;
	buf_printf(out, "\t{\n\t\tstatic const char text[] = %s;\n\t\ttri_tensor values[] = {\n", c_effect_text(p->e.scratch, x));
	for (uint32_t k = 0; k < l->n_args; k++) {
		uint32_t rank = x->kinds[k] & 15u;
		dtype t = x->kinds[k] >> 4;
		buf_printf(out, "\t\t\t{(void *)(%s), {", place_text(p, &l->args[k]));
		buf_printf(&bytes, "%zu", dtype_size(t));
		for (uint32_t d = 0; d < rank; d++) {
			const char *size = text_dim(&p->e, l->dims[at++]);
			buf_printf(out, "%s%s", d ? ", " : "", size);
			buf_printf(&bytes, " * %s", size);
		}
		buf_printf(out, "%s}, %u, %u},\n", rank ? "" : "0", rank, (unsigned)t);
		buf_puts(&bytes, ", ");
	}
	buf_printf(out, "\t\t\t{NULL, {0}, 0, 0}};\n\t\ttri_print_copies(run, text, values, (const int64_t[]){%s0}, %u);\n\t}\n",
		   bytes.len ? bytes.at : "", l->n_args);
	buf_free(&bytes);
}

static void host_put_effect(const struct host_printer *p, const struct flat_step *l)
{
	if (!l->effect->where) {
		host_put_print(p, l);
		return;
	}
	buf_printf(
		p->e.out,
		"\tif (!tri_is_true(run, %s)) {\n\t\tstatic const char text[] = %s;\n\t\ttri_fail(run, TRI_ERR_ASSERT, 0, 0, 0, text);\n\t}\n",
		place_text(p, &l->args[0]), c_effect_text(p->e.scratch, l->effect));
}

static void host_put_check(struct host_printer *p, const struct flat_check *c)
{
	p->e.checks_sizes = true;
	buf_printf(p->e.out, "\tif (%s < 0)\n\t\ttri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x%016llxu, %s);\n", text_dim(&p->e, c->least),
		   (unsigned long long)c->place, c_size_error(p->e.scratch, c->kind));
	p->e.checks_sizes = false;
}

static void host_put_step(struct host_printer *p, const struct flat_entry *x, const struct flat_step *l)
{
	struct buf *out = p->e.out;
	switch (l->kind) {
	case TRI_CL_LAUNCH: host_put_kernel(p, l); return;
	case TRI_CL_COPY:
		buf_printf(out, "\ttri_move(run, (void *)(%s), %s, %s);\n", place_text(p, &l->args[0]), place_text(p, &l->args[1]),
			   text_dim(&p->e, l->dims[0]));
		return;
	case TRI_CL_JUMP: buf_printf(out, "\tgoto step%u;\n", l->to); return;
	case TRI_CL_JUMP_IF_FALSE:
	case TRI_CL_JUMP_IF_TRUE:
		buf_printf(out, "\tif (%stri_is_true(run, %s))\n\t\tgoto step%u;\n", l->kind == TRI_CL_JUMP_IF_FALSE ? "!" : "",
			   place_text(p, &l->args[0]), l->to);
		return;
	case TRI_CL_EFFECT: host_put_effect(p, l); return;
	case TRI_CL_CHECK: host_put_check(p, &x->some.at[l->to]); return;
	case TRI_CL_BEGIN:
	case TRI_CL_END: return;
	}
}

static bool jumps(const struct flat_step *l)
{
	return l->kind == TRI_CL_JUMP || l->kind == TRI_CL_JUMP_IF_FALSE || l->kind == TRI_CL_JUMP_IF_TRUE;
}

static bool *list_targets(struct host_printer *p, const struct flat_entry *x)
{
	bool *targets = ARENA_ARRAY(p->e.scratch, bool, x->steps.len + 1);
	for (uint32_t i = 0; i < x->steps.len; i++)
		if (jumps(&x->steps.at[i]))
			targets[x->steps.at[i].to] = true;
	return targets;
}

static void host_put_symbols(const struct host_printer *p)
{
	for (uint32_t k = 0; k < dims_syms(p->e.dims); k++)
		buf_printf(p->e.out, "\tconst int64_t n%u = n[%u];\n\t(void)n%u;\n", k, k, k);
}

static void host_put_scratch(struct host_printer *p, const struct flat_entry *x, const char *prefix)
{
	buf_printf(p->e.out, "static int64_t tri_steps_%s_scratch(const int64_t *n)\n{\n\tint64_t most = 0;\n\t(void)n;\n", prefix);
	host_put_symbols(p);
	p->e.checks_sizes = true;
	for (uint32_t i = 0; i < x->scratch.len; i++)
		buf_printf(p->e.out, "\tmost = tri_size_max(most, %s);\n", text_dim(&p->e, x->scratch.at[i]));
	p->e.checks_sizes = false;
	buf_puts(p->e.out, "\treturn most;\n}\n\n");
}

static void host_put_steps(struct host_printer *p, uint32_t entry, const char *prefix)
{
	const struct flat_entry *x = &p->entries[entry];
	struct buf *out = p->e.out;
	uint64_t unit = 0;
	BUG_ON(!map_get(&p->f.by_symbol, map_key_str(p->m->in->program->entries[entry].unit->symbol), &unit));
	p->fn = p->f.units[unit];
	p->e.dims = x->dims;
	host_put_scratch(p, x, prefix);
	buf_printf(
		out,
		"static void tri_steps_%s(struct tri_run *run, void *const *io, const struct tri_slot *slots, const int64_t *n, unsigned char *scratch)\n"
		"{\n\t(void)slots, (void)n, (void)scratch;\n",
		prefix);
	host_put_symbols(p);
	for (uint32_t i = 0; i < x->checks.len; i++)
		host_put_check(p, &x->checks.at[i]);
	buf_printf(out, "\tif (run->code || !tri_are_aligned(run, io, %u))\n\t\treturn;\n", p->fn->n_inputs + p->fn->n_outputs);
	const bool *targets = list_targets(p, x);
	for (uint32_t i = 0; i <= x->steps.len; i++) {
		if (targets[i])
			buf_printf(out, "step%u:;\n", i);
		if (i < x->steps.len)
			host_put_step(p, x, &x->steps.at[i]);
	}
	buf_puts(out, "\ttri_finish(run);\n}\n\n");
}

/* ---- kernels ---- */

static void list_kernel(struct host_printer *p, const char *name)
{
	for (uint32_t i = 0; i < p->kernels.len; i++)
		if (!strcmp(p->kernels.at[i], name))
			return;
	vec_push(&p->kernels, name);
}

static void list_kernels(struct host_printer *p)
{
	for (uint32_t i = 0; i < p->m->in->program->n_entries; i++)
		for (uint32_t k = 0; k < p->entries[i].steps.len; k++) {
			const struct flat_step *l = &p->entries[i].steps.at[k];
			uint32_t n = 2 * l->n_args + l->n_dims + 2; /* the record of errors; NULL */
			if (l->kind != TRI_CL_LAUNCH)
				continue;
			p->most_arguments = n > p->most_arguments ? n : p->most_arguments;
			list_kernel(p, l->kernel);
		}
}

/* Both files have the kernels in one order. */
static void host_put_kernels(struct host_printer *p, struct buf *table)
{
	const char *name = p->m->info->name;
	struct buf *out = p->e.out;
	list_kernels(p);
	buf_printf(out, "extern const void *const %s_kernels[];\nenum {", name);
	buf_printf(table, "extern \"C\" {\nextern const void *const %s_kernels[];\nconst void *const %s_kernels[] = {\n", name, name);
	for (uint32_t i = 0; i < p->kernels.len; i++) {
		buf_printf(out, "\n\tKERNEL_%s,", p->kernels.at[i]);
		buf_printf(table, "\t(const void *)%s,\n", p->kernels.at[i]);
	}
	buf_puts(out, "\n\tKERNELS\n};\n\n");
	buf_puts(table, "\tNULL};\n}\n");
}

/* ---- the files ---- */

static void flatten_all(struct host_printer *p, const struct loop_fn *const *units)
{
	const struct hir_program *program = p->m->in->program;
	p->f = (struct flatten){.arena = p->m->arena, .in = p->m->in, .weights = p->m->weights, .variant = TRI_CL_GROUPS, .units = units};
	for (uint32_t i = 0; i < program->n_units; i++)
		map_put(&p->f.by_symbol, map_key_str(program->units[i]->symbol), i);
	p->entries = ARENA_ARRAY(p->m->arena, struct flat_entry, program->n_entries + 1);
	for (uint32_t i = 0; i < program->n_entries; i++)
		flatten_entry(&p->f, i, &p->entries[i]);
}

static void free_all(struct host_printer *p)
{
	for (uint32_t i = 0; i < p->m->in->program->n_entries; i++) {
		vec_free(&p->entries[i].steps);
		vec_free(&p->entries[i].scratch);
		vec_free(&p->entries[i].checks);
		vec_free(&p->entries[i].some);
	}
	map_free(&p->f.by_symbol);
	vec_free(&p->f.consts);
	vec_free(&p->kernels);
	arena_free(p->e.scratch);
}

static void host_put_entries(struct host_printer *p, const struct c_device *device)
{
	const struct backend_model *m = p->m;
	for (uint32_t i = 0; i < m->in->program->n_entries; i++) {
		host_put_steps(p, i, model_entry_prefix(p->e.scratch, m->in->program, m->info->name, i));
		c_entry_put(m->in, m->info, m->weights, i, device, p->e.out);
	}
}

static void host_put_head(const struct host_printer *p, struct buf *host)
{
	model_title_put(host, p->m->info);
	buf_printf(
		host,
		"C11. */\n#include \"%s_cuda.h\"\n#include <cuda_runtime_api.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
		"#include <string.h>\n\nenum { TRI_RECORD = %u, TRI_MOST_ARGUMENTS = %u };\n\n",
		p->m->info->name, RECORD, p->most_arguments ? p->most_arguments : 1);
}

static struct c_device device_of(const struct host_printer *p)
{
	return (struct c_device){
		.files = arena_printf(p->e.scratch, "Compile %s.cu and %s_cuda.c with nvcc --fmad=false.", p->m->info->name,
				      p->m->info->name),
		.memory =
			"/* A model runs on the current CUDA device, in its default stream: tensors, scratch and states are in memory of the device, aligned to 32 bytes, as\n"
			" * cudaMalloc and cudaMallocManaged return it. NAME_open copies tri_memory.weights, which is in the memory of the host, to the device. */\n",
		.open = arena_printf(p->e.scratch, "tri_upload(&m->memory, tri_blobs, %u, %llu, err)", p->n_blobs,
				     (unsigned long long)p->bytes),
		.close = "cudaFree((void *)m->memory.weights)"};
}

void cuda_host_put(const struct backend_model *m, const struct loop_fn *const *units, struct buf *table, struct buf *host,
		   struct buf *header)
{
	struct buf body = {0};
	struct host_printer p = {.m = m, .e = text_printer_new(&dialect_c11, NULL, 0, &body)};
	flatten_all(&p, units);
	host_put_blobs(&p);
	host_put_kernels(&p, table);
	const struct c_device device = device_of(&p);
	c_places_put(m->in, units, &body);
	c_states_put(m->in, m->info, m->weights, &device, &body);
	host_put_entries(&p, &device);
	host_put_head(&p, host);
	c_parts_put(body.at, (const char *)GPU_PARTS->bytes, host);
	buf_put(host, body.at, body.len);
	c_header_put(m->in, m->info, m->weights, &device, header);
	free_all(&p);
	buf_free(&body);
}
