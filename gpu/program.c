/* The program of a model as OpenCL C 1.2, and as CUDA C++. */
#include <string.h>
#include "backend/text/dialect.h"
#include "backend/text/text.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/vec.h"
#include "gpu/forms.h"
#include "gpu/opencl.h"

static void program_put_template(enum tri_cl_variant variant, const char *name, struct buf *out)
{
	const char *text = form_template(variant, name);
	BUG_ON(!text);
	buf_puts(out, text);
}

/* A language, and what its programs begin with. */
struct program_language {
	const struct dialect *dialect;
	enum tri_cl_variant variant; /* of the micro-kernels */
	const char *names;           /* a template */
};
static const struct program_language opencl_languages[TRI_CL_VARIANTS] = {
	[TRI_CL_GROUPS] = {&dialect_opencl_c, TRI_CL_GROUPS, "opencl"},
	[TRI_CL_WIDE] = {&dialect_opencl_wide, TRI_CL_WIDE, "opencl"},
};
static const struct program_language cuda_language = {&dialect_cuda, TRI_CL_GROUPS, "cuda"};

const struct dialect *opencl_dialect(enum tri_cl_variant variant) { return opencl_languages[variant].dialect; }

struct program_unit_text {
	const struct program_language *language;
	const struct opencl_notes *notes;
	uint32_t unit;
};

static void program_put_source(const void *ctx, const struct loop_fn *f, const struct loop_kernel *k, uint32_t form, struct buf *out)
{
	const struct program_unit_text *u = ctx;
	const struct form *forms[MOST_FORMS];
	struct arena *a = arena_new(0);
	forms_of(a, u->language->variant, k->kernel, f->dims, k->dims, forms);
	program_put_template(u->language->variant, forms[form]->split.sum ? forms[form]->split.sum : forms[form]->source, out);
	arena_free(a);
}

static struct text_forms program_forms(const void *ctx, const struct loop_fn *f, uint32_t stmt)
{
	const struct program_unit_text *u = ctx;
	const struct loop_kernel *k = &f->stmts[stmt].u.kernel;
	const struct form *forms[MOST_FORMS];
	struct arena *a = arena_new(0);
	struct text_forms of = {.n = forms_of(a, u->language->variant, k->kernel, f->dims, k->dims, forms)};
	of.first = forms_shared(f, stmt, forms, of.n);
	of.group = of.first ? forms[of.first - 1]->group : 0;
	arena_free(a);
	return of;
}

static void program_put_note(const void *ctx, const struct loop_fn *f, uint32_t stmt, struct buf *out)
{
	const struct program_unit_text *u = ctx;
	u->notes->note(u->notes->ctx, u->unit, f, stmt, out);
}

static void program_put_unit(const struct program_unit_text *u, const struct loop_fn *f, struct buf *out)
{
	text_kernels(u->language->dialect, &(struct text_hooks){program_put_source, program_forms, u->notes ? program_put_note : NULL, u},
		     f, out);
}

void opencl_unit(enum tri_cl_variant variant, const struct loop_fn *f, struct buf *out)
{
	program_put_unit(&(struct program_unit_text){&opencl_languages[variant], NULL, 0}, f, out);
}

void cuda_unit(const struct loop_fn *f, struct buf *out) { program_put_unit(&(struct program_unit_text){&cuda_language, NULL, 0}, f, out); }

static void find_fp64(void *ctx, const struct loop_nest *n)
{
	for (uint32_t i = 0; i < n->n_exprs; i++)
		*(bool *)ctx |= n->exprs[i].elem == DT_FLOAT64;
}

static bool unit_uses_float64(const struct loop_fn *f)
{
	bool found = false;
	for (uint32_t i = 0; i < f->n_buffers; i++)
		found |= f->buffers[i].type.elem == DT_FLOAT64;
	for (uint32_t i = 0; i < f->n_stmts; i++)
		loop_stmt_nests(&f->stmts[i], find_fp64, &found);
	return found;
}

static void find_lanes(void *ctx, const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->schedule.n_axes; k++)
		*(bool *)ctx |= n->schedule.axes[k].kind == AXIS_VECTOR;
}

static bool uses_lanes(const struct loop_fn *f)
{
	bool found = false;
	for (uint32_t i = 0; i < f->n_stmts; i++)
		loop_stmt_nests(&f->stmts[i], find_lanes, &found);
	return found;
}

/* The sources of forms without an epilogue, each once. */
struct used_source {
	enum kernel kernel;
	const char *name;
};
struct used_forms {
	struct arena *arena;
	enum tri_cl_variant variant;
	bool tiles; /* some form, also with an epilogue, has tiles */
	VEC(struct used_source) list;
};

static void use_source(struct used_forms *used, enum kernel kernel, const char *name)
{
	for (uint32_t i = 0; i < used->list.len; i++)
		if (!strcmp(used->list.at[i].name, name))
			return;
	vec_push(&used->list, ((struct used_source){kernel, name}));
}

/* Only the last launch of a form that is split has the epilogue. */
static void use_form(struct used_forms *used, const struct form *x, bool fused)
{
	used->tiles |= x->tile[0].n != 0;
	if (x->split.sum || !fused)
		use_source(used, x->kernel, x->source);
	if (x->split.sum && !fused)
		use_source(used, x->kernel, x->split.sum);
}

static void use_kernel(struct used_forms *used, const struct loop_fn *f, uint32_t stmt)
{
	const struct loop_kernel *k = &f->stmts[stmt].u.kernel;
	const struct form *forms[MOST_FORMS];
	uint32_t n = forms_of(used->arena, used->variant, k->kernel, f->dims, k->dims, forms), first = forms_shared(f, stmt, forms, n);
	used->tiles |= first != 0;
	for (uint32_t i = first; i < n; i++)
		use_form(used, forms[i], k->epilogue != NULL);
}

static void use_kernels(struct used_forms *used, const struct loop_fn *f)
{
	for (uint32_t i = 0; i < f->n_stmts; i++)
		if (f->stmts[i].kind == STMT_KERNEL)
			use_kernel(used, f, i);
}

bool opencl_uses_float64(const struct loop_fn *const *units, uint32_t n)
{
	bool uses = false;
	for (uint32_t i = 0; i < n; i++)
		uses |= units[i] && unit_uses_float64(units[i]);
	return uses;
}

/* Puts what tiles of a variant share: those of these templates that it has. */
static void program_put_shared(enum tri_cl_variant variant, struct buf *out)
{
	static const char *const shared[] = {"tile", "floats", "trits", "windows", "taps"};
	for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
		if (form_template(variant, shared[i])) {
			program_put_template(variant, shared[i], out);
			buf_putc(out, '\n');
		}
}

static void program_put(const struct program_language *language, const struct loop_fn *const *units, uint32_t n,
			const struct opencl_notes *notes, struct buf *out)
{
	const enum tri_cl_variant variant = language->variant;
	struct used_forms used = {.arena = arena_new(0), .variant = variant};
	bool lanes = variant == TRI_CL_WIDE;
	for (uint32_t i = 0; i < n; i++) {
		if (!units[i])
			continue;
		use_kernels(&used, units[i]);
		lanes |= uses_lanes(units[i]);
	}
	if (opencl_uses_float64(units, n))
		buf_puts(out, "#define TRI_FP64 1\n");
	program_put_template(variant, language->names, out);
	program_put_template(variant, "helpers", out);
	if (lanes) {
		buf_printf(out, "#define TRI_MOST_LANES %u\n", variant == TRI_CL_WIDE ? 16 : 4);
		program_put_template(variant, "lanes", out);
	}
	buf_putc(out, '\n');
	if (used.tiles)
		program_put_shared(variant, out);
	for (uint32_t i = 0; i < used.list.len; i++) {
		text_fields(language->dialect, used.list.at[i].kernel, out);
		program_put_template(variant, used.list.at[i].name, out);
		buf_putc(out, '\n');
	}
	for (uint32_t i = 0; i < n; i++)
		if (units[i])
			program_put_unit(&(struct program_unit_text){language, notes, i}, units[i], out);
	vec_free(&used.list);
	arena_free(used.arena);
}

void opencl_program(enum tri_cl_variant variant, const struct loop_fn *const *units, uint32_t n, const struct opencl_notes *notes,
		    struct buf *out)
{
	program_put(&opencl_languages[variant], units, n, notes, out);
}

void cuda_program(const struct loop_fn *const *units, uint32_t n, const struct opencl_notes *notes, struct buf *out)
{
	program_put(&cuda_language, units, n, notes, out);
}
