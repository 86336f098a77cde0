#include "backend/text/signature.h"
#include <math.h>
#include "backend/loops/ir/beside.h"
#include "base/arena.h"
#include "backend/text/dialect.h"

int64_t text_buffer_bytes(const struct loop_fn *f, uint32_t buffer)
{
	const struct hir_type *t = &f->buffers[buffer].type;
	return ir_type_count(f->dims, t) * (int64_t)dtype_size(t->elem);
}

static bool all_finite(const struct loop_buffer *b, int64_t bytes)
{
	if (b->type.elem == DT_FLOAT32)
		for (int64_t i = 0; i < bytes / 4; i++)
			if (!isfinite(((const float *)b->data)[i]))
				return false;
	if (b->type.elem == DT_FLOAT64)
		for (int64_t i = 0; i < bytes / 8; i++)
			if (!isfinite(((const double *)b->data)[i]))
				return false;
	return true;
}

bool text_is_baked(const struct dialect *d, const struct loop_fn *f, uint32_t buffer)
{
	const struct loop_buffer *b = &f->buffers[buffer];
	if (b->kind != BUFFER_CONST || b->layout != LAYOUT_PLAIN || f->constants_outside)
		return false;
	int64_t bytes = text_buffer_bytes(f, buffer);
	return bytes > 0 && bytes <= d->bake_limit && (d->bakes_infinity || all_finite(b, bytes));
}

struct marks {
	const struct loop_fn *f;
	bool *buffers, *written, *syms;
	bool fails;
	uint32_t group;
};

static void signature_mark_dim(struct marks *m, dim d)
{
	int64_t v;
	if (dim_is_const(m->f->dims, d, &v))
		return;
	for (uint32_t k = 0; k < dims_syms(m->f->dims); k++)
		m->syms[k] = m->syms[k] || dim_depends_on(m->f->dims, d, k);
}

static void mark_access(struct marks *m, const struct loop_nest *n, const struct loop_access *a)
{
	m->buffers[a->buffer] = true;
	signature_mark_dim(m, a->base);
	for (uint32_t k = 0; k < (uint32_t)n->n_parallel + n->n_reduce; k++)
		signature_mark_dim(m, a->stride[k]);
	if (a->index != LOOP_NONE)
		signature_mark_dim(m, a->scale);
}

static uint32_t *signature_collect(struct arena *a, const bool *marked, uint32_t n, uint32_t *count)
{
	uint32_t *out = ARENA_ARRAY(a, uint32_t, n + 1);
	*count = 0;
	for (uint32_t i = 0; i < n; i++)
		if (marked[i])
			out[(*count)++] = i;
	return out;
}

static uint32_t signature_group_size(const struct loop_schedule *s)
{
	for (uint32_t k = 0; k < s->n_axes; k++)
		if (s->axes[k].kind == AXIS_LANE)
			return s->axes[k].width;
	return 0;
}

static void mark_nest(void *ctx, const struct loop_nest *n)
{
	struct marks *m = ctx;
	uint32_t group = signature_group_size(&n->schedule);
	for (uint32_t k = 0; k < (uint32_t)n->n_parallel + n->n_reduce; k++)
		signature_mark_dim(m, n->extent[k]);
	for (uint32_t i = 0; i < n->n_exprs; i++) {
		if (n->exprs[i].kind == LOOP_LOAD)
			mark_access(m, n, &n->exprs[i].access);
		if (n->exprs[i].kind == LOOP_EXTENT || n->exprs[i].kind == LOOP_CHECK)
			signature_mark_dim(m, n->exprs[i].extent);
		m->fails |= n->exprs[i].kind == LOOP_CHECK;
	}
	for (uint32_t i = 0; i < n->n_stores; i++) {
		mark_access(m, n, &n->stores[i].access);
		m->written[n->stores[i].access.buffer] = true;
	}
	m->group = group ? group : m->group;
}

static struct marks marks_new(struct arena *a, const struct loop_fn *f)
{
	return (struct marks){.f = f,
			      .buffers = ARENA_ARRAY(a, bool, f->n_buffers + 1),
			      .written = ARENA_ARRAY(a, bool, f->n_buffers + 1),
			      .syms = ARENA_ARRAY(a, bool, dims_syms(f->dims) + 1)};
}

/* Buffers of a block are declared in the kernel. */
static void signature_finish(struct arena *a, const struct dialect *d, const struct marks *m, struct text_signature *out)
{
	for (uint32_t i = 0; i < m->f->n_buffers; i++)
		if (m->buffers[i] && (text_is_baked(d, m->f, i) || m->f->buffers[i].scope != SCOPE_GLOBAL))
			m->buffers[i] = false;
	out->buffers = signature_collect(a, m->buffers, m->f->n_buffers, &out->n_buffers);
	out->written = ARENA_ARRAY(a, bool, out->n_buffers + 1);
	for (uint32_t i = 0; i < out->n_buffers; i++)
		out->written[i] = m->written[out->buffers[i]];
	out->syms = signature_collect(a, m->syms, dims_syms(m->f->dims), &out->n_syms);
	out->fails = m->fails;
	out->group = m->group;
}

void text_signature_of(struct arena *a, const struct dialect *d, const struct loop_fn *f, const struct loop_nest *n,
		       struct text_signature *out)
{
	struct marks m = marks_new(a, f);
	mark_nest(&m, n);
	signature_finish(a, d, &m, out);
}

void text_signature_of_stmt(struct arena *a, const struct dialect *d, const struct loop_fn *f, const struct loop_stmt *s,
			    struct text_signature *out)
{
	struct marks m = marks_new(a, f);
	int64_t frame;
	loop_stmt_nests(s, mark_nest, &m);
	if (s->kind == STMT_BLOCK && d->launch == LAUNCH_ITEMS && !m.group) /* it has nothing to share */
		m.group = 1;
	signature_finish(a, d, &m, out);
	out->frame = s->kind == STMT_BLOCK && d->launch == LAUNCH_LOOPS && dim_is_const(f->dims, s->u.block.frame, &frame) && frame > 0;
}

void text_signature_of_launch(struct arena *a, const struct dialect *d, const struct loop_fn *f, uint32_t first, struct text_signature *out)
{
	struct marks m = marks_new(a, f);
	for (uint32_t k = first, end = loops_launch_end(f, first); k < end; k++)
		loop_stmt_nests(&f->stmts[k], mark_nest, &m);
	signature_finish(a, d, &m, out);
}

const struct loop_nest *text_outer_loops(const struct loop_stmt *s) { return s->kind == STMT_BLOCK ? &s->u.block.loops : &s->u.nest; }
