/* The outer loops of integer products y int32 [M, N] = x · w, exact, whose w is in panels of columns. A block is up to ROW_BLOCK rows of one
 * panel. Its sums go straight to y if the panel is whole; else, and if an epilogue reads them, through a buffer. */
#ifndef TRI_PRODUCT_BLOCKS_H
#define TRI_PRODUCT_BLOCKS_H
#include <string.h>
#include "backend/runtime/kernels/kernel.h"

enum {
	ROW_BLOCK = 64,
	ROW_CHUNK = 512, /* the most rows of x that are prepared at once */
	MOST_PANEL = 64
};
_Static_assert(ROW_CHUNK % ROW_BLOCK == 0, "whole blocks");

/* The first member of a kernel's own structure. */
struct product {
	/* Stores the sums of rows m … end-1 of a panel; rows of y are `ld` apart. */
	void (*sum)(const struct product *p, int64_t panel, int64_t m, int64_t end, int32_t *y, int64_t ld);
	int32_t *y;
	int64_t M, K, N;
	int64_t panel; /* columns of a panel */
	int64_t first; /* the row of the whole result that y begins with */
	const struct tri_epilogue *epilogue;
	struct tri_grid grid;
};

static void product_block(const struct product *p, int64_t panel, int64_t m, int64_t end)
{
	_Alignas(64) int32_t sums[ROW_BLOCK * MOST_PANEL];
	int64_t n = panel * p->panel, width = p->N - n < p->panel ? p->N - n : p->panel;
	_Bool whole = width == p->panel && !p->epilogue;
	p->sum(p, panel, m, end, whole ? p->y + m * p->N + n : sums, whole ? p->N : p->panel);
	if (p->epilogue)
		p->epilogue->fn(p->epilogue, sums, p->panel, (int64_t[]){0, p->first + m, n}, end - m, width);
	else if (!whole)
		for (int64_t r = m; r < end; r++)
			memcpy(p->y + r * p->N + n, sums + (r - m) * p->panel, (size_t)width * sizeof(int32_t));
}

static void product_task(void *arg, int64_t i)
{
	const struct product *p = arg;
	int64_t from, to;
	tri_grid_range(&p->grid, i, &from, &to);
	for (int64_t t = from; t < to; t++) {
		int64_t m = t % p->grid.rows * ROW_BLOCK;
		product_block(p, t / p->grid.rows, m, m + ROW_BLOCK < p->M ? m + ROW_BLOCK : p->M);
	}
}

/* work: multiply-adds of a row of one panel. */
TRI_INLINE void product_run(struct tri_context *ctx, struct product *p, int64_t work)
{
	int64_t panels = p->N / p->panel + (p->N % p->panel != 0);
	p->grid = tri_grid_make(panels, (p->M + ROW_BLOCK - 1) / ROW_BLOCK, work * (p->M < ROW_BLOCK ? p->M : ROW_BLOCK));
	tri_parallel(ctx, product_task, p, tri_grid_tasks(&p->grid));
}

/* Rows from row m on, at most `chunk`. */
TRI_INLINE struct product product_rows(const struct tri_matmul_dims *d, void *const *bufs, const struct tri_epilogue *epilogue, int64_t m,
				       int64_t chunk)
{
	return (struct product){.y = epilogue ? NULL : (int32_t *)bufs[2] + m * d->N,
				.M = d->M - m < chunk ? d->M - m : chunk,
				.K = d->K,
				.N = d->N,
				.first = m,
				.epilogue = epilogue};
}
#endif
