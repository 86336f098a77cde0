/* y float32 [N, P, O] = x float32 [N, H, W, C] convolved with w PANELS [K, O], where P = OH · OW and K = KH · KW · C, or with packed trits. Input
 * and result are channels-last. The rows of the product are read where they are, by pointers ("indirect convolution", Dukhan 2019). Padding is 0 and takes
 * part in the sums.
 *
 * A segment of terms is the channels of one element of the window. If there are few channels, it is a row of the window, which is copied
 * where the window reaches over the edge. A block of the sum is some segments, or a part of one: at most 384 terms, about as many in each.
 *
 * A block of trits is expanded to float32. If x has a NaN or an infinity, which a zero trit skips, trits choose the numbers of copied windows. */
#include <stdbool.h>
#include <string.h>
#include "backend/runtime/kernels/conv_f32_plan.h"
#include "backend/runtime/kernels/conv_lanes.h"

/* What a thread uses for a tile. */
struct windows {
	struct tri_conv_rows rows;
	float copies[COPIED_SEGMENTS][COPIED_ROWS][MOST_COPIED];
	float zeros[BLOCK];
	float near[TRI_CONV_ROWS * NEAR_STEP];
	_Alignas(64) float part[TRI_CONV_ROWS * TRI_PANEL]; /* sums of a panel, of which some columns are wanted */
	float panel[BLOCK * TRI_PANEL];                     /* expanded trits, or columns of a group */
	_Alignas(64) uint8_t packed[TRI_CONV_MOST_TERMS / TRI_TRIT2_STEP * 2 * TRI_TRIT2_BLOCK]; /* trits of columns of a group */
	float tile[TILE];
	float window[TRI_CONV_MOST_TERMS]; /* for trits that choose */
};
_Static_assert(sizeof(struct windows) <= TRI_SPACE, "it fits");

/* Sums to compute: columns o … o+columns-1 from channel `channel` of x on. o is the first of a panel, unless they are a part of one or two. */
struct sums {
	int64_t channel, o, columns;
	bool is_part;
	float *y;
	int64_t ldy;
};

/* Stores pointers to row `k` of the windows, which is copied if some of it is padding. */
static void point_to_row(const struct job *job, struct windows *v, int64_t k, const float **to)
{
	const struct tri_conv_dims *c = &job->c;
	for (int64_t i = 0; i < v->rows.n; i++) {
		int64_t h = v->rows.row[i] + k * c->dilation_height, w = v->rows.column[i];
		const float *from = v->rows.x + (h * c->width + w) * c->channels;
		bool inside = h >= 0 && h < c->height;
		if (inside && w >= 0 && w + c->kernel_width <= c->width) {
			to[i] = from;
			continue;
		}
		float *copy = v->copies[k][i];
		int64_t first = w < 0 ? -w : 0, end = c->width - w < c->kernel_width ? c->width - w : c->kernel_width;
		memset(copy, 0, (size_t)job->length * sizeof *copy);
		if (inside && first < end)
			memcpy(copy + first * c->channels, from + first * c->channels,
			       (size_t)((end - first) * c->channels) * sizeof *copy);
		to[i] = copy;
	}
}

/* Stores pointers to segments s … s+n-1, from term `offset` of each on. */
static void conv_f32_point(const struct job *job, struct windows *v, int64_t s, int64_t n, int64_t offset)
{
	for (int64_t k = 0; k < n; k++) {
		const float **to = v->rows.at + k * TRI_CONV_ROWS;
		if (job->by_rows)
			point_to_row(job, v, s + k, to);
		else
			tri_conv_rows_point(&v->rows, s + k, offset, v->zeros, to);
	}
}

/* Returns k terms from k0 on of the panel that has column n of s. */
static const float *conv_f32_panel_at(const struct job *job, struct windows *v, const struct sums *s, int64_t n, int64_t k0, int64_t k)
{
	int64_t panel = (s->o + n) / TRI_PANEL;
	if (!job->trits && !s->is_part)
		return job->w + tri_panel_offset(job->terms, panel) + k0 * tri_panel_width(job->c.out, panel);
	if (!job->trits)
		tri_panels_copy_columns(job->w, job->terms, job->c.out, k0, k, s->o, s->columns, v->panel);
	else if (s->is_part)
		tri_trit2_expand(&(struct tri_trits){v->packed, job->trits->K, s->columns, job->trits->line, job->trits->run}, 0, k0, k,
				 v->panel);
	else
		tri_trit2_expand(job->trits, panel, k0, k, v->panel);
	return v->panel;
}

/* Adds one block of terms, from term k0 on. */
static void conv_f32_add_block(const struct job *job, struct windows *v, struct tri_f32_rows *x, int64_t k0, const struct sums *s)
{
	int64_t terms = x->segments * x->length;
	for (int64_t n = 0; n < s->columns; n += TRI_PANEL) {
		int64_t width = s->is_part ? tri_panel_width(s->columns, 0) : tri_panel_width(job->c.out, (s->o + n) / TRI_PANEL);
		const float *w = conv_f32_panel_at(job, v, s, n, k0, terms);
		bool last = n + TRI_PANEL >= s->columns;
		x->next = job->trits || s->is_part ? NULL
			  : last                   ? job->w + tri_panel_offset(job->terms, s->o / TRI_PANEL) + (k0 + terms) * TRI_PANEL
						   : w + job->terms * TRI_PANEL;
		tri_f32_rows(x, v->rows.n, w, width, s->y + n, s->ldy, k0 == 0);
	}
}

/* For segments that fit into a block. */
static void add_short_segments(const struct job *job, struct windows *v, const struct sums *sums)
{
	for (int64_t s = 0; s < job->segments; s += job->per_block) {
		int64_t held = s % job->per_chunk, left = job->segments - s;
		if (held == 0)
			conv_f32_point(job, v, s, left < job->per_chunk ? left : job->per_chunk, sums->channel);
		struct tri_f32_rows x = {v->rows.at + held * TRI_CONV_ROWS,
					 TRI_CONV_ROWS,
					 left < job->per_block ? left : job->per_block,
					 job->length,
					 0,
					 NULL};
		conv_f32_add_block(job, v, &x, s * job->length, sums);
	}
}

/* Copies the terms of a block, whose rows are so far apart that they displace each other in the cache. */
static void bring_near(struct windows *v, int64_t terms)
{
	for (int64_t i = 0; i < v->rows.n; i++)
		v->rows.at[i] = memcpy(v->near + i * NEAR_STEP, v->rows.at[i], (size_t)terms * sizeof(float));
}

static void add_long_segments(const struct job *job, struct windows *v, const struct sums *sums)
{
	for (int64_t s = 0; s < job->segments; s++)
		for (int64_t k = 0; k < job->length; k += job->per_block) {
			int64_t terms = job->length - k < job->per_block ? job->length - k : job->per_block;
			conv_f32_point(job, v, s, 1, sums->channel + k);
			if (job->c.channels % FAR == 0)
				bring_near(v, terms);
			struct tri_f32_rows x = {v->rows.at, TRI_CONV_ROWS, 1, terms, 0, NULL};
			conv_f32_add_block(job, v, &x, s * job->length + k, sums);
		}
}

static void compute_sums(const struct job *job, struct windows *v, struct sums s)
{
	(job->length > BLOCK ? add_long_segments : add_short_segments)(job, v, &s);
}

/* Computes columns of a group, at most a panel, that do not begin or end with a panel of w. */
static void compute_part(const struct job *job, struct windows *v, const struct sums *s)
{
	int64_t width = tri_panel_width(s->columns, 0);
	struct sums own = *s;
	if (s->columns < width) {
		own.y = v->part;
		own.ldy = TRI_PANEL;
	}
	if (job->trits)
		tri_trit2_copy_columns(job->trits->w, job->trits->K, job->trits->N, s->o, s->columns, v->packed);
	compute_sums(job, v, own);
	for (int64_t r = 0; s->columns < width && r < v->rows.n; r++)
		memcpy(s->y + r * s->ldy, v->part + r * TRI_PANEL, (size_t)s->columns * sizeof(float));
}

/* Computes columns o … o+columns-1, those of each group for themselves. */
static void conv_f32_compute_columns(const struct job *job, struct windows *v, int64_t o, int64_t columns, float *y, int64_t ldy)
{
	int64_t end = o + columns;
	for (int64_t at = o, stop; at < end; at = stop) {
		int64_t group = at / job->group_out, last = (group + 1) * job->group_out, channel = group * job->group_channels;
		stop = last < end ? last : end;
		if (at % TRI_PANEL == 0 && (stop % TRI_PANEL == 0 || stop == job->c.out)) {
			compute_sums(job, v, (struct sums){channel, at, stop - at, false, y + (at - o), ldy});
			continue;
		}
		stop = stop < at + TRI_PANEL ? stop : at + TRI_PANEL;
		compute_part(job, v, &(struct sums){channel, at, stop - at, true, y + (at - o), ldy});
	}
}

/* Copies a group's channels of a window in the order of packed trits. */
static void copy_window(const struct job *job, const struct tri_conv_rows *r, int64_t position, int64_t group, float *out)
{
	int64_t channels = job->group_channels;
	const struct tri_conv_dims *c = &job->c;
	memset(out, 0, (size_t)job->trits->K * sizeof *out);
	for (int64_t e = 0; e < c->kernel_height * c->kernel_width; e++) {
		int64_t h = r->row[position] + e / c->kernel_width * c->dilation_height;
		int64_t w = r->column[position] + e % c->kernel_width * c->dilation_width;
		if (h >= 0 && h < c->height && w >= 0 && w < c->width)
			memcpy(out + e / c->kernel_width * job->trits->run + e % c->kernel_width * channels,
			       r->x + (h * c->width + w) * c->channels + group * channels, (size_t)channels * sizeof *out);
	}
}

/* Computes a tile with numbers that must not be multiplied by 0. The sums of a row are stored without gaps. */
static void choose_numbers(const struct job *job, struct windows *v, int64_t o, int64_t columns)
{
	for (int64_t at = o, stop; at < o + columns; at = stop) {
		int64_t group = at / job->group_out, last = (group + 1) * job->group_out;
		stop = at + TRI_PANEL < o + columns ? at + TRI_PANEL : o + columns;
		stop = last < stop ? last : stop;
		struct tri_trits own = {v->packed, job->trits->K, stop - at, job->trits->line, job->trits->run};
		tri_trit2_copy_columns(job->trits->w, job->trits->K, job->trits->N, at, stop - at, v->packed);
		for (int64_t i = 0; i < v->rows.n; i++) {
			copy_window(job, &v->rows, i, group, v->window);
			tri_trit2_sum_row(&own, v->window, 0, 0, 1, v->part);
			memcpy(v->tile + i * job->columns + (at - o), v->part, (size_t)(stop - at) * sizeof(float));
		}
	}
}

/* Computes the tile of positions from p on, channels from o on. */
static void conv_f32_compute_tile(const struct job *job, int64_t image, int64_t p, int64_t o)
{
	struct windows *v = tri_space(job->ctx);
	int64_t rows = job->positions - p < job->rows ? job->positions - p : job->rows;
	int64_t columns = job->c.out - o < job->columns ? job->c.out - o : job->columns;
	bool direct = !job->epilogue && !job->chooses && columns % TRI_HALF_PANEL == 0;
	float *to = job->y + (image * job->positions + p) * job->c.out + o, *y = direct ? to : v->tile;
	memset(v->zeros, 0, sizeof v->zeros);
	tri_conv_rows_begin(&v->rows, &job->c, job->x + image * job->c.height * job->c.width * job->c.channels, p, rows);
	if (job->chooses)
		choose_numbers(job, v, o, columns);
	else
		conv_f32_compute_columns(job, v, o, columns, y, direct ? job->c.out : job->columns);
	if (job->epilogue)
		job->epilogue->fn(job->epilogue, v->tile, job->columns, (int64_t[]){image, p, o}, rows, columns);
	else
		for (int64_t r = 0; !direct && r < rows; r++)
			memcpy(to + r * job->c.out, v->tile + r * job->columns, (size_t)columns * sizeof(float));
}

static void conv_f32_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t from, to;
	tri_grid_range(&job->grid, i, &from, &to);
	for (int64_t t = from; t < to; t++) {
		int64_t block, group;
		tri_grid_at(&job->grid, job->parts, t, &group, &block);
		conv_f32_compute_tile(job, block / job->blocks, block % job->blocks * job->rows, group * job->columns);
	}
}

static void conv_f32_convolve(struct tri_context *ctx, struct job job)
{
	job.ctx = ctx;
	job.group_out = job.group_channels ? job.c.out / (job.c.channels / job.group_channels) : job.c.out;
	job.terms = job.c.kernel_height * job.c.kernel_width * job.group_channels;
	job.positions = tri_conv_positions(&job.c);
	if (job.c.batch <= 0 || job.c.out <= 0 || job.positions <= 0)
		return;
	divide_window(&job);
	divide_result(&job, tri_threads(ctx));
	job.grid = tri_grid_make((job.c.out + job.columns - 1) / job.columns, job.c.batch * job.blocks, job.terms * job.columns * job.rows);
	job.parts = job.terms * job.c.out <= SMALL_WEIGHTS ? tri_threads(ctx) : 1;
	tri_parallel(ctx, conv_f32_task, &job, tri_grid_tasks(&job.grid));
}

void tri_conv_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	if (tri_conv_lanes_f32(ctx, bufs, dims, NULL, false, epilogue))
		return;
	conv_f32_convolve(ctx, (struct job){.x = bufs[0],
					    .w = bufs[1],
					    .y = bufs[2],
					    .c = *tri_conv_of(dims),
					    .group_channels = tri_conv_of(dims)->group_channels,
					    .epilogue = epilogue});
}

static void convolve_trits(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	struct job job = {.x = bufs[0], .y = bufs[2], .c = *tri_conv_of(dims), .epilogue = epilogue};
	const struct tri_conv_dims *c = &job.c;
	int64_t channels = c->group_channels, run = tri_conv_run(channels, c->kernel_width);
	struct tri_trits trits = {bufs[1], c->kernel_height * run, c->out, c->kernel_width * channels, run};
	job.trits = &trits;
	job.group_channels = channels;
	job.chooses = !tri_is_finite(job.x, c->batch * c->channels * c->height * c->width);
	if (channels == c->channels || !tri_conv_lanes_f32(ctx, bufs, dims, &trits, job.chooses, epilogue))
		conv_f32_convolve(ctx, job);
}

void tri_conv_f32_trit2(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	convolve_trits(ctx, bufs, dims, epilogue);
}

void tri_conv_groups_f32_trit2(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	convolve_trits(ctx, bufs, dims, epilogue);
}
