#include "backend/loops/ir/beside.h"
#include "backend/loops/ir/repeat.h"
#include "backend/text/printer.h"
#include "base/arena.h"

struct text_printer text_printer_new(const struct dialect *d, const struct loop_fn *f, uint32_t stmt, struct buf *out)
{
	return (struct text_printer){.d = d,
				     .scratch = arena_new(0),
				     .f = f,
				     .dims = f ? f->dims : NULL,
				     .stmt = stmt,
				     .depth = 1,
				     .width = 1,
				     .vector_loop = LOOP_NONE,
				     .chunked = LOOP_NONE,
				     .out = out};
}

const char *text_index_type(const struct dialect *d, const struct loop_nest *n)
{
	return d->values[n->schedule.index_bytes == 4 ? DT_INT32 : DT_INT64];
}

/* A micro-kernel without an epilogue has no text of its own: the comment names it. */
static void put_note(const struct text_printer *e, const struct text_hooks *h)
{
	const struct loop_stmt *s = &e->f->stmts[e->stmt];
	if (!h->note || (s->kind != STMT_NEST && s->kind != STMT_BLOCK && s->kind != STMT_KERNEL))
		return;
	buf_printf(e->out, "/* %s_k%u", e->f->symbol, e->stmt);
	if (s->kind == STMT_KERNEL)
		buf_printf(e->out, ", %s", loop_stmt_name(s));
	buf_puts(e->out, ": ");
	h->note(h->ctx, e->f, e->stmt, e->out);
	buf_puts(e->out, s->kind == STMT_KERNEL && !s->u.kernel.epilogue ? " */\n\n" : " */\n");
}

/* The kernel of all products of a launch follows the last of them, whose epilogues it calls. */
static void put_micro_kernel(struct text_printer *e, const struct text_hooks *hooks)
{
	const struct text_forms forms = hooks->forms ? hooks->forms(hooks->ctx, e->f, e->stmt) : (struct text_forms){.n = 1};
	if (e->f->stmts[e->stmt].u.kernel.epilogue &&
	    (forms.first < forms.n || loops_products_begin(e->f, e->stmt) == loops_launch_begin(e->f, e->stmt)))
		text_fused_kernel(e, hooks, forms);
	if (forms.first && e->stmt + 1 == loops_launch_end(e->f, e->stmt))
		text_products(e, hooks, forms);
}

/* Nests beside each other follow the notes of all. */
static void unit_kernel_of(struct text_printer *e, const struct text_hooks *hooks)
{
	const struct loop_stmt *s = &e->f->stmts[e->stmt];
	put_note(e, hooks);
	if (s->kind == STMT_NEST && e->stmt + 1 == loops_launch_end(e->f, e->stmt)) {
		e->stmt = loops_launch_begin(e->f, e->stmt);
		text_kernel(e);
	}
	if (s->kind == STMT_BLOCK)
		text_block_kernel(e);
	if (s->kind == STMT_KERNEL)
		put_micro_kernel(e, hooks);
}

void text_kernels(const struct dialect *d, const struct text_hooks *hooks, const struct loop_fn *f, struct buf *out)
{
	struct text_printer constants = text_printer_new(d, f, 0, out);
	text_baked(&constants);
	arena_free(constants.scratch);
	for (uint32_t i = 0; i < f->n_stmts; i++) {
		struct text_printer e = text_printer_new(d, f, i, out);
		unit_kernel_of(&e, hooks);
		arena_free(e.scratch);
	}
}
