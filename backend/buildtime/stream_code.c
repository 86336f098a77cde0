/* The blocks of a pass as a function of tensor IR, to be compiled. All full values are vectors of n elements, small ones are scalars: so the code
 * is that of all shapes.
 *
 * Only operations are compiled whose result is rounded once and so is the interpreter's: not exp or pow. Sums are added in double in any order,
 * with the sum of the sizes, which bounds the error. stream.c interprets a row in which a sum might round otherwise. */
#include <string.h>
#include "backend/buildtime/operations.h"
#include "backend/buildtime/stream_state.h"
#include "backend/ir/build.h"
#include "base/arena.h"

/* Nanoseconds of the interpreter for an element: with vectors (float32.c), and without. */
#define FAST_NS 0.1
#define SLOW_NS 7.0

struct maker {
	const struct stream *s;
	struct stream_block *b;
	struct ir_builder to;
	ir_ref *map; /* for each value its block, or its scalar, or IR_NONE */
	dim n;
	double ns;
};

static bool is_half(dtype e) { return e == DT_FLOAT16 || e == DT_BFLOAT16; }

/* Code makes other NaN of 16 bits than the interpreter. */
static bool is_exact(const struct ir_fn *f, const struct ir_inst *i, ir_ref operand)
{
	bool floats = dtype_class(ir_type_of(f, operand)->elem) == DTC_FLOAT;
	if (is_half(i->type.elem))
		return false;
	switch (i->op) {
	case OP_NEG:
	case OP_ABS:
	case OP_SIGN:
	case OP_CEIL:
	case OP_FLOOR:
	case OP_ROUND:
	case OP_SQRT:
	case OP_NOT:
	case OP_CAST:
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_DIV:
	case OP_MIN:
	case OP_MAX:
	case OP_EQ:
	case OP_NE:
	case OP_LT:
	case OP_LE:
	case OP_AND:
	case OP_OR:
	case OP_XOR:
	case OP_SHL:
	case OP_SHR:
	case OP_SELECT: return true;
	case OP_FLOORDIV:
	case OP_MOD: return !floats;
	default: return false;
	}
}

static struct hir_type vector_of(const struct maker *m, dtype elem) { return (struct hir_type){.elem = elem, .rank = 1, .dims = {m->n}}; }

static ir_ref stream_code_add_input(struct maker *m, ir_ref r, struct hir_type type)
{
	struct ir_fn *f = m->to.f;
	struct ir_number number = {f->n_inputs};
	m->b->reads[m->b->n_reads++] = r;
	f->inputs[f->n_inputs++] = type;
	ir_ref in = ir_emit(f, OP_INPUT, &type, NULL, 0, ORIGINS_NONE);
	ir_set_number(f, in, number);
	return in;
}

/* A small value: a number of the program, or an input. */
static ir_ref scalar(struct maker *m, ir_ref r)
{
	const struct ir_fn *f = m->s->f;
	ir_ref from = r;
	if (m->map[r] != IR_NONE)
		return m->map[r];
	while (ir_at(f, from)->op == OP_BROADCAST || ir_at(f, from)->op == OP_RESHAPE)
		from = ir_operand(f, from, 0);
	dtype elem = m->s->values[r].type.elem;
	if (ir_at(f, from)->op != OP_CONST)
		return m->map[r] = stream_code_add_input(m, r, ir_scalar(elem));
	const void *data = ir_data(ir_at(f, from))->data;
	m->map[r] = dtype_class(elem) == DTC_FLOAT ? ir_build_const_float(&m->to, elem, elem_float(elem, data, 0))
						   : ir_build_const_int(&m->to, elem, elem_int(elem, data, 0));
	return m->map[r];
}

/* The vector of an operand; a small value is repeated. */
static ir_ref vector(struct maker *m, ir_ref r)
{
	struct hir_type t = vector_of(m, m->s->values[r].type.elem);
	return m->s->values[r].extent == FULL ? m->map[r] : ir_build_broadcast(&m->to, scalar(m, r), &t);
}

/* Adds what interpreting the operation takes. Operands without elements show whether it has vectors. */
static void stream_code_add_work(struct maker *m, const struct ir_inst *i, ir_ref r)
{
	struct tensor x[3], out = {.elem = m->s->values[r].type.elem, .rank = 1};
	const struct tensor *operands[3];
	for (uint32_t k = 0; k < i->n_operands; k++) {
		x[k] = (struct tensor){.elem = m->s->values[ir_operand(m->s->f, r, k)].type.elem, .rank = 1};
		operands[k] = &x[k];
	}
	m->ns += (double)(m->s->rows * m->s->cols) * (buildtime_ewise(i, operands, &out) ? FAST_NS : SLOW_NS);
}

static bool is_nonzero_constant(const struct maker *m, ir_ref block)
{
	const struct ir_inst *i = ir_at(m->to.f, block);
	if (i->op == OP_BROADCAST)
		i = ir_at(m->to.f, ir_operand(m->to.f, block, 0));
	return i->op == OP_CONST && elem_float(i->type.elem, ir_data(i)->data, 0) != 0;
}

/* MIN or MAX. Code may return the first or the second of two equal zeros, the interpreter returns the second. */
static ir_ref lesser_or_greater(struct maker *m, const struct ir_inst *i, const ir_ref *x)
{
	ir_ref least[2] = {i->op == OP_MIN ? x[0] : x[1], i->op == OP_MIN ? x[1] : x[0]};
	if (dtype_class(i->type.elem) != DTC_FLOAT || is_nonzero_constant(m, x[0]) || is_nonzero_constant(m, x[1]))
		return ir_copy(m->to.f, i, x, 2);
	ir_ref first = ir_build_op2(&m->to, OP_LT, least[0], least[1]), is_nan = ir_build_op2(&m->to, OP_NE, x[0], x[0]);
	return ir_build_select(&m->to, ir_build_op2(&m->to, OP_OR, first, is_nan), x[0], x[1]);
}

static ir_ref element_wise(struct maker *m, ir_ref r)
{
	const struct ir_fn *f = m->s->f;
	struct ir_inst i = *ir_at(f, r);
	ir_ref operands[3];
	if (i.n_operands > 3 || !is_exact(f, &i, ir_operand(f, r, 0)))
		return IR_NONE;
	stream_code_add_work(m, &i, r);
	for (uint32_t k = 0; k < i.n_operands; k++)
		operands[k] = vector(m, ir_operand(f, r, k));
	i.type = vector_of(m, i.type.elem);
	i.origin = ORIGINS_NONE;
	return i.op == OP_MIN || i.op == OP_MAX ? lesser_or_greater(m, &i, operands) : ir_copy(m->to.f, &i, operands, i.n_operands);
}

static void stream_code_add_output(struct maker *m, ir_ref r, ir_ref value)
{
	struct ir_fn *f = m->to.f;
	m->b->writes[m->b->n_writes++] = r;
	f->outputs[f->n_outputs++] = value;
}

static bool add_reduction(struct maker *m, ir_ref r)
{
	enum ir_op op = ir_at(m->s->f, r)->op;
	ir_ref x = m->map[ir_operand(m->s->f, r, 0)];
	if (m->s->values[r].type.elem != DT_FLOAT32)
		return false;
	m->ns += (double)(m->s->rows * m->s->cols) * (op == OP_REDUCE_SUM ? FAST_NS : SLOW_NS);
	if (op == OP_REDUCE_SUM) {
		x = ir_build_cast(&m->to, x, DT_FLOAT64);
		stream_code_add_output(m, r, ir_build_reduce(&m->to, op, x, 1, false));
		x = ir_build_op1(&m->to, OP_ABS, x);
	}
	stream_code_add_output(m, r, ir_build_reduce(&m->to, op, x, 1, false));
	return true;
}

static bool stream_code_add_value(struct maker *m, ir_ref r)
{
	const struct ir_inst *i = ir_at(m->s->f, r);
	if (stream_reduces(i->op))
		return add_reduction(m, r);
	if (i->op == OP_WEIGHT)
		m->map[r] = stream_code_add_input(m, r, vector_of(m, i->type.elem));
	else if (i->op == OP_BROADCAST || i->op == OP_RESHAPE || i->op == OP_TRANSPOSE)
		m->map[r] = vector(m, ir_operand(m->s->f, r, 0));
	else
		m->map[r] = ir_op_traits(i->op) & EWISE ? element_wise(m, r) : IR_NONE;
	if (m->map[r] != IR_NONE && m->s->values[r].result)
		stream_code_add_output(m, r, m->map[r]);
	return m->map[r] != IR_NONE;
}

static void stream_code_reserve(struct stream_block *b, struct arena *a, uint32_t n)
{
	*b = (struct stream_block){.reads = ARENA_ARRAY(a, ir_ref, n + 1), .writes = ARENA_ARRAY(a, ir_ref, 2 * n + 1)};
	b->bufs = ARENA_ARRAY(a, void *, 3 * n + 1);
	b->blocks = ARENA_ARRAY(a, void *, n + 1);
	b->sums = ARENA_ARRAY(a, double, 2 * n + 1);
}

bool stream_find_code(struct stream *s, struct stream_block *b)
{
	uint32_t n = s->f->n_insts;
	bool ok = s->compiler != NULL;
	struct arena *a = s->a;
	if (!ok)
		return false;
	struct dims *dims = dims_new(a);
	struct maker m = {.s = s, .b = b, .n = dim_new_sym(dims, "N"), .map = ARENA_ARRAY(a, ir_ref, n + 1)};
	m.to = (struct ir_builder){ir_fn_new(a, "block", dims), ORIGINS_NONE};
	m.to.f->origins = s->f->origins;
	m.to.f->inputs = ARENA_ARRAY(a, struct hir_type, n + 1);
	m.to.f->outputs = ARENA_ARRAY(a, ir_ref, 2 * n + 1);
	stream_code_reserve(b, a, n);
	memset(m.map, 0xff, n * sizeof *m.map);
	for (ir_ref r = 0; r < n && ok; r++)
		ok = !s->values[r].is_needed || stream_code_add_value(&m, r);
	b->code = ok ? s->compiler->find(s->compiler->ctx, m.to.f, m.ns) : NULL;
	for (uint32_t k = 0; b->code && k < b->n_reads; k++)
		if (s->values[b->reads[k]].extent == FULL)
			b->blocks[k] = arena_alloc(a, COMPILED_BLOCK * dtype_size(s->values[b->reads[k]].type.elem), 64);
	return b->code != NULL;
}

/* ---- running ---- */

static void *stream_code_argument(struct stream *s, const struct stream_block *b, uint32_t k, int64_t row, int64_t first, int64_t n)
{
	const struct stream_value *v = &s->values[b->reads[k]];
	size_t size = dtype_size(v->type.elem);
	if (v->extent == SMALL)
		return (char *)v->data + (size_t)row * size;
	const struct stream_weight *w = &s->weights[ir_number(ir_at(s->f, b->reads[k]))->number];
	if (w->tensor.data)
		return (char *)w->tensor.data + (size_t)first * size;
	if (!s->error)
		w->read(w->reader, first, n, b->blocks[k], &s->error);
	return b->blocks[k];
}

static void add_reductions(struct stream *s, const struct stream_block *b)
{
	for (uint32_t k = 0; k < b->n_writes; k++) {
		ir_ref r = b->writes[k];
		struct stream_value *v = &s->values[r];
		if (ir_at(s->f, r)->op == OP_REDUCE_SUM) {
			v->sum.f += b->sums[k];
			v->size += b->sums[++k];
		} else if (stream_reduces(ir_at(s->f, r)->op)) {
			float most;
			memcpy(&most, &b->sums[k], sizeof most);
			accumulate_float(ir_at(s->f, r)->op, &v->sum, (double)most, 0);
		}
	}
}

void stream_run_code(struct stream *s, const struct stream_block *b, int64_t row, int64_t col, int64_t n)
{
	int64_t first = row * s->cols + col;
	for (uint32_t k = 0; k < b->n_reads; k++)
		b->bufs[k] = stream_code_argument(s, b, k, row, first, n);
	for (uint32_t k = 0; k < b->n_writes; k++) {
		const struct stream_value *v = &s->values[b->writes[k]];
		b->bufs[b->n_reads + k] = stream_reduces(ir_at(s->f, b->writes[k])->op)
						  ? (void *)&b->sums[k]
						  : (char *)v->result + (size_t)first * dtype_size(v->type.elem);
	}
	if (!s->error)
		s->compiler->run(b->code, b->bufs, n);
	add_reductions(s, b);
}
