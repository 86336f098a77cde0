/* Attention, in double. A query without keys gives zeros. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "backend/interp/axes.h"
#include "backend/interp/state.h"
#include "base/bug.h"

struct attention {
	const struct ir_attention *a;
	const struct tensor *q, *k, *v, *mask; /* mask: NULL if absent */
	struct tensor *out;
	double scale, *weights; /* one for each key */
};

static int64_t size(const struct tensor *t, uint32_t from_end) { return t->rank < from_end ? 1 : t->dims[t->rank - from_end]; }

/* Returns the number of the matrix of x that belongs to matrix `batch` of the result. Dims of size 1 are repeated; fewer heads are shared
 * by groups of consecutive queries' heads. */
static int64_t attention_matrix_of(const struct tensor *x, const struct tensor *out, int64_t batch)
{
	int64_t at = 0, stride = 1;
	for (uint32_t from_end = 3; from_end <= out->rank; from_end++) {
		int64_t n = size(out, from_end), own = size(x, from_end), i = batch % n;
		batch /= n;
		at += (own == n ? i : i / (n / own)) * stride;
		stride *= own;
	}
	return at;
}

/* The score before the mask: the scaled product of a query and a key. */
static double attention_score(const struct attention *t, int64_t query, int64_t key)
{
	double sum = 0;
	int64_t n = size(t->q, 1);
	for (int64_t e = 0; e < n; e++)
		sum += element_at(t->q, query * n + e) * t->scale * element_at(t->k, key * n + e);
	return sum;
}

static double masked(const struct attention *t, int64_t batch, int64_t i, int64_t j, double s)
{
	if (t->mask) {
		int64_t rows = size(t->mask, 2), columns = size(t->mask, 1), at = attention_matrix_of(t->mask, t->out, batch);
		at = (at * rows + (rows == 1 ? 0 : i)) * columns + (columns == 1 ? 0 : j);
		if (t->mask->elem != DT_BOOL)
			s += element_at(t->mask, at);
		else if (!elem_int(DT_BOOL, t->mask->data, at))
			s = -INFINITY;
	}
	return t->a->causal && j > i ? -INFINITY : s;
}

/* Stores the softmax of the scores of query i as weights. */
static void softmax_of_scores(const struct attention *t, int64_t batch, int64_t i)
{
	int64_t n = size(t->k, 2), query = attention_matrix_of(t->q, t->out, batch) * size(t->q, 2) + i,
		key = attention_matrix_of(t->k, t->out, batch) * n;
	double most = -DBL_MAX, sum = 0;
	for (int64_t j = 0; j < n; j++) {
		t->weights[j] = masked(t, batch, i, j, attention_score(t, query, key + j));
		most = greater(t->weights[j], most);
	}
	for (int64_t j = 0; j < n; j++)
		sum += t->weights[j] = exp(t->weights[j] - most);
	for (int64_t j = 0; j < n; j++)
		t->weights[j] /= greater(sum, 0.5);
}

void interp_attention(const struct ir_attention *a, const struct tensor *const *x, uint32_t n, struct tensor *out)
{
	struct attention t = {.a = a, .q = x[0], .k = x[1], .v = x[2], .mask = n > 3 ? x[3] : NULL, .out = out};
	int64_t keys = size(t.k, 2), features = size(out, 1), rows = size(out, 2), count = tensor_count(out);
	t.scale = a->scaled ? a->scale : 1 / sqrt((double)size(t.q, 1));
	t.weights = calloc((size_t)keys + 1, sizeof *t.weights);
	if (!t.weights)
		bug_no_memory();
	for (int64_t row = 0; row < count / features; row++) {
		int64_t batch = row / rows, value = attention_matrix_of(t.v, out, batch) * keys;
		softmax_of_scores(&t, batch, row % rows);
		for (int64_t e = 0; e < features; e++) {
			double sum = 0;
			for (int64_t j = 0; j < keys; j++)
				sum += t.weights[j] * element_at(t.v, (value + j) * features + e);
			elem_put_float(out->elem, out->data, row * features + e, sum);
		}
	}
	free(t.weights);
}

/* True if the leading dims of x repeat to those of `out`. */
static bool attention_repeats(const struct tensor *x, const struct tensor *out, bool groups)
{
	for (uint32_t k = 3; k <= x->rank || k <= out->rank; k++) {
		int64_t own = size(x, k), n = size(out, k);
		bool shared = groups && k == 3 && own > 1 && n % own == 0;
		if (own != n && own != 1 && !shared)
			return false;
	}
	return true;
}

bool interp_attention_fits(const struct tensor *const *x, uint32_t n, const struct tensor *out)
{
	const struct tensor *q = x[0], *k = x[1], *v = x[2], *mask = n > 3 ? x[3] : NULL;
	bool ok = size(q, 1) == size(k, 1) && size(k, 2) == size(v, 2) && size(q, 2) == size(out, 2) && size(v, 1) == size(out, 1);
	ok = ok && attention_repeats(q, out, false) && attention_repeats(k, out, true) && attention_repeats(v, out, true);
	if (!mask || !ok)
		return ok;
	bool rows = size(mask, 2) == 1 || size(mask, 2) == size(q, 2), columns = size(mask, 1) == 1 || size(mask, 1) == size(k, 2);
	return rows && columns && attention_repeats(mask, out, false);
}
