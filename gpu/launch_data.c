#include "gpu/launch_data.h"
#include <stddef.h>
#include <string.h>
#include "backend/link/object.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "gpu/flatten.h"
#include "gpu/opencl.h"
#include "gpu/runtime/launch.h"

enum { BLOB_ALIGN = 64 };

/* Two sections under construction: structures with pointers, and data without pointers. */
struct launch_writer {
	struct object *o;
	struct buf structs, plain;
	uint32_t structs_section, plain_section, structs_symbol, plain_symbol;
	const struct dims *dims; /* the dims of `programs` */
	VEC(uint64_t) programs;  /* for each dim: offset in `plain` + 1, or 0 */
	VEC(uint32_t) lengths;
};

static uint64_t put(struct buf *b, const void *bytes, size_t n)
{
	buf_align(b, 8);
	uint64_t at = b->len;
	buf_put(b, bytes, n);
	return at;
}

/* Makes the pointer at `field` of `structs` point to offset `at` of the section of `symbol`. */
static void point(struct launch_writer *w, uint64_t field, uint32_t symbol, uint64_t at)
{
	object_reloc(w->o, w->structs_section, field, symbol, RELOC_ABS64, (int64_t)at);
}

static uint64_t put_program(struct launch_writer *w, dim x)
{
	VEC(struct dim_step) steps = {0};
	uint32_t n = dim_program(w->dims, x, NULL, 0);
	vec_reserve(&steps, n);
	dim_program(w->dims, x, steps.at, n);
	buf_align(&w->plain, 8);
	uint64_t at = w->plain.len;
	for (uint32_t i = 0; i < n; i++) {
		tri_dim_step step;
		memset(&step, 0, sizeof step);
		step.op = (int32_t)steps.at[i].op; /* the enums are equal, see below */
		step.value = steps.at[i].value;
		put(&w->plain, &step, sizeof step);
	}
	vec_free(&steps);
	w->lengths.at[x.idx] = n;
	return at;
}
_Static_assert((int)TRI_DIM_CONST == (int)DIM_PUSH_CONST && (int)TRI_DIM_SYM == (int)DIM_PUSH_SYM && (int)TRI_DIM_ADD == (int)DIM_OP_ADD &&
		       (int)TRI_DIM_MUL == (int)DIM_OP_MUL && (int)TRI_DIM_FLOORDIV == (int)DIM_OP_FLOORDIV &&
		       (int)TRI_DIM_MOD == (int)DIM_OP_MOD,
	       "dimension programs");

/* Fills the length of d. fill_dim sets the pointer to its steps when d has its final address. */
static tri_dim_desc dim_desc(struct launch_writer *w, dim x)
{
	while (w->programs.len <= x.idx) {
		vec_push(&w->programs, 0);
		vec_push(&w->lengths, 0);
	}
	if (!w->programs.at[x.idx])
		w->programs.at[x.idx] = put_program(w, x) + 1;
	return (tri_dim_desc){.steps = NULL, .n_steps = (int32_t)w->lengths.at[x.idx]};
}
static void point_dim(struct launch_writer *w, uint64_t field, dim x)
{
	point(w, field + offsetof(tri_dim_desc, steps), w->plain_symbol, w->programs.at[x.idx] - 1);
}

static uint64_t put_dims(struct launch_writer *w, const dim *dims, uint32_t n)
{
	buf_align(&w->structs, 8);
	uint64_t at = w->structs.len;
	for (uint32_t i = 0; i < n; i++) {
		tri_dim_desc d = dim_desc(w, dims[i]);
		point_dim(w, put(&w->structs, &d, sizeof d), dims[i]);
	}
	return at;
}

static int32_t arg_kind(enum flat_arg_kind k)
{
	static const int32_t kinds[] = {
		[FLAT_INPUT] = TRI_CL_INPUT, [FLAT_OUTPUT] = TRI_CL_OUTPUT, [FLAT_BLOB] = TRI_CL_BLOB, [FLAT_SCRATCH] = TRI_CL_SCRATCH};
	return kinds[k];
}

static uint64_t put_args(struct launch_writer *w, const struct flat_arg *args, uint32_t n)
{
	buf_align(&w->structs, 8);
	uint64_t at = w->structs.len;
	for (uint32_t i = 0; i < n; i++) {
		struct tri_cl_arg p = {arg_kind(args[i].kind), (int32_t)args[i].index, dim_desc(w, args[i].offset)};
		uint64_t here = put(&w->structs, &p, sizeof p);
		point_dim(w, here + offsetof(struct tri_cl_arg, offset), args[i].offset);
	}
	return at;
}

struct launch_parts {
	uint64_t kernel, args, dims;
};

static void put_launch(struct launch_writer *w, const struct flat_launch *l, const struct launch_parts *parts)
{
	struct tri_cl_launch out = {
		.n_args = (int32_t)l->n_args, .n_dims = (int32_t)l->n_dims, .fails = l->fails, .items = dim_desc(w, l->items)};
	uint64_t at = put(&w->structs, &out, sizeof out);
	point(w, at + offsetof(struct tri_cl_launch, kernel), w->plain_symbol, parts->kernel);
	point(w, at + offsetof(struct tri_cl_launch, args), w->structs_symbol, parts->args);
	point(w, at + offsetof(struct tri_cl_launch, dims), w->structs_symbol, parts->dims);
	point_dim(w, at + offsetof(struct tri_cl_launch, items), l->items);
}

static uint64_t put_launches(struct launch_writer *w, struct arena *a, const struct flat_entry *e)
{
	struct launch_parts *parts = ARENA_ARRAY(a, struct launch_parts, e->launches.len + 1);
	for (uint32_t i = 0; i < e->launches.len; i++) {
		const struct flat_launch *l = &e->launches.at[i];
		parts[i].kernel = put(&w->plain, l->kernel, strlen(l->kernel) + 1);
		parts[i].args = put_args(w, l->args, l->n_args);
		parts[i].dims = put_dims(w, l->dims, l->n_dims);
	}
	buf_align(&w->structs, 8);
	uint64_t at = w->structs.len;
	for (uint32_t i = 0; i < e->launches.len; i++)
		put_launch(w, &e->launches.at[i], &parts[i]);
	return at;
}

/* Appends the dims of the checks; stores the offset of their kinds in *kinds. */
static uint64_t put_checks(struct launch_writer *w, struct arena *a, const struct flat_entry *e, uint64_t *kinds)
{
	dim *dims = ARENA_ARRAY(a, dim, e->checks.len + 1);
	for (uint32_t i = 0; i < e->checks.len; i++)
		dims[i] = e->checks.at[i].least;
	uint64_t at = put_dims(w, dims, e->checks.len);
	*kinds = w->structs.len;
	for (uint32_t i = 0; i < e->checks.len; i++) {
		int64_t kind = e->checks.at[i].kind;
		put(&w->structs, &kind, sizeof kind);
	}
	return at;
}

/* Appends the structure of an entry. launch_data_add sets its pointer to the program. */
static uint64_t put_entry(struct launch_writer *w, struct arena *a, const struct flat_entry *e)
{
	w->dims = e->dims;
	w->programs.len = w->lengths.len = 0;
	uint64_t launches = put_launches(w, a, e), scratch = put_dims(w, e->scratch.at, e->scratch.len);
	uint64_t kinds, checks = put_checks(w, a, e, &kinds);
	struct tri_cl_entry out = {.n_launches = e->launches.len, .n_scratch = e->scratch.len, .n_checks = e->checks.len};
	uint64_t at = put(&w->structs, &out, sizeof out);
	point(w, at + offsetof(struct tri_cl_entry, launches), w->structs_symbol, launches);
	point(w, at + offsetof(struct tri_cl_entry, scratch), w->structs_symbol, scratch);
	point(w, at + offsetof(struct tri_cl_entry, checks), w->structs_symbol, checks);
	point(w, at + offsetof(struct tri_cl_entry, check_kinds), w->structs_symbol, kinds);
	return at;
}

static void put_blob(struct launch_writer *w, const void *bytes, size_t len)
{
	struct tri_cl_blob b = {.size = len};
	uint64_t at = put(&w->structs, &b, sizeof b);
	if (len == 0)
		return;
	uint32_t section = object_section(w->o, SECTION_RODATA, ".rodata.blob", bytes, len, BLOB_ALIGN);
	point(w, at + offsetof(struct tri_cl_blob, bytes), object_symbol(w->o, "", section, 0, len, false, false), 0);
}

static uint64_t put_blobs(struct launch_writer *w, const struct flatten *f)
{
	buf_align(&w->structs, 8);
	uint64_t at = w->structs.len;
	for (uint32_t i = 0; i < f->weights->n_blobs; i++)
		put_blob(w, f->weights->blobs[i].bytes, f->weights->blobs[i].len);
	for (uint32_t i = 0; i < f->consts.len; i++)
		put_blob(w, f->consts.at[i].bytes, f->consts.at[i].len);
	return at;
}

static uint64_t put_program_text(struct launch_writer *w, const struct flatten *f, const struct loop_fn *const *units)
{
	struct buf text = {0};
	opencl_program(units, f->in->program->n_units, &text);
	uint64_t at = put(&w->plain, text.at, text.len + 1), blobs = put_blobs(w, f);
	struct tri_cl_program p = {.text_size = text.len,
				   .n_blobs = (int32_t)(f->weights->n_blobs + f->consts.len),
				   .fp64 = strncmp(text.at, "#define TRI_FP64", 16) == 0};
	uint64_t here = put(&w->structs, &p, sizeof p);
	point(w, here + offsetof(struct tri_cl_program, text), w->plain_symbol, at);
	point(w, here + offsetof(struct tri_cl_program, blobs), w->structs_symbol, blobs);
	buf_free(&text);
	return here;
}

static void open_sections(struct launch_writer *w, struct object *o)
{
	w->o = o;
	w->structs_section = object_section(o, SECTION_RELRO, ".data.rel.ro.launches", NULL, 0, 16);
	w->plain_section = object_section(o, SECTION_RODATA, ".rodata.launches", NULL, 0, 16);
	w->structs_symbol = object_symbol(o, "", w->structs_section, 0, 0, false, false);
	w->plain_symbol = object_symbol(o, "", w->plain_section, 0, 0, false, false);
}

static void close_section(struct object *o, uint32_t section, struct buf *b)
{
	o->sections[section].bytes = arena_strndup(o->arena, b->at, b->len);
	o->sections[section].size = b->len;
	buf_free(b);
}

void launch_data_add(struct object *o, const struct model_input *in, const struct model_weights *weights,
		     const struct loop_fn *const *units, uint32_t *entries)
{
	struct flatten f = {.arena = o->arena, .in = in, .weights = weights, .units = units};
	struct launch_writer w = {0};
	uint32_t n = in->program->n_entries;
	uint64_t *at = ARENA_ARRAY(o->arena, uint64_t, n + 1);
	open_sections(&w, o);
	for (uint32_t i = 0; i < n; i++) {
		struct flat_entry e;
		flatten_entry(&f, i, &e);
		at[i] = put_entry(&w, o->arena, &e);
		vec_free(&e.launches);
		vec_free(&e.scratch);
		vec_free(&e.checks);
	}
	uint64_t program = put_program_text(&w, &f, units);
	for (uint32_t i = 0; i < n; i++) {
		point(&w, at[i] + offsetof(struct tri_cl_entry, program), w.structs_symbol, program);
		entries[i] = object_symbol(o, arena_printf(o->arena, "launches.%u", i), w.structs_section, at[i],
					   sizeof(struct tri_cl_entry), false, false);
	}
	close_section(o, w.structs_section, &w.structs);
	close_section(o, w.plain_section, &w.plain);
	vec_free(&w.programs);
	vec_free(&w.lengths);
	vec_free(&f.consts);
}
