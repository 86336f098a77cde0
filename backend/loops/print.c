/* Prints loop IR, for --dump-loops and golden tests. */
#include "backend/loops/loops.h"
#include <inttypes.h>
#include "base/buf.h"

static void print_shape(const struct loop_fn *f, const struct hir_type *t, struct buf *out)
{
	buf_printf(out, "%s [", dtype_text(t->elem));
	for (uint32_t k = 0; k < t->rank; k++) {
		buf_puts(out, k ? ", " : "");
		dim_print(f->dims, t->dims[k], out);
	}
	buf_putc(out, ']');
}

static void print_buffer(const struct loop_fn *f, uint32_t k, struct buf *out)
{
	static const char *const kinds[] = {"input", "output", "weight", "temp", "const"};
	const struct loop_buffer *b = &f->buffers[k];
	buf_printf(out, "  b%u = %s ", k, kinds[b->kind]);
	if (b->kind != BUFFER_TEMP && b->kind != BUFFER_CONST)
		buf_printf(out, "%u ", b->index);
	if (b->layout != LAYOUT_PLAIN)
		buf_puts(out, b->layout == LAYOUT_TRIT2 ? "trit2 " : "? ");
	print_shape(f, &b->type, out);
	if (b->kind == BUFFER_TEMP) {
		buf_puts(out, " at ");
		dim_print(f->dims, b->offset, out);
	}
	buf_putc(out, '\n');
}

static bool is_value(const struct loop_fn *f, dim x, int64_t want)
{
	int64_t v;
	return dim_is_const(f->dims, x, &v) && v == want;
}

/* A dim as a factor: in parentheses unless it is a constant. */
static void print_factor(const struct loop_fn *f, dim x, struct buf *out)
{
	int64_t v;
	if (is_value(f, x, 1))
		return;
	bool bare = dim_is_const(f->dims, x, &v);
	buf_puts(out, bare ? "" : "(");
	dim_print(f->dims, x, out);
	buf_puts(out, bare ? "*" : ")*");
}

static void print_access(const struct loop_fn *f, const struct loop_access *a, uint32_t loops, struct buf *out)
{
	bool any = !is_value(f, a->base, 0);
	buf_printf(out, "b%u[", a->buffer);
	if (any)
		dim_print(f->dims, a->base, out);
	for (uint32_t k = 0; k < loops; k++) {
		if (is_value(f, a->stride[k], 0))
			continue;
		buf_puts(out, any ? " + " : "");
		print_factor(f, a->stride[k], out);
		buf_printf(out, "i%u", k);
		any = true;
	}
	if (a->index != LOOP_NONE) {
		buf_puts(out, any ? " + " : "");
		print_factor(f, a->scale, out);
		buf_printf(out, "%%%u below ", a->index);
		dim_print(f->dims, a->bound, out);
		any = true;
	}
	buf_puts(out, any ? "]" : "0]");
}

static void print_const(const struct loop_expr *e, struct buf *out)
{
	if (dtype_class(e->elem) == DTC_FLOAT)
		buf_printf(out, "%.17g", e->f);
	else
		buf_printf(out, "%" PRId64, e->i);
}

static void print_expr(const struct loop_fn *f, const struct loop_nest *n, uint32_t k, struct buf *out)
{
	const struct loop_expr *e = &n->exprs[k];
	buf_printf(out, "    %s%%%u = ", e->in_reduction ? "| " : "", k);
	switch (e->kind) {
	case LOOP_LOAD:
		buf_puts(out, "load ");
		print_access(f, &e->access, n->n_parallel + n->n_reduce, out);
		break;
	case LOOP_CONST:
		buf_puts(out, "const ");
		print_const(e, out);
		break;
	case LOOP_INDEX: buf_printf(out, "index i%u", e->var); break;
	case LOOP_EXTENT:
		buf_puts(out, "extent ");
		dim_print(f->dims, e->extent, out);
		break;
	case LOOP_OP:
		buf_puts(out, ir_op_text(e->op));
		for (int j = 0; j < ir_op_operands(e->op); j++)
			buf_printf(out, "%s%%%u", j ? ", " : " ", e->args[j]);
		break;
	case LOOP_ACC: buf_printf(out, "acc %u", e->var); break;
	}
	buf_printf(out, " : %s\n", dtype_text(e->elem));
}

static void print_nest(const struct loop_fn *f, const struct loop_nest *n, struct buf *out)
{
	buf_puts(out, "  nest");
	for (uint32_t k = 0; k < (uint32_t)n->n_parallel + n->n_reduce; k++) {
		buf_printf(out, "%s i%u < ", k == 0 && k < n->n_parallel ? "" : k == n->n_parallel ? " reduce" : ",", k);
		dim_print(f->dims, n->extent[k], out);
	}
	buf_putc(out, '\n');
	for (uint32_t k = 0; k < n->n_exprs; k++)
		print_expr(f, n, k, out);
	for (uint32_t k = 0; k < n->n_reductions; k++)
		buf_printf(out, "    acc %u = %s %%%u : %s\n", k, ir_op_text(n->reductions[k].op), n->reductions[k].value,
			   dtype_text(n->reductions[k].elem));
	for (uint32_t k = 0; k < n->n_stores; k++) {
		buf_puts(out, "    store ");
		print_access(f, &n->stores[k].access, n->n_parallel, out);
		buf_printf(out, " = %%%u\n", n->stores[k].value);
	}
}

static void print_arguments(const struct loop_fn *f, const uint32_t *buffers, uint32_t n_buffers, const dim *dims, uint32_t n_dims,
			    struct buf *out)
{
	buf_putc(out, '(');
	for (uint32_t k = 0; k < n_buffers; k++)
		buf_printf(out, "%sb%u", k ? ", " : "", buffers[k]);
	for (uint32_t k = 0; k < n_dims; k++) {
		buf_puts(out, k ? ", " : "; ");
		dim_print(f->dims, dims[k], out);
	}
	buf_putc(out, ')');
}

static void print_kernel(const struct loop_fn *f, const struct loop_kernel *s, struct buf *out)
{
	buf_printf(out, "  kernel %s", kernel_info(s->kernel)->symbol);
	print_arguments(f, s->buffers, s->n_buffers, s->dims, s->n_dims, out);
	buf_putc(out, '\n');
}

static void print_call(const struct loop_fn *f, const struct loop_call *s, struct buf *out)
{
	buf_printf(out, "  call %s", s->callee);
	print_arguments(f, s->buffers, s->n_buffers, s->dims, s->n_dims, out);
	if (s->slot != LOOP_NONE)
		buf_printf(out, " weights %u", s->slot);
	buf_putc(out, '\n');
}

static void print_effect(const struct loop_fn *f, const struct loop_effect *s, struct buf *out)
{
	uint32_t at = 0;
	buf_puts(out, s->where ? "  assert(" : "  print(");
	for (uint32_t k = 0; k < s->n_buffers; k++) {
		buf_printf(out, "%sb%u %s[", k ? ", " : "", s->buffers[k], dtype_text((dtype)(s->kinds[k] >> 4)));
		for (uint32_t i = 0; i < (s->kinds[k] & 15u); i++) {
			buf_puts(out, i ? ", " : "");
			dim_print(f->dims, s->dims[at++], out);
		}
		buf_putc(out, ']');
	}
	buf_printf(out, ") %s\n", s->where ? s->where : "");
}

static void print_branch(const struct loop_fn *f, const struct loop_branch *s, struct buf *out)
{
	buf_printf(out, "  if b%u\n", s->condition);
	for (uint32_t k = 0; k < 2; k++) {
		buf_puts(out, k ? "  else\n  " : "  ");
		print_call(f, &s->calls[k], out);
	}
}

static void print_loop(const struct loop_fn *f, const struct loop_iterate *s, struct buf *out)
{
	buf_printf(out, "  loop b%u", s->condition);
	for (uint32_t k = 0; k < s->n_carried; k++)
		buf_printf(out, "%sb%u = b%u", k ? ", " : " with ", s->body.buffers[k], s->initial[k]);
	buf_puts(out, "\n  ");
	print_call(f, &s->body, out);
}

static void print_stmt(const struct loop_fn *f, const struct loop_stmt *s, struct buf *out)
{
	switch (s->kind) {
	case STMT_NEST: print_nest(f, &s->u.nest, out); return;
	case STMT_KERNEL: print_kernel(f, &s->u.kernel, out); return;
	case STMT_CALL: print_call(f, &s->u.call, out); return;
	case STMT_BRANCH: print_branch(f, &s->u.branch, out); return;
	case STMT_LOOP: print_loop(f, &s->u.loop, out); return;
	case STMT_EFFECT: print_effect(f, &s->u.effect, out); return;
	}
}

static const char *const size_errors[] = {
#define SIZE_ERROR(id, word, text) word,
#include "backend/runtime/size_errors.def"
#undef SIZE_ERROR
};

void loops_print(const struct loop_fn *f, struct buf *out)
{
	buf_printf(out, "unit %s inputs %u outputs %u slots %u scratch ", f->symbol, f->n_inputs, f->n_outputs, f->n_slots);
	dim_print(f->dims, f->scratch, out);
	buf_putc(out, '\n');
	for (uint32_t k = 0; k < f->n_buffers; k++)
		print_buffer(f, k, out);
	for (uint32_t k = 0; k < f->n_checks; k++) {
		buf_puts(out, "  check ");
		dim_print(f->dims, f->checks[k].least, out);
		buf_printf(out, " >= 0 %s\n", size_errors[f->checks[k].kind]);
	}
	for (uint32_t k = 0; k < f->n_stmts; k++)
		print_stmt(f, &f->stmts[k], out);
}
