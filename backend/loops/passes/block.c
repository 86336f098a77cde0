/* Joins consecutive nests with the same outer loops into a block, if each iteration of these loops reads only what the same iteration wrote: a row
 * of a softmax, a norm. A temporary that only they use becomes a buffer of one row, which stays in the cache. */
#include "backend/loops/passes/block.h"
#include <string.h>
#include "backend/loops/passes/merge.h"
#include "backend/passes/options.h"
#include "backend/target/target.h"
#include "base/arena.h"

enum { MOST_NESTS = 16 };

static void block_count_use(void *ctx, uint32_t buffer) { ((uint32_t *)ctx)[buffer]++; }

static void count_inside(void *joiner, uint32_t buffer)
{
	struct joiner *j = joiner;
	if (j->inside[buffer]++ == 0)
		j->touched[j->n_touched++] = buffer;
}

static void forget_candidate(struct joiner *j)
{
	for (uint32_t k = 0; k < j->n_touched; k++) {
		j->inside[j->touched[k]] = 0;
		j->row[j->touched[k]] = 0;
		j->items[j->touched[k]] = j->outside[j->touched[k]] = false;
	}
	j->n_touched = 0;
}

/* ---- candidates ---- */

/* A nest that can be in a block: its accesses are known, and it cannot fail. On a device, one row pays, too: without a block its nests are launches. */
static bool block_is_plain(const struct loop_stmt *s, const struct target *t)
{
	if (s->kind != STMT_NEST || (s->u.nest.n_parallel == 0 && !t->group_size))
		return false;
	for (uint32_t k = 0; k < s->u.nest.n_exprs; k++)
		if (s->u.nest.exprs[k].kind == LOOP_CHECK)
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

static void add_stride(struct dims *d, struct loop_access *a)
{
	memmove(a->stride + 1, a->stride, (LOOP_MAX - 1) * sizeof *a->stride);
	a->stride[0] = dim_const(d, 0);
}

/* Adds a loop of one iteration around the nest. Returns false if it has too many loops. */
static bool add_row(struct dims *d, struct loop_nest *n)
{
	if (n->n_parallel + n->n_reduce == LOOP_MAX)
		return false;
	memmove(n->extent + 1, n->extent, (LOOP_MAX - 1) * sizeof *n->extent);
	n->extent[0] = dim_const(d, 1);
	n->n_parallel++;
	for (uint32_t k = 0; k < n->n_exprs; k++) {
		add_stride(d, &n->exprs[k].access);
		n->exprs[k].var += n->exprs[k].kind == LOOP_INDEX;
	}
	for (uint32_t k = 0; k < n->n_stores; k++)
		add_stride(d, &n->stores[k].access);
	return true;
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
	const bool one = n->n_parallel == 0; /* row, which is a loop of blocks all the same */
	j->rows.n = one ? 1 : n->n_parallel;
	memcpy(j->rows.extent, n->extent, sizeof j->rows.extent);
	if (one)
		j->rows.extent[0] = dim_const(j->dims, 1);
	for (j->n = 0; j->first + j->n < end;) {
		j->nests[j->n] = copy_nest(j->f->unit, &j->f->stmts[j->first + j->n].u.nest);
		if (one && !add_row(j->dims, &j->nests[j->n]))
			break;
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
static bool block_trim(struct joiner *j)
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

/* Reads of what a buffer begins with are not found by its number. */
static bool appends(const struct joiner *j, const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_stores; k++)
		if (j->f->buffers[n->stores[k].access.buffer].grows != LOOP_NONE)
			return true;
	return false;
}

/* Nests share one row whatever they compute, so only those stay that need something of the ones before. */
static void keep_connected(struct joiner *j)
{
	for (uint32_t k = 1; k < j->n; k++) {
		bool fed = false;
		for (uint32_t i = 0; i < k; i++)
			fed |= feeds(&j->nests[i], &j->nests[k]);
		if (!fed)
			j->n = k;
	}
}

static bool block_can_join(struct joiner *j)
{
	forget_candidate(j);
	for (uint32_t k = 0; k < j->n; k++)
		loop_stmt_buffers(&j->f->stmts[j->first + k], count_inside, j);
	for (uint32_t k = 0; k < j->n; k++)
		if (!loops_keeps_schedule(j, &j->nests[k]) || appends(j, &j->nests[k]))
			return false;
	return loops_find_rows(j) && loops_is_worth_block(j);
}

/* ---- the block ---- */

static void own_access(const struct joiner *j, struct loop_access *a)
{
	for (uint32_t k = 0; k < j->rows.n && loops_is_own(j, a->buffer); k++)
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
	for (uint32_t i = 0; i < j->n_touched; i++) {
		uint32_t k = j->touched[i];
		struct loop_buffer *b = &j->f->buffers[k];
		if (!loops_is_own(j, k))
			continue;
		bool small = j->row[k] <= LOOP_MOST_PRIVATE && !j->options->target->group_size;
		b->scope = small ? SCOPE_PRIVATE : j->items[k] ? SCOPE_ITEMS : SCOPE_LOCAL;
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
		if (!align_from(j, end) || !block_trim(j))
			return false;
		if (loops_have_one_row(j))
			keep_connected(j);
		if (block_can_join(j)) {
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
	j.touched = ARENA_ARRAY(f->unit, uint32_t, f->n_buffers + 1);
	j.row = ARENA_ARRAY(f->unit, int64_t, f->n_buffers + 1);
	j.items = ARENA_ARRAY(f->unit, bool, f->n_buffers + 1);
	j.outside = ARENA_ARRAY(f->unit, bool, f->n_buffers + 1);
	j.nests = ARENA_ARRAY(f->unit, struct loop_nest, MOST_NESTS);
	for (uint32_t s = 0; s < f->n_stmts; s++)
		loop_stmt_buffers(&f->stmts[s], block_count_use, j.uses);
	for (uint32_t s = 0, end; s < f->n_stmts; s++) {
		for (end = s; end < f->n_stmts && end < s + MOST_NESTS && block_is_plain(&f->stmts[end], c->options->target);)
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
