#include "backend/interp/random.h"
#include <math.h>
#include "backend/interp/state.h"
#include "backend/ir/tensor.h"

/* Returns a number in [0, 1) with as many bits as the type holds, so that it never rounds to 1. */
static double uniform_at(uint64_t key, uint64_t counter, int bits)
{
	return (double)(random_bits(key, counter) >> (64 - bits)) * (1.0 / (double)(1ull << bits)); /* exact: a power of two */
}

static int bits_of(dtype t) { return t == DT_FLOAT16 ? 11 : t == DT_BFLOAT16 ? 8 : t == DT_FLOAT32 ? 24 : 53; }

double random_normal(uint64_t key, uint64_t k)
{
	double u = 1 - uniform_at(key, 2 * k, 53), v = uniform_at(key, 2 * k + 1, 53);
	return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

/* Stores zeros·n zeros, and as many 1 as -1 (one more -1 if their number is odd), in random order. */
static void balanced_trits(uint64_t key, double zeros, int8_t *out, uint64_t n)
{
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

static double element(const struct ir_random *r, uint64_t key, uint64_t k, dtype elem)
{
	switch (r->kind) {
	case RANDOM_UNIFORM: return r->params[0] + (r->params[1] - r->params[0]) * uniform_at(key, k, bits_of(elem));
	case RANDOM_NORMAL: return r->params[0] + r->params[1] * random_normal(key, k);
	default: return 0;
	}
}

static void trits(const struct ir_random *r, uint64_t key, int64_t first, int64_t n, dtype elem, void *out)
{
	int8_t some[1024];
	if (elem == DT_TRIT || elem == DT_INT8) {
		random_trits(key, (uint64_t)first, n, r->params[0], out);
		return;
	}
	for (int64_t k = 0; k < n; k++) {
		int64_t at = k % (int64_t)sizeof some, rest = n - k;
		if (at == 0)
			random_trits(key, (uint64_t)(first + k), rest < (int64_t)sizeof some ? rest : (int64_t)sizeof some, r->params[0],
				     some);
		elem_cast(elem, out, k, DT_INT8, some, at);
	}
}

void interp_random_elements(const struct ir_random *r, uint64_t seed, int64_t first, int64_t n, dtype elem, void *out)
{
	bool fixed = r->stream < 0;
	uint64_t key = random_mix(random_mix((fixed ? 0 : seed) + (uint64_t)r->seed) + (uint64_t)r->stream + 1);
	if (r->kind == RANDOM_TRIT_BALANCED) {
		double zeros = r->params[0] > 1 ? 1 : r->params[0] > 0 ? r->params[0] : 0;
		balanced_trits(key, zeros, out, (uint64_t)n);
		return;
	}
	if (r->kind == RANDOM_TRIT) {
		trits(r, key, first, n, elem, out);
		return;
	}
	if (elem == DT_FLOAT32 && r->kind == RANDOM_NORMAL) {
		random_normals_float32(key, (uint64_t)first, n, r->params[0], r->params[1], out);
		return;
	}
	if (elem == DT_FLOAT32 && r->kind == RANDOM_UNIFORM) {
		random_uniforms_float32(key, (uint64_t)first, n, r->params[0], r->params[1], out);
		return;
	}
	for (int64_t k = 0; k < n; k++) {
		double v = element(r, key, (uint64_t)(first + k), elem);
		elem_cast(elem, out, k, DT_FLOAT64, &v, 0);
	}
}

void interp_random(struct interp *in, const struct ir_inst *i, struct tensor *out)
{
	interp_random_elements(ir_random(i), in->seed, 0, tensor_count(out), out->elem, out->data);
}
