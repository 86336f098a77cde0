/* Chunks for threads. A nest or block that is large for all values of the symbols gets a parallel axis outside. Its loop becomes the outermost one. */
#include <string.h>
#include "backend/loops/build/build.h"
#include "backend/loops/schedule/choose.h"

/* In units of about a scalar operation. A chunk takes tens of microseconds, so that a thread that must be woken for it pays. */
enum { CHUNK_WORK = 1 << 18, LEAST_CHUNKS = 4, MOST_EXTENT = 1 << 24 };

/* Returns a number that divides the extent for all values of the symbols; of a constant itself. Up to MOST_EXTENT. */
static int64_t least_extent(const struct loop_fn *f, dim extent)
{
	int64_t n = dim_common_factor(f->dims, extent);
	return n < 1 ? 1 : n < MOST_EXTENT ? n : MOST_EXTENT;
}

static int64_t work_of_element(const struct loop_nest *n)
{
	int64_t work = n->n_stores;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		work += n->exprs[k].kind == LOOP_OP && (ir_op_traits(n->exprs[k].op) & EXPENSIVE) ? 12 : n->exprs[k].kind != LOOP_CONST;
	return work;
}

/* Returns the work of all iterations at least, up to a large number. */
static int64_t work_of(const struct loop_fn *f, const struct loop_nest *n)
{
	int64_t work = work_of_element(n);
	for (uint32_t k = 0; k < (uint32_t)n->n_parallel + n->n_reduce; k++)
		if (__builtin_mul_overflow(work, least_extent(f, n->extent[k]), &work))
			return INT64_MAX;
	return work;
}

struct independence {
	const struct loop_fn *f;
	uint32_t loop;
	bool ok;
};

/* True if iterations of the loop write different elements, and none can fail: which error is the first would depend on the threads. */
static void check_independent(void *ctx, const struct loop_nest *n)
{
	struct independence *x = ctx;
	int64_t v;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_CHECK)
			x->ok = false;
	for (uint32_t k = 0; k < n->n_stores; k++) {
		const struct loop_access *a = &n->stores[k].access;
		bool shared = x->f->buffers[a->buffer].scope == SCOPE_GLOBAL;
		if (a->index != LOOP_NONE || (shared && dim_is_const(x->f->dims, a->stride[x->loop], &v) && v == 0))
			x->ok = false;
	}
}

static bool is_independent(const struct loop_fn *f, const struct loop_stmt *s, uint32_t loop)
{
	struct independence x = {f, loop, true};
	loop_stmt_nests(s, check_independent, &x);
	return x.ok;
}

static uint32_t vector_loop(const struct loop_schedule *s)
{
	for (uint32_t k = 0; k < s->n_axes; k++)
		if (s->axes[k].kind == AXIS_VECTOR)
			return s->axes[k].of;
	return LOOP_NONE;
}

/* Returns the first parallel loop of `n`, the loops of the statement, that has enough chunks, or LOOP_NONE. A vectorised loop stays inside of others. */
static uint32_t find_loop(const struct loop_fn *f, const struct loop_stmt *s, const struct loop_nest *n, int64_t work, int64_t *chunk)
{
	uint32_t vector = vector_loop(&n->schedule);
	for (uint32_t loop = 0; loop < n->n_parallel; loop++) {
		int64_t extent = least_extent(f, n->extent[loop]), each = work / extent,
			step = loop == vector ? n->schedule.axes[0].step : 1;
		if (loop == vector && n->n_parallel > 1)
			continue;
		*chunk = each < CHUNK_WORK ? CHUNK_WORK / each : 1;
		*chunk = (*chunk + step - 1) / step * step;
		if (extent / *chunk >= LEAST_CHUNKS && is_independent(f, s, loop))
			return loop;
	}
	return LOOP_NONE;
}

/* Moves the axes of the loop in front of those of other loops, and the chunks before them. */
static void put_outside(struct loop_schedule *s, uint32_t loop, int64_t chunk)
{
	struct loop_axis axes[LOOP_AXES] = {{AXIS_PARALLEL, loop, 1, chunk}};
	uint32_t n = 1;
	for (uint32_t k = 0; k < s->n_axes; k++)
		if (s->axes[k].of == loop)
			axes[n++] = s->axes[k];
	for (uint32_t k = 0; k < s->n_axes; k++)
		if (s->axes[k].of != loop)
			axes[n++] = s->axes[k];
	memcpy(s->axes, axes, n * sizeof *axes);
	s->n_axes = n;
}

struct work_sum {
	const struct loop_fn *f;
	int64_t work;
};

static void schedule_parallel_add_work(void *ctx, const struct loop_nest *n)
{
	struct work_sum *x = ctx;
	if (__builtin_add_overflow(x->work, work_of(x->f, n), &x->work))
		x->work = INT64_MAX;
}

void schedule_chunks(const struct loop_fn *f, struct loop_stmt *s)
{
	struct loop_nest *n = s->kind == STMT_BLOCK ? &s->u.block.loops : &s->u.nest;
	struct work_sum all = {f, 0};
	int64_t chunk;
	loop_stmt_nests(s, schedule_parallel_add_work, &all);
	if (all.work < (int64_t)LEAST_CHUNKS * CHUNK_WORK)
		return;
	uint32_t loop = find_loop(f, s, n, all.work, &chunk);
	if (loop == LOOP_NONE)
		return;
	if (loop == vector_loop(&n->schedule) && n->schedule.tail == TAIL_OVERLAP)
		n->schedule.tail = TAIL_SCALAR; /* the last chunk may be shorter than a vector */
	put_outside(&n->schedule, loop, chunk);
}
