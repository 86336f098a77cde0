/* y int32 [N, P, O] = x int8 [N, H, W, C] convolved with w TRIT2 [K, O], where P = OH · OW and K = KH · KW · C, exact. Input and result are
 * channels-last: a window is KH runs of bytes, and a tile of the result is positions × channels. A task copies the windows of some
 * positions and multiplies them by all panels of w. The tile sums x·(t+1); then sum(x) is subtracted. */
#include "conv.h"
#include "i8_trit2_tile.h"

enum { MOST_ROWS = 32, WINDOW_BYTES = 128 << 10 };
_Static_assert(MOST_ROWS % TILE_COLS == 0 && TRI_CONV_MOST_TERMS * TILE_COLS <= WINDOW_BYTES, "windows of a tile");

struct job {
	const int8_t *x;
	const uint8_t *w;
	int32_t *y;
	struct tri_conv c;
	int64_t terms, padded, positions; /* K, K rounded up to steps, P */
	int64_t rows, blocks;             /* positions of a task, tasks of one image */
	const struct tri_epilogue *epilogue;
};
struct windows {
	int8_t x[WINDOW_BYTES];
	int32_t sums[MOST_ROWS];
};

/* Copies one row of a window: KW elements of C bytes, from column w of row `row` of x on; zeros outside. */
static void copy_window_row(const struct tri_conv *v, const int8_t *row, int64_t w, int8_t *out)
{
	size_t bytes = (size_t)v->channels;
	if (v->dilation_width == 1 && w >= 0 && w + v->kernel_width <= v->width) {
		memcpy(out, row + w * v->channels, (size_t)v->kernel_width * bytes);
		return;
	}
	for (int64_t k = 0; k < v->kernel_width; k++, w += v->dilation_width, out += v->channels)
		if (w >= 0 && w < v->width)
			memcpy(out, row + w * v->channels, bytes);
		else
			memset(out, 0, bytes);
}

static void copy_window(const struct job *job, const int8_t *image, int64_t p, int8_t *out)
{
	const struct tri_conv *v = &job->c;
	int64_t h = p / v->out_width * v->stride_height - v->pad_top, w = p % v->out_width * v->stride_width - v->pad_left;
	int64_t row = v->kernel_width * v->channels;
	for (int64_t k = 0; k < v->kernel_height; k++, h += v->dilation_height, out += row)
		if (h >= 0 && h < v->height)
			copy_window_row(v, image + h * v->width * v->channels, w, out);
		else
			memset(out, 0, (size_t)row);
	memset(out, 0, (size_t)(job->padded - job->terms));
}

/* Multiplies the windows by one panel. */
static void multiply(const struct job *job, const struct windows *windows, int64_t rows, int64_t panel, int32_t (*acc)[TRI_TRIT2_PANEL])
{
	int halves = tri_trit2_halves(job->c.out, panel);
	const uint8_t *w = job->w + tri_trit2_offset(job->terms, panel);
	for (int64_t r = 0; r < rows; r += TILE_COLS) {
		int cols = rows - r < TILE_COLS ? (int)(rows - r) : TILE_COLS;
		memset(acc[r], 0, (size_t)cols * sizeof acc[0]);
		tile_add(w, windows->x + r * job->padded, job->padded, job->padded / TRI_TRIT2_STEP, halves, cols, acc + r);
		for (int c = 0; c < cols; c++)
			for (int l = 0; l < TRI_TRIT2_PANEL; l++)
				acc[r + c][l] -= windows->sums[r + c];
	}
}

static void store(const struct job *job, int64_t image, int64_t p, int64_t rows, int64_t panel, int32_t (*acc)[TRI_TRIT2_PANEL])
{
	int64_t o = panel * TRI_TRIT2_PANEL, width = job->c.out - o < TRI_TRIT2_PANEL ? job->c.out - o : TRI_TRIT2_PANEL;
	if (job->epilogue) {
		job->epilogue->fn(job->epilogue, acc, TRI_TRIT2_PANEL, (int64_t[]){image, p, o}, rows, width);
		return;
	}
	int32_t *y = job->y + (image * job->positions + p) * job->c.out + o;
	for (int64_t r = 0; r < rows; r++)
		memcpy(y + r * job->c.out, acc[r], (size_t)width * sizeof(int32_t));
}

static void task(void *arg, int64_t i)
{
	const struct job *job = arg;
	_Alignas(64) int32_t acc[MOST_ROWS][TRI_TRIT2_PANEL];
	_Alignas(64) struct windows windows;
	int64_t image = i / job->blocks, p = i % job->blocks * job->rows;
	int64_t rows = job->positions - p < job->rows ? job->positions - p : job->rows;
	const int8_t *x = job->x + image * job->c.height * job->c.width * job->c.channels;
	for (int64_t r = 0; r < rows; r++) {
		copy_window(job, x, p + r, windows.x + r * job->padded);
		windows.sums[r] = i8_sum(windows.x + r * job->padded, job->terms);
	}
	for (int64_t panel = 0; panel < tri_trit2_panels(job->c.out); panel++) {
		multiply(job, &windows, rows, panel, acc);
		store(job, image, p, rows, panel, acc);
	}
}

void tri_conv_i8_trit2(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	struct job job = {.x = bufs[0], .w = bufs[1], .y = bufs[2], .c = tri_conv_of(dims), .epilogue = epilogue};
	job.terms = tri_conv_terms(&job.c);
	job.padded = tri_trit2_steps(job.terms) * TRI_TRIT2_STEP;
	job.positions = tri_conv_positions(&job.c);
	if (job.c.batch <= 0 || job.c.out <= 0 || job.positions <= 0)
		return;
	int64_t fit = job.padded ? WINDOW_BYTES / job.padded / TILE_COLS * TILE_COLS : MOST_ROWS;
	job.rows = fit < MOST_ROWS ? fit : MOST_ROWS;
	job.blocks = (job.positions + job.rows - 1) / job.rows;
	tri_parallel(ctx, task, &job, job.c.batch * job.blocks);
}
