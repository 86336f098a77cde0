/* Builds the object of an OpenCL model: program text, weights, the steps of each entry (gpu/runtime/launch.h), and the descriptor of all
 * models. */
#include <string.h>
#include "backend/link/model/model_desc.h"
#include "backend/link/elf/section_builder.h"
#include "base/arena.h"
#include "base/foreign.h"
#include "base/map.h"
#include "gpu/flatten.h"
#include "gpu/opencl.h"

struct launch_writer {
	struct object *o;
	bool profile_hook;
	struct section_builder strings, dim_steps, dims, args, effects, steps, checks, program;
	struct map programs; /* of dims: equal ones are written once */
};

_Static_assert(sizeof(struct tri_cl_arg) == 24 && sizeof(struct tri_cl_step) == 136 && sizeof(struct tri_cl_effect) == 24 &&
		       sizeof(struct tri_cl_code) == 64 && sizeof(struct tri_cl_program) == 32 && sizeof(struct tri_cl_blob) == 16,
	       "written field by field below");

/* ---- steps ---- */

static void model_put_dim(struct launch_writer *w, struct section_builder *b, const struct dims *d, dim x)
{
	section_put_dim(b, &w->dim_steps, &w->programs, d, x);
}

/* Appends to b the address of these dims. */
static void model_put_dims(struct launch_writer *w, struct section_builder *b, const struct dims *d, const dim *x, uint32_t n)
{
	section_put_address(b, w->dims.symbol, w->dims.bytes.len);
	for (uint32_t i = 0; i < n; i++)
		model_put_dim(w, &w->dims, d, x[i]);
}

static void gpu_model_put_foreign(struct launch_writer *w, struct section_builder *b, const char *text)
{
	struct buf safe = {0};
	foreign_puts(&safe, FOREIGN_TEXT, text);
	section_put_string(b, &w->strings, safe.len ? safe.at : "");
	buf_free(&safe);
}

static void gpu_model_put_effect(struct launch_writer *w, const struct loop_effect *x)
{
	gpu_model_put_foreign(w, &w->effects, x->text);
	if (x->where)
		gpu_model_put_foreign(w, &w->effects, x->where);
	else
		section_put_null(&w->effects);
	section_put_address(&w->effects, w->strings.symbol, w->strings.bytes.len);
	buf_put(&w->strings.bytes, x->kinds, x->n_buffers);
}

static void gpu_model_put_step(struct launch_writer *w, const struct dims *d, const struct flat_step *l)
{
	struct section_builder *b = &w->steps;
	if (l->kernel)
		section_put_string(b, &w->strings, l->kernel);
	else
		section_put_null(b);
	section_put_address(b, w->args.symbol, w->args.bytes.len);
	for (uint32_t i = 0; i < l->n_args; i++) {
		buf_u32(&w->args.bytes, (uint32_t)l->args[i].kind);
		buf_u32(&w->args.bytes, l->args[i].index);
		model_put_dim(w, &w->args, d, l->args[i].offset);
	}
	model_put_dims(w, b, d, l->dims, l->n_dims);
	if (l->effect)
		section_put_address(b, w->effects.symbol, w->effects.bytes.len);
	else
		section_put_null(b);
	if (l->effect)
		gpu_model_put_effect(w, l->effect);
	buf_u64(&b->bytes, l->place);
	buf_u32(&b->bytes, (uint32_t)l->kind);
	buf_u32(&b->bytes, l->n_args);
	buf_u32(&b->bytes, l->n_dims);
	buf_u32(&b->bytes, l->fails);
	buf_u32(&b->bytes, l->group);
	buf_u32(&b->bytes, l->to);
	buf_u32(&b->bytes, w->profile_hook ? l->unit : TRI_NONE);
	buf_u32(&b->bytes, l->statement);
	model_put_dim(w, b, d, l->items);
	for (uint32_t i = 0; i < LOOP_COSTS; i++)
		model_put_dim(w, b, d, l->cost[i]);
}

static void gpu_model_put_check(struct launch_writer *w, const struct dims *d, const struct flat_check *c)
{
	model_put_dim(w, &w->dims, d, c->least);
	buf_u64(&w->checks.bytes, (uint64_t)c->kind);
	buf_u64(&w->checks.bytes, c->place);
}

/* Returns the symbol of the struct tri_cl_code. */
static uint32_t gpu_model_put_code(struct launch_writer *w, enum tri_cl_variant v, struct flat_entry *e)
{
	struct section_builder b = section_begin(w->o, SECTION_RELRO, ".data.rel.ro.code", NULL);
	section_put_address(&b, w->program.symbol, (uint64_t)v * sizeof(struct tri_cl_program));
	section_put_address(&b, w->steps.symbol, w->steps.bytes.len);
	buf_u64(&b.bytes, e->steps.len);
	for (uint32_t i = 0; i < e->steps.len; i++) {
		struct flat_step *l = &e->steps.at[i];
		l->to += l->kind == TRI_CL_CHECK ? e->checks.len : 0; /* behind those that are always checked */
		gpu_model_put_step(w, e->dims, l);
	}
	model_put_dims(w, &b, e->dims, e->scratch.at, e->scratch.len);
	buf_u64(&b.bytes, e->scratch.len);
	section_put_address(&b, w->dims.symbol, w->dims.bytes.len);
	section_put_address(&b, w->checks.symbol, w->checks.bytes.len);
	for (uint32_t i = 0; i < e->checks.len; i++)
		gpu_model_put_check(w, e->dims, &e->checks.at[i]);
	for (uint32_t i = 0; i < e->some.len; i++)
		gpu_model_put_check(w, e->dims, &e->some.at[i]);
	buf_u64(&b.bytes, e->checks.len);
	return section_end(&b, sizeof(struct tri_cl_code));
}

/* ---- the program ---- */

static void gpu_model_put_blob(struct section_builder *blobs, uint32_t symbol, size_t len)
{
	if (len)
		section_put_address(blobs, symbol, 0);
	else
		section_put_null(blobs);
	buf_u64(&blobs->bytes, len);
}

static uint32_t const_symbol(struct object *o, const void *bytes, size_t len)
{
	return len ? object_symbol(o, "", object_section(o, SECTION_RODATA, ".rodata.blob", bytes, len, 64), 0, len, false, false)
		   : OBJ_UNDEFINED;
}

/* Returns the symbol of the blobs: those of the model, then constants. */
static uint32_t gpu_model_put_blobs(struct launch_writer *w, const struct flatten *f)
{
	struct section_builder blobs = section_begin(w->o, SECTION_RELRO, ".data.rel.ro.blobs", NULL);
	const uint32_t *symbols = model_blob_symbols(w->o, f->weights);
	for (uint32_t i = 0; i < f->weights->n_blobs; i++)
		gpu_model_put_blob(&blobs, symbols[i], f->weights->blobs[i].len);
	for (uint32_t i = 0; i < f->consts.len; i++)
		gpu_model_put_blob(&blobs, const_symbol(w->o, f->consts.at[i].bytes, f->consts.at[i].len), f->consts.at[i].len);
	return section_end(&blobs, sizeof(struct tri_cl_blob));
}

static void put_program(struct launch_writer *w, const struct flatten *f, uint32_t blobs)
{
	struct section_builder *b = &w->program;
	struct buf text = {0};
	opencl_program(f->variant, f->units, f->in->program->n_units, NULL, &text);
	section_put_string(b, &w->strings, text.at);
	buf_u64(&b->bytes, text.len);
	section_put_address(b, blobs, 0);
	buf_u32(&b->bytes, f->weights->n_blobs + f->consts.len);
	buf_u32(&b->bytes, opencl_uses_float64(f->units, f->in->program->n_units));
	buf_free(&text);
}

/* The entry for the devices of each variant. Returns the symbol of the struct tri_cl_entry. */
static uint32_t gpu_model_put_entry(struct launch_writer *w, struct flatten *f, const struct opencl_units *units,
				    struct live_buffers *const *live, uint32_t entry)
{
	struct section_builder b = section_begin(w->o, SECTION_RELRO, ".data.rel.ro.entry", NULL);
	for (enum tri_cl_variant v = 0; v < TRI_CL_VARIANTS; v++) {
		struct flat_entry e;
		f->variant = v;
		f->units = units->of[v];
		f->live = live[v];
		flatten_entry(f, entry, &e);
		section_put_address(&b, gpu_model_put_code(w, v, &e), 0);
		vec_free(&e.steps);
		vec_free(&e.scratch);
		vec_free(&e.checks);
		vec_free(&e.some);
	}
	return section_end(&b, sizeof(struct tri_cl_entry));
}

/* Stores the symbol of the tri_cl_entry of each entry in `entries`. */
static void model_put_all(struct launch_writer *w, struct flatten *f, const struct opencl_units *units, struct live_buffers *const *live,
			  uint32_t *entries)
{
	w->strings = section_begin(w->o, SECTION_RODATA, ".rodata.launch_strings", NULL);
	w->dim_steps = section_begin(w->o, SECTION_RODATA, ".rodata.dim_steps", NULL);
	w->checks = section_begin(w->o, SECTION_RODATA, ".rodata.checks", NULL);
	w->dims = section_begin(w->o, SECTION_RELRO, ".data.rel.ro.dims", NULL);
	w->args = section_begin(w->o, SECTION_RELRO, ".data.rel.ro.args", NULL);
	w->effects = section_begin(w->o, SECTION_RELRO, ".data.rel.ro.effects", NULL);
	w->steps = section_begin(w->o, SECTION_RELRO, ".data.rel.ro.steps", NULL);
	w->program = section_begin(w->o, SECTION_RELRO, ".data.rel.ro.program", NULL);
	for (uint32_t i = 0; i < f->in->program->n_entries; i++)
		entries[i] = gpu_model_put_entry(w, f, units, live, i);
	uint32_t blobs = gpu_model_put_blobs(w, f);
	for (enum tri_cl_variant v = 0; v < TRI_CL_VARIANTS; v++) {
		f->variant = v;
		f->units = units->of[v];
		put_program(w, f, blobs);
	}
	section_end(&w->strings, 1);
	section_end(&w->dim_steps, sizeof(tri_dim_step));
	section_end(&w->checks, sizeof(struct tri_cl_check));
	section_end(&w->dims, sizeof(tri_dim_desc));
	section_end(&w->args, sizeof(struct tri_cl_arg));
	section_end(&w->effects, sizeof(struct tri_cl_effect));
	section_end(&w->steps, sizeof(struct tri_cl_step));
	section_end(&w->program, sizeof(struct tri_cl_program));
	map_free(&w->programs);
	vec_free(&f->consts);
}

/* Finds those of each unit that is needed. */
static struct live_buffers *live_buffers_of(struct arena *a, const struct loop_fn *const *units, uint32_t n)
{
	struct live_buffers *live = ARENA_ARRAY(a, struct live_buffers, n + 1);
	for (uint32_t i = 0; i < n; i++)
		if (units[i])
			live[i] = loops_live_buffers(a, units[i]);
	return live;
}

struct object *opencl_model_object(struct arena *a, const struct model_input *in, const struct model_weights *weights,
				   const struct model_info *info, const struct opencl_units *units)
{
	struct launch_writer w = {.o = object_new(a, "opencl model"), .profile_hook = info->profile_hook};
	struct flatten f = {.arena = a, .in = in, .weights = weights};
	struct live_buffers *live[TRI_CL_VARIANTS] = {NULL};
	uint32_t *codes = ARENA_ARRAY(a, uint32_t, in->program->n_entries + 1);
	for (enum tri_cl_variant v = 0; info->profile_hook && v < TRI_CL_VARIANTS; v++)
		live[v] = live_buffers_of(a, units->of[v], in->program->n_units);
	for (uint32_t i = 0; i < in->program->n_units; i++)
		map_put(&f.by_symbol, map_key_str(in->program->units[i]->symbol), i);
	model_put_all(&w, &f, units, live, codes);
	map_free(&f.by_symbol);
	model_describe(w.o, in, info, &(struct model_backend){.name = "opencl", .engine = "tri_opencl", .codes = codes});
	return w.o;
}
