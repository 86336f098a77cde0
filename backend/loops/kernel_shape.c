#include "backend/loops/kernel_shape.h"

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
	D9 = 512,
	D10 = 1024,
	D11 = 2048,
	D12 = 4096,
	D15 = 1 << 15,
	NO_DIMS = 0
};

#define READ(elem, dims) {DT_##elem, dims, false, false, false, false}
#define WRITE(elem, dims) {DT_##elem, dims, false, true, false, false}
#define SORT(elem) {READ(elem, D0 | D1), WRITE(INT64, D0 | D1), WRITE(INT64, D0 | D1)}
#define SCAN(elem)                                                                              \
	{                                                                                       \
		READ(elem, D0 | D1 | D2), { DT_##elem, D0 | D1 | D2, false, true, true, false } \
	}
#define SCATTER(elem) {READ(elem, D0 | D1 | D2), READ(INT64, D0 | D2 | D3), READ(elem, D0 | D2 | D3), WRITE(elem, D0 | D1 | D2)}

#define QUERIES READ(FLOAT32, D0 | D1 | D3 | D5), READ(FLOAT32, D0 | D2 | D4 | D5), READ(FLOAT32, D0 | D2 | D4 | D6)

static const struct kernel_operand operands[KERNEL_COUNT][KERNEL_SHAPES] = {
	[KERNEL_MATMUL_I8_TRIT2] = {READ(INT8, D0 | D1), READ(TRIT, D1 | D2), WRITE(INT32, D0 | D2)},
	[KERNEL_MATMUL_F32_TRIT2] = {READ(FLOAT32, D0 | D1), READ(TRIT, D1 | D2), WRITE(FLOAT32, D0 | D2)},
	[KERNEL_MATMUL_F32] = {READ(FLOAT32, D0 | D1), READ(FLOAT32, D1 | D2), WRITE(FLOAT32, D0 | D2)},
	[KERNEL_MATMUL_F32_PANELS] = {READ(FLOAT32, D0 | D1), READ(FLOAT32, D1 | D2), WRITE(FLOAT32, D0 | D2)},
	[KERNEL_CONV_I8_TRIT2] = {READ(INT8, D0 | D1 | D2 | D3), READ(TRIT, D4 | D1 | D5 | D6), WRITE(INT32, D0 | D4 | D7 | D8)},
	[KERNEL_CONV_F32_TRIT2] = {READ(FLOAT32, D0 | D1 | D2 | D3), READ(TRIT, D4 | D1 | D5 | D6), WRITE(FLOAT32, D0 | D4 | D7 | D8)},
	[KERNEL_CONV_F32] = {READ(FLOAT32, D0 | D1 | D2 | D3), READ(FLOAT32, D4 | D15 | D5 | D6), WRITE(FLOAT32, D0 | D4 | D7 | D8)},
	[KERNEL_DEPTHWISE_I8_TRIT2] = {READ(INT8, D0 | D1 | D2 | D3), READ(TRIT, D4 | D5 | D6), WRITE(INT32, D0 | D4 | D7 | D8)},
	[KERNEL_DEPTHWISE_F32] = {READ(FLOAT32, D0 | D1 | D2 | D3), READ(FLOAT32, D4 | D5 | D6), WRITE(FLOAT32, D0 | D4 | D7 | D8)},
	[KERNEL_ATTENTION_F32] = {QUERIES, WRITE(FLOAT32, D0 | D1 | D3 | D6)},
	[KERNEL_ATTENTION_MASK_F32] = {QUERIES,
				       {DT_COUNT, D9 | D10 | D11 | D12, false, false, false, true},
				       WRITE(FLOAT32, D0 | D1 | D3 | D6)},
	[KERNEL_SORT_F32] = SORT(FLOAT32),
	[KERNEL_SORT_F64] = SORT(FLOAT64),
	[KERNEL_SORT_I64] = SORT(INT64),
	[KERNEL_SCAN_F32] = SCAN(FLOAT32),
	[KERNEL_SCAN_F64] = SCAN(FLOAT64),
	[KERNEL_SCAN_I64] = SCAN(INT64),
	[KERNEL_SCATTER_F32] = SCATTER(FLOAT32),
	[KERNEL_SCATTER_F64] = SCATTER(FLOAT64),
	[KERNEL_SCATTER_I64] = SCATTER(INT64),
	[KERNEL_PUT] = {{DT_COUNT, D0 | D1 | D2, true, false, false, false},
			{DT_COUNT, D0 | D2, true, false, false, false},
			READ(INT64, NO_DIMS),
			{DT_COUNT, D0 | D1 | D2, true, true, true, false}},
};

const struct kernel_operand *kernel_operands(enum kernel k)
{
	const struct kernel_operand *o = operands[k];
	return o[0].dims ? o : NULL;
}
