/* Attention of few queries, as in decoding: keys and values are read once for all of them, where they are. A task visits a part of the keys with all
 * heads, because the rows of all heads of a key may be in sequence. Parts depend on the sizes alone, and their sums are added in order, so any
 * number of threads computes the same. Included by attention_f32.c. */
#ifndef TRI_ATTENTION_FEW_H
#define TRI_ATTENTION_FEW_H
#include "backend/runtime/kernels/attention_one.h"
#include "backend/runtime/kernels/attention_products.h"

enum { MOST_FEW = 8 };                                          /* rows that share keys */
enum { PART_KEYS = 128, MOST_PARTS = 16, MOST_SUMS = 1 << 15 }; /* floats of all sums of a round */

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- blocks of keys ---- */

/* A round: some heads of keys of some items, each with `parts` of its keys. */
struct round {
	const struct job *job;
	int64_t first, groups;    /* groups are `heads` heads of keys of an item, numbered item by item */
	int64_t heads, per_item;  /* groups of an item */
	int64_t parts, part_keys; /* parts of a group */
	int64_t ld, room;         /* from one row to the next; of a part: a sum, a maximum and a total for each row */
	float *sums;
	struct tri_context *ctx;
};

/* A block of keys of one head. */
struct block {
	const struct job *job;
	struct rows k, v;
	const float *k_scale, *v_scale;
	int64_t first, n;
	struct row row; /* of the first query */
};

static void scale_by_key(float *x, const float *scale, int64_t stride, int64_t n)
{
	for (int64_t j = 0; j < n; j++)
		x[j] *= scale[j * stride];
}

/* Turns the products of a row of the head into weights. */
static void few_weights(const struct block *b, int64_t at, float *x)
{
	const struct tri_attention *a = &b->job->a;
	struct row row = b->row;
	row.head += at / a->queries;
	row.query = at % a->queries;
	row.sum += at * row.ld;
	row.most += at;
	row.total += at;
	if (a->scaled)
		scale_by_key(x, b->k_scale, a->k_scale.row, b->n);
	weights_of_row(b->job, &row, b->first, b->n, x);
	if (a->scaled)
		scale_by_key(x, b->v_scale, a->v_scale.row, b->n);
}

/* Rows [at, at + R) of the queries that share the head. */
TRI_INLINE void few_rows(const struct block *b, const float *q, int64_t at, const int R)
{
	const struct tri_attention *a = &b->job->a;
	_Alignas(64) float x[FEW * KEYS];
	few_scores_of(a->k_elem, q + at * a->features, b->k, b->n, a->features, R, x);
	for (int64_t r = 0; r < R; r++)
		few_weights(b, at + r, x + r * KEYS);
	few_values_of(a->v_elem, x, b->v, b->n, a->values, R, b->row.sum + at * b->row.ld, b->row.ld);
}

static void few_block(const struct block *b, const float *q)
{
	int64_t at = 0;
	for (; at + FEW <= b->job->rows; at += FEW)
		few_rows(b, q, at, FEW);
	if (b->job->rows - at >= 2) {
		few_rows(b, q, at, 2);
		at += 2;
	}
	if (b->job->rows > at)
		few_rows(b, q, at, 1);
}

TRI_INLINE int64_t offset(struct tri_attention_strides s, int64_t batch, int64_t head, int64_t row)
{
	return batch * s.batch + head * s.head + row * s.row;
}

/* From a block of head n of the group to the next one in memory: of the same keys, or of the same head. */
static int64_t ahead(const struct round *r, int64_t n, struct tri_attention_strides s)
{
	if (s.head < s.row) /* keys with all heads in sequence */
		return KEYS * s.row;
	return n + 1 < r->heads ? s.head : KEYS * s.row - n * s.head;
}

/* Block `first` … of head `head` of keys. `n`: the number of the head in the group; `sums`: of the part. */
static struct block block_of(const struct round *r, int64_t batch, int64_t head, int64_t n, int64_t first, int64_t end, float *sums)
{
	const struct job *job = r->job;
	const struct tri_attention *a = &job->a;
	int64_t size_k = elem_bytes(a->k_elem), size_v = elem_bytes(a->v_elem), rows = r->heads * job->rows;
	return (struct block){
		job,
		{(const char *)job->k + offset(a->k, batch, head, first) * size_k, a->k.row * size_k, ahead(r, n, a->k) * size_k},
		{(const char *)job->v + offset(a->v, batch, head, first) * size_v, a->v.row * size_v, ahead(r, n, a->v) * size_v},
		a->scaled ? job->k_scale + offset(a->k_scale, batch, head, first) : NULL,
		a->scaled ? job->v_scale + offset(a->v_scale, batch, head, first) : NULL,
		first,
		end - first < KEYS ? end - first : KEYS,
		{batch, head * (a->heads / a->kv_heads), 0, r->ld, sums + rows * r->ld + n * job->rows,
		 sums + rows * (r->ld + 1) + n * job->rows, sums + n * job->rows * r->ld}};
}

static const float *queries_of(const struct job *job, int64_t batch, int64_t head)
{
	return job->q + (batch * job->a.kv_heads + head) * job->rows * job->a.features;
}

/* Block `first` … of heads [head, head + heads), of which each has one query. */
static void one_block(const struct round *r, int64_t batch, int64_t head, int64_t heads, int64_t n, int64_t first, int64_t end, float *sums)
{
	const struct tri_attention *a = &r->job->a;
	struct block b = block_of(r, batch, head, n, first, end, sums);
	float *space = (float *)tri_space(r->ctx) + MOST_SUMS; /* the caller's holds the sums of the round */
	_Static_assert((MOST_SUMS + MOST_ONE * (KEYS + LANES * LANES)) * sizeof *space <= TRI_SPACE, "it fits");
	struct one o = {r->job,
			queries_of(r->job, batch, head),
			{b.k.at, b.k.stride, b.k.stride + AHEAD},
			{b.v.at, b.v.stride, b.v.stride + AHEAD},
			a->k.head * elem_bytes(a->k_elem),
			a->v.head * elem_bytes(a->v_elem),
			heads,
			b.n,
			r->ld,
			b.row.sum,
			space,
			space + MOST_ONE * KEYS};
	one_scores_of(&o);
	for (int64_t h = 0; h < heads; h++) {
		b = block_of(r, batch, head + h, n + h, first, end, sums);
		few_weights(&b, 0, o.scores + h * KEYS);
	}
	one_values_of(&o);
}

/* The same for one head. */
static void few_head(const struct round *r, int64_t batch, int64_t head, int64_t n, int64_t first, int64_t end, float *sums)
{
	struct block b = block_of(r, batch, head, n, first, end, sums);
	few_block(&b, queries_of(r->job, batch, head));
}

/* True if the heads of a key are in sequence, and each has one query. */
static bool is_one(const struct job *job)
{
	const struct tri_attention *a = &job->a;
	return job->rows == 1 && a->kv_heads >= LEAST_ONE && a->k.head < a->k.row && a->features % LANES == 0 && a->values % LANES == 0;
}

/* The heads of keys of a group. */
static void heads_of(const struct round *r, int64_t group, int64_t *batch, int64_t *from, int64_t *to)
{
	*batch = (r->first + group) / r->per_item;
	*from = (r->first + group) % r->per_item * r->heads;
	*to = *from + r->heads < r->job->a.kv_heads ? *from + r->heads : r->job->a.kv_heads;
}

static void few_task(void *arg, int64_t i)
{
	const struct round *r = arg;
	float *sums = r->sums + i * r->room;
	int64_t rows = r->heads * r->job->rows, batch, from, to, start = i % r->parts * r->part_keys, keys = r->job->a.keys;
	int64_t end = start + r->part_keys < keys ? start + r->part_keys : keys;
	heads_of(r, i / r->parts, &batch, &from, &to);
	memset(sums, 0, (size_t)r->room * sizeof *sums);
	for (int64_t k = 0; k < rows; k++)
		sums[rows * r->ld + k] = -INFINITY;
	for (int64_t first = start; first < end; first += KEYS)
		for (int64_t head = from, n; head < to; head += n) {
			n = is_one(r->job) ? least_of(to - head, MOST_ONE) : 1;
			if (n > 1)
				one_block(r, batch, head, n, head - from, first, end, sums);
			else
				few_head(r, batch, head, head - from, first, end, sums);
		}
}

/* ---- results ---- */

/* Adds the parts of row `at` of a group, and divides by the total. */
static void few_result(const struct round *r, const float *sums, int64_t at, float *y)
{
	int64_t rows = r->heads * r->job->rows, V = r->job->a.values;
	float most = -INFINITY, total = 0;
	for (int64_t p = 0; p < r->parts; p++) {
		float its = sums[p * r->room + rows * r->ld + at];
		most = most >= its ? most : its;
	}
	memset(y, 0, (size_t)V * sizeof *y);
	for (int64_t p = 0; p < r->parts; p++) {
		const float *part = sums + p * r->room;
		float before = part[rows * r->ld + at] == -INFINITY ? 0 : vec_exp(vec_of(part[rows * r->ld + at] - most))[0];
		total += part[rows * (r->ld + 1) + at] * before;
		for (int64_t c = 0; c < V; c++)
			y[c] += part[at * r->ld + c] * before;
	}
	for (int64_t c = 0; c < V; c++)
		y[c] /= total < 0.5f ? 1 : total; /* it is at least 1, or 0 for a query without keys */
}

static void few_results(void *arg, int64_t group)
{
	const struct round *r = arg;
	const struct job *job = r->job;
	int64_t batch, from, to;
	heads_of(r, group, &batch, &from, &to);
	float *y = job->y + (batch * job->a.kv_heads + from) * job->rows * job->a.values;
	for (int64_t k = 0; k < (to - from) * job->rows; k++)
		few_result(r, r->sums + group * r->parts * r->room, k, y + k * job->a.values);
}

static void attend_few(struct tri_context *ctx, const struct job *job)
{
	const struct tri_attention *a = &job->a;
	struct round r = {.job = job, .ld = (a->values + LANES - 1) / LANES * LANES, .sums = tri_space(ctx), .ctx = ctx};
	int64_t head_room = job->rows * (r.ld + 2), most_heads = (MOST_SUMS - LANES) / head_room;
	r.heads = least_of(a->kv_heads, most_heads);
	r.per_item = (a->kv_heads + r.heads - 1) / r.heads;
	r.room = (r.heads * head_room + LANES - 1) / LANES * LANES;
	r.parts = least_of(least_of(a->keys / PART_KEYS, MOST_PARTS), MOST_SUMS / r.room);
	r.parts = r.parts > 1 ? r.parts : 1;
	r.part_keys = ((a->keys + r.parts - 1) / r.parts + KEYS - 1) / KEYS * KEYS;
	for (int64_t all = a->batch * r.per_item, most = MOST_SUMS / (r.room * r.parts); r.first < all; r.first += r.groups) {
		r.groups = least_of(all - r.first, most);
		tri_parallel(ctx, few_task, &r, r.groups * r.parts);
		tri_parallel(ctx, few_results, &r, r.groups);
	}
}
#endif
