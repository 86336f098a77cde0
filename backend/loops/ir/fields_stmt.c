/* The fields of other statements than nests. */
#include <stdio.h>
#include <string.h>
#include "backend/loops/ir/fields.h"
#include "backend/kernels/kernel.h"
#include "base/arena.h"

enum { MAX_NAME = 32 };

static const char *stmt_words(uint32_t k)
{
	static const char *const words[] = {
#define STMT(id, word, member) word,
#include "backend/loops/ir/stmts.def"
#undef STMT
	};
	return words[k];
}

static const char *kernel_words(uint32_t k) { return kernel_info((enum kernel)k)->symbol; }

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

/* True if the text has this dim. What it leaves out is set. */
static bool code_has_dim(struct codec *c, const struct kernel_field *f, const char *mark, dim *x)
{
	int64_t v;
	bool there = f->type != FIELD_place;
	if (there && f->unless == KERNEL_NEEDED)
		code_mark(c, mark);
	else if (there && c->mode != CODEC_VISIT)
		there = code_option(c, mark, codec_reads(c) || !dim_is_const(c->f->dims, *x, &v) || v != f->unless);
	if (!there && codec_reads(c))
		*x = dim_const(c->dims, f->unless);
	return there;
}

/* "(M=4, K=8)": the fields of the kernel's record by name, without those that have their usual value and the place, which printers know. */
static void code_record(struct codec *c, struct loop_kernel *x)
{
	const struct kernel_record *r = kernel_record(x->kernel);
	char mark[MAX_NAME];
	if (codec_reads(c))
		x->dims = ARENA_ARRAY(c->unit, dim, r->n_fields);
	code_mark(c, " dims (");
	for (uint32_t k = 0; k < r->n_fields; k++) {
		snprintf(mark, sizeof mark, "%s%s=", k ? ", " : "", r->fields[k].name);
		if (code_has_dim(c, &r->fields[k], mark, &x->dims[k]))
			code_dim(c, &x->dims[k]);
	}
	code_mark(c, ")");
}

static void code_kernel(struct codec *c, struct loop_kernel *x)
{
	CODE_ENUM(c, x->kernel, KERNEL_COUNT, kernel_words);
	code_buffers(c, &x->buffers, &x->n_buffers);
	code_record(c, x);
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

const char code_stmt_starts[] =
#define STMT(id, word, member) word " "
#include "backend/loops/ir/stmts.def"
#undef STMT
	;

/* "block (i0 < N) frame 64 stack", its schedule and statements, and "end". Only the outermost block has a frame. */
static void code_block(struct codec *c, struct loop_block *x)
{
	const struct loop_nest *outer = c->outer;
	code_need(c, c->blocks++ < LOOP_MOST_DEPTH, "fewer blocks in each other expected");
	code_all_loops(c, &x->loops);
	if (!outer) {
		code_mark(c, " frame ");
		code_dim(c, &x->frame);
		code_flag(c, " stack", &x->on_stack);
	} else if (codec_reads(c)) {
		x->frame = dim_const(c->dims, 0);
	}
	c->depth++;
	code_schedule(c, &x->loops.schedule);
	c->outer = &x->loops;
	if (!codec_failed(c))
		CODE_LINES(c, x->stmts, x->n_stmts, code_stmt_starts, code_stmt);
	c->outer = outer;
	c->blocks--;
	code_line(c);
	code_mark(c, "end");
	c->depth--;
}

void code_stmt(struct codec *c, struct loop_stmt *x)
{
	code_line(c);
	if (c->mode != CODEC_VISIT) /* it says what the union holds */
		CODE_ENUM(c, x->kind, STMT_KINDS, stmt_words);
	if (code_option(c, " of [", x->n_values))
		CODE_COMMAS(c, x->values, x->n_values, "]", code_computed);
	code_flag(c, " beside", &x->beside);
	code_mark(c, " ");
	switch (x->kind) {
#define STMT(id, word, member) \
	case STMT_##id: code_##member(c, &x->u.member); return;
#include "backend/loops/ir/stmts.def"
#undef STMT
	}
}
