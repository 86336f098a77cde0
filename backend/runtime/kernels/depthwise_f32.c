/* y float32 [N, P, C] = x float32 [N, H, W, C], each channel convolved with its own window of w PANELS [KH · KW, C], where P = OH · OW.
 * Input and result are channels-last, and vectors hold channels. A sum has its terms in the order of the window. Padding is 0 and takes part
 * in the sums. */
#include <stdbool.h>
#include <string.h>
#include "backend/runtime/kernels/conv_rows.h"
#include "backend/runtime/pack/f32_panels.h"

#if defined(__AVX512F__)
enum { LANES = 16, ROWS = 8 };
#elif defined(__AVX2__)
enum { LANES = 8, ROWS = 4 };
#else
enum { LANES = 4, ROWS = 4 };
#endif
enum { VECS = 2, COLUMNS = 8 * TRI_PANEL, TILE = 8192 }; /* most channels and elements of a tile */

typedef float vec __attribute__((vector_size(LANES * 4)));

struct job {
	struct tri_context *ctx;
	const float *x, *w;
	float *y;
	struct tri_conv_dims c;
	int64_t positions, elements; /* elements: of a window */
	int64_t rows, blocks;        /* positions of a tile; tiles of an image */
	const struct tri_epilogue *epilogue;
	struct tri_grid grid;
};

/* What a thread uses for a tile. */
struct space {
	_Alignas(64) float tile[TILE];
	float zeros[COLUMNS];
	struct tri_conv_rows rows;
};
_Static_assert(sizeof(struct space) <= TRI_SPACE, "it fits");

TRI_INLINE vec load(const float *from)
{
	vec v;
	memcpy(&v, from, sizeof v);
	return v;
}

/* Where sums go: rows are ld apart. */
struct out {
	float *y;
	int64_t ld;
	bool first; /* of a sum's chunks; the others are added */
};

/* Computes R positions by V vectors of channels over n elements of the window. Pointers of an element are TRI_CONV_ROWS apart, its weights
 * ldw. */
TRI_INLINE void micro(const float *const *x, int64_t channel, const float *w, int64_t ldw, int64_t n, const int R, const int V,
		      struct out out)
{
	vec acc[ROWS][VECS];
#pragma GCC unroll 8
	for (int r = 0; r < R; r++)
#pragma GCC unroll 2
		for (int v = 0; v < V; v++)
			acc[r][v] = (vec){0};
	for (int64_t e = 0; e < n; e++, w += ldw, x += TRI_CONV_ROWS) {
		vec b[VECS];
#pragma GCC unroll 2
		for (int v = 0; v < V; v++)
			b[v] = load(w + v * LANES);
#pragma GCC unroll 8
		for (int r = 0; r < R; r++)
#pragma GCC unroll 2
			for (int v = 0; v < V; v++)
				acc[r][v] += load(x[r] + channel + v * LANES) * b[v];
	}
#pragma GCC unroll 8
	for (int r = 0; r < R; r++)
#pragma GCC unroll 2
		for (int v = 0; v < V; v++) {
			float *to = out.y + r * out.ld + v * LANES;
			vec sum = out.first ? acc[r][v] : load(to) + acc[r][v];
			memcpy(to, &sum, sizeof sum);
		}
}

TRI_INLINE void strip(const float *const *x, int64_t rows, int64_t channel, const float *w, int64_t ldw, int64_t n, const int V,
		      struct out out)
{
	int64_t r = 0;
	for (; r + ROWS <= rows; r += ROWS, out.y += ROWS * out.ld)
		micro(x + r, channel, w, ldw, n, ROWS, V, out);
	for (; r < rows; r++, out.y += out.ld)
		micro(x + r, channel, w, ldw, n, 1, V, out);
}

/* The channels of a whole panel. */
static void panel_rows(const float *const *x, int64_t rows, int64_t channel, const float *w, int64_t width, int64_t n, struct out out)
{
	int64_t c = 0;
	for (; c + LANES * VECS <= width; c += LANES * VECS, out.y += LANES * VECS)
		strip(x, rows, channel + c, w + c, width, n, VECS, out);
	for (; c < width; c += LANES, out.y += LANES)
		strip(x, rows, channel + c, w + c, width, n, 1, out);
}

/* The channels of a panel that do not fill it. */
static void narrow_rows(const float *const *x, int64_t rows, int64_t channel, int64_t channels, const float *w, int64_t width, int64_t n,
			struct out out)
{
	for (int64_t r = 0; r < rows; r++)
		for (int64_t c = 0; c < channels; c++) {
			float sum = 0, *to = out.y + r * out.ld + c;
			for (int64_t e = 0; e < n; e++)
				sum += x[e * TRI_CONV_ROWS + r][channel + c] * w[e * width + c];
			*to = out.first ? sum : *to + sum;
		}
}

/* Multiplies n elements of the windows, from element e on, by the channels from o on. */
static void depthwise_f32_multiply(const struct job *job, const struct tri_conv_rows *rows, int64_t e, int64_t n, int64_t o,
				   int64_t columns, struct out out)
{
	for (int64_t c = 0; c < columns; c += TRI_PANEL, out.y += TRI_PANEL) {
		int64_t panel = (o + c) / TRI_PANEL, width = tri_panel_width(job->c.out, panel), channels = columns - c;
		const float *w = job->w + tri_panel_offset(job->elements, panel) + e * width;
		if (channels < width)
			narrow_rows(rows->at, rows->n, c, channels, w, width, n, out);
		else
			panel_rows(rows->at, rows->n, c, w, width, n, out);
	}
}

/* Computes the tile of positions from p on, channels from o on. */
static void depthwise_f32_compute_tile(const struct job *job, int64_t image, int64_t p, int64_t o)
{
	struct space *v = tri_space(job->ctx);
	int64_t n = job->positions - p < job->rows ? job->positions - p : job->rows;
	int64_t columns = job->c.out - o < COLUMNS ? job->c.out - o : COLUMNS;
	struct out out = {v->tile, columns, true};
	memset(v->zeros, 0, sizeof v->zeros);
	if (!job->epilogue)
		out = (struct out){job->y + (image * job->positions + p) * job->c.out + o, job->c.out, true};
	tri_conv_rows_begin(&v->rows, &job->c, job->x + image * job->c.height * job->c.width * job->c.channels, p, n);
	for (int64_t e = 0; e == 0 || e < job->elements; e += TRI_CONV_POINTERS) {
		int64_t some = job->elements - e < TRI_CONV_POINTERS ? job->elements - e : TRI_CONV_POINTERS;
		for (int64_t k = 0; k < some; k++)
			tri_conv_rows_point(&v->rows, e + k, o, v->zeros, v->rows.at + k * TRI_CONV_ROWS);
		out.first = e == 0;
		depthwise_f32_multiply(job, &v->rows, e, some, o, columns, out);
	}
	if (job->epilogue)
		job->epilogue->fn(job->epilogue, v->tile, columns, (int64_t[]){image, p, o}, n, columns);
}

static void depthwise_f32_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t from, to;
	tri_grid_range(&job->grid, i, &from, &to);
	for (int64_t t = from; t < to; t++) {
		int64_t block = t / job->grid.cols;
		depthwise_f32_compute_tile(job, block / job->blocks, block % job->blocks * job->rows, t % job->grid.cols * COLUMNS);
	}
}

/* Returns how many of n positions to compute at a time: about the same number each time, and whole register tiles. */
static int64_t even_rows(int64_t n, int64_t most)
{
	int64_t parts = (n + most - 1) / most, rows = ((n + parts - 1) / parts + ROWS - 1) / ROWS * ROWS;
	return rows < most ? rows : most;
}

void tri_depthwise_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	struct job job = {.ctx = ctx, .x = bufs[0], .w = bufs[1], .y = bufs[2], .c = *tri_conv_of(dims), .epilogue = epilogue};
	job.elements = job.c.kernel_height * job.c.kernel_width;
	job.positions = tri_conv_positions(&job.c);
	if (job.c.batch <= 0 || job.c.out <= 0 || job.positions <= 0)
		return;
	int64_t columns = job.c.out < COLUMNS ? job.c.out : COLUMNS, fit = TILE / columns;
	job.rows = even_rows(job.positions, fit < TRI_CONV_ROWS ? fit : TRI_CONV_ROWS);
	job.blocks = (job.positions + job.rows - 1) / job.rows;
	job.grid = tri_grid_make((job.c.out + COLUMNS - 1) / COLUMNS, job.c.batch * job.blocks, job.elements * columns * job.rows);
	tri_parallel(ctx, depthwise_f32_task, &job, tri_grid_tasks(&job.grid));
}
