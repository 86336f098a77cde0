/* The format: a magic number, the dims, symbol, buffers, statements, scratch, checks; numbers as in base/varint.h, dims as their handles, texts with their
 * length first and a NUL last, constants as they lie in memory. */
#include "backend/loops/serialize.h"
#include <string.h>
#include "backend/loops/loops.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"

enum { MAGIC = 0x31504f4c }; /* "LOP1" */

/* ---- writing ---- */

static void put_text(struct buf *b, const char *s)
{
	size_t n = s ? strlen(s) : 0;
	varint_put(b, s ? n + 1 : 0);
	buf_put(b, s ? s : "", s ? n + 1 : 0);
}

static void put_dim(struct buf *b, dim x) { varint_put(b, x.idx); }

static void put_dims(struct buf *b, const dim *x, uint32_t n)
{
	varint_put(b, n);
	for (uint32_t k = 0; k < n; k++)
		put_dim(b, x[k]);
}

static void put_numbers(struct buf *b, const uint32_t *x, uint32_t n)
{
	varint_put(b, n);
	for (uint32_t k = 0; k < n; k++)
		varint_put(b, x[k]);
}

/* LOOP_NONE is as good as 0. */
static void put_optional(struct buf *b, uint32_t x) { varint_put(b, (uint64_t)(x + 1)); }

static void put_buffer(struct buf *b, const struct loop_fn *f, const struct loop_buffer *x)
{
	varint_put(b, (uint64_t)x->kind);
	varint_put(b, (uint64_t)x->layout);
	varint_put(b, x->index);
	varint_put(b, (uint64_t)x->type.elem);
	put_dims(b, x->type.dims, x->type.rank);
	put_dim(b, x->offset);
	if (x->kind == BUFFER_CONST)
		buf_put(b, x->data, (size_t)ir_type_count(f->dims, &x->type) * dtype_size(x->type.elem));
}

static void put_access(struct buf *b, const struct loop_access *x)
{
	varint_put(b, x->buffer);
	put_dim(b, x->base);
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		put_dim(b, x->stride[k]);
	put_optional(b, x->index);
	if (x->index == LOOP_NONE)
		return;
	put_dim(b, x->scale);
	varint_put_signed(b, x->limit);
	put_dim(b, x->bound);
}

static void put_expr(struct buf *b, const struct loop_expr *x)
{
	uint64_t bits;
	varint_put(b, (uint64_t)x->kind);
	varint_put(b, (uint64_t)x->elem);
	varint_put(b, x->in_reduction);
	switch (x->kind) {
	case LOOP_LOAD: put_access(b, &x->access); return;
	case LOOP_CONST:
		memcpy(&bits, &x->f, sizeof bits);
		buf_u64(b, bits);
		varint_put_signed(b, x->i);
		return;
	case LOOP_EXTENT: put_dim(b, x->extent); return;
	case LOOP_OP:
		varint_put(b, (uint64_t)x->op);
		for (int k = 0; k < ir_op_ins(x->op); k++)
			varint_put(b, x->args[k]);
		return;
	default: varint_put(b, x->var);
	}
}

static void put_nest(struct buf *b, const struct loop_nest *n)
{
	varint_put(b, n->n_parallel);
	varint_put(b, n->n_reduce);
	for (uint32_t k = 0; k < (uint32_t)n->n_parallel + n->n_reduce; k++)
		put_dim(b, n->extent[k]);
	varint_put(b, n->n_exprs);
	for (uint32_t k = 0; k < n->n_exprs; k++)
		put_expr(b, &n->exprs[k]);
	varint_put(b, n->n_reductions);
	for (uint32_t k = 0; k < n->n_reductions; k++) {
		varint_put(b, (uint64_t)n->reductions[k].op);
		varint_put(b, (uint64_t)n->reductions[k].elem);
		varint_put(b, n->reductions[k].value);
	}
	varint_put(b, n->n_stores);
	for (uint32_t k = 0; k < n->n_stores; k++) {
		varint_put(b, n->stores[k].value);
		put_access(b, &n->stores[k].access);
	}
}

static void put_stmt(struct buf *b, const struct loop_stmt *s)
{
	varint_put(b, (uint64_t)s->kind);
	put_numbers(b, s->buffers, s->n_buffers);
	switch (s->kind) {
	case STMT_NEST: put_nest(b, &s->nest); return;
	case STMT_KERNEL:
		varint_put(b, (uint64_t)s->kernel);
		put_dims(b, s->dims, s->n_dims);
		return;
	case STMT_CALL:
		put_text(b, s->callee);
		put_optional(b, s->slot);
		put_dims(b, s->dims, s->n_dims);
		return;
	case STMT_EFFECT:
		put_text(b, s->text);
		put_text(b, s->where);
		buf_put(b, s->kinds, s->n_buffers);
		put_dims(b, s->dims, s->n_dims);
		return;
	case STMT_LOOP: put_numbers(b, s->initial, s->n_carried); break;
	case STMT_IF: break;
	}
	varint_put(b, s->n_calls);
	for (uint32_t k = 0; k < s->n_calls; k++)
		put_stmt(b, &s->calls[k]);
}

void loops_write(const struct loop_fn *f, struct buf *out)
{
	buf_u32(out, MAGIC);
	dims_write(f->dims, out);
	put_text(out, f->symbol);
	varint_put(out, f->n_inputs);
	varint_put(out, f->n_outputs);
	varint_put(out, f->n_slots);
	varint_put(out, f->n_buffers);
	for (uint32_t k = 0; k < f->n_buffers; k++)
		put_buffer(out, f, &f->buffers[k]);
	varint_put(out, f->n_stmts);
	for (uint32_t k = 0; k < f->n_stmts; k++)
		put_stmt(out, &f->stmts[k]);
	put_dim(out, f->scratch);
	varint_put(out, f->n_checks);
	for (uint32_t k = 0; k < f->n_checks; k++) {
		put_dim(out, f->checks[k].least);
		varint_put(out, f->checks[k].kind);
	}
}

/* ---- reading ---- */

struct in {
	struct varint_in v;
	struct arena *unit;
	struct loop_fn *f;
};

/* A number of 0 … most. */
static uint32_t take(struct in *r, uint32_t most) { return varint_take_upto(&r->v, most); }
/* One of a table of n. */
static uint32_t take_one_of(struct in *r, uint32_t n) { return take(r, n - 1); }
static uint32_t take_optional(struct in *r) { return (uint32_t)varint_take_upto(&r->v, UINT32_MAX) - 1; }

static void refuse(struct in *r) { r->v.ok = false; }

static const char *take_text(struct in *r)
{
	uint32_t n = varint_take_count(&r->v);
	const char *s = n ? varint_take_bytes(&r->v, n) : NULL;
	if (s && memchr(s, 0, n) != s + n - 1)
		refuse(r);
	return r->v.ok ? s : NULL;
}

static dim take_dim(struct in *r) { return (dim){take(r, dims_count(r->f->dims) - 1)}; }

static dim *take_dims(struct in *r, uint32_t *n, uint32_t most)
{
	*n = varint_take_count(&r->v);
	if (*n > most) {
		refuse(r);
		*n = 0;
	}
	dim *x = ARENA_ARRAY(r->unit, dim, *n + 1);
	for (uint32_t k = 0; k < *n; k++)
		x[k] = take_dim(r);
	return x;
}

static uint32_t *take_numbers(struct in *r, uint32_t *n, uint32_t below)
{
	*n = varint_take_count(&r->v);
	uint32_t *x = ARENA_ARRAY(r->unit, uint32_t, *n + 1);
	for (uint32_t k = 0; k < *n && r->v.ok; k++)
		x[k] = take(r, below ? below - 1 : 0);
	if (*n && !below)
		refuse(r);
	return x;
}

/* Bytes of a constant's elements; 0 and a refusal if its shape is none. */
static size_t const_bytes(struct in *r, const struct hir_type *t)
{
	size_t n = dtype_size(t->elem);
	int64_t v;
	for (uint32_t k = 0; k < t->rank; k++)
		if (!dim_is_const(r->f->dims, t->dims[k], &v) || v < 0 || __builtin_mul_overflow(n, (size_t)v, &n))
			refuse(r), n = 0;
	return n;
}

static void take_type(struct in *r, struct hir_type *t)
{
	uint32_t rank;
	t->elem = (dtype)take_one_of(r, DT_COUNT);
	const dim *dims = take_dims(r, &rank, HIR_MAX_RANK);
	t->rank = (uint8_t)rank;
	memcpy(t->dims, dims, rank * sizeof *dims);
}

static void take_buffer(struct in *r, struct loop_buffer *x)
{
	x->kind = (enum buffer_kind)take_one_of(r, BUFFER_CONST + 1);
	x->layout = (enum layout)take_one_of(r, LAYOUT_COUNT);
	x->index = take(r, UINT32_MAX);
	take_type(r, &x->type);
	x->offset = take_dim(r);
	const uint32_t limit[] = {[BUFFER_INPUT] = r->f->n_inputs,
				  [BUFFER_OUTPUT] = r->f->n_outputs,
				  [BUFFER_WEIGHT] = r->f->n_slots,
				  [BUFFER_TEMP] = 1,
				  [BUFFER_CONST] = 1};
	if (x->index >= limit[x->kind])
		refuse(r);
	if (x->kind == BUFFER_CONST)
		x->data = varint_take_bytes(&r->v, const_bytes(r, &x->type));
}

static void take_access(struct in *r, struct loop_access *x)
{
	x->buffer = take(r, UINT32_MAX);
	x->base = take_dim(r);
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		x->stride[k] = take_dim(r);
	x->index = take_optional(r);
	if (x->index == LOOP_NONE)
		return;
	x->scale = take_dim(r);
	x->limit = varint_take_signed(&r->v);
	x->bound = take_dim(r);
}

static void take_expr(struct in *r, struct loop_expr *x)
{
	const void *bits;
	x->kind = (enum loop_expr_kind)take_one_of(r, LOOP_ACC + 1);
	x->elem = (dtype)take_one_of(r, DT_COUNT);
	x->in_reduction = take(r, 1);
	switch (x->kind) {
	case LOOP_LOAD: take_access(r, &x->access); return;
	case LOOP_CONST:
		bits = varint_take_bytes(&r->v, sizeof x->f);
		if (bits)
			memcpy(&x->f, bits, sizeof x->f);
		x->i = varint_take_signed(&r->v);
		return;
	case LOOP_EXTENT: x->extent = take_dim(r); return;
	case LOOP_OP:
		x->op = (enum ir_op)take_one_of(r, OP_COUNT);
		if (!(ir_op_traits(x->op) & EWISE))
			refuse(r);
		for (int k = 0; k < ir_op_ins(x->op) && r->v.ok; k++)
			x->args[k] = take(r, UINT32_MAX);
		return;
	default: x->var = take(r, UINT32_MAX);
	}
}

/* An array of as many things as the bytes say, each read by `one`. */
#define TAKE_ARRAY(r, T, list, n, one)                             \
	do {                                                       \
		(n) = varint_take_count(&(r)->v);                  \
		(list) = ARENA_ARRAY((r)->unit, T, (n) + 1);       \
		for (uint32_t k_ = 0; k_ < (n) && (r)->v.ok; k_++) \
			one(r, &(list)[k_]);                       \
	} while (0)

static void take_reduction(struct in *r, struct loop_reduction *x)
{
	x->op = (enum ir_op)take_one_of(r, OP_COUNT);
	x->elem = (dtype)take_one_of(r, DT_COUNT);
	x->value = take(r, UINT32_MAX);
	if (!(ir_op_traits(x->op) & REDUCES))
		refuse(r);
}

static void take_store(struct in *r, struct loop_store *x)
{
	x->value = take(r, UINT32_MAX);
	take_access(r, &x->access);
}

static void take_nest(struct in *r, struct loop_nest *n)
{
	n->n_parallel = (uint8_t)take(r, LOOP_MAX);
	n->n_reduce = (uint8_t)take(r, LOOP_MAX - n->n_parallel);
	for (uint32_t k = 0; k < (uint32_t)n->n_parallel + n->n_reduce; k++)
		n->extent[k] = take_dim(r);
	TAKE_ARRAY(r, struct loop_expr, n->exprs, n->n_exprs, take_expr);
	TAKE_ARRAY(r, struct loop_reduction, n->reductions, n->n_reductions, take_reduction);
	TAKE_ARRAY(r, struct loop_store, n->stores, n->n_stores, take_store);
}

static void take_kernel(struct in *r, struct loop_stmt *s)
{
	static const uint32_t dims[] = {
#define KERNEL(id, symbol, buffers, dims) dims,
#include "backend/target/kernels.def"
#undef KERNEL
	};
	s->kernel = (enum kernel)take_one_of(r, KERNEL_COUNT);
	s->dims = take_dims(r, &s->n_dims, UINT32_MAX);
	if (s->n_dims != dims[s->kernel])
		refuse(r);
}

static void take_call(struct in *r, struct loop_stmt *s)
{
	s->callee = take_text(r);
	s->slot = take_optional(r);
	s->dims = take_dims(r, &s->n_dims, UINT32_MAX);
	if (!s->callee || (s->slot != LOOP_NONE && s->slot >= r->f->n_slots))
		refuse(r);
}

static void take_effect(struct in *r, struct loop_stmt *s)
{
	s->text = take_text(r);
	s->where = take_text(r);
	const void *kinds = varint_take_bytes(&r->v, s->n_buffers);
	s->kinds = ARENA_ARRAY(r->unit, uint8_t, s->n_buffers + 1);
	if (kinds)
		memcpy(s->kinds, kinds, s->n_buffers);
	s->dims = take_dims(r, &s->n_dims, UINT32_MAX);
	uint32_t n = 0;
	for (uint32_t k = 0; k < s->n_buffers; k++)
		n += s->kinds[k] & 15u;
	if (!s->text || n != s->n_dims || (s->where && !s->n_buffers))
		refuse(r);
}

static void take_head(struct in *r, struct loop_stmt *s)
{
	*s = (struct loop_stmt){.kind = (enum loop_stmt_kind)take_one_of(r, STMT_EFFECT + 1), .slot = LOOP_NONE};
	s->buffers = take_numbers(r, &s->n_buffers, r->f->n_buffers);
}

/* What stands inside a branch or a loop is a call. */
static void take_inner_call(struct in *r, struct loop_stmt *s)
{
	take_head(r, s);
	if (s->kind != STMT_CALL)
		refuse(r);
	else
		take_call(r, s);
}

static void take_control(struct in *r, struct loop_stmt *s)
{
	if (s->kind == STMT_LOOP)
		s->initial = take_numbers(r, &s->n_carried, r->f->n_buffers);
	TAKE_ARRAY(r, struct loop_stmt, s->calls, s->n_calls, take_inner_call);
	if (s->n_buffers == 0 || s->n_calls != (s->kind == STMT_IF ? 2u : 1u))
		refuse(r);
	else if (s->kind == STMT_LOOP && s->calls[0].n_buffers < 2 * (uint64_t)s->n_carried + 1)
		refuse(r);
}

static void take_stmt(struct in *r, struct loop_stmt *s)
{
	take_head(r, s);
	switch (s->kind) {
	case STMT_NEST: take_nest(r, &s->nest); return;
	case STMT_KERNEL: take_kernel(r, s); return;
	case STMT_CALL: take_call(r, s); return;
	case STMT_EFFECT: take_effect(r, s); return;
	case STMT_IF:
	case STMT_LOOP: take_control(r, s); return;
	}
}

static void take_check(struct in *r, struct loop_check *c)
{
	c->least = take_dim(r);
	c->kind = (enum tri_misfit)take_one_of(r, TRI_MISFITS);
}

static void take_fn(struct in *r)
{
	struct loop_fn *f = r->f;
	f->symbol = take_text(r);
	f->n_inputs = take(r, UINT32_MAX);
	f->n_outputs = take(r, UINT32_MAX);
	f->n_slots = take(r, UINT32_MAX);
	TAKE_ARRAY(r, struct loop_buffer, f->buffers, f->n_buffers, take_buffer);
	TAKE_ARRAY(r, struct loop_stmt, f->stmts, f->n_stmts, take_stmt);
	f->scratch = take_dim(r);
	TAKE_ARRAY(r, struct loop_check, f->checks, f->n_checks, take_check);
	if (!f->symbol || r->v.at != r->v.end)
		refuse(r);
}

struct loop_fn *loops_read(struct arena *unit, const void *bytes, size_t len, const char **error)
{
	struct in r = {.unit = unit, .f = ARENA_NEW(unit, struct loop_fn), .v = {bytes, (const unsigned char *)bytes + len, true}};
	uint32_t magic = 0;
	const void *head = varint_take_bytes(&r.v, sizeof magic);
	if (head)
		memcpy(&magic, head, sizeof magic);
	r.f->unit = unit;
	if (magic == MAGIC && (r.f->dims = dims_read(unit, &r.v)) && dims_count(r.f->dims))
		take_fn(&r);
	else
		refuse(&r);
	if (!r.v.ok) {
		*error = "its loops cannot be read: they are damaged, or of another version";
		return NULL;
	}
	struct buf why = {0};
	bool sound = loops_verify(r.f, &why);
	if (!sound)
		*error = arena_strdup(unit, why.at);
	buf_free(&why);
	return sound ? r.f : NULL;
}
