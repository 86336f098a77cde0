/* The tensor IR as text, one line for each instruction. read.c reads it back and has its grammar:
 *
 *   fn mlp(N)
 *   in 0 float32[N, 64]
 *   weight 0 trit[64, 10]
 *   %0 = input 0 : float32[N, 64]
 *   %1 = weight 0 : trit[64, 10]
 *   %2 = matmul %0 %1 : float32[N, 10]
 *   %3 = reduce_max %2 dims [1] : float32[N]
 *   out %3
 *
 * The layout of a value follows its type if it is not plain: "%2 = convert_layout %1 : float32[N, 3, 8, 8] as channels_last".
 */
#include "backend/ir/attributes.h"
#include "base/buf.h"

void ir_print_dims(const struct dims *d, const dim *x, uint32_t n, struct buf *out)
{
	buf_putc(out, '[');
	for (uint32_t k = 0; k < n; k++) {
		buf_puts(out, k ? ", " : "");
		dim_print(d, x[k], out);
	}
	buf_putc(out, ']');
}

static void print_type(const struct dims *d, const struct hir_type *t, struct buf *out)
{
	buf_puts(out, dtype_text(t->elem));
	ir_print_dims(d, t->dims, t->rank, out);
}

static void print_inst(const struct ir_fn *f, ir_ref r, struct buf *out)
{
	const struct ir_inst *i = ir_at(f, r);
	buf_printf(out, "%%%u = %s", r, ir_op_text(i->op));
	for (uint32_t k = 0; k < i->n_operands; k++)
		buf_printf(out, " %%%u", ir_operand(f, r, k));
	ir_print_attributes(f->dims, i, out);
	buf_puts(out, " : ");
	print_type(f->dims, &i->type, out);
	if (i->layout != LAYOUT_PLAIN)
		buf_printf(out, " as %s", ir_layout_text(i->layout));
}

static void print_note(const struct ir_notes *notes, const struct ir_fn *f, ir_ref r, struct buf *out)
{
	size_t before = out->len;
	if (!notes)
		return;
	buf_puts(out, " ; ");
	size_t start = out->len;
	notes->note(notes->context, f, r, out);
	if (out->len == start)
		out->len = before;
}

static void print_declarations(const char *what, const struct ir_fn *f, const struct hir_type *t, uint32_t n, struct buf *out)
{
	for (uint32_t k = 0; k < n; k++) {
		buf_printf(out, "%s %u ", what, k);
		print_type(f->dims, &t[k], out);
		buf_putc(out, '\n');
	}
}

void ir_print(const struct ir_fn *f, struct buf *out) { ir_print_with_notes(f, NULL, out); }

void ir_print_with_notes(const struct ir_fn *f, const struct ir_notes *notes, struct buf *out)
{
	buf_printf(out, "fn %s(", f->name);
	for (uint32_t k = 0; k < dims_syms(f->dims); k++)
		buf_printf(out, k ? ", %s" : "%s", dims_sym_name(f->dims, k));
	buf_puts(out, ")\n");
	print_declarations("in", f, f->inputs, f->n_inputs, out);
	print_declarations("weight", f, f->weights, f->n_weights, out);
	for (uint32_t r = 0; r < f->n_insts; r++) {
		print_inst(f, r, out);
		print_note(notes, f, r, out);
		buf_putc(out, '\n');
	}
	buf_puts(out, "out");
	for (uint32_t k = 0; k < f->n_outputs; k++)
		buf_printf(out, " %%%u", f->outputs[k]);
	buf_putc(out, '\n');
}
