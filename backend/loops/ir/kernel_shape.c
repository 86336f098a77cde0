#include "backend/loops/ir/kernel_shape.h"
#include "backend/runtime/kernels/attention.h"

enum {
	D0 = 1,
	D1 = 2,
	D2 = 4,
	D3 = 8,
	D4 = 16,
	D5 = 32,
	D6 = 64,
	D7 = 128,
	D8 = 256,
	D15 = 1 << 15,
	D17 = 1 << 17,
	D18 = 1 << 18,
	D19 = 1 << 19,
	D20 = 1 << 20,
	D23 = 1 << 23,
	D24 = 1 << 24,
	D25 = 1 << 25,
	D26 = 1 << 26,
	NO_DIMS = 0
};

#define READ(elem, dims) {DT_##elem, dims, false, false, false, 0, 0}
#define WRITE(elem, dims) {DT_##elem, dims, false, true, false, 0, 0}
#define SORT(elem) {READ(elem, D0 | D1), WRITE(INT64, D0 | D1), WRITE(INT64, D0 | D1)}
#define SCAN(elem) {READ(elem, D0 | D1 | D2), {DT_##elem, D0 | D1 | D2, false, true, true, 0, 0}}
#define SCATTER(elem) {READ(elem, D0 | D1 | D2), READ(INT64, D0 | D2 | D3), READ(elem, D0 | D2 | D3), WRITE(elem, D0 | D1 | D2)}

#define ROWS(elem, dims, type, strides) {DT_##elem, dims, false, false, false, type, strides}
#define KEYS ROWS(FLOAT32, D0 | D2 | D4 | D5, 15, 9)
#define VALUES ROWS(FLOAT32, D0 | D2 | D4 | D6, 16, 12)
#define KEY_SCALES ROWS(FLOAT32, D0 | D2 | D4, 0, 17)
#define VALUE_SCALES ROWS(FLOAT32, D0 | D2 | D4, 0, 20)
#define MASK(dims, type) {DT_FLOAT32, dims, false, false, false, type, 0}
#define QUERIES READ(FLOAT32, D0 | D1 | D3 | D5)
#define RESULT WRITE(FLOAT32, D0 | D1 | D3 | D6)

static const struct kernel_operand operands[KERNEL_COUNT][KERNEL_SHAPES] = {
	[KERNEL_MATMUL_I8_TRIT1_6] = {READ(INT8, D0 | D1), READ(TRIT, D1 | D2), WRITE(INT32, D0 | D2)},
	[KERNEL_MATMUL_I8_TRIT2] = {READ(INT8, D0 | D1), READ(TRIT, D1 | D2), WRITE(INT32, D0 | D2)},
	[KERNEL_MATMUL_I8_LISTS] = {READ(INT8, D0 | D1), READ(TRIT, D1 | D2), WRITE(INT32, D0 | D2)},
	[KERNEL_MATMUL_I8_BLOCKS] = {READ(INT8, D0 | D1), READ(TRIT, D1 | D2), WRITE(INT32, D0 | D2)},
	[KERNEL_MATMUL_TRITS] = {READ(TRIT, D0 | D1), READ(TRIT, D1 | D2), WRITE(INT32, D0 | D2)},
	[KERNEL_MATMUL_F32_TRIT2] = {READ(FLOAT32, D0 | D1), READ(TRIT, D1 | D2), WRITE(FLOAT32, D0 | D2)},
	[KERNEL_MATMUL_F32] = {READ(FLOAT32, D0 | D1), READ(FLOAT32, D1 | D2), WRITE(FLOAT32, D0 | D2)},
	[KERNEL_MATMUL_F32_PANELS] = {READ(FLOAT32, D0 | D1), READ(FLOAT32, D1 | D2), WRITE(FLOAT32, D0 | D2)},
	[KERNEL_MATMUL_F32_BF16] = {READ(FLOAT32, D0 | D1), READ(BFLOAT16, D1 | D2), WRITE(FLOAT32, D0 | D2)},
	[KERNEL_MATMUL_F32_F16] = {READ(FLOAT32, D0 | D1), READ(FLOAT16, D1 | D2), WRITE(FLOAT32, D0 | D2)},
	[KERNEL_CONV_I8_TRIT2] = {READ(INT8, D0 | D1 | D2 | D3), READ(TRIT, D4 | D1 | D5 | D6), WRITE(INT32, D0 | D4 | D7 | D8)},
	[KERNEL_CONV_TRITS] = {READ(TRIT, D0 | D1 | D2 | D3), READ(TRIT, D4 | D1 | D5 | D6), WRITE(INT32, D0 | D4 | D7 | D8)},
	[KERNEL_CONV_F32_TRIT2] = {READ(FLOAT32, D0 | D1 | D2 | D3), READ(TRIT, D4 | D1 | D5 | D6), WRITE(FLOAT32, D0 | D4 | D7 | D8)},
	[KERNEL_CONV_F32] = {READ(FLOAT32, D0 | D1 | D2 | D3), READ(FLOAT32, D4 | D15 | D5 | D6), WRITE(FLOAT32, D0 | D4 | D7 | D8)},
	[KERNEL_CONV_GROUPS_I8_TRIT2] = {READ(INT8, D0 | D1 | D2 | D3), READ(TRIT, D4 | D15 | D5 | D6), WRITE(INT32, D0 | D4 | D7 | D8)},
	[KERNEL_CONV_GROUPS_F32_TRIT2] = {READ(FLOAT32, D0 | D1 | D2 | D3), READ(TRIT, D4 | D15 | D5 | D6),
					  WRITE(FLOAT32, D0 | D4 | D7 | D8)},
	[KERNEL_CONV_GROUPS_TRITS] = {READ(TRIT, D0 | D1 | D2 | D3), READ(TRIT, D4 | D15 | D5 | D6), WRITE(INT32, D0 | D4 | D7 | D8)},
	[KERNEL_DEPTHWISE_I8_TRIT2] = {READ(INT8, D0 | D1 | D2 | D3), READ(TRIT, D4 | D5 | D6), WRITE(INT32, D0 | D4 | D7 | D8)},
	[KERNEL_DEPTHWISE_F32] = {READ(FLOAT32, D0 | D1 | D2 | D3), READ(FLOAT32, D4 | D5 | D6), WRITE(FLOAT32, D0 | D4 | D7 | D8)},
	[KERNEL_ATTENTION_F32] = {QUERIES, KEYS, VALUES, RESULT},
	[KERNEL_ATTENTION_MASK_F32] = {QUERIES, KEYS, VALUES, MASK(D17 | D18 | D19 | D20, 21), RESULT},
	[KERNEL_ATTENTION_I8] = {QUERIES, KEYS, VALUES, KEY_SCALES, VALUE_SCALES, RESULT},
	[KERNEL_ATTENTION_MASK_I8] = {QUERIES, KEYS, VALUES, MASK(D23 | D24 | D25 | D26, 27), KEY_SCALES, VALUE_SCALES, RESULT},
	[KERNEL_SORT_F32] = SORT(FLOAT32),
	[KERNEL_SORT_F64] = SORT(FLOAT64),
	[KERNEL_SORT_I64] = SORT(INT64),
	[KERNEL_SCAN_F32] = SCAN(FLOAT32),
	[KERNEL_SCAN_F64] = SCAN(FLOAT64),
	[KERNEL_SCAN_I64] = SCAN(INT64),
	[KERNEL_SCATTER_F32] = SCATTER(FLOAT32),
	[KERNEL_SCATTER_F64] = SCATTER(FLOAT64),
	[KERNEL_SCATTER_I64] = SCATTER(INT64),
	[KERNEL_TRANSPOSE] = {{DT_COUNT, D0 | D1 | D2 | D3, true, false, false, 0, 0},
			      {DT_COUNT, D0 | D1 | D2 | D3, true, true, false, 0, 0}},
	[KERNEL_PUT] = {{DT_COUNT, D0 | D1 | D2, true, false, false, 0, 0},
			{DT_COUNT, D0 | D2, true, false, false, 0, 0},
			READ(INT64, NO_DIMS),
			{DT_COUNT, D0 | D1 | D2, true, true, true, 0, 0}},
};

const struct kernel_operand *kernel_operands(enum kernel k)
{
	const struct kernel_operand *o = operands[k];
	return o[0].dims ? o : NULL;
}

dtype kernel_operand_elem(const struct kernel_operand *o, int64_t type)
{
	if (!o->type)
		return o->elem;
	switch (type) {
	case TRI_ATTENTION_BOOL: return DT_BOOL;
	case TRI_ATTENTION_F16: return DT_FLOAT16;
	case TRI_ATTENTION_BF16: return DT_BFLOAT16;
	case TRI_ATTENTION_I8: return DT_INT8;
	default: return DT_FLOAT32;
	}
}

int64_t kernel_operand_reach(const struct kernel_operand *o, const int64_t *dims, int64_t elements)
{
	const int64_t n[] = {dims[0], dims[2], dims[4]};
	int64_t reach = elements;
	for (uint32_t k = 0; k < 3 && elements > 0; k++)
		reach = reach / n[k];
	for (uint32_t k = 0; k < 3 && elements > 0; k++) {
		int64_t step;
		if (dims[o->strides + k] < 0 || __builtin_mul_overflow(n[k] - 1, dims[o->strides + k], &step) ||
		    __builtin_add_overflow(reach, step, &reach))
			return INT64_MAX;
	}
	return reach;
}
