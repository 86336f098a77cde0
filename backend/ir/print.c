/* The tensor IR as text, one line each (read.c reads it back; its grammar stands there):
 *
 *   fn mlp(N)
 *   in 0 float32[N, 64]
 *   weight 0 trit[64, 10]
 *   %0 = input 0 : float32[N, 64]
 *   %1 = weight 0 : trit[64, 10]
 *   %2 = matmul %0 %1 : float32[N, 10]
 *   %3 = reduce_max %2 dims [1] : float32[N]
 *   out %3
 */
#include <math.h>
#include <string.h>
#include "backend/ir/ir.h"
#include "backend/ir/tensor.h"
#include "base/buf.h"

static void print_dims(const struct dims *d, const dim *x, uint32_t n, struct buf *out)
{
	buf_putc(out, '[');
	for (uint32_t k = 0; k < n; k++) {
		if (k)
			buf_puts(out, ", ");
		dim_print(d, x[k], out);
	}
	buf_putc(out, ']');
}

static void print_type(const struct dims *d, const struct hir_type *t, struct buf *out)
{
	buf_puts(out, dtype_text(t->elem));
	print_dims(d, t->dims, t->rank, out);
}

static void print_ints(const int64_t *x, uint32_t n, struct buf *out)
{
	buf_putc(out, '[');
	for (uint32_t k = 0; k < n; k++)
		buf_printf(out, k ? ", %lld" : "%lld", (long long)x[k]);
	buf_putc(out, ']');
}

static void print_float(double v, const char *format, struct buf *out)
{
	if (isnan(v))
		buf_puts(out, "nan");
	else if (isinf(v))
		buf_puts(out, v < 0 ? "-inf" : "inf");
	else
		buf_printf(out, format, v);
}

static void print_data(const struct ir_fn *f, const struct ir_inst *i, struct buf *out)
{
	int64_t n = ir_type_count(f->dims, &i->type);
	buf_puts(out, " {");
	for (int64_t k = 0; k < n; k++) {
		if (k)
			buf_puts(out, ", ");
		if (dtype_class(i->type.elem) == DTC_FLOAT)
			print_float(elem_float(i->type.elem, i->data, k), i->type.elem == DT_FLOAT64 ? "%.17g" : "%.9g", out);
		else
			buf_printf(out, "%lld", (long long)elem_int(i->type.elem, i->data, k));
	}
	buf_putc(out, '}');
}

static void print_mask(uint32_t mask, struct buf *out)
{
	int64_t dims[HIR_MAX_RANK];
	uint32_t n = 0;
	for (uint32_t k = 0; k < HIR_MAX_RANK; k++)
		if (mask >> k & 1)
			dims[n++] = k;
	buf_puts(out, " dims ");
	print_ints(dims, n, out);
}

static void print_callee(const struct ir_fn *f, const struct ir_inst *i, struct buf *out)
{
	char hex[33];
	hash_hex(i->callee->identity, hex);
	buf_printf(out, " @%s %s ", i->callee->symbol, hex);
	print_dims(f->dims, i->callee_syms, dims_syms(i->callee->dims), out);
	if (!i->other)
		return;
	hash_hex(i->other->identity, hex);
	buf_printf(out, " takes %u else @%s %s takes %u", i->callee->n_inputs, i->other->symbol, hex, i->other->n_inputs);
}

static void print_random(const struct ir_inst *i, struct buf *out)
{
	buf_printf(out, " %u seed %lld stream %lld", i->index, (long long)i->ints[0], (long long)i->ints[1]);
	for (uint32_t k = 0; k < 2; k++) {
		buf_putc(out, ' ');
		print_float(i->f[k], "%.17g", out);
	}
}

static void print_text(const char *s, struct buf *out)
{
	buf_puts(out, " \"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\' || *s == '\n')
			buf_putc(out, '\\');
		buf_putc(out, *s == '\n' ? 'n' : *s);
	}
	buf_putc(out, '"');
}

static void print_attributes(const struct ir_fn *f, const struct ir_inst *i, struct buf *out)
{
	switch (i->op) {
	case OP_CONST: print_data(f, i, out); return;
	case OP_DIM:
		buf_puts(out, " (");
		dim_print(f->dims, i->extent, out);
		buf_putc(out, ')');
		return;
	case OP_CALL:
	case OP_IF:
	case OP_LOOP: print_callee(f, i, out); return;
	case OP_TRANSPOSE:
		buf_puts(out, " perm ");
		print_ints(i->ints, i->type.rank, out);
		return;
	case OP_SLICE:
		buf_puts(out, " start ");
		print_dims(f->dims, i->starts, i->type.rank, out);
		buf_puts(out, " step ");
		print_ints(i->ints, i->type.rank, out);
		return;
	case OP_PAD:
		buf_puts(out, " before ");
		print_dims(f->dims, i->starts, i->type.rank, out);
		return;
	case OP_WINDOW:
		print_mask(i->mask, out);
		buf_puts(out, " step ");
		print_ints(i->ints, i->type.rank, out);
		return;
	case OP_RANDOM: print_random(i, out); return;
	case OP_PRINT: print_text(i->text, out); return;
	case OP_ASSERT:
		print_text(i->text, out);
		print_text(i->where, out);
		return;
	case OP_INPUT:
	case OP_WEIGHT:
	case OP_RESULT:
	case OP_CONCAT:
	case OP_GATHER_DIM:
	case OP_SORT:
	case OP_SCAN_SUM:
	case OP_SCAN_PROD:
	case OP_SCATTER:
	case OP_SCATTER_ADD:
	case OP_PUT:
	case OP_IOTA: buf_printf(out, " %u", i->index); return;
	default:
		if (ir_op_traits(i->op) & REDUCES)
			print_mask(i->mask, out);
	}
}

static void print_inst(const struct ir_fn *f, ir_ref r, struct buf *out)
{
	const struct ir_inst *i = ir_at(f, r);
	buf_printf(out, "%%%u = %s", r, ir_op_text(i->op));
	for (uint32_t k = 0; k < i->n_operands; k++)
		buf_printf(out, " %%%u", ir_operand(f, r, k));
	print_attributes(f, i, out);
	buf_puts(out, " : ");
	print_type(f->dims, &i->type, out);
	buf_putc(out, '\n');
}

static void print_slots(const char *what, const struct ir_fn *f, const struct hir_type *t, uint32_t n, struct buf *out)
{
	for (uint32_t k = 0; k < n; k++) {
		buf_printf(out, "%s %u ", what, k);
		print_type(f->dims, &t[k], out);
		buf_putc(out, '\n');
	}
}

void ir_print(const struct ir_fn *f, struct buf *out)
{
	buf_printf(out, "fn %s(", f->name);
	for (uint32_t k = 0; k < dims_syms(f->dims); k++)
		buf_printf(out, k ? ", %s" : "%s", dims_sym_name(f->dims, k));
	buf_puts(out, ")\n");
	print_slots("in", f, f->inputs, f->n_inputs, out);
	print_slots("weight", f, f->weights, f->n_weights, out);
	for (uint32_t r = 0; r < f->n_insts; r++)
		print_inst(f, r, out);
	buf_puts(out, "out");
	for (uint32_t k = 0; k < f->n_outputs; k++)
		buf_printf(out, " %%%u", f->outputs[k]);
	buf_putc(out, '\n');
}
