/* Horizontal fusion: moves a statement that needs nothing of those before it up to a statement of its kind, so that a device executes both in one launch
 * (ir/beside.h). A launch takes a device a few microseconds, and a step of a decoder has many small ones that leave most of it idle: the projections of
 * queries, keys and values, rotary positions of both, masks.
 *
 * Products are joined only if they may have one row: those of many rows fill a device alone. The block before them that computes this row joins them, too
 * (ir/repeat.h), if groups have room for the row in their memory. */
#include "backend/loops/ir/beside.h"
#include "backend/loops/ir/repeat.h"
#include "backend/loops/loop_passes.h"
#include "backend/target/target.h"
#include "base/arena.h"

/* A statement is looked for among so many of those behind; a launch has so many at the most, and so many reads and writes, since buffers
 * are arguments. */
enum { WINDOW = 64, MOST_NESTS = 8, MOST_PRODUCTS = 4, MOST_BUFFERS = 32 };
/* Bytes of what a block computes of a row, and of this with the partial results that items of the largest group have of reductions; the rest of 32 KiB is for the
 * products. */
enum { MOST_ROW = 20 << 10, MOST_WITH_PARTIAL = 28 << 10, PARTIAL_RESULTS = 256 * 8 };

/* Errors are reported in the order of statements, so one that may fail stays where it is. */
static bool beside_may_fail(const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_CHECK)
			return true;
	return false;
}

static bool may_share(const struct loop_fn *f, const struct loop_stmt *s)
{
	return s->kind == STMT_NEST ? !beside_may_fail(&s->u.nest) : loops_may_have_one_row(f, s);
}

/* True if statement k can be executed as early as those of the launch that begins with `first`. */
static bool can_move_up(const struct loop_fn *f, uint32_t first, uint32_t k)
{
	if (!may_share(f, &f->stmts[k]) || !loops_are_alike(&f->stmts[first], &f->stmts[k]))
		return false;
	for (uint32_t i = first; i < k; i++)
		if (!loops_are_independent(f, &f->stmts[i], &f->stmts[k]))
			return false;
	return true;
}

static void move_up(struct loop_fn *f, uint32_t to, uint32_t from)
{
	const struct loop_stmt moved = f->stmts[from];
	for (uint32_t k = from; k > to; k--)
		f->stmts[k] = f->stmts[k - 1];
	f->stmts[to] = moved;
	f->stmts[to].beside = true;
}

static bool is_control(enum loop_stmt_kind k) { return k == STMT_EFFECT || k == STMT_BRANCH || k == STMT_LOOP; }

static void beside_count_buffer(void *ctx, uint32_t buffer)
{
	(void)buffer;
	++*(uint32_t *)ctx;
}

/* Fills the launch that begins with `first`. Returns the number of statements that joined it. */
static uint32_t fill_launch(struct loop_fn *f, uint32_t first)
{
	const uint32_t most = f->stmts[first].kind == STMT_NEST ? MOST_NESTS : MOST_PRODUCTS;
	uint32_t end = first + 1, buffers = 0;
	loop_stmt_buffers(&f->stmts[first], beside_count_buffer, &buffers);
	for (uint32_t k = end; k < f->n_stmts && k < first + WINDOW && end < first + most && !is_control(f->stmts[k].kind); k++) {
		uint32_t own = 0;
		loop_stmt_buffers(&f->stmts[k], beside_count_buffer, &own);
		if (buffers + own <= MOST_BUFFERS && can_move_up(f, first, k)) {
			move_up(f, end++, k);
			buffers += own;
		}
	}
	return end - first - 1;
}

/* ---- the block before products ---- */

struct beside_row {
	const struct loop_fn *f;
	bool *counted;
	int64_t bytes;
};

static void count_row(void *ctx, uint32_t buffer)
{
	struct beside_row *r = ctx;
	bool own = r->f->buffers[buffer].scope == SCOPE_LOCAL;
	if (r->counted[buffer] == own) /* results are counted if they are marked, and what work items keep is not */
		return;
	r->counted[buffer] = own;
	if (__builtin_add_overflow(r->bytes, loops_row_bytes(r->f, buffer), &r->bytes))
		r->bytes = INT64_MAX;
}

static void count_partial_results(void *ctx, const struct loop_nest *n)
{
	int64_t *most = ctx, own = (int64_t)n->n_reductions * PARTIAL_RESULTS;
	*most = own > *most ? own : *most;
}

static bool row_fits(const struct loop_fn *f, const struct loop_stmt *block)
{
	struct beside_row r = {f, ARENA_ARRAY(f->unit, bool, f->n_buffers + 1), 0};
	int64_t partial = 0;
	loops_mark_results(f, block, r.counted);
	loop_stmt_buffers(block, count_row, &r);
	loop_stmt_nests(block, count_partial_results, &partial);
	return r.bytes <= MOST_ROW && r.bytes + partial <= MOST_WITH_PARTIAL;
}

/* The block k, and the launch behind it. */
static bool joins_products(struct loop_fn *f, uint32_t k)
{
	if (f->stmts[k].kind != STMT_BLOCK || k + 1 == f->n_stmts || !row_fits(f, &f->stmts[k]))
		return false;
	for (uint32_t i = k + 1, end = loops_launch_end(f, k + 1); i < end; i++)
		if (!loops_may_repeat(f, k, i))
			return false;
	return f->stmts[k + 1].beside = true;
}

uint32_t loop_pass_beside(struct loop_fn *f, struct loop_pass_context *c)
{
	uint32_t found = 0;
	for (uint32_t k = 0; c->options->target->group_size && k < f->n_stmts; k = loops_launch_end(f, k))
		if (may_share(f, &f->stmts[k]))
			found += fill_launch(f, k);
	for (uint32_t k = 0; c->options->target->group_size && k < f->n_stmts; k++)
		found += joins_products(f, k);
	return found;
}
