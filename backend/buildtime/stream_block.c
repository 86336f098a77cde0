/* Computes one block of full values, and small values. */
#include <stdlib.h>
#include <string.h>
#include "backend/buildtime/operations.h"
#include "backend/buildtime/stream_state.h"
#include "backend/interp/interp.h"
#include "base/arena.h"
#include "base/bug.h"

/* ---- small values ---- */

static struct tensor row_of(dtype elem, int64_t n, void *data)
{
	return (struct tensor){.elem = elem, .rank = 1, .dims = {n}, .data = data};
}

/* One element becomes one for each row. */
static void repeat(struct stream *s, ir_ref r, const void *element)
{
	struct stream_value *v = &s->values[r];
	size_t size = dtype_size(v->type.elem);
	for (int64_t k = 0; k < s->rows; k++)
		memcpy((char *)v->data + (size_t)k * size, element, size);
}

static void compute_elements(struct stream *s, ir_ref r, const struct tensor *x, int64_t n, void *data)
{
	const struct ir_inst *i = ir_at(s->f, r);
	const struct tensor *operands[8];
	struct tensor out = row_of(s->values[r].type.elem, n, data);
	BUG_ON(i->n_operands > 8);
	for (uint32_t k = 0; k < i->n_operands; k++)
		operands[k] = &x[k];
	if (!buildtime_ewise(i, operands, &out))
		interp_elements(i, operands, &out);
}

static void compute_small(struct stream *s, ir_ref r)
{
	const struct ir_inst *i = ir_at(s->f, r);
	struct stream_value *v = &s->values[r];
	struct tensor x[8];
	if (i->op == OP_CONST) {
		repeat(s, r, ir_data(i)->data);
	} else if (i->op == OP_WEIGHT) {
		const struct stream_weight *w = &s->weights[ir_number(i)->number];
		int64_t element[2];
		if (w->tensor.data || w->read(w->reader, 0, 1, element, &s->error))
			repeat(s, r, w->tensor.data ? w->tensor.data : element);
	} else if (i->op == OP_BROADCAST || i->op == OP_RESHAPE) {
		memcpy(v->data, s->values[ir_operand(s->f, r, 0)].data, (size_t)s->rows * dtype_size(v->type.elem));
	} else {
		for (uint32_t k = 0; k < i->n_operands; k++) {
			const struct stream_value *o = &s->values[ir_operand(s->f, r, k)];
			x[k] = row_of(o->type.elem, s->rows, o->data);
		}
		compute_elements(s, r, x, s->rows, v->data);
	}
}

void stream_compute_small_values(struct stream *s, uint32_t pass)
{
	for (ir_ref r = 0; r < s->f->n_insts && !s->error; r++) {
		struct stream_value *v = &s->values[r];
		if (v->extent != SMALL || v->pass != pass || stream_reduces(ir_at(s->f, r)->op))
			continue;
		v->data = arena_alloc(s->a, (size_t)s->rows * dtype_size(v->type.elem) + 1, 64);
		compute_small(s, r);
	}
}

/* ---- full values ---- */

static void add_sum(struct accumulator *a, const float *x, int64_t n)
{
	double sum = a->f;
	for (int64_t k = 0; k < n; k++)
		sum += (double)x[k];
	a->f = sum;
}

static void reduce_block(struct stream *s, ir_ref r, int64_t n, int64_t first)
{
	enum ir_op op = ir_at(s->f, r)->op;
	const struct stream_value *x = &s->values[ir_operand(s->f, r, 0)];
	struct accumulator *a = &s->values[r].sum;
	if (stream_sums_fast(s, r) && x->type.elem == DT_FLOAT32) {
		buildtime_sum(x->data, n, &a->f, &s->values[r].size);
		return;
	}
	if (op == OP_REDUCE_SUM && x->type.elem == DT_FLOAT32) {
		add_sum(a, x->data, n);
		return;
	}
	for (int64_t k = 0; k < n; k++)
		accumulate_float(op, a, elem_float(x->type.elem, x->data, k), first + k);
}

/* The operand's block: a small one is repeated. */
static struct tensor operand_block(struct stream *s, ir_ref o, int64_t row, int64_t n)
{
	struct stream_value *v = &s->values[o];
	size_t size = dtype_size(v->type.elem);
	if (v->extent == FULL)
		return row_of(v->type.elem, n, v->data);
	if (!v->repeated)
		v->repeated = arena_alloc(s->a, STREAM_BLOCK * size, 64);
	for (int64_t k = 0; v->row != row && k < STREAM_BLOCK; k++)
		memcpy((char *)v->repeated + (size_t)k * size, (char *)v->data + (size_t)row * size, size);
	v->row = row;
	return row_of(v->type.elem, n, v->repeated);
}

static void load_block(struct stream *s, ir_ref r, void *block, int64_t first, int64_t n)
{
	const struct stream_weight *w = &s->weights[ir_number(ir_at(s->f, r))->number];
	struct stream_value *v = &s->values[r];
	v->data = w->tensor.data ? (char *)w->tensor.data + (size_t)first * dtype_size(v->type.elem) : block;
	if (!w->tensor.data && !s->error)
		w->read(w->reader, first, n, block, &s->error);
}

/* `block`: the value's own memory, unless its result is stored. */
static void compute_block(struct stream *s, ir_ref r, void *block, int64_t row, int64_t first, int64_t n)
{
	const struct ir_inst *i = ir_at(s->f, r);
	struct stream_value *v = &s->values[r];
	size_t size = dtype_size(v->type.elem);
	struct tensor x[8];
	if (i->op == OP_WEIGHT) {
		load_block(s, r, block, first, n);
	} else if (i->op == OP_RANDOM) {
		v->data = block;
		buildtime_random(ir_random(i), s->seed, first, n, v->type.elem, block);
	} else {
		for (uint32_t k = 0; k < i->n_operands; k++)
			x[k] = operand_block(s, ir_operand(s->f, r, k), row, n);
		v->data = v->result ? (char *)v->result + (size_t)first * size : block;
		if (ir_op_traits(i->op) & EWISE)
			compute_elements(s, r, x, n, v->data);
		else if (v->result)
			memcpy(v->data, x[0].data, (size_t)n * size);
		else
			v->data = x[0].data;
		return;
	}
	if (v->result)
		memcpy((char *)v->result + (size_t)first * size, v->data, (size_t)n * size);
}

void stream_run_block(struct stream *s, void **blocks, int64_t row, int64_t col, int64_t n)
{
	for (ir_ref r = 0; r < s->f->n_insts; r++) {
		if (!s->values[r].is_needed)
			continue;
		if (stream_reduces(ir_at(s->f, r)->op))
			reduce_block(s, r, n, col);
		else
			compute_block(s, r, blocks[r], row, row * s->cols + col, n);
	}
}
