/* Matrix products. A float result is one sum in double, in order, rounded once; integers wrap at the result's width. A trit 0 skips the
 * float, so 0 times infinity is 0. The result is computed in blocks, which convert each row of the right operand once. */
#include <string.h>
#include "backend/interp/state.h"
#include "backend/ir/tensor.h"

enum { ROWS = 32, COLUMNS = 256 };

struct product {
	const struct tensor *a, *b;
	struct tensor *out;
	int64_t m, k, n;
};
/* A block of the result: `rows` by `columns` of batch element `batch`, from row `r` and column `c`. */
struct block {
	int64_t batch, r, c, rows, columns;
};

static double matmul_as_float(const struct tensor *t, int64_t i)
{
	return t->elem == DT_TRIT ? (double)((const int8_t *)t->data)[i] : elem_float(t->elem, t->data, i);
}

static void float_block(const struct product *p, const struct block *b)
{
	double sum[ROWS][COLUMNS], row[COLUMNS];
	bool left = p->a->elem == DT_TRIT, right = p->b->elem == DT_TRIT;
	memset(sum, 0, sizeof sum);
	for (int64_t j = 0; j < p->k; j++) {
		for (int64_t c = 0; c < b->columns; c++)
			row[c] = matmul_as_float(p->b, (b->batch * p->k + j) * p->n + b->c + c);
		for (int64_t r = 0; r < b->rows; r++) {
			double x = matmul_as_float(p->a, (b->batch * p->m + b->r + r) * p->k + j);
			if (left && x == 0)
				continue;
			for (int64_t c = 0; c < b->columns; c++)
				sum[r][c] += right && row[c] == 0 ? 0 : x * row[c];
		}
	}
	for (int64_t r = 0; r < b->rows; r++)
		for (int64_t c = 0; c < b->columns; c++)
			elem_put_float(p->out->elem, p->out->data, (b->batch * p->m + b->r + r) * p->n + b->c + c, sum[r][c]);
}

static void int_block(const struct product *p, const struct block *b)
{
	uint64_t sum[ROWS][COLUMNS], row[COLUMNS];
	memset(sum, 0, sizeof sum);
	for (int64_t j = 0; j < p->k; j++) {
		for (int64_t c = 0; c < b->columns; c++)
			row[c] = (uint64_t)elem_int(p->b->elem, p->b->data, (b->batch * p->k + j) * p->n + b->c + c);
		for (int64_t r = 0; r < b->rows; r++) {
			uint64_t x = (uint64_t)elem_int(p->a->elem, p->a->data, (b->batch * p->m + b->r + r) * p->k + j);
			for (int64_t c = 0; c < b->columns; c++)
				sum[r][c] += x * row[c];
		}
	}
	for (int64_t r = 0; r < b->rows; r++)
		for (int64_t c = 0; c < b->columns; c++)
			elem_put_int(p->out->elem, p->out->data, (b->batch * p->m + b->r + r) * p->n + b->c + c, (int64_t)sum[r][c]);
}

static int64_t matmul_least(int64_t a, int64_t b) { return a < b ? a : b; }

void interp_matmul(const struct tensor *const *x, struct tensor *out)
{
	uint32_t rank = out->rank;
	struct product p = {x[0], x[1], out, out->dims[rank - 2], x[0]->dims[rank - 1], out->dims[rank - 1]};
	int64_t batch = 1;
	for (uint32_t d = 0; d + 2 < rank; d++)
		batch *= out->dims[d];
	for (int64_t i = 0; i < batch; i++)
		for (int64_t r = 0; r < p.m; r += ROWS)
			for (int64_t c = 0; c < p.n; c += COLUMNS) {
				struct block b = {i, r, c, matmul_least(ROWS, p.m - r), matmul_least(COLUMNS, p.n - c)};
				if (dtype_class(out->elem) == DTC_FLOAT)
					float_block(&p, &b);
				else
					int_block(&p, &b);
			}
}
