/* Random tensors. Element k is a hash of (seed, stream, k), as in SplitMix64. There is no state, so elements may be computed in any order. */
#include <math.h>
#include "backend/interp/state.h"
#include "backend/ir/tensor.h"

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ x >> 27) * 0x94D049BB133111EBull;
	return x ^ x >> 31;
}

static uint64_t bits_at(uint64_t key, uint64_t counter) { return mix(key + (counter + 1) * 0x9E3779B97F4A7C15ull); }

/* Returns a number in [0, 1) with as many bits as the type holds, so that it never rounds to 1. */
static double uniform_at(uint64_t key, uint64_t counter, int bits)
{
	return (double)(bits_at(key, counter) >> (64 - bits)) * (1.0 / (double)(1ull << bits)); /* exact: a power of two */
}

static int bits_of(dtype t) { return t == DT_FLOAT16 ? 11 : t == DT_BFLOAT16 ? 8 : t == DT_FLOAT32 ? 24 : 53; }

/* Box-Muller transform */
static double normal_at(uint64_t key, uint64_t k)
{
	double u = 1 - uniform_at(key, 2 * k, 53), v = uniform_at(key, 2 * k + 1, 53);
	return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

static int64_t trit_at(uint64_t key, uint64_t k, double zeros)
{
	if (uniform_at(key, 2 * k, 53) < zeros)
		return 0;
	return bits_at(key, 2 * k + 1) >> 63 ? 1 : -1;
}

/* Stores zeros·n zeros, and as many 1 as -1 (one more -1 if their number is odd), in random order. */
static void balanced_trits(uint64_t key, double zeros, int8_t *out, uint64_t n)
{
	uint64_t none = (uint64_t)rint(zeros * (double)n), ones = (n - none) / 2;
	for (uint64_t k = 0; k < n; k++)
		out[k] = k < none ? 0 : k < none + ones ? 1 : -1;
	for (uint64_t k = n; k-- > 1;) {
		uint64_t other = bits_at(key, k) % (k + 1);
		int8_t t = out[k];
		out[k] = out[other];
		out[other] = t;
	}
}

void interp_random(struct interp *in, const struct ir_inst *i, struct tensor *out)
{
	const struct ir_random *r = ir_random(i);
	bool fixed = r->stream < 0;
	uint64_t key = mix(mix((fixed ? 0 : in->seed) + (uint64_t)r->seed) + (uint64_t)r->stream + 1);
	int64_t n = tensor_count(out);
	if (r->kind == RANDOM_TRIT_BALANCED) {
		double zeros = r->params[0] > 1 ? 1 : r->params[0] > 0 ? r->params[0] : 0;
		balanced_trits(key, zeros, out->data, (uint64_t)n);
		return;
	}
	for (int64_t k = 0; k < n; k++) {
		double v = 0;
		if (r->kind == RANDOM_TRIT)
			v = (double)trit_at(key, (uint64_t)k, r->params[0]);
		if (r->kind == RANDOM_UNIFORM)
			v = r->params[0] + (r->params[1] - r->params[0]) * uniform_at(key, (uint64_t)k, bits_of(out->elem));
		if (r->kind == RANDOM_NORMAL)
			v = r->params[0] + r->params[1] * normal_at(key, (uint64_t)k);
		elem_cast(out->elem, out->data, k, DT_FLOAT64, &v, 0);
	}
}
