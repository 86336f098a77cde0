/* Random trits with vectors: a ternary model without a weights file has billions of them. */
#include <math.h>
#include "backend/interp/random.h"
#include "backend/ir/levels.h"

/* `limit`: of 2^53 numbers, those below it give 0. */
FOR_EACH_LEVEL
static void store(uint64_t key, uint64_t first, int64_t n, uint64_t limit, int8_t *restrict out)
{
	for (int64_t k = 0; k < n; k++) {
		uint64_t counter = 2 * (first + (uint64_t)k);
		int64_t mask = -(int64_t)((int64_t)(random_bits(key, counter) >> 11) >= (int64_t)limit);
		int64_t sign = (int64_t)random_bits(key, counter + 1) >> 63; /* -1: the trit is 1, 0: it is -1 */
		out[k] = (int8_t)(mask & (-2 * sign - 1));
	}
}

void random_trits(uint64_t key, uint64_t first, int64_t n, double zeros, int8_t *out)
{
	double share = zeros > 1 ? 1 : zeros > 0 ? zeros : 0;
	store(key, first, n, (uint64_t)ceil(share * 0x1p53), out);
}
