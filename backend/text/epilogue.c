/* Prints a micro-kernel with an epilogue: a function that computes and stores one element, and the source of the kernel with TRI_STORE as its call. */
#include "backend/loops/ir/beside.h"
#include "backend/loops/ir/repeat.h"
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
		buf_printf(e->out, e->local && e->local[e->sig.buffers[k]] ? "b%u" : e->d->buffer_argument, e->sig.buffers[k],
			   e->sig.buffers[k]);
	}
	epilogue_put_symbols(e, "", "");
}

/* A function of one element, or of neighbouring columns. That of a launch that repeats a block reads the block's results where the group has them. */
static const char *epilogue_name(const struct text_printer *e)
{
	return text_helper(e, arena_printf(e->scratch, "%s_e%u%s", e->f->symbol, e->stmt, e->local ? "_row" : ""));
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

/* The call of the epilogue with its arguments. */
static void epilogue_put_call(const struct text_printer *e)
{
	buf_printf(e->out, "%s(batch, row, column, value", epilogue_name(e));
	epilogue_put_arguments(e);
	buf_putc(e->out, ')');
}

/* Defines the macro with which the source stores one element, or neighbouring columns. */
static void epilogue_put_store(struct text_printer *e, const char *head)
{
	buf_puts(e->out, head);
	epilogue_put_call(e);
	buf_putc(e->out, '\n');
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

static void epilogue_put_source(const struct text_printer *e, const struct text_hooks *hooks, uint32_t form)
{
	hooks->source(hooks->ctx, e->f, &e->f->stmts[e->stmt].u.kernel, form, e->out);
	buf_putc(e->out, '\n');
}

void text_fused_kernel(struct text_printer *e, const struct text_hooks *hooks, struct text_forms forms)
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
	for (uint32_t form = forms.first; form < forms.n; form++) {
		epilogue_put_names(e, form, lanes);
		epilogue_put_source(e, hooks, form);
	}
}

/* ---- products beside each other ---- */

/* Product i of the launch stores an element. One without an epilogue has its result as a buffer of its own. */
static void put_product_store(const struct text_printer *e, uint32_t stmt, uint32_t i)
{
	const struct loop_kernel *x = &e->f->stmts[stmt].u.kernel;
	struct text_printer one = *e;
	one.stmt = stmt;
	buf_printf(e->out, " \\\n\t\t%sif (which == %u) ", i ? "else " : "", i);
	if (x->epilogue) {
		text_signature_of(e->scratch, e->d, e->f, x->epilogue, &one.sig);
		epilogue_put_call(&one);
	} else {
		const char *type = e->d->memory[e->f->buffers[x->buffers[x->n_buffers - 1]].type.elem];
		buf_printf(e->out, "((%s%s *)(py%u + oy%u))[(row) * N + (column)] = (value)", e->d->global, type, i, i);
	}
	buf_putc(e->out, ';');
}

/* Results of a block are arguments, too: the first group stores them. */
static void put_launch_buffers(const struct text_printer *e)
{
	struct text_printer all = *e;
	all.local = NULL;
	text_buffers(&all, " , ", " , ");
}

static void put_products_names(struct text_printer *e, uint32_t first, uint32_t end)
{
	buf_printf(e->out, "#define TRI_NAME %s_k%u_all\n#define TRI_BUFFERS", e->f->symbol, loops_launch_begin(e->f, first));
	for (uint32_t k = first + 1; k < end; k++)
		buf_printf(e->out, " , global uchar *pw%u, ulong ow%u", k - first, k - first);
	for (uint32_t k = first; k < end; k++)
		if (!e->f->stmts[k].u.kernel.epilogue)
			buf_printf(e->out, " , global uchar *py%u, ulong oy%u", k - first, k - first);
	put_launch_buffers(e);
	buf_puts(e->out, "\n#define TRI_DIMS");
	for (uint32_t k = first + 1; k < end; k++)
		buf_printf(e->out, " , %s N%u", e->index_type, k - first);
	epilogue_put_symbols(e, " ", e->index_type);
	buf_puts(e->out, "\n#define TRI_BESIDE");
	for (uint32_t k = first + 1; k < end; k++)
		buf_printf(e->out, " TRI_NEXT(%u)", k - first);
	buf_puts(e->out, "\n#define TRI_STORE(batch, row, column, value) \\\n\tdo {");
	for (uint32_t k = first; k < end; k++)
		put_product_store(e, k, k - first);
	buf_puts(e->out, " \\\n\t} while (0)\n");
}

/* Prints the block of the launch, and the epilogues that read its results. */
static void put_block(struct text_printer *e, uint32_t first, uint32_t end, uint32_t group)
{
	bool *results = ARENA_ARRAY(e->scratch, bool, e->f->n_buffers + 1);
	struct text_printer block = *e;
	loops_mark_results(e->f, &e->f->stmts[first], results);
	block.stmt = first;
	block.local = results;
	text_repeated_block(&block, e->f->stmts[first + 1].u.kernel.buffers[0], group);
	e->local = results;
	for (uint32_t k = first + 1; k < end; k++) {
		struct text_printer one = *e;
		one.stmt = k;
		one.n = e->f->stmts[k].u.kernel.epilogue;
		if (!one.n)
			continue;
		text_signature_of(e->scratch, e->d, e->f, one.n, &one.sig);
		epilogue_put_function(&one);
	}
}

void text_products(struct text_printer *e, const struct text_hooks *hooks, struct text_forms forms)
{
	const uint32_t first = loops_launch_begin(e->f, e->stmt), end = loops_launch_end(e->f, first);
	const uint32_t products = loops_products_begin(e->f, first);
	e->index_type = e->d->values[DT_INT64];
	if (first < products)
		put_block(e, first, end, forms.group);
	text_signature_of_launch(e->scratch, e->d, e->f, first, &e->sig);
	text_fields(e->d, e->f->stmts[e->stmt].u.kernel.kernel, e->out);
	put_products_names(e, products, end);
	epilogue_put_source(e, hooks, forms.first - 1);
}
