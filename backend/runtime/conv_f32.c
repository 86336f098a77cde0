/* y float32 [N, O, P] = x float32 [N, C, H, W] convolved with w float32 [O, K], where P = OH · OW and K = C · KH · KW. A product of w with
 * the matrix of the windows of x, [K, P] ("im2col"), of which only one panel exists at a time: COLS positions by BLOCK terms. Padding is 0
 * and takes part in the sums. f32_tile.h says in which order a sum is computed; the terms are in the order of K. */
#include "conv.h"
#include "f32_tile.h"

enum { ROW_BLOCK = 480 }; /* output channels that share a panel */
_Static_assert(ROW_BLOCK % ROWS == 0, "tiles");

struct job {
	const float *x, *w;
	float *y;
	struct tri_conv c;
	int64_t terms, positions, panels; /* K, P, panels of one image */
	const struct tri_epilogue *epilogue;
	struct tri_grid grid;
};

/* Positions of a panel that are in one row of the result. */
struct segment {
	int64_t row, column; /* of the result, of the first position */
	int64_t n, at;       /* number of positions; the first one's place in the panel */
};
struct panel {
	const float *x; /* the image */
	struct segment segments[COLS];
	int n_segments;
	int64_t width;
};

static void divide(const struct job *job, int64_t p, struct panel *panel)
{
	panel->n_segments = 0;
	for (int64_t at = 0; at < panel->width;) {
		int64_t row = (p + at) / job->c.out_width, column = (p + at) % job->c.out_width;
		int64_t left = panel->width - at, rest = job->c.out_width - column, n = left < rest ? left : rest;
		panel->segments[panel->n_segments++] = (struct segment){row, column, n, at};
		at += n;
	}
}

TRI_INLINE int64_t clamp(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

/* Copies the inputs of a segment for one term. `from`: the column of the first one in x. */
TRI_INLINE void copy_segment(const float *row, int64_t from, int64_t width, int64_t stride, int64_t n, float *out)
{
	int64_t low = from < 0 ? clamp((-from + stride - 1) / stride, 0, n) : 0;
	int64_t high = from < width ? clamp((width - from + stride - 1) / stride, low, n) : low;
	for (int64_t i = 0; i < low; i++)
		out[i] = 0;
	if (stride == 1)
		for (int64_t i = low; i < high; i++)
			out[i] = row[from + i];
	else
		for (int64_t i = low; i < high; i++)
			out[i] = row[from + i * stride];
	for (int64_t i = high; i < n; i++)
		out[i] = 0;
}

/* Copies the inputs of a panel for one term: channel c, element (kh, kw) of the window. */
static void copy_term(const struct job *job, const struct panel *panel, int64_t c, int64_t kh, int64_t kw, float *out)
{
	const struct tri_conv *v = &job->c;
	for (int s = 0; s < panel->n_segments; s++) {
		const struct segment *g = &panel->segments[s];
		int64_t h = g->row * v->stride_height - v->pad_top + kh * v->dilation_height;
		int64_t w = g->column * v->stride_width - v->pad_left + kw * v->dilation_width;
		const float *row = panel->x + (c * v->height + h) * v->width;
		if (h < 0 || h >= v->height)
			memset(out + g->at, 0, (size_t)g->n * sizeof(float));
		else if (g->n == COLS && v->stride_width == 1 && w >= 0 && w + COLS <= v->width)
			memcpy(out, row + w, COLS * sizeof(float));
		else
			copy_segment(row, w, v->width, v->stride_width, g->n, out + g->at);
	}
	for (int64_t i = panel->width; i < COLS; i++)
		out[i] = 0;
}

/* Copies terms k0 … k0+k-1. */
static void copy_panel(const struct job *job, const struct panel *panel, int64_t k0, int64_t k, float *out)
{
	const struct tri_conv *v = &job->c;
	int64_t window = v->kernel_height * v->kernel_width;
	int64_t c = k0 / window, kh = k0 % window / v->kernel_width, kw = k0 % v->kernel_width;
	for (int64_t i = 0; i < k; i++, out += COLS) {
		copy_term(job, panel, c, kh, kw, out);
		if (++kw < v->kernel_width)
			continue;
		kw = 0;
		if (++kh < v->kernel_height)
			continue;
		kh = 0;
		c++;
	}
}

/* Computes `rows` output channels from o on of up to COLS positions from p on. */
static void tile(const struct job *job, int64_t image, int64_t p, int64_t o)
{
	_Alignas(64) float terms[BLOCK * COLS], tile[ROW_BLOCK * COLS];
	struct panel panel = {.x = job->x + image * job->c.channels * job->c.height * job->c.width};
	int64_t rows = job->c.out - o < ROW_BLOCK ? job->c.out - o : ROW_BLOCK;
	struct f32_out out = {tile, COLS};
	if (!job->epilogue)
		out = (struct f32_out){job->y + (image * job->c.out + o) * job->positions + p, job->positions};
	panel.width = job->positions - p < COLS ? job->positions - p : COLS;
	divide(job, p, &panel);
	for (int64_t k0 = 0; k0 == 0 || k0 < job->terms; k0 += BLOCK) {
		int64_t k = job->terms - k0 < BLOCK ? job->terms - k0 : BLOCK;
		copy_panel(job, &panel, k0, k, terms);
		for (int64_t r = 0; r < rows; r += ROWS)
			f32_tile(job->w + (o + r) * job->terms + k0, job->terms, terms, COLS, k, rows - r < ROWS ? rows - r : ROWS,
				 (struct f32_out){out.y + r * out.ldy, out.ldy}, panel.width, k0 == 0);
	}
	if (job->epilogue)
		job->epilogue->fn(job->epilogue, tile, COLS, (int64_t[]){image, o, p}, rows, panel.width);
}

static void task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t from, to;
	tri_grid_range(&job->grid, i, &from, &to);
	for (int64_t t = from; t < to; t++) {
		int64_t panel = t / job->grid.rows, block = t % job->grid.rows;
		tile(job, panel / job->panels, panel % job->panels * COLS, block * ROW_BLOCK);
	}
}

void tri_conv_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	struct job job = {.x = bufs[0], .w = bufs[1], .y = bufs[2], .c = tri_conv_of(dims), .epilogue = epilogue};
	job.terms = tri_conv_terms(&job.c);
	job.positions = tri_conv_positions(&job.c);
	job.panels = (job.positions + COLS - 1) / COLS;
	if (job.c.batch <= 0 || job.c.out <= 0 || job.positions <= 0)
		return;
	job.grid = tri_grid_make(job.c.batch * job.panels, (job.c.out + ROW_BLOCK - 1) / ROW_BLOCK,
				 4 * job.terms * COLS * (job.c.out < ROW_BLOCK ? job.c.out : ROW_BLOCK));
	tri_parallel(ctx, task, &job, tri_grid_tasks(&job.grid));
}
