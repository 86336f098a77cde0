/* Common element-wise operations on float32 with vectors: models have hundreds of millions of weights. The results are those of the interpreter:
 * an operation in float32 rounds as one in double that is then rounded to float32. */
#include "backend/buildtime/operations.h"
#include <math.h>
#include <string.h>
#include "backend/ir/halves.h"
#include "backend/ir/ir.h"
#include "backend/ir/levels.h"
#include "backend/ir/tensor.h"

static float float32_least(float x, float y) { return isnan(x) || x < y ? x : y; }
static float float32_most(float x, float y) { return isnan(x) || x > y ? x : y; }

/* rintf without a call: adding 2^23 rounds, unless |x| is so large that it is whole. The sign of 0 stays. */
static float float32_rounded(float x)
{
	float shift = copysignf(0x1p23f, x), r = (x + shift) - shift;
	return fabsf(x) < 0x1p23f ? copysignf(r, x) : x;
}

#define EACH(expression)                \
	for (int64_t k = 0; k < n; k++) \
		out[k] = (expression);  \
	return true

FOR_EACH_LEVEL
static bool float32_unary(enum ir_op op, const float *x, float *restrict out, int64_t n)
{
	switch (op) {
	case OP_NEG: EACH(-x[k]);
	case OP_ABS: EACH(fabsf(x[k]));
	case OP_CEIL: EACH(ceilf(x[k]));
	case OP_FLOOR: EACH(floorf(x[k]));
	case OP_ROUND: EACH(float32_rounded(x[k]));
	case OP_SQRT: EACH(sqrtf(x[k]));
	case OP_SIGN: EACH((float)((x[k] > 0) - (x[k] < 0)));
	default: return false;
	}
}

FOR_EACH_LEVEL
static bool binary(enum ir_op op, const float *x, const float *y, float *restrict out, int64_t n)
{
	switch (op) {
	case OP_ADD: EACH(x[k] + y[k]);
	case OP_SUB: EACH(x[k] - y[k]);
	case OP_MUL: EACH(x[k] * y[k]);
	case OP_DIV: EACH(x[k] / y[k]);
	case OP_MIN: EACH(float32_least(x[k], y[k]));
	case OP_MAX: EACH(float32_most(x[k], y[k]));
	default: return false;
	}
}

FOR_EACH_LEVEL
static bool to_int8(enum ir_op op, dtype to, const float *x, int8_t *restrict out, int64_t n)
{
	if (op != OP_CAST || (to != DT_TRIT && to != DT_INT8 && to != DT_UINT8))
		return false;
	float high = (float)dtype_largest_int(to), low = (float)dtype_least_int(to);
	EACH((int8_t)(int32_t)(isnan(x[k]) ? 0 : x[k] > high ? high : x[k] < low ? low : x[k]));
}

enum { LANES = 8, CHAINS = 4 };
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef uint32_t float_bits __attribute__((vector_size(LANES * sizeof(float))));
typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));

/* Several sums are in progress, because an addition takes the time of four. */
FOR_EACH_LEVEL
void buildtime_sum(const float *x, int64_t n, double *sum, double *size)
{
	doubles sums[CHAINS] = {{0}}, sizes[CHAINS] = {{0}};
	int64_t k = 0;
	for (; k + LANES * CHAINS <= n; k += LANES * CHAINS)
		for (int c = 0; c < CHAINS; c++) {
			floats f;
			memcpy(&f, x + k + c * LANES, sizeof f);
			sums[c] += __builtin_convertvector(f, doubles);
			sizes[c] += __builtin_convertvector((floats)((float_bits)f & 0x7fffffffu), doubles);
		}
	for (; k < n; k++) {
		*sum += (double)x[k];
		*size += fabs((double)x[k]);
	}
	for (int c = 0; c < CHAINS * LANES; c++) {
		*sum += sums[c / LANES][c % LANES];
		*size += sizes[c / LANES][c % LANES];
	}
}

static bool convert_half(const struct ir_inst *i, const struct tensor *x, struct tensor *out, int64_t n)
{
	if (i->op != OP_CAST)
		return false;
	if (x->elem == DT_FLOAT32 && out->elem == DT_BFLOAT16)
		halves_to_bfloat16(x->data, out->data, n);
	else if (x->elem == DT_BFLOAT16 && out->elem == DT_FLOAT32)
		halves_from_bfloat16(x->data, out->data, n);
	else if (x->elem == DT_FLOAT16 && out->elem == DT_FLOAT32)
		halves_from_float16(x->data, out->data, n);
	else
		return false;
	return true;
}

bool buildtime_ewise(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out)
{
	int64_t n = tensor_count(out);
	if (i->n_operands == 1 && convert_half(i, x[0], out, n))
		return true;
	for (uint32_t o = 0; o < i->n_operands; o++)
		if (x[o]->elem != DT_FLOAT32)
			return false;
	if (out->elem != DT_FLOAT32)
		return i->n_operands == 1 && to_int8(i->op, out->elem, x[0]->data, out->data, n);
	return i->n_operands == 1 ? float32_unary(i->op, x[0]->data, out->data, n)
				  : i->n_operands == 2 && binary(i->op, x[0]->data, x[1]->data, out->data, n);
}
