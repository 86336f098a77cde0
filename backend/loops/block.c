/* Joins consecutive nests with the same outer loops into a block, if each iteration of these loops reads only what the same iteration wrote: a row
 * of a softmax, a norm. A temporary that only they use becomes a buffer of one row, which stays in the cache. */
#include "backend/loops/block.h"
#include <string.h>
#include "backend/passes/options.h"
#include "backend/target/target.h"
#include "base/arena.h"

enum { LEAST_VECTORS = 4, LEAST_ROWS = 8, MOST_NESTS = 16, ALIGNMENT = 64 };

struct joiner {
	struct loop_fn *f;
	struct dims *dims;
	const struct plan_options *options;
	uint32_t *uses;          /* of each buffer by all statements */
	uint32_t *inside;        /* of each buffer by those of the candidate */
	int64_t *row;            /* of each buffer that the candidate writes: the elements of a row; 0: it does not write it */
	struct loop_nest *nests; /* copies of those of the candidate, which begins with statement `first` */
	uint32_t first, n;
	struct rows rows;
};

static void count_use(void *ctx, uint32_t buffer) { ((uint32_t *)ctx)[buffer]++; }

/* ---- candidates ---- */

/* A nest that can be in a block: its accesses are known, and it cannot fail. */
static bool is_plain(const struct loop_stmt *s)
{
	if (s->kind != STMT_NEST || s->u.nest.n_parallel == 0)
		return false;
	for (uint32_t k = 0; k < s->u.nest.n_exprs; k++)
		if (s->u.nest.exprs[k].kind == LOOP_LOAD && s->u.nest.exprs[k].access.index != LOOP_NONE)
			return false;
	return true;
}

static struct loop_nest copy_nest(struct arena *a, const struct loop_nest *n)
{
	struct loop_nest c = *n;
	c.exprs = ARENA_ARRAY(a, struct loop_expr, n->n_exprs + 1);
	c.stores = ARENA_ARRAY(a, struct loop_store, n->n_stores + 1);
	memcpy(c.exprs, n->exprs, n->n_exprs * sizeof *c.exprs);
	memcpy(c.stores, n->stores, n->n_stores * sizeof *c.stores);
	return c;
}

/* Aligns the nests from `first` on with the rows of the first reduction among them. Returns false if that reduction is not reached. */
static bool align_from(struct joiner *j, uint32_t end)
{
	uint32_t sum = j->first;
	while (sum < end && !j->f->stmts[sum].u.nest.n_reduce)
		sum++;
	if (sum == end)
		return false;
	const struct loop_nest *n = &j->f->stmts[sum].u.nest;
	j->rows.n = n->n_parallel;
	memcpy(j->rows.extent, n->extent, sizeof j->rows.extent);
	for (j->n = 0; j->first + j->n < end;) {
		j->nests[j->n] = copy_nest(j->f->unit, &j->f->stmts[j->first + j->n].u.nest);
		enum aligned done = loops_align(j->dims, &j->nests[j->n], &j->rows);
		if (done == ALIGNED_NOT)
			break;
		j->n = done == ALIGNED ? j->n + 1 : 0;
	}
	return j->first + j->n > sum;
}

static bool writes(const struct loop_nest *n, uint32_t buffer)
{
	for (uint32_t k = 0; k < n->n_stores; k++)
		if (n->stores[k].access.buffer == buffer)
			return true;
	return false;
}

/* True if b reads what a writes. */
static bool feeds(const struct loop_nest *a, const struct loop_nest *b)
{
	for (uint32_t k = 0; k < b->n_exprs; k++)
		if (b->exprs[k].kind == LOOP_LOAD && writes(a, b->exprs[k].access.buffer))
			return true;
	return false;
}

/* Drops nests at the ends that nothing connects with the others. Returns false if too few are left. */
static bool trim(struct joiner *j)
{
	for (bool joined = false; !joined && j->n > 1; j->n -= !joined)
		for (uint32_t k = 0; k + 1 < j->n; k++)
			joined |= feeds(&j->nests[k], &j->nests[j->n - 1]);
	for (bool joined = false; j->n > 1;) {
		for (uint32_t k = 1; k < j->n; k++)
			joined |= feeds(&j->nests[0], &j->nests[k]);
		if (joined)
			break;
		j->first++;
		j->n--;
		memmove(j->nests, j->nests + 1, j->n * sizeof *j->nests);
	}
	return j->n > 1;
}

/* ---- rows ---- */

/* Returns the elements from one row to the next, if rows follow each other and the nest touches only its own; else 0. */
static int64_t row_of(const struct joiner *j, const struct loop_nest *n, const struct loop_access *a, uint32_t loops)
{
	uint32_t last = j->rows.n - 1;
	int64_t row, at, stride, extent;
	if (!dim_is_const(j->dims, a->stride[last], &row) || row < 1 || !dim_is_const(j->dims, a->base, &at) || at < 0)
		return 0;
	for (uint32_t k = last; k-- > 0;)
		if (!dim_eq(a->stride[k], dim_mul(j->dims, a->stride[k + 1], j->rows.extent[k + 1])))
			return 0;
	for (uint32_t k = j->rows.n; k < loops; k++) {
		if (!dim_is_const(j->dims, a->stride[k], &stride) || !dim_is_const(j->dims, n->extent[k], &extent) || stride < 0 ||
		    __builtin_mul_overflow(stride, extent - 1, &stride) || __builtin_add_overflow(at, stride, &at))
			return 0;
	}
	return at < row ? row : 0;
}

static bool note_row(struct joiner *j, const struct loop_nest *n, const struct loop_access *a, uint32_t loops)
{
	int64_t row = row_of(j, n, a, loops), *known = &j->row[a->buffer];
	if (row == 0 || (*known && *known != row))
		return false;
	*known = row;
	return true;
}

/* Finds the rows of all buffers that the nests write. Returns false if an iteration depends on another one. */
static bool find_rows(struct joiner *j)
{
	memset(j->row, 0, j->f->n_buffers * sizeof *j->row);
	for (uint32_t i = 0; i < j->n; i++)
		for (uint32_t k = 0; k < j->nests[i].n_stores; k++)
			if (!note_row(j, &j->nests[i], &j->nests[i].stores[k].access, j->nests[i].n_parallel))
				return false;
	for (uint32_t i = 0; i < j->n; i++)
		for (uint32_t k = 0; k < j->nests[i].n_exprs; k++) {
			const struct loop_expr *e = &j->nests[i].exprs[k];
			uint32_t loops = j->nests[i].n_parallel + (e->in_reduction ? j->nests[i].n_reduce : 0u);
			if (e->kind == LOOP_LOAD && j->row[e->access.buffer] && !note_row(j, &j->nests[i], &e->access, loops))
				return false;
		}
	return true;
}

/* ---- costs ---- */

/* True if only the candidate uses the buffer, so that it can be one of a row. */
static bool is_own(const struct joiner *j, uint32_t buffer)
{
	return j->row[buffer] && j->f->buffers[buffer].kind == BUFFER_TEMP && j->inside[buffer] == j->uses[buffer];
}

static int64_t row_bytes(const struct joiner *j, uint32_t buffer)
{
	return j->row[buffer] * (int64_t)dtype_size(j->f->buffers[buffer].type.elem);
}

/* The product of the rows, or INT64_MAX if it is not constant. */
static int64_t count_rows(const struct joiner *j)
{
	int64_t n = 1, extent;
	for (uint32_t k = 0; k < j->rows.n; k++)
		if (!dim_is_const(j->dims, j->rows.extent[k], &extent) || __builtin_mul_overflow(n, extent, &n))
			return INT64_MAX;
	return n;
}

/* Returns the bytes of a row that several nests read, of a buffer that none of them writes; else 0. */
static int64_t shared_bytes(const struct joiner *j, uint32_t buffer)
{
	int64_t row = 0;
	uint32_t readers = 0;
	for (uint32_t i = 0; i < j->n; i++) {
		const struct loop_nest *n = &j->nests[i];
		int64_t its = 0;
		for (uint32_t k = 0; k < n->n_exprs; k++) {
			const struct loop_expr *e = &n->exprs[k];
			if (e->kind == LOOP_LOAD && e->access.buffer == buffer)
				its = row_of(j, n, &e->access, n->n_parallel + (e->in_reduction ? n->n_reduce : 0u));
		}
		readers += its > 0;
		row = its > row ? its : row;
	}
	return readers > 1 ? row * (int64_t)dtype_size(j->f->buffers[buffer].type.elem) : 0;
}

/* True if what the nests share of a row fits the cache, or the local memory of a work group, and all rows do not. */
static bool is_worth(const struct joiner *j)
{
	const struct target *t = j->options->target;
	int64_t rows = count_rows(j), frame = 0, row = 0, longest = 0, all;
	for (uint32_t k = 0; k < j->f->n_buffers; k++) {
		bool own = is_own(j, k);
		int64_t bytes = own ? row_bytes(j, k) : j->row[k] || !j->uses[k] ? 0 : shared_bytes(j, k);
		longest = bytes > longest ? bytes : longest;
		if (bytes > LOOP_MOST_FRAME)
			return false;
		row += bytes;
		frame += own ? bytes + ALIGNMENT : 0;
	}
	if (frame > LOOP_MOST_FRAME || (t->group_size ? frame > t->l1_bytes / 2 : row > t->l2_bytes / 2))
		return false;
	if (longest < LEAST_VECTORS * (int64_t)t->vector_bytes || rows < LEAST_ROWS)
		return false;
	return __builtin_mul_overflow(row, rows, &all) || all > t->l1_bytes / 2;
}

/* True if the nest is as fast inside of the block, and sums in the same order. */
static bool keeps_schedule(const struct joiner *j, struct loop_nest *n)
{
	if (j->options->target->group_size)
		return !n->n_reductions || (n->n_parallel == j->rows.n && schedule_is_shared(j->f, n));
	uint32_t vector = schedule_vector_loop(j->f, n, j->options);
	return vector == LOOP_NONE || vector >= j->rows.n || (n->n_parallel == j->rows.n && !n->n_reduce);
}

static bool can_join(struct joiner *j)
{
	memset(j->inside, 0, j->f->n_buffers * sizeof *j->inside);
	for (uint32_t k = 0; k < j->n; k++)
		loop_stmt_buffers(&j->f->stmts[j->first + k], count_use, j->inside);
	for (uint32_t k = 0; k < j->n; k++)
		if (!keeps_schedule(j, &j->nests[k]))
			return false;
	return find_rows(j) && is_worth(j);
}

/* ---- the block ---- */

static void own_access(const struct joiner *j, struct loop_access *a)
{
	for (uint32_t k = 0; k < j->rows.n && is_own(j, a->buffer); k++)
		a->stride[k] = dim_const(j->dims, 0);
}

static void own_buffers(struct joiner *j)
{
	for (uint32_t i = 0; i < j->n; i++) {
		for (uint32_t k = 0; k < j->nests[i].n_exprs; k++)
			if (j->nests[i].exprs[k].kind == LOOP_LOAD)
				own_access(j, &j->nests[i].exprs[k].access);
		for (uint32_t k = 0; k < j->nests[i].n_stores; k++)
			own_access(j, &j->nests[i].stores[k].access);
	}
	for (uint32_t k = 0; k < j->f->n_buffers; k++) {
		struct loop_buffer *b = &j->f->buffers[k];
		if (!is_own(j, k))
			continue;
		bool small = j->row[k] <= LOOP_MOST_PRIVATE && !j->options->target->group_size;
		b->scope = small ? SCOPE_PRIVATE : SCOPE_LOCAL;
		b->layout = LAYOUT_PLAIN;
		b->type = (struct hir_type){.elem = b->type.elem, .rank = 1, .dims = {dim_const(j->dims, j->row[k])}};
	}
}

/* Replaces the first statement of the candidate by the block. */
static void make_block(struct joiner *j)
{
	struct loop_stmt *first = &j->f->stmts[j->first];
	struct loop_block b = {.n_stmts = j->n, .frame = dim_const(j->dims, LOOP_NOT_PLACED)};
	b.stmts = ARENA_ARRAY(j->f->unit, struct loop_stmt, j->n);
	b.loops.n_parallel = (uint8_t)j->rows.n;
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		b.loops.extent[k] = k < j->rows.n ? j->rows.extent[k] : dim_const(j->dims, 0);
	own_buffers(j);
	for (uint32_t k = 0; k < j->n; k++) {
		j->nests[k].n_outer = (uint8_t)j->rows.n;
		b.stmts[k] = first[k];
		b.stmts[k].u.nest = j->nests[k];
		if (k)
			loops_merge_values(j->f->unit, first, &first[k]);
	}
	first->kind = STMT_BLOCK;
	first->u.block = b;
}

/* Tries the nests from `first` on up to `end`; fewer of them if they cannot be joined all. */
static bool join_from(struct joiner *j, uint32_t first, uint32_t end)
{
	for (j->first = first; end > j->first + 1; end = j->first + j->n - 1) {
		if (!align_from(j, end) || !trim(j))
			return false;
		if (can_join(j)) {
			make_block(j);
			return true;
		}
	}
	return false;
}

uint32_t loop_pass_blocks(struct loop_fn *f, struct loop_pass_context *c)
{
	struct joiner j = {.f = f, .dims = c->dims, .options = c->options};
	uint32_t blocks = 0, kept = 0;
	j.uses = ARENA_ARRAY(f->unit, uint32_t, f->n_buffers + 1);
	j.inside = ARENA_ARRAY(f->unit, uint32_t, f->n_buffers + 1);
	j.row = ARENA_ARRAY(f->unit, int64_t, f->n_buffers + 1);
	j.nests = ARENA_ARRAY(f->unit, struct loop_nest, MOST_NESTS);
	for (uint32_t s = 0; s < f->n_stmts; s++)
		loop_stmt_buffers(&f->stmts[s], count_use, j.uses);
	for (uint32_t s = 0, end; s < f->n_stmts; s++) {
		for (end = s; end < f->n_stmts && end < s + MOST_NESTS && is_plain(&f->stmts[end]);)
			end++;
		bool joined = join_from(&j, s, end);
		while (joined && s < j.first)
			f->stmts[kept++] = f->stmts[s++];
		f->stmts[kept++] = f->stmts[s];
		blocks += joined;
		s += joined ? j.n - 1 : 0;
	}
	f->n_stmts = kept;
	return blocks;
}
