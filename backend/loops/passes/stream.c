/* Streams what the nests of blocks read and write in buffers that are larger than all caches, a row at a time. The vectors of the next row are fetched while
 * a row is computed, and vectors are stored past the caches: else each line is read before it is written, and no nest of a block is long enough to hide
 * that. */
#include "backend/loops/ir/in_place.h"
#include "backend/loops/loop_passes.h"
#include "backend/target/target.h"

enum { LEAST_ROW = 1 << 10, NEXT_ROW = 1 };

struct streams {
	const struct loop_fn *f;
	int64_t cache; /* bytes */
	uint32_t n;
};

static bool is_larger_than_cache(const struct streams *s, uint32_t buffer)
{
	const struct loop_buffer *b = &s->f->buffers[buffer];
	int64_t bytes = (int64_t)dtype_size(b->type.elem), n;
	for (uint32_t k = 0; k < b->type.rank; k++)
		if (!dim_is_const(s->f->dims, b->type.dims[k], &n) || __builtin_mul_overflow(bytes, n, &bytes))
			return false;
	return b->scope == SCOPE_GLOBAL && bytes >= s->cache;
}

/* True if the vectors of the access are neighbours in a buffer that is larger than the caches. */
static bool has_far_vectors(const struct streams *s, const struct loop_nest *n, const struct loop_access *a)
{
	const struct loop_axis *v = loops_vector_axis(n);
	int64_t stride;
	return v && dim_is_const(s->f->dims, a->stride[v->of], &stride) && stride == 1 && is_larger_than_cache(s, a->buffer);
}

static bool has_long_rows(const struct streams *s, const struct loop_nest *n, const struct loop_access *a)
{
	int64_t row;
	return dim_is_const(s->f->dims, a->stride[n->n_outer - 1], &row) && row >= LEAST_ROW;
}

static void stream_nest(struct streams *s, struct loop_nest *n)
{
	bool slow = loop_nest_is_expensive(n); /* lines are fetched in time only if computing a row takes long */
	for (uint32_t k = 0; slow && k < n->n_exprs; k++) {
		struct loop_access *a = &n->exprs[k].access;
		if (n->exprs[k].kind != LOOP_LOAD || !has_far_vectors(s, n, a) || !has_long_rows(s, n, a))
			continue;
		a->prefetch = NEXT_ROW;
		s->n++;
	}
	for (uint32_t k = 0; k < n->n_stores; k++) {
		struct loop_access *a = &n->stores[k].access;
		a->streamed = has_far_vectors(s, n, a) && s->f->buffers[a->buffer].type.elem == DT_FLOAT32 &&
			      loops_vector_axis(n)->width >= LOOP_STREAMED_LANES;
		s->n += a->streamed;
	}
}

static void stream_block(struct streams *s, struct loop_block *b)
{
	for (uint32_t k = 0; k < b->n_stmts; k++)
		if (b->stmts[k].kind == STMT_NEST)
			stream_nest(s, &b->stmts[k].u.nest);
		else
			stream_block(s, &b->stmts[k].u.block);
}

uint32_t loop_pass_stream(struct loop_fn *f, struct loop_pass_context *c)
{
	struct streams s = {.f = f, .cache = c->options->target->l3_bytes};
	for (uint32_t k = 0; s.cache && k < f->n_stmts; k++)
		if (f->stmts[k].kind == STMT_BLOCK)
			stream_block(&s, &f->stmts[k].u.block);
	return s.n;
}
