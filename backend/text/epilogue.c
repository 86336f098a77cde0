/* Prints a micro-kernel with an epilogue: a function that computes and stores one element, and the source of the kernel with TRI_STORE as its call. */
#include "base/arena.h"
#include "base/bug.h"
#include "backend/text/printer.h"

static dtype tile_elem(const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_TILE)
			return n->exprs[k].elem;
	BUG("an epilogue that ignores its tile");
}

static void epilogue_put_symbols(const struct text_printer *e, const char *before, const char *type)
{
	for (uint32_t k = 0; k < e->sig.n_syms; k++)
		buf_printf(e->out, "%s, %s%sn%u", before, type, *type ? " " : "", e->sig.syms[k]);
}

static void epilogue_put_arguments(const struct text_printer *e)
{
	for (uint32_t k = 0; k < e->sig.n_buffers; k++) {
		buf_puts(e->out, ", ");
		buf_printf(e->out, e->d->buffer_argument, e->sig.buffers[k], e->sig.buffers[k]);
	}
	epilogue_put_symbols(e, "", "");
}

/* A function of one element, or of neighbouring columns. */
static const char *epilogue_name(const struct text_printer *e)
{
	return text_helper(e, arena_printf(e->scratch, "%s_e%u", e->f->symbol, e->stmt));
}

static void epilogue_put_function(struct text_printer *e)
{
	const char *index = e->index_type;
	buf_printf(e->out, "%svoid %s(%s i0, %s i1, %s i2, %s t", e->d->function, epilogue_name(e), index, index, index,
		   text_type(e, tile_elem(e->n)));
	text_buffers(e, ", ", ", ");
	epilogue_put_symbols(e, "", index);
	buf_puts(e->out, ")\n{\n");
	text_pointers(e);
	for (uint32_t k = 0; k < TILE_AXES; k++)
		text_unused(e, 'i', k);
	for (uint32_t k = 0; k < e->sig.n_syms; k++)
		text_unused(e, 'n', e->sig.syms[k]);
	if (e->d->launch == LAUNCH_CHUNKS)
		text_lanes_body(e, TILE_COLUMN, e->width);
	else {
		for (uint32_t k = 0; k < e->n->n_exprs; k++)
			text_expr(e, k, 1);
		for (uint32_t k = 0; k < e->n->n_stores; k++)
			text_store(e, &e->n->stores[k], 1);
	}
	buf_puts(e->out, "}\n\n");
}

void text_fields(const struct dialect *d, enum kernel k, struct buf *out)
{
	const struct kernel_record *r = kernel_record(k);
	buf_puts(out, "#undef TRI_FIELDS\n#define TRI_FIELDS");
	for (uint32_t i = 0; i < r->n_fields; i++)
		buf_printf(out, "%s %s %s", i ? "," : "", d->values[DT_INT64], r->fields[i].name);
	buf_printf(out, "%s%s\n", kernel_fails(k) ? ", " : "", kernel_fails(k) ? d->fail : "");
}

/* Defines the macro with which the source stores one element, or neighbouring columns. */
static void epilogue_put_store(struct text_printer *e, const char *head)
{
	buf_printf(e->out, "%s%s(batch, row, column, value", head, epilogue_name(e));
	epilogue_put_arguments(e);
	buf_puts(e->out, ")\n");
}

/* Defines what the source of a form of the kernel needs. */
static void epilogue_put_names(struct text_printer *e, uint32_t form, uint32_t lanes)
{
	buf_printf(e->out, "#define TRI_NAME %s_k%u", e->f->symbol, e->stmt);
	if (form)
		buf_printf(e->out, "_%u", form);
	buf_puts(e->out, "\n#define TRI_BUFFERS");
	text_buffers(e, " , ", " , ");
	buf_puts(e->out, "\n#define TRI_DIMS");
	epilogue_put_symbols(e, " ", e->index_type);
	buf_putc(e->out, '\n');
	e->width = lanes;
	if (lanes > 1)
		epilogue_put_store(e, e->d->vectors->epilogue);
	e->width = 1;
	epilogue_put_store(e, "#define TRI_STORE(batch, row, column, value) ");
}

/* Returns true if there is a further form. */
static bool epilogue_put_form(struct text_printer *e, const struct text_hooks *hooks, uint32_t form)
{
	bool more = hooks->source(hooks->ctx, e->f, &e->f->stmts[e->stmt].u.kernel, form, e->out);
	buf_putc(e->out, '\n');
	return more;
}

void text_fused_kernel(struct text_printer *e, const struct text_hooks *hooks)
{
	e->n = e->f->stmts[e->stmt].u.kernel.epilogue;
	e->index_type = e->d->values[DT_INT64];
	text_signature_of(e->scratch, e->d, e->f, e->n, &e->sig);
	const uint32_t lanes = e->d->vectors ? e->d->vectors->epilogue_lanes : 1;
	epilogue_put_function(e);
	e->width = lanes;
	if (lanes > 1)
		epilogue_put_function(e);
	text_fields(e->d, e->f->stmts[e->stmt].u.kernel.kernel, e->out);
	uint32_t form = 0;
	do
		epilogue_put_names(e, form, lanes);
	while (epilogue_put_form(e, hooks, form++));
}
