/* y int32 [N, P, C] = x int8 [N, H, W, C], each channel convolved with its own window of w TRIT2 [K, C], where P = OH · OW and K = KH lines of KW
 * terms, padded to quads; exact. Input and result are channels-last, and vectors hold channels. */
#include "backend/runtime/kernels/conv_padding.h"
#include "backend/runtime/pack/trit2.h"

enum { PANEL = TRI_TRIT2_PANEL, TASKS = 4 /* for a thread */ };

struct job {
	struct tri_context *ctx;
	const int8_t *x;
	const uint8_t *w;
	int32_t *y;
	struct conv_blocks b;
	int64_t elements, positions; /* elements of a window, P */
	int64_t panels, shares;      /* panels of channels, and tasks that share them in a block */
	const struct tri_epilogue *epilogue;
};

#include "backend/runtime/kernels/depthwise_i8_words.h"
#if defined(__AVX512VNNI__)
#include "backend/runtime/kernels/depthwise_i8_vnni.h"
#endif

/* What a thread uses for a block. */
struct space {
	union {
		struct words_space words;
#if defined(__AVX512VNNI__)
		struct quads_space quads;
#endif
	} windows;
	_Alignas(64) int32_t tile[CONV_POSITIONS][PANEL];
};
_Static_assert(sizeof(struct space) <= TRI_SPACE, "it fits");

/* Multiplies the windows of a block by a panel. `first`: of those that the task multiplies by. */
static void multiply_block(const struct job *job, const struct conv_block *k, struct space *v, int64_t panel, _Bool first, int32_t *y,
			   int64_t ld)
{
#if defined(__AVX512VNNI__)
	if (quads_fit(job)) {
		quads_multiply(job, k, &v->windows.quads, panel, y, ld);
		return;
	}
#endif
	if (first)
		words_read(job, k, &v->windows.words);
	words_multiply(job, k, &v->windows.words, panel, y, ld);
}

static void depthwise_i8_trit2_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	const struct tri_conv_dims *c = &job->b.c;
	struct conv_block k = conv_block_at(&job->b, i / job->shares);
	struct space *v = tri_space(job->ctx);
	int64_t n = k.rows * k.columns, p = k.row * c->out_width + k.column, share = i % job->shares;
	int64_t from = job->panels * share / job->shares, to_panel = job->panels * (share + 1) / job->shares;
	for (int64_t panel = from; panel < to_panel; panel++) {
		int64_t o = panel * PANEL;
		int width = (int)conv_clamp(c->out - o, 0, PANEL);
		_Bool direct = !job->epilogue && width == PANEL;
		int32_t *to = job->y + (k.image * job->positions + p) * c->out + o, *y = direct ? to : v->tile[0];
		int64_t ld = direct ? c->out : PANEL;
		multiply_block(job, &k, v, panel, panel == from, y, ld);
		if (job->epilogue)
			job->epilogue->fn(job->epilogue, v->tile, PANEL, (int64_t[]){k.image, p, o}, n, width);
		else
			for (int64_t r = 0; !direct && r < n; r++)
				memcpy(to + r * c->out, v->tile[r], (size_t)width * sizeof(int32_t));
	}
}

void tri_depthwise_i8_trit2(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	struct tri_conv_dims c = *tri_conv_of(dims);
	if (c.batch <= 0 || c.out <= 0 || c.out_height <= 0 || c.out_width <= 0)
		return;
	struct job job = {.ctx = ctx,
			  .x = bufs[0],
			  .w = bufs[1],
			  .y = epilogue ? NULL : bufs[2],
			  .b = conv_blocks_make(&c, c.channels, sizeof(int8_t)),
			  .elements = c.kernel_height * c.kernel_width,
			  .positions = tri_conv_positions(&c),
			  .epilogue = epilogue};
	int64_t blocks = c.batch * job.b.row_blocks * job.b.column_blocks;
	job.panels = tri_trit2_panels(c.out);
	job.shares = tri_threads(ctx) > 1 ? conv_clamp(TASKS * (int64_t)tri_threads(ctx) / blocks, 1, job.panels) : 1;
	tri_parallel(ctx, depthwise_i8_trit2_task, &job, blocks * job.shares);
}
