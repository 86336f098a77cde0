/* y float32 [N, P, O] = x float32 [N, H, W, C] convolved in small groups with w PANELS [K, O] or packed trits. A sum has its terms in the order of
 * the window, then of channels, as in conv_f32.c. */
#include "backend/runtime/kernels/conv_lanes.h"
#include "backend/runtime/pack/f32_panels.h"
#include "backend/runtime/kernels/f32_trit2.h"

#if defined(__AVX512F__)
enum { VEC = 16, ROWS = 8 };
#elif defined(__AVX2__)
enum { VEC = 8, ROWS = 4 };
#else
enum { VEC = 4, ROWS = 2 };
#endif
enum { VECS = LANES_COLUMNS / VEC };

typedef float vec __attribute__((vector_size(VEC * 4)));
typedef int32_t bits __attribute__((vector_size(VEC * 4)));

struct job {
	struct tri_context *ctx;
	struct lanes l;
	void *const *bufs;
	const struct tri_trits *trits;
	_Bool chooses;
	const struct tri_epilogue *epilogue;
	int32_t places[LANES_TERMS];
};
/* What a thread uses for a block. */
struct space {
	_Alignas(64) char spread[LANES_SPREAD];
	_Alignas(64) float tile[LANES_POSITIONS + LANES_TILE][LANES_COLUMNS];
	_Alignas(64) float panel[LANES_TERMS * TRI_PANEL]; /* expanded trits */
	const char *windows[LANES_POSITIONS + LANES_TILE];
};
_Static_assert(sizeof(struct space) <= TRI_SPACE, "it fits");

TRI_INLINE vec load(const void *from)
{
	vec v;
	memcpy(&v, from, sizeof v);
	return v;
}

/* Computes R positions. Weights of a term are ldw apart. */
TRI_INLINE void micro(const struct job *job, const char *const *x, const float *w, int64_t ldw, const int R, const _Bool chooses, float *y)
{
	int64_t terms = job->l.c.kernel_height * job->l.c.kernel_width * job->l.channels;
	vec acc[ROWS][VECS];
#pragma GCC unroll 8
	for (int r = 0; r < R; r++)
#pragma GCC unroll 4
		for (int v = 0; v < VECS; v++)
			acc[r][v] = (vec){0};
	for (int64_t t = 0; t < terms; t++, w += ldw) {
		int64_t place = job->places[t];
#pragma GCC unroll 4
		for (int v = 0; v < VECS; v++) {
			vec b = load(w + v * VEC);
			bits takes = b != 0;
#pragma GCC unroll 8
			for (int r = 0; r < R; r++) {
				vec a = load(x[r] + place + v * VEC * 4);
				acc[r][v] += (chooses ? (vec)((bits)a & takes) : a) * b;
			}
		}
	}
#pragma GCC unroll 8
	for (int r = 0; r < R; r++)
		memcpy(y + r * LANES_COLUMNS, acc[r], sizeof acc[r]);
}

static void conv_lanes_f32_multiply(const struct job *job, const struct space *v, int64_t n, const float *w, int64_t ldw, float *y)
{
	for (int64_t i = 0; !job->chooses && i < n; i += ROWS)
		micro(job, v->windows + i, w, ldw, ROWS, 0, y + i * LANES_COLUMNS);
	for (int64_t i = 0; job->chooses && i < n; i++)
		micro(job, v->windows + i, w, ldw, 1, 1, y + i * LANES_COLUMNS);
}

static void conv_lanes_f32_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	const struct lanes *l = &job->l;
	struct space *v = tri_space(job->ctx);
	struct lanes_block b = lanes_block_at(l, i / l->vectors);
	int64_t o = i % l->vectors * LANES_COLUMNS, panel = o / TRI_PANEL, width = tri_panel_width(l->c.out, panel);
	int64_t terms = l->c.kernel_height * l->c.kernel_width * l->channels;
	struct spread s = lanes_spread(l, o);
	const float *w = v->panel;
	if (job->trits)
		tri_trit2_expand(job->trits, panel, 0, terms, v->panel);
	else
		w = (const float *)job->bufs[1] + tri_panel_offset(terms, panel);
	lanes_read(l, &s, &b, job->bufs[0], 0, v->spread);
	lanes_windows(l, &b, v->spread, ROWS, v->windows);
	conv_lanes_f32_multiply(job, v, b.rows * b.columns, w + o % TRI_PANEL, width, v->tile[0]);
	lanes_store(l, &b, o, (const char *)v->tile, job->epilogue ? NULL : job->bufs[2], job->epilogue);
}

_Bool tri_conv_lanes_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_trits *trits, _Bool chooses,
			 const struct tri_epilogue *epilogue)
{
	struct job job = {.ctx = ctx, .bufs = bufs, .trits = trits, .chooses = chooses, .epilogue = epilogue};
	if (!lanes_make(dims, sizeof(float), &job.l))
		return 0;
	lanes_places(&job.l, job.places);
	tri_parallel(ctx, conv_lanes_f32_task, &job, job.l.c.batch * job.l.row_blocks * job.l.column_blocks * job.l.vectors);
	return 1;
}
