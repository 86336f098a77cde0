/* Prints a micro-kernel with an epilogue: a function that computes and stores one element, and the source of the kernel with TRI_STORE as its call. */
#include "base/arena.h"
#include "base/bug.h"
#include "backend/text/printer.h"

static const char *tile_type(const struct dialect *d, const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_TILE)
			return d->values[n->exprs[k].elem];
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

static void epilogue_put_function(struct text_printer *e)
{
	const char *index = e->index_type;
	buf_printf(e->out, "%svoid %s_e%u(%s i0, %s i1, %s i2, %s t", e->d->function, e->f->symbol, e->stmt, index, index, index,
		   tile_type(e->d, e->n));
	text_buffers(e, ", ", ", ");
	epilogue_put_symbols(e, "", index);
	buf_puts(e->out, ")\n{\n");
	text_pointers(e);
	for (uint32_t k = 0; k < TILE_AXES; k++)
		text_unused(e, 'i', k);
	for (uint32_t k = 0; k < e->sig.n_syms; k++)
		text_unused(e, 'n', e->sig.syms[k]);
	for (uint32_t k = 0; k < e->n->n_exprs; k++)
		text_expr(e, k, 1);
	for (uint32_t k = 0; k < e->n->n_stores; k++)
		text_store(e, &e->n->stores[k], 1);
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

void text_fused_kernel(struct text_printer *e, const struct text_hooks *hooks)
{
	e->n = e->f->stmts[e->stmt].u.kernel.epilogue;
	e->index_type = e->d->values[DT_INT64];
	text_signature_of(e->scratch, e->d, e->f, e->n, &e->sig);
	epilogue_put_function(e);
	text_fields(e->d, e->f->stmts[e->stmt].u.kernel.kernel, e->out);
	buf_printf(e->out, "#define TRI_NAME %s_k%u\n#define TRI_BUFFERS", e->f->symbol, e->stmt);
	text_buffers(e, " , ", " , ");
	buf_puts(e->out, "\n#define TRI_DIMS");
	epilogue_put_symbols(e, " ", e->index_type);
	buf_printf(e->out, "\n#define TRI_STORE(batch, row, column, value) %s_e%u(batch, row, column, value", e->f->symbol, e->stmt);
	epilogue_put_arguments(e);
	buf_puts(e->out, ")\n");
	hooks->source(hooks->ctx, e->f, &e->f->stmts[e->stmt].u.kernel, e->out);
	buf_putc(e->out, '\n');
}
