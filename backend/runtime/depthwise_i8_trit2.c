/* y int32 [N, P, C] = x int8 [N, H, W, C], each channel convolved with its own window of w TRIT2 [K, C], where P = OH · OW and K = KH lines of KW
 * terms, padded to quads; exact. Input and result are channels-last, and vectors hold channels. */
#include "conv_block.h"
#include "trit2.h"

enum { PANEL = TRI_TRIT2_PANEL };

struct job {
	struct tri_context *ctx;
	const int8_t *x;
	const uint8_t *w;
	int32_t *y;
	struct conv_blocks b;
	int64_t elements, positions; /* elements of a window, P */
	const struct tri_epilogue *epilogue;
};

#include "depthwise_i8_words.h"
#if defined(__AVX512VNNI__)
#include "depthwise_i8_vnni.h"
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

/* Multiplies the windows of a block by a panel. The first panel comes first. */
static void multiply_block(const struct job *job, const struct conv_block *k, struct space *v, int64_t panel, int32_t *y, int64_t ld)
{
#if defined(__AVX512VNNI__)
	if (quads_fit(job)) {
		quads_multiply(job, k, &v->windows.quads, panel, y, ld);
		return;
	}
#endif
	if (panel == 0)
		words_read(job, k, &v->windows.words);
	words_multiply(job, k, &v->windows.words, panel, y, ld);
}

static void task(void *arg, int64_t i)
{
	const struct job *job = arg;
	const struct tri_conv *c = &job->b.c;
	struct conv_block k = conv_block_at(&job->b, i);
	struct space *v = tri_space(job->ctx);
	int64_t n = k.rows * k.columns, p = k.row * c->out_width + k.column;
	for (int64_t o = 0; o < c->out; o += PANEL) {
		int width = (int)conv_clamp(c->out - o, 0, PANEL);
		_Bool direct = !job->epilogue && width == PANEL;
		int32_t *to = job->y + (k.image * job->positions + p) * c->out + o, *y = direct ? to : v->tile[0];
		int64_t ld = direct ? c->out : PANEL;
		multiply_block(job, &k, v, o / PANEL, y, ld);
		if (job->epilogue)
			job->epilogue->fn(job->epilogue, v->tile, PANEL, (int64_t[]){k.image, p, o}, n, width);
		else
			for (int64_t r = 0; !direct && r < n; r++)
				memcpy(to + r * c->out, v->tile[r], (size_t)width * sizeof(int32_t));
	}
}

void tri_depthwise_i8_trit2(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	struct tri_conv c = tri_conv_of(dims);
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
	tri_parallel(ctx, task, &job, c.batch * job.b.row_blocks * job.b.column_blocks);
}
