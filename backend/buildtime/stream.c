#include "backend/buildtime/stream.h"
#include <string.h>
#include "backend/buildtime/stream_state.h"
#include "base/arena.h"

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

static void begin_reduction(struct stream *s, ir_ref r)
{
	s->values[r].sum = accumulator_start(ir_at(s->f, r)->op, s->values[r].type.elem);
	s->values[r].size = 0;
}

/* Reductions begin and end with each row. */
static void stream_begin_row(struct stream *s)
{
	for (ir_ref r = 0; r < s->f->n_insts; r++)
		if (s->values[r].is_needed && stream_reduces(ir_at(s->f, r)->op))
			begin_reduction(s, r);
}

/* n additions in any order have an error of at most n 2^-53 times the sum of the sizes. Here one sum has n, the other has fewer. Of equals the
 * first is the greatest or least, which code does not know of zeros and NaN. */
static bool is_certain(const struct stream *s, ir_ref r, bool has_code)
{
	const struct stream_value *v = &s->values[r];
	double error = v->size * (1.1 * (double)s->cols + 64) * 0x1p-53;
	if (ir_at(s->f, r)->op != OP_REDUCE_SUM)
		return !has_code || v->sum.f < 0 || v->sum.f > 0;
	return !stream_sums_fast(s, r) || (float)(v->sum.f - error) == (float)(v->sum.f + error);
}

/* Returns false if a reduction might have another result in the order of the interpreter. */
static bool end_row(struct stream *s, int64_t row, bool has_code)
{
	bool certain = true;
	for (ir_ref r = 0; r < s->f->n_insts; r++) {
		struct stream_value *v = &s->values[r];
		if (!v->is_needed || !stream_reduces(ir_at(s->f, r)->op))
			continue;
		elem_put_float(v->type.elem, v->data, row, v->sum.f);
		certain &= is_certain(s, r, has_code);
	}
	return certain;
}

/* `code` NULL: interprets. */
static bool run_row(struct stream *s, void **blocks, const struct stream_block *code, int64_t row)
{
	int64_t most = code ? COMPILED_BLOCK : STREAM_BLOCK;
	stream_begin_row(s);
	for (int64_t col = 0; col < s->cols && !s->error; col += most) {
		int64_t n = s->cols - col < most ? s->cols - col : most;
		if (code)
			stream_run_code(s, code, row, col, n);
		else
			stream_run_block(s, blocks, row, col, n);
	}
	return end_row(s, row, code != NULL);
}

/* A row is uncertain once in twenty large matrices. */
static void run_rows(struct stream *s, void **blocks, const struct stream_block *code)
{
	for (int64_t row = 0; row < s->rows && !s->error; row++) {
		s->sums_in_order = false;
		if (run_row(s, blocks, code, row) || s->error)
			continue;
		s->sums_in_order = true;
		run_row(s, blocks, NULL, row);
	}
}

static void run_pass(struct stream *s, uint32_t pass)
{
	void **blocks = ARENA_ARRAY(s->a, void *, s->f->n_insts + 1);
	struct stream_block code;
	if (!mark_needed(s, pass))
		return;
	for (ir_ref r = 0; r < s->f->n_insts; r++) {
		struct stream_value *v = &s->values[r];
		if (v->is_needed && v->extent == FULL)
			blocks[r] = arena_alloc(s->a, STREAM_BLOCK * dtype_size(v->type.elem), 64);
		else if (v->is_needed)
			v->data = arena_alloc(s->a, (size_t)s->rows * dtype_size(v->type.elem) + 1, 64);
	}
	run_rows(s, blocks, stream_find_code(s, &code) ? &code : NULL);
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

bool stream_run(struct stream *s, const struct stream_weight *weights, const struct stream_compiler *compiler, struct arena *out,
		struct stream_result *results, const char **error)
{
	s->weights = weights;
	s->compiler = compiler;
	begin_results(s, out, results);
	for (uint32_t pass = 0; pass < s->n_passes && !s->error; pass++) {
		stream_compute_small_values(s, pass);
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
