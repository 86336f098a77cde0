/* Prints loop IR, for --dump-loops and tests; visits its fields. fields.c has the form. */
#include "backend/loops/ir/codec.h"
#include "base/buf.h"
#include "base/vec.h"

static struct codec writer(const struct loop_fn *f, enum codec_mode mode, struct buf *out)
{
	return (struct codec){.mode = mode, .f = (struct loop_fn *)(uintptr_t)f, .out = out}; /* f is only read */
}

void loops_visit(struct loop_fn *f, loop_field_fn *fn, void *ctx)
{
	struct codec c = writer(f, CODEC_VISIT, NULL);
	c.visit = fn;
	c.ctx = ctx;
	code_fn(&c);
}

struct dim_list {
	VEC(dim) dims;
};

static void print_add_dim(void *ctx, const struct loop_field *field)
{
	struct dim_list *l = ctx;
	if (field->kind == FIELD_DIM)
		vec_push(&l->dims, *(dim *)field->at);
}

void loops_print(const struct loop_fn *f, struct buf *out)
{
	struct codec c = writer(f, CODEC_PRINT, out);
	struct dim_list used = {0};
	loops_visit(c.f, print_add_dim, &used);
	buf_printf(out, "unit %s(", f->symbol);
	dims_print_atoms(f->dims, used.dims.at, used.dims.len, out);
	buf_putc(out, ')');
	code_fn(&c);
	buf_putc(out, '\n');
	vec_free(&used.dims);
}
