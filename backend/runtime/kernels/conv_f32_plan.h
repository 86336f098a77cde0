/* How conv_f32.c divides a convolution: the sum into blocks of terms, the result into tiles. */
#ifndef TRI_CONV_F32_PLAN_H
#define TRI_CONV_F32_PLAN_H
#include "backend/runtime/kernels/conv_rows.h"
#include "backend/runtime/pack/f32_panels.h"
#include "backend/runtime/kernels/f32_trit2.h"

enum {
	BLOCK = 384,
	COLUMNS = 4 * TRI_PANEL,
	TILE = 72 * COLUMNS,
	FEW_CHANNELS = 16,
	MOST_COPIED = 48,
	COPIED_SEGMENTS = 11,
	COPIED_ROWS = 48
};
enum { FAR = 1024, NEAR_STEP = BLOCK + 16 }; /* elements between rows: a multiple of FAR maps to few sets of the cache, NEAR_STEP to many */
enum { SMALL_WEIGHTS = 1 << 18 };            /* elements that stay in the cache of a core */

struct job {
	struct tri_context *ctx;
	const float *x, *w;
	float *y;
	const struct tri_trits *trits; /* in place of w */
	bool chooses;                  /* trits choose numbers */
	struct tri_conv_dims c;
	int64_t positions, terms;
	int64_t group_channels, group_out; /* of x and of y */
	bool by_rows;                      /* a segment is a row of the window */
	int64_t segments, length;          /* of a window; terms of a segment */
	int64_t per_block;                 /* segments of a block; or terms, if a segment does not fit */
	int64_t per_chunk;                 /* segments whose pointers are held at a time */
	int64_t rows, columns;             /* of a tile */
	int64_t blocks;                    /* tiles of an image */
	const struct tri_epilogue *epilogue;
	struct tri_grid grid;
	int64_t parts; /* of the grid's rows */
};

/* Divides n into the fewest parts of at most `most`, about the same size each. */
static inline int64_t even_part(int64_t n, int64_t most)
{
	int64_t parts = (n + most - 1) / most;
	return (n + parts - 1) / parts;
}

static inline void divide_window(struct job *job)
{
	const struct tri_conv_dims *c = &job->c;
	int64_t row = c->kernel_width * c->channels;
	job->by_rows = job->group_channels == c->channels && c->channels < FEW_CHANNELS && c->dilation_width == 1 && row <= MOST_COPIED &&
		       c->kernel_height <= COPIED_SEGMENTS;
	job->segments = job->by_rows ? c->kernel_height : c->kernel_height * c->kernel_width;
	job->length = job->by_rows ? row : job->group_channels;
	if (job->length > BLOCK) {
		job->per_block = even_part(job->length, BLOCK);
		return;
	}
	int64_t fit = job->length ? BLOCK / job->length : 1;
	job->per_block = even_part(job->segments, fit < TRI_CONV_POINTERS ? fit : TRI_CONV_POINTERS);
	job->per_chunk = TRI_CONV_POINTERS / job->per_block * job->per_block;
}

/* Chooses the tile: wide, so that inputs are read from memory less often, but at least some tiles for each thread. */
static inline void divide_result(struct job *job, int64_t threads)
{
	for (job->columns = COLUMNS;; job->columns /= 2) {
		int64_t wide = job->by_rows ? COPIED_ROWS : TRI_CONV_ROWS, fit = TILE / job->columns;
		job->rows = tri_f32_tile_rows(job->positions, fit < wide ? fit : wide);
		job->blocks = (job->positions + job->rows - 1) / job->rows;
		int64_t tiles = (job->c.out + job->columns - 1) / job->columns * job->blocks * job->c.batch;
		if (job->columns == TRI_PANEL || (tiles >= 4 * threads && job->c.out > job->columns / 2))
			return;
	}
}
#endif
