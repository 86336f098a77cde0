/* Prints a template with an epilogue: a function that computes and stores one element, and the template with TRI_STORE as its call. */
#include "base/arena.h"
#include "base/bug.h"
#include "gpu/emit.h"
#include "gpu/opencl.h"

static const char *tile_type(const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_TILE)
			return emit_value_type(n->exprs[k].elem);
	BUG("an epilogue that ignores its tile");
}

/* The buffers and symbols of the signature, each after a comma. */
static void buffers(const struct emit_nest *e, const char *form)
{
	for (uint32_t k = 0; k < e->sig.n_buffers; k++)
		buf_printf(e->out, form, e->sig.buffers[k], e->sig.buffers[k]);
}

static void symbols(const struct emit_nest *e, const char *form)
{
	for (uint32_t k = 0; k < e->sig.n_syms; k++)
		buf_printf(e->out, form, e->sig.syms[k]);
}

static void function(const struct emit_nest *e, uint32_t stmt)
{
	buf_printf(e->out, "void %s_e%u(long i0, long i1, long i2, %s t", e->f->symbol, stmt, tile_type(e->n));
	buffers(e, ", global uchar *p%u, ulong o%u");
	symbols(e, ", long n%u");
	buf_puts(e->out, ")\n{\n");
	emit_pointers(e);
	for (uint32_t k = 0; k < e->n->n_exprs; k++)
		emit_expr(e, k, 1);
	for (uint32_t k = 0; k < e->n->n_stores; k++)
		emit_store(e, &e->n->stores[k], 1);
	buf_puts(e->out, "}\n\n");
}

void emit_fused_template(const struct loop_fn *f, uint32_t stmt, struct buf *out)
{
	const struct loop_kernel *k = &f->stmts[stmt].u.kernel;
	struct arena *scratch = arena_new(0);
	struct emit_nest e = {.scratch = scratch, .f = f, .n = k->epilogue, .out = out, .index_type = "long"};
	opencl_signature_of(scratch, f, k->epilogue, &e.sig);
	function(&e, stmt);
	buf_printf(out, "#define TRI_NAME %s_k%u\n#define TRI_BUFFERS", f->symbol, stmt);
	buffers(&e, " , global uchar *p%u, ulong o%u");
	buf_puts(out, "\n#define TRI_DIMS");
	symbols(&e, " , long n%u");
	buf_printf(out, "\n#define TRI_STORE(batch, row, column, value) %s_e%u(batch, row, column, value", f->symbol, stmt);
	buffers(&e, ", p%u, o%u");
	symbols(&e, ", n%u");
	buf_puts(out, ")\n");
	const char *text = opencl_template(kernel_info(k->kernel)->symbol);
	BUG_ON(!text);
	buf_puts(out, text);
	buf_putc(out, '\n');
	arena_free(scratch);
}
