/* The register tile of int8 × trit products. tile_add adds `steps` steps of `halves` · 16 columns and `cols` rows of x (at most TILE_COLS)
 * to acc, as sums of x·(t+1) over unsigned bytes. Only tile_add depends on the processor. */
#ifndef TRI_I8_TRIT2_TILE_H
#define TRI_I8_TRIT2_TILE_H
#include <string.h>
#include "kernel.h"
#include "trit2.h"

#if defined(__AVX512VNNI__)
#include "i8_trit2_vnni.h"
#elif defined(__SSSE3__)
#include "i8_trit2_maddubs.h"
#else
#include "i8_trit2_portable.h"
#endif

static int32_t i8_sum(const int8_t *x, int64_t n)
{
	int32_t sum = 0;
	for (int64_t k = 0; k < n; k++)
		sum += x[k];
	return sum;
}
#endif
