/* The fields of nests: loops, schedules, expressions, reductions, stores. */
#include "backend/loops/ir/fields.h"

enum { EXPR_KINDS = LOOP_OP }; /* before the operations */

/* The kind of an expression; of an operation EXPR_KINDS plus its number. */
static const char *expr_words(uint32_t k)
{
	static const char *const words[] = {
#define EXPR(id, word) word,
#include "backend/loops/ir/exprs.def"
#undef EXPR
	};
	return k < EXPR_KINDS ? words[k] : ir_op_text((enum ir_op)(k - EXPR_KINDS));
}

static const char *axis_words(uint32_t k) { return axis_text((enum axis_kind)k); }

static const char *tail_words(uint32_t k)
{
	static const char *const words[] = {
#define TAIL(id, word) word,
#include "backend/loops/ir/tails.def"
#undef TAIL
	};
	return words[k];
}

static const char *method_words(uint32_t k) { return method_text((enum loop_method)k); }

static const char *op_words(uint32_t k) { return ir_op_text((enum ir_op)k); }

static uint32_t loops_of(const struct codec *c, bool in_reduction) { return c->nest->n_parallel + (in_reduction ? c->nest->n_reduce : 0u); }

static void code_value(struct codec *c, uint32_t *x) { code_reference(c, "%", x, UINT32_MAX); }

static void code_expr_fields(struct codec *c, struct loop_expr *x)
{
	switch (x->kind) {
	case LOOP_LOAD: code_access(c, &x->access, loops_of(c, x->in_reduction)); return;
	case LOOP_CONST:
		if (dtype_class(x->elem) == DTC_FLOAT)
			code_real(c, &x->f);
		else
			code_integer(c, &x->i);
		return;
	case LOOP_INDEX: code_reference(c, "i", &x->var, LOOP_MAX); return;
	case LOOP_EXTENT: /* in brackets, because a `%` may follow */
		code_mark(c, "(");
		code_dim(c, &x->extent);
		code_mark(c, ")");
		return;
	case LOOP_CHECK:
		code_value(c, &x->args[0]);
		code_mark(c, " below (");
		code_dim(c, &x->extent);
		code_mark(c, ")");
		return;
	case LOOP_BOUNDED:
		code_value(c, &x->args[0]);
		code_mark(c, " from ");
		code_real(c, &x->low);
		code_mark(c, " to ");
		code_real(c, &x->high);
		code_flag(c, " nearest", &x->nearest);
		return;
	case LOOP_ACC: code_number(c, &x->var, UINT32_MAX); return;
	case LOOP_TILE: return;
	case LOOP_OP:
		code_need(c, ir_op_traits(x->op) & EWISE, "an element-wise operation expected");
		for (int k = 0; k < ir_op_operands(x->op) && k < 3 && !codec_failed(c); k++) {
			code_mark(c, k ? ", " : "");
			code_value(c, &x->args[k]);
		}
		if (code_option(c, " by ", x->method != METHOD_PLAIN))
			CODE_ENUM(c, x->method, METHOD_COUNT, method_words);
		return;
	}
}

static void code_expr(struct codec *c, struct loop_expr *x)
{
	uint32_t head = x->kind == LOOP_OP ? EXPR_KINDS + (uint32_t)x->op : (uint32_t)x->kind;
	code_line(c);
	code_flag(c, "| ", &x->in_reduction);
	code_own(c, "%", (uint32_t)(x - c->nest->exprs));
	code_mark(c, " ");
	code_elem(c, &x->elem);
	code_mark(c, " = ");
	head = code_word(c, head, EXPR_KINDS + OP_COUNT, expr_words);
	CODE_SET(x->kind, head < EXPR_KINDS ? (enum loop_expr_kind)head : LOOP_OP);
	CODE_SET(x->op, head < EXPR_KINDS ? 0 : (enum ir_op)(head - EXPR_KINDS));
	code_mark(c, x->kind == LOOP_TILE ? "" : " ");
	code_expr_fields(c, x);
}

static void code_reduction(struct codec *c, struct loop_reduction *x)
{
	code_line(c);
	code_mark(c, "acc ");
	code_own(c, "", (uint32_t)(x - c->nest->reductions));
	code_mark(c, " ");
	code_elem(c, &x->elem);
	code_mark(c, " = ");
	CODE_ENUM(c, x->op, OP_COUNT, op_words);
	code_need(c, ir_op_traits(x->op) & REDUCES, "a reduction expected");
	code_mark(c, " ");
	code_value(c, &x->value);
	code_flag(c, " fused", &x->fused);
}

static void code_store(struct codec *c, struct loop_store *x)
{
	code_line(c);
	code_mark(c, "store ");
	code_access(c, &x->access, loops_of(c, false));
	code_mark(c, " = ");
	code_value(c, &x->value);
}

/* Loops `first` and following: "(i0 < N, i1 < 10)". */
static void code_loops(struct codec *c, struct loop_nest *n, uint32_t first, uint8_t *count)
{
	struct codec_list l = code_list(c, *count);
	code_mark(c, "(");
	while (code_next_comma(c, &l, ")")) {
		code_need(c, first + l.at <= LOOP_MAX && first + l.n <= LOOP_MAX, "fewer loops expected");
		if (codec_failed(c))
			return;
		code_own(c, "i", first + l.at - 1);
		code_mark(c, " < ");
		code_dim(c, &n->extent[first + l.at - 1]);
	}
	CODE_SET(*count, (uint8_t)l.at);
}

static void code_axis(struct codec *c, struct loop_axis *x)
{
	CODE_ENUM(c, x->kind, AXIS_KINDS, axis_words);
	code_mark(c, " ");
	code_reference(c, "i", &x->of, LOOP_MAX);
	if (code_option(c, " by ", x->width != 1))
		code_number(c, &x->width, LOOP_MAX_LANES);
	else
		CODE_SET(x->width, 1);
	if (code_option(c, " step ", x->step != 1))
		code_integer(c, &x->step);
	else
		CODE_SET(x->step, 1);
}

void code_schedule(struct codec *c, struct loop_schedule *x)
{
	bool chosen = x->index_bytes != 0;
	if (chosen)
		code_line(c);
	if (!code_option(c, "schedule ", chosen))
		return;
	code_mark(c, "(");
	CODE_COMMAS(c, x->axes, x->n_axes, ")", code_axis);
	if (code_option(c, " tail ", x->tail != TAIL_NONE))
		CODE_ENUM(c, x->tail, TAIL_KINDS, tail_words);
	code_mark(c, " index ");
	code_number(c, &x->index_bytes, 8);
	if (code_option(c, " blocks ", x->sum_block))
		code_number(c, &x->sum_block, UINT32_MAX);
	code_flag(c, " apart", &x->apart);
}

/* The loops of the blocks around are those of the nest too. Text and bytes do not repeat them. */
static void code_outer(struct codec *c, struct loop_nest *n)
{
	if (codec_reads(c)) {
		n->n_outer = n->n_parallel = c->outer ? c->outer->n_parallel : 0;
		for (uint32_t k = 0; k < n->n_outer; k++)
			n->extent[k] = c->outer->extent[k];
	}
	for (uint32_t k = 0; c->mode == CODEC_VISIT && k < n->n_outer; k++)
		code_dim(c, &n->extent[k]);
}

void code_all_loops(struct codec *c, struct loop_nest *n)
{
	c->nest = n;
	code_outer(c, n);
	uint8_t own = n->n_parallel - n->n_outer;
	code_loops(c, n, n->n_outer, &own);
	CODE_SET(n->n_parallel, (uint8_t)(n->n_outer + own));
	if (code_option(c, " reduce ", n->n_reduce))
		code_loops(c, n, n->n_parallel, &n->n_reduce);
	for (uint32_t k = n->n_parallel + n->n_reduce; codec_reads(c) && k < LOOP_MAX; k++)
		n->extent[k] = dim_const(c->dims, 0);
}

void code_nest(struct codec *c, struct loop_nest *n)
{
	code_all_loops(c, n);
	c->depth++;
	code_schedule(c, &n->schedule);
	CODE_LINES(c, n->exprs, n->n_exprs, "| %#", code_expr);
	CODE_LINES(c, n->reductions, n->n_reductions, "acc", code_reduction);
	CODE_LINES(c, n->stores, n->n_stores, "store", code_store);
	c->depth--;
}
