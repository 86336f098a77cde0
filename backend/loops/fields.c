/* The fields of loop IR, in the order of the text and of the bytes. The text:
 *
 *   unit mlp(N, N//2) inputs 1 outputs 1 slots 1 scratch 128*N
 *     b0 = input 0 float32[N, 64]
 *     b1 = weight 0 trit[64, 10] as TRIT2
 *     b2 = output 0 float32[N, 10]
 *     b3 = temp float32[N, 10] at 0
 *     check N - 1 >= 0 window
 *     kernel tri_matmul_f32_trit2(b0, b1, b3) dims (N, 64, 10)
 *     nest (i0 < 10*N)
 *       schedule (for i0 step 32, unroll i0 by 2 step 16, vector i0 by 16) tail scalar index 8
 *       %0 float32 = load b3[i0]
 *       %1 float32 = neg %0
 *       store b2[i0] = %1
 *
 * The first line names the symbols, and the products, quotients and remainders of them in the order of their table, because the order of the terms of
 * a sum depends on it. An expression inside the reduction loops has a `|` before it. */
#include <string.h>
#include "backend/loops/codec.h"
#include "backend/target/kernel.h"
#include "base/arena.h"

/* ---- words ---- */

static const char *buffer_words(uint32_t k)
{
	static const char *const words[] = {"input", "output", "weight", "temp", "const"};
	return words[k];
}

static const char *scope_words(uint32_t k)
{
	static const char *const words[] = {
#define SCOPE(id, word) word,
#include "backend/loops/scopes.def"
#undef SCOPE
	};
	return words[k];
}

static const char *layout_words(uint32_t k) { return ir_layout_text((enum layout)k); }

static const char *size_error_words(uint32_t k)
{
	static const char *const words[] = {
#define SIZE_ERROR(id, word, text) word,
#include "backend/runtime/size_errors.def"
#undef SIZE_ERROR
	};
	return words[k];
}

static const char *stmt_words(uint32_t k)
{
	static const char *const words[] = {
#define STMT(id, word, member) word,
#include "backend/loops/stmts.def"
#undef STMT
	};
	return words[k];
}

enum { EXPR_KINDS = LOOP_OP }; /* before the operations */

/* The kind of an expression; of an operation EXPR_KINDS plus its number. */
static const char *expr_words(uint32_t k)
{
	static const char *const words[] = {
#define EXPR(id, word) word,
#include "backend/loops/exprs.def"
#undef EXPR
	};
	return k < EXPR_KINDS ? words[k] : ir_op_text((enum ir_op)(k - EXPR_KINDS));
}

static const char *axis_words(uint32_t k) { return axis_text((enum axis_kind)k); }

static const char *tail_words(uint32_t k)
{
	static const char *const words[] = {
#define TAIL(id, word) word,
#include "backend/loops/tails.def"
#undef TAIL
	};
	return words[k];
}

static const char *elem_words(uint32_t k) { return dtype_text((dtype)k); }
static const char *op_words(uint32_t k) { return ir_op_text((enum ir_op)k); }
static const char *kernel_words(uint32_t k) { return kernel_info((enum kernel)k)->symbol; }

/* ---- types, buffers ---- */

static void code_buffer_number(struct codec *c, uint32_t *x) { code_reference(c, "b", x, c->f->n_buffers); }

static void code_elem(struct codec *c, dtype *x) { CODE_ENUM(c, *x, DT_COUNT, elem_words); }

static void code_shape(struct codec *c, uint8_t *rank, dim *dims)
{
	struct codec_list l = code_list(c, *rank);
	code_mark(c, "[");
	while (code_next_comma(c, &l, "]")) {
		code_need(c, l.at <= HIR_MAX_RANK && l.n <= HIR_MAX_RANK, "at most 8 dimensions expected");
		if (codec_failed(c))
			return;
		code_dim(c, &dims[l.at - 1]);
	}
	CODE_SET(*rank, (uint8_t)l.at);
}

/* " from 2 until 5": of statements */
static void code_lifetime(struct codec *c, struct loop_buffer *x)
{
	if (!code_option(c, " from ", x->end != 0))
		return;
	code_number(c, &x->first, UINT32_MAX - 1);
	code_mark(c, " until ");
	code_number(c, &x->end, UINT32_MAX);
}

static void code_buffer(struct codec *c, struct loop_buffer *x)
{
	const struct loop_fn *f = c->f;
	uint32_t limit[] = {[BUFFER_INPUT] = f->n_inputs, [BUFFER_OUTPUT] = f->n_outputs, [BUFFER_WEIGHT] = f->n_slots};
	code_line(c);
	code_own(c, "b", (uint32_t)(x - f->buffers));
	code_mark(c, " = ");
	CODE_ENUM(c, x->kind, BUFFER_CONST + 1, buffer_words);
	code_mark(c, " ");
	if (x->kind < BUFFER_TEMP) {
		code_number(c, &x->index, UINT32_MAX);
		code_need(c, x->index < limit[x->kind], "a smaller number expected");
		code_mark(c, " ");
	}
	code_elem(c, &x->type.elem);
	code_shape(c, &x->type.rank, x->type.dims);
	if (code_option(c, " as ", x->layout != LAYOUT_PLAIN))
		CODE_ENUM(c, x->layout, LAYOUT_COUNT, layout_words);
	if (codec_reads(c))
		x->alias = x->grows = LOOP_NONE;
	if ((x->kind == BUFFER_OUTPUT || x->kind == BUFFER_TEMP) && code_option(c, " grows ", x->grows != LOOP_NONE))
		code_reference(c, "b", &x->grows, LOOP_NONE);
	if (x->kind == BUFFER_TEMP) {
		if (code_option(c, " in ", x->scope != SCOPE_GLOBAL))
			CODE_ENUM(c, x->scope, SCOPE_COUNT, scope_words);
		if (codec_reads(c))
			x->offset = dim_const(c->dims, 0);
		if (x->scope == SCOPE_PRIVATE)
			return;
		code_mark(c, " at ");
		code_dim(c, &x->offset);
		if (code_option(c, " over ", x->alias != LOOP_NONE))
			code_reference(c, "b", &x->alias, LOOP_NONE);
		code_lifetime(c, x);
	} else if (x->kind == BUFFER_CONST && !codec_failed(c)) {
		code_mark(c, " ");
		code_elements(c, x);
	}
}

static void code_check(struct codec *c, struct loop_check *x)
{
	code_line(c);
	code_mark(c, "check ");
	code_dim(c, &x->least);
	code_mark(c, " >=");
	code_mark(c, " 0 ");
	CODE_ENUM(c, x->kind, TRI_SIZE_ERRORS, size_error_words);
}

/* ---- nests ---- */

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
	case LOOP_ACC: code_number(c, &x->var, UINT32_MAX); return;
	case LOOP_TILE: return;
	case LOOP_OP:
		code_need(c, ir_op_traits(x->op) & EWISE, "an element-wise operation expected");
		for (int k = 0; k < ir_op_operands(x->op) && k < 3 && !codec_failed(c); k++) {
			code_mark(c, k ? ", " : "");
			code_value(c, &x->args[k]);
		}
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

static void code_schedule(struct codec *c, struct loop_schedule *x)
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

static void code_all_loops(struct codec *c, struct loop_nest *n)
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

static void code_nest(struct codec *c, struct loop_nest *n)
{
	code_all_loops(c, n);
	c->depth++;
	code_schedule(c, &n->schedule);
	CODE_LINES(c, n->exprs, n->n_exprs, "| %#", code_expr);
	CODE_LINES(c, n->reductions, n->n_reductions, "acc", code_reduction);
	CODE_LINES(c, n->stores, n->n_stores, "store", code_store);
	c->depth--;
}

/* ---- other statements ---- */

static void code_buffers(struct codec *c, uint32_t **buffers, uint32_t *n)
{
	code_mark(c, "(");
	CODE_COMMAS(c, *buffers, *n, ")", code_buffer_number);
}

static void code_dims(struct codec *c, dim **dims, uint32_t *n)
{
	if (!code_option(c, " dims ", *n))
		return;
	code_mark(c, "(");
	CODE_COMMAS(c, *dims, *n, ")", code_dim);
}

static void code_fused(struct codec *c, const char *mark, struct loop_nest **n)
{
	if (!code_option(c, mark, *n != NULL))
		return;
	if (codec_reads(c))
		*n = memset(ARENA_NEW(c->unit, struct loop_nest), 0, sizeof **n);
	code_nest(c, *n);
}

static void code_kernel(struct codec *c, struct loop_kernel *x)
{
	CODE_ENUM(c, x->kernel, KERNEL_COUNT, kernel_words);
	code_buffers(c, &x->buffers, &x->n_buffers);
	code_dims(c, &x->dims, &x->n_dims);
	code_fused(c, " prologue ", &x->prologue);
	if (x->prologue && x->epilogue)
		code_line(c);
	code_fused(c, x->prologue ? "epilogue " : " epilogue ", &x->epilogue);
}

/* "(b0, b1) to (b2)": inputs and results, which are one array. */
static void code_arguments(struct codec *c, struct loop_call *x)
{
	uint32_t n_in = x->n_inputs, n_out = x->n_buffers - n_in, *in = x->buffers, *out = in ? in + n_in : NULL;
	code_buffers(c, &in, &n_in);
	code_mark(c, " to ");
	code_buffers(c, &out, &n_out);
	if (codec_reads(c)) {
		x->buffers = ARENA_ARRAY(c->unit, uint32_t, n_in + n_out + 1);
		if (n_in)
			memcpy(x->buffers, in, n_in * sizeof *in);
	}
	if (n_out && x->buffers + n_in != out)
		memmove(x->buffers + n_in, out, n_out * sizeof *out);
	CODE_SET(x->n_inputs, n_in);
	CODE_SET(x->n_buffers, n_in + n_out);
}

static void code_call(struct codec *c, struct loop_call *x)
{
	code_name(c, &x->callee);
	code_arguments(c, x);
	code_dims(c, &x->dims, &x->n_dims);
	if (codec_reads(c))
		x->slot = LOOP_NONE;
	if (!code_option(c, " weights ", x->slot != LOOP_NONE))
		return;
	code_number(c, &x->slot, UINT32_MAX);
	code_need(c, x->slot < c->f->n_slots, "the number of a slot expected");
}

static void code_inner_call(struct codec *c, struct loop_call *x)
{
	c->depth++;
	code_line(c);
	code_mark(c, "call ");
	code_call(c, x);
	c->depth--;
}

static void code_branch(struct codec *c, struct loop_branch *x)
{
	code_buffer_number(c, &x->condition);
	code_inner_call(c, &x->calls[0]);
	code_line(c);
	code_mark(c, "else");
	code_inner_call(c, &x->calls[1]);
}

static void code_loop(struct codec *c, struct loop_iterate *x)
{
	code_buffer_number(c, &x->condition);
	code_mark(c, " from ");
	code_mark(c, "(");
	CODE_COMMAS(c, x->initial, x->n_carried, ")", code_buffer_number);
	code_inner_call(c, &x->body);
}

/* The values: "(b3 float32[N, 2], b4 bool[])". Their sizes follow each other in x->dims. */
static void code_values(struct codec *c, struct loop_effect *x)
{
	struct codec_list l = code_list(c, x->n_buffers);
	uint32_t cap_kinds = 0, cap_dims = 0, n_dims = 0;
	code_mark(c, " (");
	while (code_next_comma(c, &l, ")")) {
		uint32_t k = l.at - 1;
		struct hir_type t = {0};
		if (codec_reads(c)) {
			x->buffers = code_room(c, x->buffers, &l, sizeof *x->buffers);
			x->kinds = arena_grow(c->unit, x->kinds, k, &cap_kinds, k + 1, 1);
			x->dims = arena_grow(c->unit, x->dims, n_dims, &cap_dims, n_dims + HIR_MAX_RANK, sizeof *x->dims);
		} else {
			t = (struct hir_type){.elem = (dtype)(x->kinds[k] >> 4), .rank = x->kinds[k] & 15u};
			memcpy(t.dims, x->dims + n_dims, t.rank * sizeof *t.dims);
		}
		code_buffer_number(c, &x->buffers[k]);
		code_mark(c, " ");
		code_elem(c, &t.elem);
		code_shape(c, &t.rank, t.dims);
		CODE_SET(x->kinds[k], (uint8_t)(t.elem << 4 | t.rank));
		for (uint32_t i = 0; i < t.rank; i++)
			CODE_SET(x->dims[n_dims + i].idx, t.dims[i].idx);
		n_dims += t.rank;
	}
	CODE_SET(x->n_buffers, l.at);
	CODE_SET(x->n_dims, n_dims);
}

static void code_effect(struct codec *c, struct loop_effect *x)
{
	code_text(c, &x->text);
	if (code_option(c, " at ", x->where != NULL))
		code_text(c, &x->where);
	code_values(c, x);
	code_need(c, !x->where || x->n_buffers, "the condition of an assertion expected");
}

static void code_computed(struct codec *c, uint32_t *x) { code_reference(c, "%", x, UINT32_MAX); }

static void code_stmt(struct codec *c, struct loop_stmt *x);

static const char stmt_starts[] =
#define STMT(id, word, member) word " "
#include "backend/loops/stmts.def"
#undef STMT
	;

/* "block (i0 < N) frame 64", its schedule and statements, and "end". Only the outermost block has a frame. */
static void code_block(struct codec *c, struct loop_block *x)
{
	const struct loop_nest *outer = c->outer;
	code_need(c, c->blocks++ < LOOP_MOST_DEPTH, "fewer blocks in each other expected");
	code_all_loops(c, &x->loops);
	if (!outer) {
		code_mark(c, " frame ");
		code_dim(c, &x->frame);
	} else if (codec_reads(c)) {
		x->frame = dim_const(c->dims, 0);
	}
	c->depth++;
	code_schedule(c, &x->loops.schedule);
	c->outer = &x->loops;
	if (!codec_failed(c))
		CODE_LINES(c, x->stmts, x->n_stmts, stmt_starts, code_stmt);
	c->outer = outer;
	c->blocks--;
	code_line(c);
	code_mark(c, "end");
	c->depth--;
}

static void code_stmt(struct codec *c, struct loop_stmt *x)
{
	code_line(c);
	if (c->mode != CODEC_VISIT) /* it says what the union holds */
		CODE_ENUM(c, x->kind, STMT_KINDS, stmt_words);
	if (code_option(c, " of [", x->n_values))
		CODE_COMMAS(c, x->values, x->n_values, "]", code_computed);
	code_mark(c, " ");
	switch (x->kind) {
#define STMT(id, word, member) \
	case STMT_##id: code_##member(c, &x->u.member); return;
#include "backend/loops/stmts.def"
#undef STMT
	}
}

/* ---- functions ---- */

void code_fn(struct codec *c)
{
	struct loop_fn *f = c->f;
	code_mark(c, " inputs ");
	code_number(c, &f->n_inputs, UINT32_MAX);
	code_mark(c, " outputs ");
	code_number(c, &f->n_outputs, UINT32_MAX);
	code_mark(c, " slots ");
	code_number(c, &f->n_slots, UINT32_MAX);
	code_mark(c, " scratch ");
	code_dim(c, &f->scratch);
	c->depth = 1;
	CODE_LINES(c, f->buffers, f->n_buffers, "b#", code_buffer);
	for (uint32_t k = 0; codec_reads(c) && k < f->n_buffers; k++) {
		const struct loop_buffer *x = &f->buffers[k];
		code_need(c, (x->alias == LOOP_NONE || x->alias < f->n_buffers) && (x->grows == LOOP_NONE || x->grows < f->n_buffers),
			  "the number of a buffer expected");
	}
	CODE_LINES(c, f->checks, f->n_checks, "check", code_check);
	CODE_LINES(c, f->stmts, f->n_stmts, stmt_starts, code_stmt);
}
