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
#include "backend/loops/ir/fields.h"

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
#include "backend/loops/ir/scopes.def"
#undef SCOPE
	};
	return words[k];
}

static const char *layout_words(uint32_t k) { return ir_layout_text((enum layout)k); }

static const char *size_error_words(uint32_t k)
{
	static const char *const words[] = {
#define SIZE_ERROR(id, word, text) word,
#include "backend/runtime/abi/size_errors.def"
#undef SIZE_ERROR
	};
	return words[k];
}

static const char *elem_words(uint32_t k) { return dtype_text((dtype)k); }

/* ---- types, buffers ---- */

void code_buffer_number(struct codec *c, uint32_t *x) { code_reference(c, "b", x, c->f->n_buffers); }

void code_elem(struct codec *c, dtype *x) { CODE_ENUM(c, *x, DT_COUNT, elem_words); }

void code_shape(struct codec *c, uint8_t *rank, dim *dims)
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
		if (!loop_scope_is_placed(x->scope))
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
	if (codec_reads(c))
		x->value = LOOP_NONE;
	if (code_option(c, " of ", x->value != LOOP_NONE))
		code_reference(c, "%", &x->value, LOOP_NONE);
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
	CODE_LINES(c, f->stmts, f->n_stmts, code_stmt_starts, code_stmt);
}
