/* Finds out whether a function can run in blocks, and in which pass each value is computed. */
#include "backend/buildtime/stream_state.h"
#include "base/arena.h"

enum { LEAST = 1 << 14 }; /* elements; the interpreter is fast enough for fewer */

static int64_t stream_plan_count_of(const struct stream *s, ir_ref r) { return tensor_count(&s->values[r].type); }
static int64_t stream_plan_total(const struct stream *s) { return s->rows * s->cols; }

static struct tensor stream_plan_type_of(const struct ir_fn *f, ir_ref r)
{
	const struct hir_type *t = &ir_at(f, r)->type;
	struct tensor out = {.elem = t->elem, .rank = t->rank};
	for (uint32_t k = 0; k < t->rank; k++)
		out.dims[k] = dim_eval(f->dims, t->dims[k], NULL);
	return out;
}

/* The product of the dims that the mask has. 0: they are not the last ones, apart from dims of size 1. */
static int64_t last_dims(const struct tensor *t, uint32_t mask)
{
	int64_t n = 1;
	bool ended = false;
	for (uint32_t k = t->rank; k-- > 0;) {
		if (t->dims[k] == 1)
			continue;
		if (!(mask >> k & 1))
			ended = true;
		else if (ended)
			return 0;
		else
			n *= t->dims[k];
	}
	return n;
}

/* The largest weight or random tensor decides how many elements there are, the first reduction the rows. */
static bool find_shape(struct stream *s)
{
	int64_t n = 0, cols = 0;
	for (ir_ref r = 0; r < s->f->n_insts; r++) {
		const struct ir_inst *i = ir_at(s->f, r);
		if ((i->op == OP_WEIGHT || i->op == OP_RANDOM) && stream_plan_count_of(s, r) > n)
			n = stream_plan_count_of(s, r);
		if (stream_reduces(i->op) && !cols)
			cols = last_dims(&s->values[ir_operand(s->f, r, 0)].type, ir_axes(i)->mask);
		if (stream_reduces(i->op) && !cols)
			return false;
	}
	s->cols = cols ? cols : n;
	s->rows = s->cols ? n / s->cols : 0;
	return n >= LEAST && s->rows * s->cols == n;
}

/* True if element k of each row of `to` is the row's element of `from`. */
static bool repeats_rows(const struct stream *s, const struct tensor *from, const struct tensor *to)
{
	int64_t n = 1;
	uint32_t k = to->rank, gap = to->rank - from->rank;
	if (tensor_count(from) == 1)
		return true;
	while (k > gap && n < s->cols && from->dims[k - 1 - gap] == 1)
		n *= to->dims[--k];
	bool same = n == s->cols && tensor_count(to) == stream_plan_total(s);
	while (same && k-- > gap)
		same = from->dims[k - gap] == to->dims[k];
	return same;
}

static bool is_row_type(const struct stream *s, const struct tensor *t)
{
	int64_t n = tensor_count(t);
	return n == 1 || n == s->rows;
}

static bool plan_reduction(struct stream *s, ir_ref r)
{
	const struct stream_value *x = &s->values[ir_operand(s->f, r, 0)];
	struct stream_value *v = &s->values[r];
	v->extent = SMALL;
	v->pass = x->pass + 1;
	return x->extent == FULL && dtype_class(x->type.elem) == DTC_FLOAT && last_dims(&x->type, ir_axes(ir_at(s->f, r))->mask) == s->cols;
}

static bool plan_operands(struct stream *s, ir_ref r)
{
	const struct ir_inst *i = ir_at(s->f, r);
	struct stream_value *v = &s->values[r];
	for (uint32_t k = 0; k < i->n_operands; k++) {
		const struct stream_value *x = &s->values[ir_operand(s->f, r, k)];
		v->extent = x->extent == FULL ? FULL : v->extent;
		v->pass = x->pass > v->pass ? x->pass : v->pass;
	}
	return v->extent == SMALL || stream_plan_count_of(s, r) == stream_plan_total(s);
}

static bool plan_inst(struct stream *s, ir_ref r)
{
	const struct ir_inst *i = ir_at(s->f, r);
	struct stream_value *v = &s->values[r];
	int64_t n = stream_plan_count_of(s, r);
	if (i->op == OP_WEIGHT) {
		v->extent = n == stream_plan_total(s) ? FULL : SMALL;
		return v->extent == FULL || n == 1;
	}
	if (i->op == OP_RANDOM) {
		v->extent = FULL;
		return n == stream_plan_total(s) && ir_random(i)->kind != RANDOM_TRIT_BALANCED;
	}
	if (i->op == OP_CONST)
		return n == 1;
	if (stream_reduces(i->op))
		return plan_reduction(s, r);
	if (!i->n_operands || !plan_operands(s, r))
		return false;
	const struct stream_value *x = &s->values[ir_operand(s->f, r, 0)];
	if (i->op == OP_BROADCAST)
		return v->extent == FULL ? n == tensor_count(&x->type) : repeats_rows(s, &x->type, &v->type);
	if (i->op == OP_RESHAPE)
		return v->extent == FULL || is_row_type(s, &v->type);
	if (i->op == OP_TRANSPOSE) /* only a result may be transposed */
		return v->extent == FULL && v->type.rank == 2;
	return ir_op_traits(i->op) & EWISE;
}

/* Transposed values are only results, full results are known to be computed, and small ones have an element for each row at most. */
static bool plan_outputs(struct stream *s)
{
	const struct ir_fn *f = s->f;
	for (ir_ref r = 0; r < f->n_insts; r++)
		for (uint32_t k = 0; k < ir_at(f, r)->n_operands; k++)
			if (ir_at(f, ir_operand(f, r, k))->op == OP_TRANSPOSE)
				return false;
	for (uint32_t k = 0; k < f->n_outputs; k++) {
		const struct stream_value *v = &s->values[f->outputs[k]];
		if (v->extent == SMALL && !is_row_type(s, &v->type))
			return false;
		s->n_passes = v->pass + 1 > s->n_passes ? v->pass + 1 : s->n_passes;
	}
	return true;
}

struct stream *stream_plan(struct arena *a, const struct ir_fn *f)
{
	struct stream *s = ARENA_NEW(a, struct stream);
	*s = (struct stream){.a = a, .f = f, .values = ARENA_ARRAY(a, struct stream_value, f->n_insts + 1)};
	for (ir_ref r = 0; r < f->n_insts; r++) {
		s->values[r] = (struct stream_value){.type = stream_plan_type_of(f, r), .row = -1};
		if (ir_at(f, r)->type.rank > 8)
			return NULL;
	}
	if (!find_shape(s))
		return NULL;
	for (ir_ref r = 0; r < f->n_insts; r++)
		if (!plan_inst(s, r))
			return NULL;
	return plan_outputs(s) ? s : NULL;
}
