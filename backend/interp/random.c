#include "backend/interp/random.h"
#include <math.h>
#include "backend/ir/tensor.h"

/* As many bits as the type holds, so that a number below 1 never rounds to 1. */
static int interp_random_bits_of(dtype t) { return t == DT_FLOAT16 ? 11 : t == DT_BFLOAT16 ? 8 : t == DT_FLOAT32 ? 24 : 53; }

static double random_trit(uint64_t key, uint64_t k, double zeros)
{
	if (random_uniform(key, 2 * k, 53) < zeros)
		return 0;
	return random_bits(key, 2 * k + 1) >> 63 ? 1 : -1;
}

/* Stores zeros·n zeros, and as many 1 as -1 (one more -1 if their number is odd), in random order. */
static void balanced_trits(uint64_t key, double share, int8_t *out, uint64_t n)
{
	double zeros = share > 1 ? 1 : share > 0 ? share : 0;
	uint64_t none = (uint64_t)rint(zeros * (double)n), ones = (n - none) / 2;
	for (uint64_t k = 0; k < n; k++)
		out[k] = k < none ? 0 : k < none + ones ? 1 : -1;
	for (uint64_t k = n; k-- > 1;) {
		uint64_t other = random_bits(key, k) % (k + 1);
		int8_t t = out[k];
		out[k] = out[other];
		out[other] = t;
	}
}

static double random_element(const struct ir_random *r, uint64_t key, uint64_t k, dtype elem)
{
	switch (r->kind) {
	case RANDOM_UNIFORM: return r->params[0] + (r->params[1] - r->params[0]) * random_uniform(key, k, interp_random_bits_of(elem));
	case RANDOM_NORMAL: return r->params[0] + r->params[1] * random_normal(key, k);
	default: return random_trit(key, k, r->params[0]);
	}
}

uint64_t random_key(const struct ir_random *r, uint64_t seed)
{
	bool fixed = r->stream < 0;
	return random_mix(random_mix((fixed ? 0 : seed) + (uint64_t)r->seed) + (uint64_t)r->stream + 1);
}

void random_elements(const struct ir_random *r, uint64_t seed, int64_t first, int64_t n, dtype elem, void *out)
{
	uint64_t key = random_key(r, seed);
	if (r->kind == RANDOM_TRIT_BALANCED) {
		balanced_trits(key, r->params[0], out, (uint64_t)n);
		return;
	}
	for (int64_t k = 0; k < n; k++) {
		double v = random_element(r, key, (uint64_t)(first + k), elem);
		elem_cast(elem, out, k, DT_FLOAT64, &v, 0);
	}
}
