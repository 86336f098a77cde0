/* The register tile of trit × trit products over bit planes. Of the products that are not zero, those with different signs are negative:
 * sum(x·t) = count(nonzero) - 2 · count(negative). planes_of reads activations; tile_sum computes `rows` rows of x (at most TILE_ROWS) and
 * `halves` · 16 columns over `words` words. Only these depend on the processor. */
#ifndef TRI_TRITS_TILE_H
#define TRI_TRITS_TILE_H
#include <string.h>
#include "backend/runtime/kernels/kernel.h"
#include "backend/runtime/pack/trit_planes.h"

/* Words of the activations: which of 32 trits are not zero, and which are negative. Words of the rows of a tile alternate: word w of row r is
 * at [w · rows + r]. */
struct tile_word {
	uint32_t nonzero, negative;
};
/* Where a tile goes: row r is at y + r · ld. Sums are added if `more`. */
struct tile_y {
	int32_t *y;
	int64_t ld;
	_Bool more;
};

#if defined(__AVX512BW__)
#include "backend/runtime/kernels/trits_avx512.h"
#elif defined(__SSSE3__)
#include "backend/runtime/kernels/trits_shuffle.h"
#else
#include "backend/runtime/kernels/trits_portable.h"
#endif

/* Stores the planes of a row of n trits. */
static void pack_row(const int8_t *x, int64_t n, int64_t rows, struct tile_word *out)
{
	for (; n >= TRI_PLANES_WORD; n -= TRI_PLANES_WORD, x += TRI_PLANES_WORD, out += rows)
		*out = planes_of(x);
	if (n > 0) {
		int8_t last[TRI_PLANES_WORD] = {0};
		memcpy(last, x, (size_t)n);
		*out = planes_of(last);
	}
}
#endif
