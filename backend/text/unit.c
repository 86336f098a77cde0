#include "backend/text/printer.h"
#include "base/arena.h"

struct text_printer text_printer_new(const struct dialect *d, const struct loop_fn *f, uint32_t stmt, struct buf *out)
{
	return (struct text_printer){
		.d = d, .scratch = arena_new(0), .f = f, .dims = f ? f->dims : NULL, .stmt = stmt, .depth = 1, .out = out};
}

const char *text_index_type(const struct dialect *d, const struct loop_nest *n)
{
	return d->values[n->schedule.index_bytes == 4 ? DT_INT32 : DT_INT64];
}

static void unit_kernel_of(struct text_printer *e, text_source_fn *source, const void *ctx)
{
	const struct loop_stmt *s = &e->f->stmts[e->stmt];
	if (s->kind == STMT_NEST)
		text_kernel(e);
	if (s->kind == STMT_BLOCK)
		text_block_kernel(e);
	if (s->kind == STMT_KERNEL && s->u.kernel.epilogue)
		text_fused_kernel(e, source, ctx);
}

void text_kernels(const struct dialect *d, text_source_fn *source, const void *ctx, const struct loop_fn *f, struct buf *out)
{
	struct text_printer constants = text_printer_new(d, f, 0, out);
	text_baked(&constants);
	arena_free(constants.scratch);
	for (uint32_t i = 0; i < f->n_stmts; i++) {
		struct text_printer e = text_printer_new(d, f, i, out);
		unit_kernel_of(&e, source, ctx);
		arena_free(e.scratch);
	}
}
