/* y float32 [B, H, L, V] = softmax(q k' · scale + mask) v, with q [B, H, L, E], k [B, K, S, E], v [B, K, S, V]. The scores of all keys are never in
 * memory: keys are visited in blocks, and a greater maximum rescales what was summed before (Milakov and Gimelshein 2018; Dao et al. 2022).
 *
 * The queries of all heads that share keys are the rows of one problem, so a block of keys is read once for them. Each row is computed in an
 * order of its own, so the division into tasks changes no result. Few rows, as in decoding, read keys and values where they are; many rows read
 * them from panels (f32_rows.h), whose sums have another order. Other elements than float32 are widened, block by block. */
#include "backend/runtime/kernels/attention.h"
#include <stdbool.h>
#include "backend/runtime/kernels/attention_few.h"
#include "backend/runtime/kernels/attention_row.h"
#include "backend/runtime/kernels/attention_widen.h"
#include "backend/runtime/kernels/f32_exp.h"
#include "backend/runtime/pack/f32_panels.h"
#include "backend/runtime/kernels/f32_rows.h"

enum { MOST_ROWS = 288, MOST_VALUES = 20480, STRIP = TRI_PANEL, TILES = 4 * TRI_F32_TILE };
_Static_assert(KEYS % STRIP == 0 && STRIP % LANES == 0, "panels");

struct many {
	struct tri_context *ctx;
	const struct job *job;
	int64_t chunk; /* rows of a task */
};

/* Rows [from, from + n) of a batch and a head of keys. */
struct part {
	const struct job *job;
	const float *q;                               /* the first row */
	int64_t batch, head, first_head, from, n, ld; /* head: of keys. ld: from one row of `sum` to the next */
	const float *rows[MOST_ROWS], *weights[TILES];
	float most[MOST_ROWS], total[MOST_ROWS];
	_Alignas(64) float sum[MOST_VALUES];
	_Alignas(64) float scores[TILES * KEYS];
	_Alignas(64) float wide[KEYS * TRI_ATTENTION_MOST]; /* keys or values of another type than float32 */
	_Alignas(64) float key_panels[KEYS * TRI_ATTENTION_MOST];
	_Alignas(64) float value_panels[KEYS * TRI_ATTENTION_MOST];
};
_Static_assert(sizeof(struct part) <= TRI_SPACE, "it fits");

static int64_t query_of(const struct part *p, int64_t r) { return (p->from + r) % p->job->a.queries; }

/* Rows of float32. */
struct floats {
	const float *at;
	int64_t ld;
};

/* Rows `first` … of keys or values: where they are, or n of them in p->wide. */
static struct floats attention_f32_rows_of(struct part *p, const void *x, const float *scale, bool keys, int64_t first, int64_t n)
{
	const struct tri_attention *a = &p->job->a;
	const struct tri_attention_strides s = keys ? a->k : a->v, of_scale = keys ? a->k_scale : a->v_scale;
	enum tri_elem t = keys ? a->k_elem : a->v_elem;
	int64_t width = keys ? a->features : a->values;
	const char *at = (const char *)x + offset(s, p->batch, p->head, first) * elem_bytes(t);
	if (t == TRI_ELEM_F32)
		return (struct floats){(const float *)at, s.row};
	scale = scale ? scale + offset(of_scale, p->batch, p->head, first) : NULL;
	for (int64_t j = 0; j < n; j++)
		widen_any_row(at + j * s.row * elem_bytes(t), width, t, scale ? scale[j * of_scale.row] : 1, p->wide + j * width);
	return (struct floats){p->wide, width};
}

/* ---- panels ---- */

/* Four keys' next four features, transposed. */
TRI_INLINE void transpose(const float *from, int64_t ld, float *to)
{
	typedef float four __attribute__((vector_size(16)));
	four x[4], y[4];
	for (int i = 0; i < 4; i++)
		memcpy(&x[i], from + i * ld, sizeof x[i]);
	for (int i = 0; i < 2; i++) {
		y[i] = __builtin_shufflevector(x[2 * i], x[2 * i + 1], 0, 4, 1, 5);
		y[i + 2] = __builtin_shufflevector(x[2 * i], x[2 * i + 1], 2, 6, 3, 7);
	}
	for (int i = 0; i < 2; i++) {
		x[2 * i] = __builtin_shufflevector(y[2 * i], y[2 * i + 1], 0, 1, 4, 5);
		x[2 * i + 1] = __builtin_shufflevector(y[2 * i], y[2 * i + 1], 2, 3, 6, 7);
	}
	for (int i = 0; i < 4; i++)
		memcpy(to + i * STRIP, &x[i], sizeof x[i]);
}

/* Panels of STRIP keys: row e has their features e. Missing keys are zeros. */
static void pack_keys(struct part *p, int64_t first, int64_t n)
{
	int64_t E = p->job->a.features;
	struct floats k = attention_f32_rows_of(p, p->job->k, p->job->k_scale, true, first, n);
	for (int64_t j = 0; j < KEYS; j += 4) {
		float *to = p->key_panels + j / STRIP * STRIP * E + j % STRIP;
		int64_t e = 0;
		for (; j + 4 <= n && e + 4 <= E; e += 4)
			transpose(k.at + j * k.ld + e, k.ld, to + e * STRIP);
		for (; e < E; e++)
			for (int64_t i = 0; i < 4; i++)
				to[e * STRIP + i] = j + i < n ? k.at[(j + i) * k.ld + e] : 0;
	}
}

/* Panels of STRIP values, a row for each key. */
static void pack_values(struct part *p, int64_t first, int64_t n)
{
	int64_t V = p->job->a.values;
	struct floats v = attention_f32_rows_of(p, p->job->v, p->job->v_scale, false, first, n);
	for (int64_t c = 0; c < V; c += STRIP)
		for (int64_t j = 0; j < n; j++) {
			float *to = p->value_panels + c * KEYS + j * STRIP;
			int64_t width = V - c < STRIP ? V - c : STRIP;
			memcpy(to, v.at + j * v.ld + c, (size_t)width * sizeof *to);
			memset(to + width, 0, (size_t)(STRIP - width) * sizeof *to);
		}
}

/* ---- many rows ---- */

/* True if one of the rows may see the key. */
static bool sees(const struct part *p, int64_t r, int64_t rows, int64_t key)
{
	const struct tri_attention *a = &p->job->a;
	bool one_head = (p->from + r) / a->queries == (p->from + r + rows - 1) / a->queries;
	return !a->causal || !one_head || query_of(p, r + rows - 1) >= key;
}

static void attention_f32_weights_of(struct part *p, int64_t r, int64_t first, int64_t n, float *x)
{
	struct row row = {
		p->batch,          p->first_head + (p->from + r) / p->job->a.queries, query_of(p, r), p->ld, p->most + r, p->total + r,
		p->sum + r * p->ld};
	weights_of_row(p->job, &row, first, n, x);
}

static void many(struct part *p, int64_t first, int64_t n)
{
	const struct tri_attention *a = &p->job->a;
	pack_keys(p, first, n);
	pack_values(p, first, n);
	for (int64_t r = 0; r < p->n; r += TILES) {
		int64_t rows = p->n - r < TILES ? p->n - r : TILES;
		if (!sees(p, r, rows, first))
			continue;
		struct tri_f32_rows x = {p->rows + r, 0, 1, a->features, 0, NULL}, w = {p->weights, 0, 1, n, 0, NULL};
		for (int64_t c = 0; c < KEYS; c += STRIP)
			tri_f32_rows(&x, rows, p->key_panels + c * a->features, STRIP, p->scores + c, KEYS, 1);
		for (int64_t i = 0; i < rows; i++)
			attention_f32_weights_of(p, r + i, first, n, p->scores + i * KEYS);
		for (int64_t c = 0; c < p->ld; c += STRIP)
			tri_f32_rows(&w, rows, p->value_panels + c * KEYS, STRIP, p->sum + r * p->ld + c, p->ld, 0);
	}
}

/* ---- tasks ---- */

static int64_t chunks_of(const struct many *m) { return (m->job->rows + m->chunk - 1) / m->chunk; }

static void attention_f32_start(struct part *p, const struct many *m, int64_t i)
{
	const struct job *job = m->job;
	const struct tri_attention *a = &job->a;
	int64_t shared = i / chunks_of(m); /* head of all items of the batch */
	p->job = job;
	p->batch = shared / a->kv_heads;
	p->head = shared % a->kv_heads;
	p->first_head = p->head * (a->heads / a->kv_heads);
	p->from = i % chunks_of(m) * m->chunk;
	p->n = job->rows - p->from < m->chunk ? job->rows - p->from : m->chunk;
	p->ld = (a->values + STRIP - 1) / STRIP * STRIP;
	p->q = job->q + (shared * job->rows + p->from) * a->features;
	memset(p->sum, 0, (size_t)(p->n * p->ld) * sizeof *p->sum);
	for (int64_t r = 0; r < p->n; r++) {
		p->rows[r] = p->q + r * a->features;
		p->most[r] = -INFINITY;
		p->total[r] = 0;
	}
	for (int64_t r = 0; r < TILES; r++)
		p->weights[r] = p->scores + r * KEYS;
}

/* Returns how many keys the rows see. */
static int64_t keys_of(const struct part *p)
{
	const struct tri_attention *a = &p->job->a;
	int64_t last = p->from / a->queries == (p->from + p->n - 1) / a->queries ? query_of(p, p->n - 1) : a->queries - 1;
	return a->causal && last + 1 < a->keys ? last + 1 : a->keys;
}

static void attention_f32_task(void *arg, int64_t i)
{
	const struct many *m = arg;
	struct part *p = tri_space(m->ctx);
	attention_f32_start(p, m, i);
	const struct tri_attention *a = &m->job->a;
	float *y = m->job->y + (i / chunks_of(m) * m->job->rows + p->from) * a->values;
	for (int64_t first = 0, end = keys_of(p); first < end; first += KEYS)
		many(p, first, end - first < KEYS ? end - first : KEYS);
	for (int64_t r = 0; r < p->n; r++) {
		float total = p->total[r] < 0.5f ? 1 : p->total[r]; /* it is at least 1, or 0 for a query without keys */
		for (int64_t c = 0; c < a->values; c++)
			y[r * a->values + c] = p->sum[r * p->ld + c] / total;
	}
}

static void attend_many(struct tri_context *ctx, const struct job *job)
{
	const struct tri_attention *a = &job->a;
	int64_t ld = (a->values + STRIP - 1) / STRIP * STRIP, most = MOST_VALUES / ld;
	struct many m = {ctx, job, tri_f32_tile_rows(job->rows, most < MOST_ROWS ? most / TRI_F32_TILE * TRI_F32_TILE : MOST_ROWS)};
	tri_parallel(ctx, attention_f32_task, &m, a->batch * a->kv_heads * chunks_of(&m));
}

/* Buffers: q, k, v, then a mask, then the scales of keys and values, then y. */
static void attention_f32_attend(struct tri_context *ctx, void *const *bufs, const int64_t *dims, bool scaled, bool mask)
{
	void *const *scales = bufs + 3 + mask;
	struct job job = {tri_attention_make(dims, scaled, mask),
			  bufs[0],
			  bufs[1],
			  bufs[2],
			  scaled ? scales[0] : NULL,
			  scaled ? scales[1] : NULL,
			  mask ? bufs[3] : NULL,
			  scales[scaled ? 2 : 0],
			  0};
	job.rows = job.a.kv_heads > 0 ? job.a.heads / job.a.kv_heads * job.a.queries : 0;
	if (job.rows > 0 && job.a.values > 0)
		(job.rows <= MOST_FEW ? attend_few : attend_many)(ctx, &job);
}

void tri_attention_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	(void)epilogue;
	attention_f32_attend(ctx, bufs, dims, false, false);
}

void tri_attention_mask_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	(void)epilogue;
	attention_f32_attend(ctx, bufs, dims, false, true);
}

void tri_attention_i8(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	(void)epilogue;
	attention_f32_attend(ctx, bufs, dims, true, false);
}

void tri_attention_mask_i8(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	(void)epilogue;
	attention_f32_attend(ctx, bufs, dims, true, true);
}
