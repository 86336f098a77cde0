/* Random numbers with vectors: a model without a weights file has billions of them. Each is computed as in backend/interp/random.h. */
#include <math.h>
#include "backend/buildtime/operations.h"
#include "backend/interp/random.h"
#include "backend/ir/levels.h"
#include "backend/ir/tensor.h"

enum { BLOCK = 256 };

/* Writing a byte for each number makes the compiler take as many numbers at a time as a vector has bytes. Their long chains of dependent operations
 * then overlap: 3.7 ns a number instead of 4.9. */
FOR_EACH_LEVEL
static void store_normals(uint64_t key, uint64_t first, int64_t n, double mean, double deviation, float *restrict out,
			  uint8_t *restrict is_number)
{
	for (int64_t k = 0; k < n; k++) {
		out[k] = (float)(mean + deviation * random_normal(key, first + (uint64_t)k));
		is_number[k] = out[k] == out[k];
	}
}

static void store_normal_blocks(uint64_t key, uint64_t first, int64_t n, double mean, double deviation, float *out)
{
	uint8_t is_number[BLOCK];
	for (int64_t done = 0; done < n; done += BLOCK)
		store_normals(key, first + (uint64_t)done, n - done < BLOCK ? n - done : BLOCK, mean, deviation, out + done, is_number);
}

FOR_EACH_LEVEL
static void store_uniforms(uint64_t key, uint64_t first, int64_t n, double low, double size, float *restrict out)
{
	for (int64_t k = 0; k < n; k++)
		out[k] = (float)(low + size * random_uniform(key, first + (uint64_t)k, 24));
}

/* `limit`: of 2^53 numbers, those below it give 0. */
FOR_EACH_LEVEL
static void store_trits(uint64_t key, uint64_t first, int64_t n, uint64_t limit, int8_t *restrict out)
{
	for (int64_t k = 0; k < n; k++) {
		uint64_t counter = 2 * (first + (uint64_t)k);
		int64_t mask = -(int64_t)((int64_t)(random_bits(key, counter) >> 11) >= (int64_t)limit);
		int64_t sign = (int64_t)random_bits(key, counter + 1) >> 63; /* -1: the trit is 1, 0: it is -1 */
		out[k] = (int8_t)(mask & (-2 * sign - 1));
	}
}

static uint64_t limit_of(double zeros) { return (uint64_t)ceil((zeros > 1 ? 1 : zeros > 0 ? zeros : 0) * 0x1p53); }

void buildtime_random(const struct ir_random *r, uint64_t seed, int64_t first, int64_t n, dtype elem, void *out)
{
	uint64_t key = random_key(r, seed);
	if (elem == DT_FLOAT32 && r->kind == RANDOM_NORMAL)
		store_normal_blocks(key, (uint64_t)first, n, r->params[0], r->params[1], out);
	else if (elem == DT_FLOAT32 && r->kind == RANDOM_UNIFORM)
		store_uniforms(key, (uint64_t)first, n, r->params[0], r->params[1] - r->params[0], out);
	else if ((elem == DT_TRIT || elem == DT_INT8) && r->kind == RANDOM_TRIT)
		store_trits(key, (uint64_t)first, n, limit_of(r->params[0]), out);
	else
		random_elements(r, seed, first, n, elem, out);
}
