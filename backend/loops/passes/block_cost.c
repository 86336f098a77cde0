/* When a block pays: rows are long enough for vectors, there are enough of them for threads or work groups, and the buffers of one row fit the
 * cache. On 4096 x 4096 float32 a layer norm takes 1.3 times as long as a copy, and softmax(gelu(2x+1)) 3.3 times; its arithmetic alone, with rows
 * in L2, takes 2.6. */
#include "backend/loops/passes/block.h"
#include "backend/loops/ir/items.h"
#include "backend/loops/schedule/choose.h"
#include "backend/passes/options.h"
#include "backend/target/target.h"

enum { LEAST_VECTORS = 4, LEAST_ROWS = 8, LEAST_GROUPS = 64, SHORT_ROW = 1 << 13, ALIGNMENT = 64 };

static int64_t block_cost_row_bytes(const struct joiner *j, uint32_t buffer)
{
	return j->row[buffer] * (int64_t)dtype_size(j->f->buffers[buffer].type.elem);
}

/* The product of the rows, or INT64_MAX if it is not constant. */
static int64_t block_cost_count_rows(const struct joiner *j)
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
				its = loops_row_of(j, n, &e->access, n->n_parallel + (e->in_reduction ? n->n_reduce : 0u));
		}
		readers += its > 0;
		row = its > row ? its : row;
	}
	return readers > 1 ? row * (int64_t)dtype_size(j->f->buffers[buffer].type.elem) : 0;
}

/* The bytes of a row: of buffers in the frame, of all that the nests share, of the longest. */
struct row_bytes {
	int64_t frame, all, longest;
};

static struct row_bytes sum_rows(const struct joiner *j)
{
	struct row_bytes sum = {0, 0, 0};
	for (uint32_t i = 0; i < j->n_touched; i++) {
		uint32_t k = j->touched[i];
		bool own = loops_is_own(j, k);
		int64_t bytes = own || j->outside[k] ? block_cost_row_bytes(j, k) : j->row[k] ? 0 : shared_bytes(j, k);
		sum.longest = bytes > sum.longest ? bytes : sum.longest;
		sum.all += bytes;
		sum.frame += own && !j->items[k] ? bytes + ALIGNMENT : 0;
	}
	return sum;
}

static void keep_access(struct joiner *j, const struct loop_nest *n, const struct loop_access *a)
{
	j->items[a->buffer] = j->items[a->buffer] && loops_items_of(j->dims, n, j->rows.n, a) == j->row[a->buffer];
}

/* Finds the rows that work items keep. */
static void keep_in_items(struct joiner *j)
{
	for (uint32_t i = 0; i < j->n_touched; i++) {
		uint32_t k = j->touched[i];
		j->items[k] = loops_is_own(j, k) && j->row[k] <= LOOP_MOST_ITEMS && loops_items_keep(j->f->buffers[k].type.elem);
	}
	for (uint32_t i = 0; i < j->n; i++) {
		const struct loop_nest *n = &j->nests[i];
		for (uint32_t k = 0; k < n->n_exprs; k++)
			if (n->exprs[k].kind == LOOP_LOAD)
				keep_access(j, n, &n->exprs[k].access);
		for (uint32_t k = 0; k < n->n_stores; k++)
			keep_access(j, n, &n->stores[k].access);
	}
}

/* Leaves the longest rows of work groups in scratch until local memory has room for the others. */
static void leave_outside(struct joiner *j)
{
	while (sum_rows(j).frame > j->options->target->l1_bytes / 2) {
		uint32_t longest = LOOP_NONE;
		for (uint32_t i = 0; i < j->n_touched; i++) {
			uint32_t k = j->touched[i];
			if (loops_is_own(j, k) && !j->items[k] &&
			    (longest == LOOP_NONE || block_cost_row_bytes(j, k) > block_cost_row_bytes(j, longest)))
				longest = k;
		}
		j->outside[longest] = true;
	}
}

/* True if the launches that nests would be take longer than their work, even where most of a device is idle. */
static bool are_short(const struct joiner *j)
{
	for (uint32_t i = 0; i < j->n; i++) {
		const struct loop_nest *n = &j->nests[i];
		int64_t count = 1, extent;
		for (uint32_t k = j->rows.n; k < (uint32_t)n->n_parallel + n->n_reduce; k++)
			if (!dim_is_const(j->dims, n->extent[k], &extent) || __builtin_mul_overflow(count, extent, &count) ||
			    count > SHORT_ROW)
				return false;
	}
	return true;
}

bool loops_is_worth_block(struct joiner *j)
{
	const struct target *t = j->options->target;
	int64_t rows = block_cost_count_rows(j), all;
	if (t->group_size) {
		keep_in_items(j);
		leave_outside(j);
	}
	const struct row_bytes row = sum_rows(j);
	if (row.longest > LOOP_MOST_FRAME || row.frame > LOOP_MOST_FRAME || (!t->group_size && row.all > t->l2_bytes / 2))
		return false;
	if (row.longest < LEAST_VECTORS * (int64_t)t->vector_bytes)
		return false;
	if (t->group_size)
		return rows >= LEAST_GROUPS || are_short(j);
	if (rows < LEAST_ROWS)
		return false;
	return __builtin_mul_overflow(row.all, rows, &all) || all > t->l1_bytes / 2;
}

bool loops_keeps_schedule(const struct joiner *j, struct loop_nest *n)
{
	if (j->options->target->group_size)
		return !n->n_reductions || (n->n_parallel == j->rows.n && schedule_is_shared(j->f, n));
	uint32_t vector = schedule_vector_loop(j->f, n, j->options);
	return vector == LOOP_NONE || vector >= j->rows.n || (n->n_parallel == j->rows.n && !n->n_reduce);
}
