#include "backend/interp/stream.h"
#include <stdlib.h>
#include <string.h>
#include "backend/interp/stream_state.h"
#include "base/arena.h"
#include "base/bug.h"

enum { BLOCK = 2048 }; /* elements: all blocks of a pass fit into the cache */

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
	interp_ewise(&s->interp, i, operands, &out);
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
		if (w->tensor.data || w->read(w->ctx, w->param, 0, 1, element, &s->error))
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

static void compute_small_values(struct stream *s, uint32_t pass)
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
		v->repeated = arena_alloc(s->a, BLOCK * size, 64);
	for (int64_t k = 0; v->row != row && k < BLOCK; k++)
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
		w->read(w->ctx, w->param, first, n, block, &s->error);
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

/* True if something is to be computed from full values in this pass. */
static bool mark_needed(struct stream *s, uint32_t pass)
{
	const struct ir_fn *f = s->f;
	bool any = false;
	for (ir_ref r = 0; r < f->n_insts; r++) {
		struct stream_value *v = &s->values[r];
		v->is_needed = stream_reduces(ir_at(f, r)->op) ? v->pass == pass + 1 : v->result && v->pass == pass;
		any |= v->is_needed;
	}
	for (ir_ref r = f->n_insts; r-- > 0;)
		for (uint32_t k = 0; s->values[r].is_needed && k < ir_at(f, r)->n_operands; k++)
			if (s->values[ir_operand(f, r, k)].extent == FULL)
				s->values[ir_operand(f, r, k)].is_needed = true;
	return any;
}

static void run_block(struct stream *s, void **blocks, int64_t row, int64_t col, int64_t n)
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

/* Reductions begin and end with each row. */
static void begin_row(struct stream *s)
{
	for (ir_ref r = 0; r < s->f->n_insts; r++)
		if (s->values[r].is_needed && stream_reduces(ir_at(s->f, r)->op))
			s->values[r].sum = accumulator_start(ir_at(s->f, r)->op, s->values[r].type.elem);
}

static void end_row(struct stream *s, int64_t row)
{
	for (ir_ref r = 0; r < s->f->n_insts; r++)
		if (s->values[r].is_needed && stream_reduces(ir_at(s->f, r)->op))
			elem_put_float(s->values[r].type.elem, s->values[r].data, row, s->values[r].sum.f);
}

static void run_pass(struct stream *s, uint32_t pass)
{
	void **blocks = ARENA_ARRAY(s->a, void *, s->f->n_insts + 1);
	if (!mark_needed(s, pass))
		return;
	for (ir_ref r = 0; r < s->f->n_insts; r++) {
		struct stream_value *v = &s->values[r];
		if (v->is_needed && v->extent == FULL)
			blocks[r] = arena_alloc(s->a, BLOCK * dtype_size(v->type.elem), 64);
		else if (v->is_needed)
			v->data = arena_alloc(s->a, (size_t)s->rows * dtype_size(v->type.elem) + 1, 64);
	}
	for (int64_t row = 0; row < s->rows && !s->error; row++) {
		begin_row(s);
		for (int64_t col = 0; col < s->cols && !s->error; col += BLOCK)
			run_block(s, blocks, row, col, s->cols - col < BLOCK ? s->cols - col : BLOCK);
		end_row(s, row);
	}
}

/* ---- results ---- */

/* The value whose elements the result has: the operand of a transposition. */
static ir_ref source_of(const struct stream *s, ir_ref r)
{
	return ir_at(s->f, r)->op == OP_TRANSPOSE && ir_perm(ir_at(s->f, r))->perm[0] == 1 ? ir_operand(s->f, r, 0) : r;
}

static void begin_results(struct stream *s, struct arena *out, struct stream_result *results)
{
	for (uint32_t k = 0; k < s->f->n_outputs; k++) {
		ir_ref r = source_of(s, s->f->outputs[k]);
		struct stream_value *v = &s->values[r];
		results[k] = (struct stream_result){v->type, r != s->f->outputs[k]};
		if (v->extent == FULL && !v->result)
			v->result = arena_alloc(out, (size_t)tensor_bytes(&v->type), 64);
		results[k].tensor.data = v->result;
	}
}

static void end_results(struct stream *s, struct arena *out, struct stream_result *results)
{
	for (uint32_t k = 0; k < s->f->n_outputs; k++) {
		const struct stream_value *v = &s->values[source_of(s, s->f->outputs[k])];
		size_t bytes = (size_t)tensor_bytes(&v->type);
		if (v->extent == SMALL)
			results[k].tensor.data = memcpy(arena_alloc(out, bytes, 64), v->data, bytes);
	}
}

bool stream_run(struct stream *s, const struct stream_weight *weights, struct arena *out, struct stream_result *results, const char **error)
{
	s->weights = weights;
	s->interp = (struct interp){.f = s->f, .scratch = s->a, .out = out};
	begin_results(s, out, results);
	for (uint32_t pass = 0; pass < s->n_passes && !s->error; pass++) {
		compute_small_values(s, pass);
		if (!s->error)
			run_pass(s, pass);
	}
	if (s->error) {
		*error = s->error;
		return false;
	}
	end_results(s, out, results);
	return true;
}
