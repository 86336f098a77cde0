/* Prints reductions. A work item computes one alone, or a work group shares it. Then its items take the terms in turn, and their partial
 * results are combined in fixed pairs. */
#include "base/arena.h"
#include "base/bug.h"
#include "gpu/emit.h"

static bool is_arg(enum ir_op op) { return op == OP_ARGMAX || op == OP_ARGMIN; }
static dtype value_elem(const struct emit_nest *e, uint32_t k) { return e->n->exprs[e->n->reductions[k].value].elem; }

/* True if partial sums are added in blocks. */
static bool is_blocked(const struct emit_nest *e, uint32_t k)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	return e->n->schedule.sum_block && r->op == OP_REDUCE_SUM && dtype_class(r->elem) == DTC_FLOAT;
}

static const char *extreme(struct arena *a, dtype t, bool least)
{
	if (dtype_class(t) == DTC_FLOAT)
		return least ? "-INFINITY" : "INFINITY";
	return opencl_const(a, t, least ? dtype_least_int(t) : dtype_largest_int(t), 0);
}

static const char *identity_of(struct arena *a, const struct loop_reduction *r)
{
	switch (r->op) {
	case OP_REDUCE_SUM: return "0";
	case OP_REDUCE_PROD: return "1";
	case OP_REDUCE_MAX:
	case OP_REDUCE_MIN: return extreme(a, r->elem, r->op == OP_REDUCE_MAX);
	default: BUG("reduction");
	}
}

void emit_reduction_start(const struct emit_nest *e, uint32_t k)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	if (is_arg(r->op)) {
		buf_printf(e->out, "\t%s m%u = 0;\n\tlong a%u = 0, c%u = 0;\n", emit_value_type(value_elem(e, k)), k, k, k);
		return;
	}
	buf_printf(e->out, "\t%s a%u = %s;\n", emit_value_type(r->elem), k, identity_of(e->scratch, r));
	if (is_blocked(e, k))
		buf_printf(e->out, "\t%s s%u = 0;\n\tint c%u = 0;\n", emit_value_type(r->elem), k, k);
}

/* The first of equal elements wins; NaN wins over all numbers. */
static void arg_step(const struct emit_nest *e, uint32_t k, uint32_t depth)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	uint32_t v = r->value;
	char better = r->op == OP_ARGMAX ? '>' : '<';
	emit_tabs(e->out, depth);
	if (dtype_class(value_elem(e, k)) == DTC_FLOAT)
		buf_printf(e->out, "if (c%u == 0 || v%u %c m%u || (v%u != v%u && m%u == m%u)) {\n", k, v, better, k, v, v, k, k);
	else
		buf_printf(e->out, "if (c%u == 0 || v%u %c m%u) {\n", k, v, better, k);
	emit_tabs(e->out, depth + 1);
	buf_printf(e->out, "m%u = v%u;\n", k, v);
	emit_tabs(e->out, depth + 1);
	buf_printf(e->out, "a%u = c%u;\n", k, k);
	emit_tabs(e->out, depth);
	buf_puts(e->out, "}\n");
	emit_tabs(e->out, depth);
	buf_printf(e->out, "c%u++;\n", k);
}

static void blocked_step(const struct emit_nest *e, uint32_t k, uint32_t depth)
{
	emit_tabs(e->out, depth);
	buf_printf(e->out, "s%u += v%u;\n", k, e->n->reductions[k].value);
	emit_tabs(e->out, depth);
	buf_printf(e->out, "if (++c%u == %u) {\n", k, e->n->schedule.sum_block);
	emit_tabs(e->out, depth + 1);
	buf_printf(e->out, "a%u += s%u;\n", k, k);
	emit_tabs(e->out, depth + 1);
	buf_printf(e->out, "s%u = 0;\n", k);
	emit_tabs(e->out, depth + 1);
	buf_printf(e->out, "c%u = 0;\n", k);
	emit_tabs(e->out, depth);
	buf_puts(e->out, "}\n");
}

static enum ir_op step_op(enum ir_op op)
{
	switch (op) {
	case OP_REDUCE_SUM: return OP_ADD;
	case OP_REDUCE_PROD: return OP_MUL;
	case OP_REDUCE_MAX: return OP_MAX;
	case OP_REDUCE_MIN: return OP_MIN;
	default: BUG("reduction");
	}
}

/* 16-bit floats are accumulated in float and rounded once, at the end. */
static dtype work_elem(dtype t) { return t == DT_FLOAT16 || t == DT_BFLOAT16 ? DT_FLOAT32 : t; }

void emit_reduction_step(const struct emit_nest *e, uint32_t k, uint32_t depth)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	if (is_arg(r->op)) {
		arg_step(e, k, depth);
		return;
	}
	if (is_blocked(e, k)) {
		blocked_step(e, k, depth);
		return;
	}
	const char *args[3] = {arena_printf(e->scratch, "a%u", k), arena_printf(e->scratch, "v%u", r->value)};
	dtype t = work_elem(r->elem);
	emit_tabs(e->out, depth);
	buf_printf(e->out, "a%u = %s;\n", k, emit_op(e->scratch, step_op(r->op), t, t, args));
}

void emit_reduction_end(const struct emit_nest *e, uint32_t k)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	if (is_blocked(e, k) && !e->sig.group)
		buf_printf(e->out, "\ta%u += s%u;\n", k, k);
	if (e->sig.group)
		buf_printf(e->out, "\ta%u = l%u[0];\n", k, k);
	if (r->elem == DT_FLOAT16 || r->elem == DT_BFLOAT16)
		buf_printf(e->out, "\ta%u = tri_round_%s(a%u);\n", k, r->elem == DT_FLOAT16 ? "f16" : "bf16", k);
}

static void combine(const struct emit_nest *e, uint32_t k)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	const char *args[3] = {arena_printf(e->scratch, "l%u[lane]", k), arena_printf(e->scratch, "l%u[lane + gap]", k)};
	dtype t = work_elem(r->elem);
	buf_printf(e->out, "\t\t\tl%u[lane] = %s;\n", k, emit_op(e->scratch, step_op(r->op), t, t, args));
}

void emit_reduction_group(const struct emit_nest *e)
{
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		buf_printf(e->out, is_blocked(e, k) ? "\tl%u[lane] = a%u + s%u;\n" : "\tl%u[lane] = a%u;\n", k, k, k);
	buf_printf(e->out, "\tfor (int gap = %u; gap > 0; gap >>= 1) {\n\t\tbarrier(CLK_LOCAL_MEM_FENCE);\n\t\tif (lane < gap) {\n",
		   e->sig.group / 2);
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		combine(e, k);
	buf_puts(e->out, "\t\t}\n\t}\n");
}
