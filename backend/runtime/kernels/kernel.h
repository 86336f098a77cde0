/* Declarations of the micro-kernels, and the division of their output into tasks. */
#ifndef TRI_KERNEL_H
#define TRI_KERNEL_H
#include <stdint.h>
#include "backend/runtime/abi/unit.h"
#include "backend/runtime/kernels/records.h"

#define TRI_INLINE static inline __attribute__((always_inline))

#define WHOLE(name)
#define FILLED(name) tri_filled_kernel_fn tri_##name##_filled;
#define KERNEL(name, record, fits, targets, operands, filled, cost) \
	tri_kernel_fn tri_##name;                                   \
	filled(name)
#include "backend/runtime/kernels/kernels.def"
#undef WHOLE
#undef FILLED
#undef KERNEL

enum { TRI_PROLOGUE_MOST = 1 << 14 }; /* the most columns of an operand that a prologue fills */
enum { TRI_TASK_WORK = 1 << 18 };     /* multiply-adds of a task: enough to pay for a thread */

/* A grid of output tiles in column order, so that a weight panel stays in the cache: tile t is in column t / rows and row t % rows. Each
 * task computes `per` tiles. A tile computes its elements completely, so the division changes no result. */
struct tri_grid {
	int64_t cols, rows, per;
};

TRI_INLINE struct tri_grid tri_grid_make(int64_t cols, int64_t rows, int64_t work_of_tile)
{
	int64_t per = TRI_TASK_WORK / (work_of_tile > 0 ? work_of_tile : 1);
	return (struct tri_grid){cols, rows, per > 0 ? per : 1};
}
TRI_INLINE int64_t tri_grid_tasks(const struct tri_grid *g) { return (g->cols * g->rows + g->per - 1) / g->per; }
/* Task i computes tiles [*from, *to). */
TRI_INLINE void tri_grid_range(const struct tri_grid *g, int64_t i, int64_t *from, int64_t *to)
{
	int64_t end = (i + 1) * g->per;
	*from = i * g->per;
	*to = end < g->cols * g->rows ? end : g->cols * g->rows;
}

/* As a grid, whose rows are divided into `parts`, one after the other: with a part for each thread, a thread computes the same rows in a
 * chain of kernels, and reads what it wrote. */
TRI_INLINE void tri_grid_at(const struct tri_grid *g, int64_t parts, int64_t t, int64_t *col, int64_t *row)
{
	int64_t each = (g->rows + parts - 1) / parts, first = t / (g->cols * each) * each;
	int64_t rows = g->rows - first < each ? g->rows - first : each, in = t - g->cols * first;
	*col = in / rows;
	*row = first + in % rows;
}
#endif
