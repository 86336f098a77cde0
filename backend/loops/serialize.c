/* Loop IR as bytes: a magic number, dims, symbol, buffers, statements, scratch, checks. Numbers are varints (base/varint.h), dims their
 * handles, texts have their length first and a NUL last, constants are as in memory.
 *
 * One function for each structure both writes and reads it, so that the two cannot differ. */
#include "backend/loops/serialize.h"
#include <string.h>
#include "backend/loops/loops.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"

enum { MAGIC = 0x32504f4c }; /* "LOP2" */

struct codec {
	struct buf *out; /* NULL: reading */
	struct varint_in in;
	struct arena *unit;
	struct loop_fn *f; /* written, or being read */
};

/* What is read must be sound. */
static void need(struct codec *c, bool sound) { c->in.ok = c->in.ok && (c->out || sound); }

/* ---- values ---- */

/* A number of 0 … most. */
static void code_u32(struct codec *c, uint32_t *x, uint32_t most)
{
	if (c->out)
		varint_put(c->out, *x);
	else
		*x = varint_take_upto(&c->in, most);
}

/* An enumerator or another small integer below n. */
#define CODE_ENUM(c, x, n)                         \
	do {                                       \
		uint32_t v_ = (uint32_t)(x);       \
		code_u32(c, &v_, (n) - 1);         \
		if (!(c)->out)                     \
			(x) = (__typeof__(x))(v_); \
	} while (0)

/* A number or LOOP_NONE. */
static void code_optional(struct codec *c, uint32_t *x)
{
	uint32_t v = *x + 1;
	code_u32(c, &v, UINT32_MAX);
	if (!c->out)
		*x = v - 1;
}

static void code_signed(struct codec *c, int64_t *x)
{
	if (c->out)
		varint_put_signed(c->out, *x);
	else
		*x = varint_take_signed(&c->in);
}

static void code_dim(struct codec *c, dim *x) { code_u32(c, &x->idx, dims_count(c->f->dims) - 1); }

static void code_double(struct codec *c, double *x)
{
	uint64_t bits;
	memcpy(&bits, x, sizeof bits);
	if (c->out) {
		buf_u64(c->out, bits);
		return;
	}
	const void *bytes = varint_take_bytes(&c->in, sizeof *x);
	if (bytes)
		memcpy(x, bytes, sizeof *x);
}

/* Bytes that stay where they are when they are read. */
static void code_bytes(struct codec *c, const void **bytes, size_t n)
{
	if (c->out)
		buf_put(c->out, *bytes, n);
	else
		*bytes = varint_take_bytes(&c->in, n);
}

static void code_text(struct codec *c, const char **s)
{
	uint32_t n = c->out && *s ? (uint32_t)strlen(*s) + 1 : 0;
	const void *text = *s;
	if (c->out)
		varint_put(c->out, n);
	else
		n = varint_take_count(&c->in);
	if (n)
		code_bytes(c, &text, n);
	if (c->out)
		return;
	need(c, !n || (text && memchr(text, 0, n) == (const char *)text + n - 1));
	*s = n && c->in.ok ? text : NULL;
}

/* ---- arrays ---- */

/* The length of an array; a new array of that length if it is read. */
static void *code_array(struct codec *c, void *list, uint32_t *n, uint32_t most, size_t size)
{
	if (c->out) {
		varint_put(c->out, *n);
		return list;
	}
	*n = varint_take_count(&c->in);
	need(c, *n <= most);
	if (!c->in.ok)
		*n = 0;
	return arena_alloc(c->unit, (*n + 1) * size, _Alignof(max_align_t));
}

#define CODE_ARRAY(c, list, n, most, one)                                               \
	do {                                                                            \
		__typeof__(list) list_ = code_array(c, list, &(n), most, sizeof *list); \
		if (!(c)->out)                                                          \
			(list) = list_;                                                 \
		for (uint32_t k_ = 0; k_ < (n) && (c)->in.ok; k_++)                     \
			one(c, &list_[k_]);                                             \
	} while (0)

static void code_buffer_number(struct codec *c, uint32_t *x)
{
	need(c, c->f->n_buffers);
	code_u32(c, x, c->f->n_buffers - 1);
}

/* ---- structures ---- */

/* The bytes of a constant; 0 if its shape is not sound. */
static size_t const_bytes(struct codec *c, const struct hir_type *t)
{
	size_t n = dtype_size(t->elem);
	int64_t v;
	for (uint32_t k = 0; k < t->rank; k++) {
		bool sound = dim_is_const(c->f->dims, t->dims[k], &v) && v >= 0 && !__builtin_mul_overflow(n, (size_t)v, &n);
		need(c, sound);
		n = sound ? n : 0;
	}
	return n;
}

static void code_buffer(struct codec *c, struct loop_buffer *x)
{
	uint32_t limit[] = {[BUFFER_INPUT] = c->f->n_inputs,
			    [BUFFER_OUTPUT] = c->f->n_outputs,
			    [BUFFER_WEIGHT] = c->f->n_slots,
			    [BUFFER_TEMP] = 1,
			    [BUFFER_CONST] = 1};
	CODE_ENUM(c, x->kind, BUFFER_CONST + 1);
	CODE_ENUM(c, x->layout, LAYOUT_COUNT);
	code_u32(c, &x->index, UINT32_MAX);
	CODE_ENUM(c, x->type.elem, DT_COUNT);
	CODE_ENUM(c, x->type.rank, HIR_MAX_RANK + 1);
	for (uint32_t k = 0; k < x->type.rank; k++)
		code_dim(c, &x->type.dims[k]);
	code_dim(c, &x->offset);
	need(c, x->index < limit[x->kind]);
	if (x->kind == BUFFER_CONST)
		code_bytes(c, &x->data, const_bytes(c, &x->type));
}

static void code_access(struct codec *c, struct loop_access *x)
{
	code_u32(c, &x->buffer, UINT32_MAX);
	code_dim(c, &x->base);
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		code_dim(c, &x->stride[k]);
	code_optional(c, &x->index);
	if (x->index == LOOP_NONE)
		return;
	code_dim(c, &x->scale);
	code_signed(c, &x->limit);
	code_dim(c, &x->bound);
}

static void code_expr(struct codec *c, struct loop_expr *x)
{
	CODE_ENUM(c, x->kind, LOOP_ACC + 1);
	CODE_ENUM(c, x->elem, DT_COUNT);
	CODE_ENUM(c, x->in_reduction, 2);
	switch (x->kind) {
	case LOOP_LOAD: code_access(c, &x->access); return;
	case LOOP_CONST:
		code_double(c, &x->f);
		code_signed(c, &x->i);
		return;
	case LOOP_EXTENT: code_dim(c, &x->extent); return;
	case LOOP_OP:
		CODE_ENUM(c, x->op, OP_COUNT);
		need(c, ir_op_traits(x->op) & EWISE);
		for (int k = 0; k < ir_op_operands(x->op) && c->in.ok; k++)
			code_u32(c, &x->args[k], UINT32_MAX);
		return;
	default: code_u32(c, &x->var, UINT32_MAX);
	}
}

static void code_reduction(struct codec *c, struct loop_reduction *x)
{
	CODE_ENUM(c, x->op, OP_COUNT);
	CODE_ENUM(c, x->elem, DT_COUNT);
	code_u32(c, &x->value, UINT32_MAX);
	need(c, ir_op_traits(x->op) & REDUCES);
}

static void code_store(struct codec *c, struct loop_store *x)
{
	code_u32(c, &x->value, UINT32_MAX);
	code_access(c, &x->access);
}

static void code_nest(struct codec *c, struct loop_nest *n)
{
	CODE_ENUM(c, n->n_parallel, LOOP_MAX + 1);
	CODE_ENUM(c, n->n_reduce, LOOP_MAX - n->n_parallel + 1);
	for (uint32_t k = 0; k < (uint32_t)n->n_parallel + n->n_reduce; k++)
		code_dim(c, &n->extent[k]);
	CODE_ARRAY(c, n->exprs, n->n_exprs, UINT32_MAX, code_expr);
	CODE_ARRAY(c, n->reductions, n->n_reductions, UINT32_MAX, code_reduction);
	CODE_ARRAY(c, n->stores, n->n_stores, UINT32_MAX, code_store);
}

static void code_kernel(struct codec *c, struct loop_kernel *s)
{
	CODE_ENUM(c, s->kernel, KERNEL_COUNT);
	CODE_ARRAY(c, s->buffers, s->n_buffers, UINT32_MAX, code_buffer_number);
	CODE_ARRAY(c, s->dims, s->n_dims, UINT32_MAX, code_dim);
	need(c, s->n_dims == kernel_info(s->kernel)->n_dims);
}

static void code_call(struct codec *c, struct loop_call *s)
{
	code_text(c, &s->callee);
	CODE_ARRAY(c, s->buffers, s->n_buffers, UINT32_MAX, code_buffer_number);
	code_optional(c, &s->slot);
	CODE_ARRAY(c, s->dims, s->n_dims, UINT32_MAX, code_dim);
	need(c, s->callee && (s->slot == LOOP_NONE || s->slot < c->f->n_slots));
}

static void code_effect(struct codec *c, struct loop_effect *s)
{
	const void *kinds = s->kinds;
	uint32_t n = 0;
	CODE_ARRAY(c, s->buffers, s->n_buffers, UINT32_MAX, code_buffer_number);
	code_text(c, &s->text);
	code_text(c, &s->where);
	code_bytes(c, &kinds, s->n_buffers);
	if (!c->out) {
		s->kinds = ARENA_ARRAY(c->unit, uint8_t, s->n_buffers + 1);
		if (kinds)
			memcpy(s->kinds, kinds, s->n_buffers);
	}
	CODE_ARRAY(c, s->dims, s->n_dims, UINT32_MAX, code_dim);
	for (uint32_t k = 0; k < s->n_buffers; k++)
		n += s->kinds[k] & 15u;
	need(c, s->text && n == s->n_dims && (!s->where || s->n_buffers));
}

static void code_branch(struct codec *c, struct loop_branch *s)
{
	code_buffer_number(c, &s->condition);
	code_call(c, &s->calls[0]);
	code_call(c, &s->calls[1]);
}

static void code_loop(struct codec *c, struct loop_iterate *s)
{
	code_buffer_number(c, &s->condition);
	CODE_ARRAY(c, s->initial, s->n_carried, UINT32_MAX, code_buffer_number);
	code_call(c, &s->body);
}

static void code_stmt(struct codec *c, struct loop_stmt *s)
{
	CODE_ENUM(c, s->kind, STMT_EFFECT + 1);
	switch (s->kind) {
	case STMT_NEST: code_nest(c, &s->u.nest); return;
	case STMT_KERNEL: code_kernel(c, &s->u.kernel); return;
	case STMT_CALL: code_call(c, &s->u.call); return;
	case STMT_BRANCH: code_branch(c, &s->u.branch); return;
	case STMT_LOOP: code_loop(c, &s->u.loop); return;
	case STMT_EFFECT: code_effect(c, &s->u.effect); return;
	}
}

static void code_check(struct codec *c, struct loop_check *x)
{
	code_dim(c, &x->least);
	CODE_ENUM(c, x->kind, TRI_SIZE_ERRORS);
}

static void code_fn(struct codec *c)
{
	struct loop_fn *f = c->f;
	code_text(c, &f->symbol);
	code_u32(c, &f->n_inputs, UINT32_MAX);
	code_u32(c, &f->n_outputs, UINT32_MAX);
	code_u32(c, &f->n_slots, UINT32_MAX);
	CODE_ARRAY(c, f->buffers, f->n_buffers, UINT32_MAX, code_buffer);
	CODE_ARRAY(c, f->stmts, f->n_stmts, UINT32_MAX, code_stmt);
	code_dim(c, &f->scratch);
	CODE_ARRAY(c, f->checks, f->n_checks, UINT32_MAX, code_check);
	need(c, f->symbol);
}

void loops_write(const struct loop_fn *f, struct buf *out)
{
	struct codec c = {.out = out, .f = (struct loop_fn *)(uintptr_t)f, .in.ok = true}; /* f is only read */
	buf_u32(out, MAGIC);
	dims_write(f->dims, out);
	code_fn(&c);
}

struct loop_fn *loops_read(struct arena *unit, const void *bytes, size_t len, const char **error)
{
	struct codec c = {.unit = unit, .f = ARENA_NEW(unit, struct loop_fn), .in = {bytes, (const unsigned char *)bytes + len, true}};
	uint32_t magic = 0;
	const void *head = varint_take_bytes(&c.in, sizeof magic);
	if (head)
		memcpy(&magic, head, sizeof magic);
	c.f->unit = unit;
	need(&c, magic == MAGIC && (c.f->dims = dims_read(unit, &c.in)) && dims_count(c.f->dims));
	if (c.in.ok)
		code_fn(&c);
	need(&c, c.in.at == c.in.end);
	if (!c.in.ok) {
		*error = "its loop IR is damaged or of another version";
		return NULL;
	}
	struct buf why = {0};
	bool sound = loops_verify(c.f, &why);
	if (!sound)
		*error = arena_strdup(unit, why.at);
	buf_free(&why);
	return sound ? c.f : NULL;
}
