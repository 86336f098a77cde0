/* y float32 [B, H, L, V] = softmax(q k' · scale + mask) v, with q [B, H, L, E], k [B, K, S, E], v [B, K, S, V]. The scores of all keys are never in
 * memory: keys are visited in blocks, and a greater maximum rescales what was summed before (Milakov and Gimelshein 2018; Dao et al. 2022).
 *
 * The queries of all heads that share keys are the rows of one problem, so a block of keys is read once for them. Each row is computed in an
 * order of its own, so the division into tasks changes no result. Few rows, as in decoding, read keys and values where they are; many rows read
 * them from panels (f32_rows.h), whose sums have another order. */
#include "attention.h"
#include <stdbool.h>
#include "attention_few.h"
#include "f32_exp.h"
#include "f32_panels.h"
#include "f32_rows.h"

enum { KEYS = 64, MOST_ROWS = 288, MOST_VALUES = 20480, STRIP = TRI_PANEL, PART = 4 * TRI_F32_TILE };
_Static_assert(KEYS % STRIP == 0 && STRIP % LANES == 0, "panels");

struct job {
	struct tri_attention a;
	const float *q, *k, *v;
	const void *mask;
	float *y;
	int64_t rows, chunk; /* of the queries that share keys; in each task */
};

/* Rows [from, from + n) of a batch and a head of keys. */
struct part {
	const struct job *job;
	const float *q, *k, *v;                 /* the first row; the first key and value */
	int64_t batch, first_head, from, n, ld; /* ld: from one row of `sum` to the next */
	const float *rows[MOST_ROWS], *weights[PART];
	float most[MOST_ROWS], total[MOST_ROWS];
	_Alignas(64) float sum[MOST_VALUES];
	_Alignas(64) float scores[PART * KEYS];
	_Alignas(64) float key_panels[KEYS * TRI_ATTENTION_MOST];
	_Alignas(64) float value_panels[KEYS * TRI_ATTENTION_MOST];
};

static int64_t query_of(const struct part *p, int64_t r) { return (p->from + r) % p->job->a.queries; }

/* ---- panels ---- */

/* Four keys' next four features, transposed. */
TRI_INLINE void transpose(const float *from, int64_t ld, float *to)
{
	typedef float four __attribute__((vector_size(16)));
	typedef int32_t order __attribute__((vector_size(16)));
	four x[4], y[4];
	for (int i = 0; i < 4; i++)
		memcpy(&x[i], from + i * ld, sizeof x[i]);
	for (int i = 0; i < 2; i++) {
		y[i] = __builtin_shuffle(x[2 * i], x[2 * i + 1], (order){0, 4, 1, 5});
		y[i + 2] = __builtin_shuffle(x[2 * i], x[2 * i + 1], (order){2, 6, 3, 7});
	}
	for (int i = 0; i < 2; i++) {
		x[2 * i] = __builtin_shuffle(y[2 * i], y[2 * i + 1], (order){0, 1, 4, 5});
		x[2 * i + 1] = __builtin_shuffle(y[2 * i], y[2 * i + 1], (order){2, 3, 6, 7});
	}
	for (int i = 0; i < 4; i++)
		memcpy(to + i * STRIP, &x[i], sizeof x[i]);
}

/* Panels of STRIP keys: row e has their features e. Missing keys are zeros. */
static void pack_keys(struct part *p, int64_t first, int64_t n)
{
	int64_t E = p->job->a.features;
	const float *k = p->k + first * E;
	for (int64_t j = 0; j < KEYS; j += 4) {
		float *to = p->key_panels + j / STRIP * STRIP * E + j % STRIP;
		int64_t e = 0;
		for (; j + 4 <= n && e + 4 <= E; e += 4)
			transpose(k + j * E + e, E, to + e * STRIP);
		for (; e < E; e++)
			for (int64_t i = 0; i < 4; i++)
				to[e * STRIP + i] = j + i < n ? k[(j + i) * E + e] : 0;
	}
}

/* Panels of STRIP values, a row for each key. */
static void pack_values(struct part *p, int64_t first, int64_t n)
{
	int64_t V = p->job->a.values;
	for (int64_t c = 0; c < V; c += STRIP)
		for (int64_t j = 0; j < n; j++) {
			float *to = p->value_panels + c * KEYS + j * STRIP;
			int64_t width = V - c < STRIP ? V - c : STRIP;
			memcpy(to, p->v + (first + j) * V + c, (size_t)width * sizeof *to);
			memset(to + width, 0, (size_t)(STRIP - width) * sizeof *to);
		}
}

/* ---- the softmax ---- */

TRI_INLINE float greatest(const float *x, int64_t n)
{
	vec most = vec_load(x);
	for (int64_t j = LANES; j < n; j += LANES)
		most = vec_max(most, vec_load(x + j));
	return vec_greatest(most);
}

/* Replaces scores by exp(score - most); returns their sum. */
TRI_INLINE float exponentials(float *x, int64_t n, float most)
{
	vec sum = {0};
	for (int64_t j = 0; j < n; j += LANES) {
		vec e = vec_exp(vec_load(x + j) - most);
		vec_store(x + j, e);
		sum += e;
	}
	return vec_sum(sum);
}

static void hide(const struct part *p, int64_t r, int64_t first, int64_t n, float *x)
{
	const struct tri_attention *a = &p->job->a;
	int64_t step,
		at = tri_attention_mask(a, p->batch, p->first_head + (p->from + r) / a->queries, query_of(p, r), &step) + first * step;
	const uint8_t *seen = p->job->mask;
	const float *added = p->job->mask;
	for (int64_t j = 0; j < n; j++)
		if (a->mask_bool)
			x[j] = seen[at + j * step] ? x[j] : -INFINITY;
		else
			x[j] += added[at + j * step];
}

/* Turns the products of row r with n keys from `first` on into weights, up to KEYS of them. */
static void weights_of_row(struct part *p, int64_t r, int64_t first, int64_t n, float *x)
{
	const struct tri_attention *a = &p->job->a;
	int64_t seen = a->causal ? query_of(p, r) + 1 - first : n;
	float *sum = p->sum + r * p->ld;
	seen = seen > n ? n : seen < 0 ? 0 : seen;
	for (int64_t j = 0; j < KEYS; j += LANES)
		vec_store(x + j, vec_load(x + j) * a->scale);
	if (a->mask)
		hide(p, r, first, seen, x);
	for (int64_t j = seen; j < KEYS; j++)
		x[j] = -INFINITY;
	float most = greatest(x, KEYS);
	most = p->most[r] >= most ? p->most[r] : most;
	if (most == -INFINITY) { /* no key so far */
		memset(x, 0, KEYS * sizeof *x);
		return;
	}
	float total = exponentials(x, KEYS, most);
	if (most != p->most[r]) {
		float before = vec_exp(vec_of(p->most[r] - most))[0];
		for (int64_t c = 0; c < p->ld; c += LANES)
			vec_store(sum + c, vec_load(sum + c) * before);
		p->total[r] *= before;
		p->most[r] = most;
	}
	p->total[r] += total;
}

/* ---- many rows ---- */

/* True if one of the rows may see the key. */
static bool sees(const struct part *p, int64_t r, int64_t rows, int64_t key)
{
	const struct tri_attention *a = &p->job->a;
	bool one_head = (p->from + r) / a->queries == (p->from + r + rows - 1) / a->queries;
	return !a->causal || !one_head || query_of(p, r + rows - 1) >= key;
}

static void many(struct part *p, int64_t first, int64_t n)
{
	const struct tri_attention *a = &p->job->a;
	pack_keys(p, first, n);
	pack_values(p, first, n);
	for (int64_t r = 0; r < p->n; r += PART) {
		int64_t rows = p->n - r < PART ? p->n - r : PART;
		if (!sees(p, r, rows, first))
			continue;
		struct tri_f32_rows x = {p->rows + r, 0, 1, a->features, 0}, w = {p->weights, 0, 1, n, 0};
		for (int64_t c = 0; c < KEYS; c += STRIP)
			tri_f32_rows(&x, rows, p->key_panels + c * a->features, STRIP, p->scores + c, KEYS, 1);
		for (int64_t i = 0; i < rows; i++)
			weights_of_row(p, r + i, first, n, p->scores + i * KEYS);
		for (int64_t c = 0; c < p->ld; c += STRIP)
			tri_f32_rows(&w, rows, p->value_panels + c * KEYS, STRIP, p->sum + r * p->ld + c, p->ld, 0);
	}
}

/* ---- few rows ---- */

TRI_INLINE void few_rows(struct part *p, int64_t at, const int R, int64_t first, int64_t n)
{
	int64_t E = p->job->a.features, V = p->job->a.values;
	float *x = p->scores + at * KEYS;
	few_scores(p->rows[at], p->k + first * E, n, E, R, x, KEYS, p->key_panels);
	for (int64_t r = 0; r < R; r++)
		weights_of_row(p, at + r, first, n, x + r * KEYS);
	few_values(x, KEYS, p->v + first * V, n, V, R, p->sum + at * p->ld, p->ld);
}

static void few(struct part *p, int64_t first, int64_t n)
{
	if (p->n == FEW) {
		few_rows(p, 0, 4, first, n);
		return;
	}
	if (p->n & 2)
		few_rows(p, 0, 2, first, n);
	if (p->n & 1)
		few_rows(p, p->n - 1, 1, first, n);
}

/* ---- tasks ---- */

static void start(struct part *p, const struct job *job, int64_t i)
{
	const struct tri_attention *a = &job->a;
	int64_t chunks = (job->rows + job->chunk - 1) / job->chunk, head = i / chunks; /* of all keys */
	p->job = job;
	p->batch = head / a->kv_heads;
	p->first_head = head % a->kv_heads * (a->heads / a->kv_heads);
	p->from = i % chunks * job->chunk;
	p->n = job->rows - p->from < job->chunk ? job->rows - p->from : job->chunk;
	p->ld = (a->values + STRIP - 1) / STRIP * STRIP;
	p->q = job->q + (head * job->rows + p->from) * a->features;
	p->k = job->k + head * a->keys * a->features;
	p->v = job->v + head * a->keys * a->values;
	memset(p->sum, 0, (size_t)(p->n * p->ld) * sizeof *p->sum);
	for (int64_t r = 0; r < p->n; r++) {
		p->rows[r] = p->q + r * a->features;
		p->most[r] = -INFINITY;
		p->total[r] = 0;
	}
	for (int64_t r = 0; r < PART; r++)
		p->weights[r] = p->scores + r * KEYS;
}

/* Returns how many keys the rows see. */
static int64_t keys_of(const struct part *p)
{
	const struct tri_attention *a = &p->job->a;
	int64_t last = p->from / a->queries == (p->from + p->n - 1) / a->queries ? query_of(p, p->n - 1) : a->queries - 1;
	return a->causal && last + 1 < a->keys ? last + 1 : a->keys;
}

static void task(void *arg, int64_t i)
{
	struct part p;
	start(&p, arg, i);
	const struct tri_attention *a = &p.job->a;
	float *y = p.job->y + (i / ((p.job->rows + p.job->chunk - 1) / p.job->chunk) * p.job->rows + p.from) * a->values;
	for (int64_t first = 0, end = keys_of(&p); first < end; first += KEYS)
		(p.job->rows <= FEW ? few : many)(&p, first, end - first < KEYS ? end - first : KEYS);
	for (int64_t r = 0; r < p.n; r++) {
		float total = p.total[r] < 0.5f ? 1 : p.total[r]; /* it is at least 1, or 0 for a query without keys */
		for (int64_t c = 0; c < a->values; c++)
			y[r * a->values + c] = p.sum[r * p.ld + c] / total;
	}
}

static void attend(struct tri_context *ctx, struct job *job)
{
	const struct tri_attention *a = &job->a;
	int64_t ld = (a->values + STRIP - 1) / STRIP * STRIP, most = ld > 0 ? MOST_VALUES / ld : MOST_ROWS;
	job->rows = a->kv_heads > 0 ? a->heads / a->kv_heads * a->queries : 0;
	job->chunk = tri_f32_tile_rows(job->rows > 0 ? job->rows : 1, most < MOST_ROWS ? most / TRI_F32_TILE * TRI_F32_TILE : MOST_ROWS);
	if (job->rows > 0 && a->values > 0)
		tri_parallel(ctx, task, job, a->batch * a->kv_heads * ((job->rows + job->chunk - 1) / job->chunk));
}

void tri_attention_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	(void)epilogue;
	attend(ctx, &(struct job){tri_attention_of(dims, 0), bufs[0], bufs[1], bufs[2], NULL, bufs[3], 0, 0});
}

void tri_attention_mask_f32(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	(void)epilogue;
	attend(ctx, &(struct job){tri_attention_of(dims, 1), bufs[0], bufs[1], bufs[2], bufs[3], bufs[4], 0, 0});
}
