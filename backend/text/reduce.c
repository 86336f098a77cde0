/* Prints reductions. A work item computes one alone, or a work group shares it. Then its items take the terms in turn, and their partial
 * results are combined in fixed pairs: first of the TRI_SWAPS neighbours that exchange values without local memory (gpu/templates), then of the others. */
#include "base/arena.h"
#include "base/bug.h"
#include "backend/text/printer.h"

static bool reduce_is_arg(enum ir_op op) { return op == OP_ARGMAX || op == OP_ARGMIN; }
static dtype value_elem(const struct text_printer *e, uint32_t k) { return e->n->exprs[e->n->reductions[k].value].elem; }

/* True if partial sums are added in blocks: of a work item that keeps few elements there is one. */
static bool is_blocked(const struct text_printer *e, uint32_t k)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	return e->n->schedule.sum_block && (!e->items || e->items > e->n->schedule.sum_block) && r->op == OP_REDUCE_SUM &&
	       dtype_class(r->elem) == DTC_FLOAT;
}

static const char *reduce_extreme(const struct text_printer *e, dtype t, bool least)
{
	if (dtype_class(t) == DTC_FLOAT)
		return least ? "-INFINITY" : "INFINITY";
	return text_const(e, t, least ? dtype_least_int(t) : dtype_largest_int(t), 0);
}

static const char *identity_of(const struct text_printer *e, const struct loop_reduction *r)
{
	switch (r->op) {
	case OP_REDUCE_SUM: return "0";
	case OP_REDUCE_PROD: return "1";
	case OP_REDUCE_MAX:
	case OP_REDUCE_MIN: return reduce_extreme(e, r->elem, r->op == OP_REDUCE_MAX);
	default: BUG("reduction");
	}
}

const char *text_reduction_identity(const struct text_printer *e, uint32_t k)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	return e->width > 1 ? arena_printf(e->scratch, e->d->vectors->splat, text_type(e, r->elem), identity_of(e, r)) : identity_of(e, r);
}

const char *text_reduction_name(const struct text_printer *e, uint32_t k)
{
	return e->copy ? arena_printf(e->scratch, "a%u_%u", k, e->copy) : arena_printf(e->scratch, "a%u", k);
}

#define reduction_line(e, ...) (text_tabs((e)->out, (e)->depth), buf_printf((e)->out, __VA_ARGS__))

void text_reduction_start(const struct text_printer *e, uint32_t k)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	if (reduce_is_arg(r->op)) {
		reduction_line(e, "%s m%u = 0;\n", e->d->values[value_elem(e, k)], k);
		reduction_line(e, "%s a%u = 0, c%u = 0;\n", e->d->values[DT_INT64], k, k);
		return;
	}
	reduction_line(e, "%s %s = %s;\n", text_type(e, r->elem), text_reduction_name(e, k), text_reduction_identity(e, k));
	if (!is_blocked(e, k))
		return;
	reduction_line(e, "%s s%u = 0;\n", e->d->values[r->elem], k);
	reduction_line(e, "%s c%u = 0;\n", e->d->values[DT_INT32], k);
}

/* The first of equal elements wins; NaN wins over all numbers. */
static void arg_step(const struct text_printer *e, uint32_t k, uint32_t depth)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	uint32_t v = r->value;
	char better = r->op == OP_ARGMAX ? '>' : '<';
	text_tabs(e->out, depth);
	if (dtype_class(value_elem(e, k)) == DTC_FLOAT)
		buf_printf(e->out, "if (c%u == 0 || v%u %c m%u || (v%u != v%u && m%u == m%u)) {\n", k, v, better, k, v, v, k, k);
	else
		buf_printf(e->out, "if (c%u == 0 || v%u %c m%u) {\n", k, v, better, k);
	text_tabs(e->out, depth + 1);
	buf_printf(e->out, "m%u = v%u;\n", k, v);
	text_tabs(e->out, depth + 1);
	buf_printf(e->out, "a%u = c%u;\n", k, k);
	text_tabs(e->out, depth);
	buf_puts(e->out, "}\n");
	text_tabs(e->out, depth);
	buf_printf(e->out, "c%u++;\n", k);
}

static void blocked_step(const struct text_printer *e, uint32_t k, uint32_t depth)
{
	text_tabs(e->out, depth);
	buf_printf(e->out, "s%u += v%u;\n", k, e->n->reductions[k].value);
	text_tabs(e->out, depth);
	buf_printf(e->out, "if (++c%u == %u) {\n", k, e->n->schedule.sum_block);
	text_tabs(e->out, depth + 1);
	buf_printf(e->out, "a%u += s%u;\n", k, k);
	text_tabs(e->out, depth + 1);
	buf_printf(e->out, "s%u = 0;\n", k);
	text_tabs(e->out, depth + 1);
	buf_printf(e->out, "c%u = 0;\n", k);
	text_tabs(e->out, depth);
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

void text_reduction_step(const struct text_printer *e, uint32_t k, uint32_t depth)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	if (reduce_is_arg(r->op)) {
		arg_step(e, k, depth);
		return;
	}
	if (is_blocked(e, k)) {
		blocked_step(e, k, depth);
		return;
	}
	struct text_printer at = *e;
	at.depth = depth;
	text_reduction_combine(&at, k, text_operand(e, r->value));
}

void text_reduction_combine(const struct text_printer *e, uint32_t k, const char *other)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	const char *args[3] = {text_reduction_name(e, k), other};
	dtype t = work_elem(r->elem);
	reduction_line(e, "%s = %s;\n", args[0], text_op(e, step_op(r->op), t, t, args));
}

const char *text_reduction_fold(const struct text_printer *e, uint32_t k)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	return arena_printf(e->scratch, "tri_fold_%s_%s(%s)", ir_op_text(step_op(r->op)), text_type(e, r->elem), text_reduction_name(e, k));
}

void text_reduction_end(const struct text_printer *e, uint32_t k)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	if (is_blocked(e, k) && !e->sig.group)
		reduction_line(e, "a%u += s%u;\n", k, k);
	if (e->sig.group)
		reduction_line(e, "a%u = l%u[0];\n", k, k);
	if (r->elem == DT_FLOAT16 || r->elem == DT_BFLOAT16)
		reduction_line(e, "a%u = %s(a%u);\n", k, text_helper(e, r->elem == DT_FLOAT16 ? "tri_round_f16" : "tri_round_bf16"), k);
}

static void text_reduce_combine(const struct text_printer *e, uint32_t k)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	const char *args[3] = {arena_printf(e->scratch, "l%u[lane]", k), arena_printf(e->scratch, "l%u[lane + gap]", k)};
	dtype t = work_elem(r->elem);
	buf_printf(e->out, "\t\t\tl%u[lane] = %s;\n", k, text_op(e, step_op(r->op), t, t, args));
}

static void combine_neighbours(const struct text_printer *e, uint32_t k)
{
	const struct loop_reduction *r = &e->n->reductions[k];
	const char *type = e->d->values[r->elem], *args[3] = {arena_printf(e->scratch, "a%u", k), arena_printf(e->scratch, "w%u", k)};
	dtype t = work_elem(r->elem);
	buf_printf(e->out, "\t\tconst %s %s = tri_swap_%s(%s, gap, l%u);\n", type, args[1], type, args[0], k);
	buf_printf(e->out, "\t\t%s = %s;\n", args[0], text_op(e, step_op(r->op), t, t, args));
}

void text_reduction_group(const struct text_printer *e)
{
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		if (is_blocked(e, k))
			buf_printf(e->out, "\ta%u += s%u;\n", k, k);
	buf_puts(e->out, "\tfor (int gap = TRI_SWAPS / 2; gap > 0; gap >>= 1) {\n");
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		combine_neighbours(e, k);
	buf_puts(e->out, "\t}\n\tif ((lane & (TRI_SWAPS - 1)) == 0) {\n");
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		buf_printf(e->out, "\t\tl%u[lane >> TRI_SWAP_BITS] = a%u;\n", k, k);
	buf_printf(e->out, "\t}\n\tfor (int gap = %u >> TRI_SWAP_BITS; gap > 0; gap >>= 1) {\n\t\t%s;\n\t\tif (lane < gap) {\n",
		   e->sig.group / 2, e->d->barrier);
	for (uint32_t k = 0; k < e->n->n_reductions; k++)
		text_reduce_combine(e, k);
	buf_puts(e->out, "\t\t}\n\t}\n");
}
