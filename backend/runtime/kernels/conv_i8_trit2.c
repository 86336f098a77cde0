/* y int32 [N, P, O] = x int8 [N, H, W, C] convolved with w TRIT2 [K, O], where P = OH · OW and K = KH lines of KW · C terms, exact. Input
 * and result are channels-last. Of groups, each is a convolution of its own: some channels of x, some columns of w and y. A task multiplies the
 * windows of a block of positions and a group by some panels of w. The tile sums x·(t+1), from
 * -sum(x) on. A line is padded to whole quads with trits 0; the numbers there count in both sums. */
#include "backend/runtime/kernels/conv_padding.h"
#include "backend/runtime/kernels/conv_lanes.h"
#include "backend/runtime/kernels/i8_trit2_tile.h"

enum {
	MOST_QUADS = TRI_CONV_MOST_TERMS / TRI_CONV_QUAD + 4,
	TASKS = 4 /* for a thread */,
	MOST_COLUMNS = 512,
	MOST_LINE = 1024,
	NARROW = 8
};

struct job {
	struct tri_context *ctx;
	const int8_t *x;
	const uint8_t *w;
	int32_t *y;
	struct conv_blocks b;          /* of a group */
	int64_t channels, out, groups; /* C, O */
	int64_t run, terms, positions; /* terms of a line and of a window as packed, P */
	int64_t panels, shares;        /* panels of a group, and tasks that share them */
	int32_t at[MOST_QUADS];        /* the places of the quads in a window */
	const struct tri_epilogue *epilogue;
};
/* What a thread uses for a block. */
struct windows {
	int64_t n;
	const int8_t *at[CONV_POSITIONS + TILE_MOST_COLS]; /* a tile reads all of its rows */
	int32_t starts[CONV_POSITIONS];                    /* of sums: -sum(x) of each window */
	_Alignas(64) char copy[CONV_COPY_BYTES + CONV_SLACK];
	_Alignas(64) int32_t acc[CONV_POSITIONS][TRI_TRIT2_PANEL];
	_Alignas(64) uint8_t panel[MOST_QUADS / 4 * 2 * TRI_TRIT2_BLOCK]; /* columns of a group that are in two panels of w */
};
_Static_assert(sizeof(struct windows) <= TRI_SPACE, "it fits");

static void place_quads(struct job *job)
{
	int64_t quads = tri_trit2_steps(job->terms) * TRI_TRIT2_STEP / TRI_CONV_QUAD, line = job->run / TRI_CONV_QUAD;
	for (int64_t q = 0; q < quads; q++) /* the last step may have quads that w does not read */
		job->at[q] = q < job->terms / TRI_CONV_QUAD ? (int32_t)(q / line * job->b.line + q % line * TRI_CONV_QUAD) : 0;
}

/* True if neighbouring windows share the sums of columns. A quad must not belong to two elements. */
static _Bool shares_columns(const struct conv_blocks *b)
{
	return b->c.channels % TRI_CONV_QUAD == 0 && b->c.kernel_width > b->c.stride_width &&
	       b->slots * b->c.dilation_width <= MOST_COLUMNS;
}

static void sum_windows(const struct job *job, const int8_t *x, int64_t columns, int32_t *starts)
{
	const struct conv_blocks *b = &job->b;
	int64_t j = 0;
	for (; j + SUMS <= columns; j += SUMS) {
		const int8_t *at[SUMS];
		for (int i = 0; i < SUMS; i++)
			at[i] = x + conv_element(b, j + i) * b->size;
		i8_sums(at, job->run, b->c.kernel_height, b->line, starts + j);
		for (int i = 0; i < SUMS; i++)
			starts[j + i] = -starts[j + i];
	}
	for (; j < columns; j++)
		starts[j] = -i8_sum(x + conv_element(b, j) * b->size, job->run, b->c.kernel_height, b->line);
}

/* True if windows begin so close to each other that sums at every byte of a row are fastest. They have 16 bits. */
static _Bool sums_bytes(const struct job *job, int64_t bytes)
{
	const struct tri_conv_dims *c = &job->b.c;
	return c->stride_width * job->b.size <= NARROW && bytes <= MOST_LINE && c->kernel_height * job->run <= INT16_MAX / 128;
}

/* Adds the lines of a row, then `run` neighbours of each byte: sums of 2, 4, 8 … bytes are sums of two of half as many. */
static void sum_bytes(const struct job *job, const int8_t *x, int64_t bytes, int64_t columns, int32_t *starts)
{
	const struct conv_blocks *b = &job->b;
	int16_t buffers[2][MOST_LINE], sums[MOST_LINE], *of = buffers[0], *next = buffers[1], *other;
	int64_t done = 0, n = bytes - job->run + 1;
	for (int64_t i = 0; i < bytes; i++)
		of[i] = x[i];
	for (int64_t l = 1; l < b->c.kernel_height; l++)
		for (int64_t i = 0; i < bytes; i++)
			of[i] = (int16_t)(of[i] + x[l * b->line + i]);
	memset(sums, 0, (size_t)n * sizeof *sums);
	for (int64_t width = 1;; width *= 2) {
		for (int64_t i = 0; i < n && job->run & width; i++)
			sums[i] = (int16_t)(sums[i] + of[done + i]);
		done += job->run & width;
		if (done == job->run)
			break;
		for (int64_t i = 0; i + 2 * width <= bytes; i++)
			next[i] = (int16_t)(of[i] + of[i + width]);
		other = of, of = next, next = other;
	}
	for (int64_t j = 0; j < columns; j++)
		starts[j] = -sums[conv_element(b, j) * b->size];
}

/* Stores -sum(x) of each window of a row, which begins at x. */
static void conv_i8_trit2_sum_row(const struct job *job, const int8_t *x, int64_t columns, int32_t *starts)
{
	const struct conv_blocks *b = &job->b;
	int32_t sums[MOST_COLUMNS];
	int64_t bytes = (b->c.dilation_width > 1 ? b->slots * b->c.dilation_width : conv_element(b, columns - 1)) * b->size + job->run;
	if (sums_bytes(job, bytes)) {
		sum_bytes(job, x, bytes, columns, starts);
		return;
	}
	if (!shares_columns(b)) {
		sum_windows(job, x, columns, starts);
		return;
	}
	int64_t n = b->c.dilation_width > 1 ? b->slots * b->c.dilation_width : conv_span(&b->c, columns);
	for (int64_t i = 0; i < n; i++)
		sums[i] = i8_sum(x + i * b->size, b->size, b->c.kernel_height, b->line);
	for (int64_t j = 0; j < columns; j++) {
		const int32_t *from = sums + conv_element(b, j);
		starts[j] = 0;
		for (int64_t v = 0; v < b->c.kernel_width; v++)
			starts[j] -= from[v];
	}
}

static void read_windows(const struct job *job, const struct conv_block *k, int64_t group, struct windows *w)
{
	const struct conv_blocks *b = &job->b;
	const int8_t *x = job->x + k->image * b->c.height * b->c.width * job->channels + group * b->c.channels;
	x = (const int8_t *)conv_block_read(b, k, (const char *)x, w->copy);
	w->n = k->rows * k->columns;
	for (int64_t r = 0; r < k->rows; r++, x += b->row) {
		for (int64_t j = 0; j < k->columns; j++)
			w->at[r * k->columns + j] = x + conv_element(b, j) * b->size;
		conv_i8_trit2_sum_row(job, x, k->columns, w->starts + r * k->columns);
	}
}

/* Returns `width` columns of w from column o on as a panel. */
static const uint8_t *conv_i8_trit2_panel_at(const struct job *job, int64_t o, int64_t width, uint8_t *copy)
{
	int64_t panel = o / TRI_TRIT2_PANEL;
	if (o % TRI_TRIT2_PANEL == 0 && tri_trit2_halves(width, 0) == tri_trit2_halves(job->out, panel))
		return job->w + tri_trit2_offset(job->terms, panel);
	tri_trit2_copy_columns(job->w, job->terms, job->out, o, width, copy);
	return copy;
}

/* Multiplies the windows by one panel, in tiles of about the same size. */
static void conv_i8_trit2_multiply(const struct job *job, const struct windows *windows, const uint8_t *w, int halves, int32_t *y,
				   int64_t ld)
{
	int64_t tiles = conv_parts(windows->n, TILE_COLS), end = 0;
	for (int64_t t = 0; t < tiles; t++) {
		struct tile_x x = {.at = job->at, .rest = (int)(job->terms % TRI_TRIT2_STEP / TRI_CONV_QUAD)};
		int64_t from = end, cols = (end = windows->n * (t + 1) / tiles) - from;
		memcpy(x.row, windows->at + from, sizeof x.row); /* a loop becomes a call of memcpy */
		tile_sum(w, &x, job->terms / TRI_TRIT2_STEP, halves, (int)cols, 1,
			 (struct tile_y){y + from * ld, ld, windows->starts + from});
	}
}

/* Computes a block and one panel of a group. Tiles of whole panels go straight to y. */
static void block(const struct job *job, const struct conv_block *k, int64_t group, int64_t panel, struct windows *windows)
{
	const struct tri_conv_dims *c = &job->b.c;
	int64_t p = k->row * c->out_width + k->column, first = panel * TRI_TRIT2_PANEL, o = group * c->out + first;
	int64_t width = c->out - first < TRI_TRIT2_PANEL ? c->out - first : TRI_TRIT2_PANEL;
	int32_t *y = job->y + (k->image * job->positions + p) * job->out + o;
	const uint8_t *w = conv_i8_trit2_panel_at(job, o, width, windows->panel);
	int halves = tri_trit2_halves(width, 0);
	if (width == TRI_TRIT2_PANEL && !job->epilogue) {
		conv_i8_trit2_multiply(job, windows, w, halves, y, job->out);
		return;
	}
	conv_i8_trit2_multiply(job, windows, w, halves, windows->acc[0], TRI_TRIT2_PANEL);
	if (job->epilogue)
		job->epilogue->fn(job->epilogue, windows->acc, TRI_TRIT2_PANEL, (int64_t[]){k->image, p, o}, windows->n, width);
	else
		for (int64_t r = 0; r < windows->n; r++)
			memcpy(y + r * job->out, windows->acc[r], (size_t)width * sizeof(int32_t));
}

static void conv_i8_trit2_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t share = i % job->shares, group = i / job->shares % job->groups;
	struct conv_block k = conv_block_at(&job->b, i / job->shares / job->groups);
	struct windows *windows = tri_space(job->ctx);
	read_windows(job, &k, group, windows);
	for (int64_t p = job->panels * share / job->shares; p < job->panels * (share + 1) / job->shares; p++)
		block(job, &k, group, p, windows);
}

static void conv_i8_trit2_convolve(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	struct job job;
	struct tri_conv_dims c = *tri_conv_of(dims);
	if (c.batch <= 0 || c.out <= 0 || c.out_height <= 0 || c.out_width <= 0)
		return;
	job.ctx = ctx;
	job.x = bufs[0], job.w = bufs[1], job.y = epilogue ? NULL : bufs[2], job.epilogue = epilogue;
	job.channels = c.channels, job.out = c.out, job.groups = c.group_channels ? c.channels / c.group_channels : 1;
	c.channels = c.group_channels, c.out /= job.groups;
	job.b = conv_blocks_make(&c, job.channels, sizeof(int8_t));
	job.run = tri_conv_run(c.channels, c.kernel_width);
	job.terms = tri_conv_packed_terms(&c);
	job.positions = tri_conv_positions(&c);
	job.panels = tri_trit2_panels(c.out);
	int64_t blocks = c.batch * job.b.row_blocks * job.b.column_blocks * job.groups;
	job.shares = tri_threads(ctx) > 1 ? conv_clamp(TASKS * (int64_t)tri_threads(ctx) / blocks, 1, job.panels) : 1;
	place_quads(&job);
	tri_parallel(ctx, conv_i8_trit2_task, &job, blocks * job.shares);
}

void tri_conv_i8_trit2(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	conv_i8_trit2_convolve(ctx, bufs, dims, epilogue);
}

void tri_conv_trits(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	conv_i8_trit2_convolve(ctx, bufs, dims, epilogue);
}

void tri_conv_groups_i8_trit2(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	if (!tri_conv_lanes_i8(ctx, bufs, dims, epilogue))
		conv_i8_trit2_convolve(ctx, bufs, dims, epilogue);
}

void tri_conv_groups_trits(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	if (!tri_conv_lanes_i8(ctx, bufs, dims, epilogue))
		conv_i8_trit2_convolve(ctx, bufs, dims, epilogue);
}
