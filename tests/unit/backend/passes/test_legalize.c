/* Compound operations on random shapes, attributes and values: the interpreter's own function against its run of the expansion.
 *
 * Integers, codes and their scales are equal. Other floats differ because the expansion rounds every step: by at most BOUND units in the last
 * place of the greatest finite result or, if that is less, of 1. NaN and infinity are at the same places. */
#include <math.h>
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>
#include "backend/interp/interp.h"
#include "backend/ir/ir.h"
#include "backend/ir/tensor.h"
#include "backend/passes/passes.h"
#include "base/arena.h"
#include "base/buf.h"

enum { INPUTS = 5, ROUNDS = 4000, BOUND = 64 };

/* One function of one operation. */
struct trial {
	struct arena *a;
	struct ir_fn *f;
	uint32_t seed;
	bool special; /* some elements are infinite or NaN */
	struct hir_type types[INPUTS];
	struct tensor in[INPUTS];
	ir_ref x[INPUTS];
	uint32_t n;
};

static uint32_t below(struct trial *t, uint32_t n)
{
	t->seed = t->seed * 1664525u + 1013904223u;
	return (t->seed >> 8) % n;
}

static int64_t between(struct trial *t, int64_t low, int64_t high) { return low + below(t, (uint32_t)(high - low + 1)); }

static double number(struct trial *t)
{
	static const double specials[] = {INFINITY, -INFINITY, NAN, -0.0};
	if (t->special && !below(t, 24))
		return specials[below(t, 4)];
	return below(t, 12) ? (double)below(t, 4001) / 1000 - 2 : 0;
}

static struct hir_type shape(struct trial *t, dtype elem, uint32_t rank, const int64_t *dims)
{
	struct hir_type s = {.elem = elem, .rank = (uint8_t)rank};
	for (uint32_t k = 0; k < rank; k++)
		s.dims[k] = dim_const(t->f->dims, dims[k]);
	return s;
}

/* Adds an operand of random elements. */
static void operand(struct trial *t, dtype elem, uint32_t rank, const int64_t *dims)
{
	struct tensor *x = &t->in[t->n];
	*x = (struct tensor){.elem = elem, .rank = (uint8_t)rank};
	memcpy(x->dims, dims, rank * sizeof *dims);
	x->data = arena_alloc(t->a, (size_t)tensor_bytes(x) + 8, 16);
	for (int64_t k = 0; k < tensor_count(x); k++) {
		if (dtype_class(elem) == DTC_FLOAT)
			elem_put_float(elem, x->data, k, number(t));
		else
			elem_put_int(elem, x->data, k,
				     elem == DT_BOOL   ? !!below(t, 3)
				     : elem == DT_TRIT ? between(t, -1, 1)
						       : between(t, -100, 100));
	}
	t->types[t->n] = shape(t, elem, rank, dims);
	t->x[t->n] = ir_emit(t->f, OP_INPUT, &t->types[t->n], NULL, 0, ORIGINS_NONE);
	ir_set_number(t->f, t->x[t->n], (struct ir_number){t->n});
	t->n++;
}

static ir_ref emit(struct trial *t, enum ir_op op, dtype elem, uint32_t rank, const int64_t *dims)
{
	struct hir_type type = shape(t, elem, rank, dims);
	return ir_emit(t->f, op, &type, t->x, t->n, ORIGINS_NONE);
}

static dtype real(struct trial *t) { return below(t, 4) ? DT_FLOAT32 : DT_FLOAT64; }

static void random_dims(struct trial *t, uint32_t rank, int64_t least, int64_t *dims)
{
	for (uint32_t k = 0; k < rank; k++)
		dims[k] = between(t, k ? least : 0, 5);
}

/* ---- one function for each operation ---- */

static int64_t windows(int64_t size, int64_t kernel, int64_t stride, int64_t dilation)
{
	return (size - (kernel - 1) * dilation - 1) / stride + 1;
}

static void random_conv(struct trial *t)
{
	static const struct {
		dtype x, w, y;
	} elems[] = {{DT_FLOAT32, DT_FLOAT32, DT_FLOAT32}, {DT_FLOAT32, DT_TRIT, DT_FLOAT32},   {DT_TRIT, DT_FLOAT32, DT_FLOAT32},
		     {DT_INT8, DT_TRIT, DT_INT32},         {DT_INT8, DT_INT8, DT_INT32},        {DT_INT32, DT_INT32, DT_INT32},
		     {DT_FLOAT64, DT_TRIT, DT_FLOAT64},    {DT_FLOAT16, DT_FLOAT16, DT_FLOAT16}};
	uint32_t e = below(t, sizeof elems / sizeof elems[0]);
	int64_t groups = between(t, 1, 3), in = between(t, 1, 3);
	struct ir_conv a = {.groups = groups};
	int64_t w[4] = {groups * between(t, 1, 2), in, between(t, 1, 3), between(t, 1, 3)}, x[4] = {between(t, 0, 2), groups * in}, y[4];
	y[0] = x[0];
	y[1] = w[0];
	for (uint32_t k = 0; k < 2; k++) {
		a.stride[k] = between(t, 1, 3);
		a.dilation[k] = between(t, 1, 2);
		a.pad[2 * k] = between(t, 0, 2);
		a.pad[2 * k + 1] = between(t, 0, 2);
		x[2 + k] = (w[2 + k] - 1) * a.dilation[k] + between(t, 1, 6);
		y[2 + k] = windows(x[2 + k] + a.pad[2 * k] + a.pad[2 * k + 1], w[2 + k], a.stride[k], a.dilation[k]);
	}
	operand(t, elems[e].x, 4, x);
	operand(t, elems[e].w, 4, w);
	ir_set_conv(t->f, emit(t, OP_CONV, elems[e].y, 4, y), a);
}

static void random_pool(struct trial *t)
{
	struct ir_pool a = {.kind = (enum ir_pool_kind)below(t, 3), .ceil = below(t, 2), .count_pad = below(t, 2)};
	bool adaptive = a.kind == POOL_ADAPTIVE_AVERAGE;
	int64_t x[4] = {between(t, 0, 2), between(t, 1, 3)}, y[4] = {x[0], x[1]};
	a.divisor = a.kind == POOL_AVERAGE && !below(t, 4) ? 3 : 0;
	for (uint32_t k = 0; k < 2; k++) {
		a.kernel[k] = between(t, 1, 4);
		a.stride[k] = between(t, 1, 3);
		a.pad[k] = between(t, 0, a.kernel[k] / 2);
		a.dilation[k] = a.kind == POOL_MAX ? between(t, 1, 2) : 1;
		x[2 + k] = (a.kernel[k] - 1) * a.dilation[k] + between(t, 1, 6);
		int64_t up = a.ceil ? a.stride[k] - 1 : 0;
		y[2 + k] = adaptive ? between(t, 1, 7) : windows(x[2 + k] + 2 * a.pad[k] + up, a.kernel[k], a.stride[k], a.dilation[k]);
		if (!adaptive && (y[2 + k] - 1) * a.stride[k] >= x[2 + k] + a.pad[k]) /* it would start after the input */
			y[2 + k]--;
	}
	operand(t, a.kind == POOL_MAX && below(t, 2) ? DT_INT8 : real(t), 4, x);
	ir_set_pool(t->f, emit(t, OP_POOL, t->in[0].elem, 4, y), a);
}

static uint32_t random_mask(struct trial *t, uint32_t rank) { return 1 + below(t, (1u << rank) - 1); }

static void random_softmax(struct trial *t)
{
	int64_t dims[4];
	uint32_t rank = 1 + below(t, 4);
	random_dims(t, rank, 1, dims);
	operand(t, real(t), rank, dims);
	ir_set_softmax(t->f, emit(t, OP_SOFTMAX, t->in[0].elem, rank, dims), (struct ir_softmax){random_mask(t, rank), below(t, 2)});
}

static void random_norm(struct trial *t)
{
	struct ir_norm a = {.kind = (enum ir_norm_kind)below(t, 4), .groups = between(t, 1, 3), .eps = 0.1};
	int64_t dims[4];
	bool channels = a.kind == NORM_BATCH || a.kind == NORM_GROUP;
	uint32_t rank = 2 + below(t, 3), last = 1 + below(t, rank);
	random_dims(t, rank, 1, dims);
	if (a.kind == NORM_GROUP)
		dims[1] = a.groups * between(t, 1, 2);
	a.mask = channels ? 0 : ((1u << last) - 1) << (rank - last);
	a.has_mean = a.has_variance = a.kind == NORM_BATCH && below(t, 2);
	a.has_weight = below(t, 2);
	a.has_bias = a.kind != NORM_RMS && below(t, 2);
	operand(t, real(t), rank, dims);
	for (uint32_t k = 0; k < (uint32_t)(a.has_mean + a.has_variance + a.has_weight + a.has_bias); k++)
		operand(t, t->in[0].elem, channels ? 1 : last, channels ? dims + 1 : dims + rank - last);
	for (int64_t k = 0; a.has_variance && k < dims[1]; k++)
		elem_put_float(t->in[2].elem, t->in[2].data, k, 1 + (double)k);
	ir_set_norm(t->f, emit(t, OP_NORM, t->in[0].elem, rank, dims), a);
}

static void random_attention(struct trial *t)
{
	int64_t batch = between(t, 0, 2), heads = between(t, 1, 2), group = between(t, 1, 3), rows = between(t, 1, 4),
		keys = between(t, 1, 6);
	int64_t e = between(t, 1, 4), f = between(t, 1, 4);
	bool shared = heads > 1;
	int64_t all = heads * (shared ? group : 1), group_v = shared && below(t, 2) ? all : heads;
	int64_t q[4] = {batch, all, rows, e}, k[4] = {below(t, 2) ? batch : 1, heads, keys, e}, v[4] = {batch, group_v, keys, f};
	int64_t mask[4] = {batch, below(t, 2) ? all : 1, below(t, 2) ? rows : 1, keys}, y[4] = {batch, all, rows, f};
	uint32_t drop = below(t, 2) ? 0 : below(t, 3), mask_drop = below(t, 3); /* leading dims that are left out */
	dtype elem = real(t);
	operand(t, elem, 4 - drop, q + drop);
	operand(t, elem, 4 - drop, k + drop);
	operand(t, elem, 4 - drop, v + drop);
	if (drop == 2) /* no heads */
		mask_drop = 2;
	if (below(t, 2))
		operand(t, below(t, 2) ? DT_BOOL : elem, 4 - (mask_drop > drop ? mask_drop : drop),
			mask + (mask_drop > drop ? mask_drop : drop));
	ir_ref r = emit(t, OP_ATTENTION, elem, 4 - drop, y + drop);
	ir_set_attention(t->f, r, (struct ir_attention){.causal = below(t, 2), .scaled = below(t, 2), .scale = 0.7});
}

static void random_quantize(struct trial *t)
{
	struct ir_quantize a = {.kind = (enum ir_quantize_kind)below(t, 6), .factor = 0.7, .keep = below(t, 2)};
	int64_t dims[4], kept[4], scale[4];
	uint32_t rank = 1 + below(t, 4), n = 0;
	random_dims(t, rank, 1, dims);
	a.mask = a.kind == QUANTIZE_THRESHOLD ? 0 : a.keep ? random_mask(t, rank) : (1u << rank) - 1;
	operand(t, real(t), rank, dims);
	if (a.kind == QUANTIZE_THRESHOLD)
		operand(t, t->in[0].elem, below(t, 2) ? 0 : 1, dims + rank - 1);
	dtype codes = a.kind == QUANTIZE_ABSMAX ? DT_INT8 : DT_TRIT, elem = t->in[0].elem;
	for (uint32_t k = 0; k < rank; k++) {
		kept[k] = a.mask >> k & 1 ? 1 : dims[k];
		if (!(a.mask >> k & 1))
			scale[n++] = dims[k];
	}
	ir_set_quantize(t->f, emit(t, OP_QUANTIZE, codes, rank, dims), a);
	if (a.kind == QUANTIZE_THRESHOLD)
		return;
	ir_ref r = emit(t, OP_QUANT_SCALE, elem, a.keep ? rank : n, a.keep ? kept : scale);
	ir_set_quantize(t->f, r, a);
}

static void random_dequantize(struct trial *t)
{
	static const dtype codes[] = {DT_TRIT, DT_INT8, DT_INT32}, floats[] = {DT_FLOAT32, DT_FLOAT64, DT_FLOAT16, DT_BFLOAT16};
	int64_t dims[3];
	dtype elem = floats[below(t, 4)];
	random_dims(t, 3, 1, dims);
	operand(t, codes[below(t, 3)], 3, dims);
	operand(t, elem, below(t, 2) ? 0 : 1, dims + 2);
	emit(t, OP_DEQUANTIZE, elem, 3, dims);
}

static void random_embedding(struct trial *t)
{
	int64_t table[2] = {between(t, 1, 5), between(t, 0, 4)}, ids[2] = {between(t, 0, 3), between(t, 1, 3)},
		y[3] = {ids[0], ids[1], table[1]};
	operand(t, real(t), 2, table);
	operand(t, DT_INT64, 2, ids);
	for (int64_t k = 0; k < ids[0] * ids[1]; k++)
		((int64_t *)t->in[1].data)[k] = below(t, (uint32_t)table[0]);
	emit(t, OP_EMBEDDING, t->in[0].elem, 3, y);
}

static void random_resize(struct trial *t)
{
	struct ir_resize a = {.mode = (enum ir_resize_mode)below(t, 2), .scaled = below(t, 2)};
	int64_t x[4], y[4];
	random_dims(t, 4, 1, x);
	memcpy(y, x, sizeof y);
	for (uint32_t k = 0; k < 2; k++) {
		a.scale[k] = 0.5 + 0.25 * below(t, 8);
		y[2 + k] = a.scaled ? (int64_t)((double)x[2 + k] * a.scale[k]) : between(t, 1, 9);
	}
	a.corners = a.mode == RESIZE_LINEAR && below(t, 2);
	operand(t, a.mode == RESIZE_NEAREST && below(t, 2) ? DT_TRIT : real(t), 4, x);
	ir_set_resize(t->f, emit(t, OP_RESIZE, t->in[0].elem, 4, y), a);
}

/* ---- the comparison ---- */

static void run(struct trial *t, struct tensor *out)
{
	const char *error = NULL;
	if (!interp_run(t->f, t->in, NULL, NULL, 0, t->a, out, &error))
		fail_msg("%s", error);
}

static double precision(dtype elem)
{
	return elem == DT_FLOAT64 ? 0x1p-52 : elem == DT_FLOAT32 ? 0x1p-23 : elem == DT_FLOAT16 ? 0x1p-10 : 0x1p-7;
}

static double allowed(const struct tensor *want)
{
	double most = 1;
	for (int64_t k = 0; k < tensor_count(want); k++) {
		double v = fabs(elem_float(want->elem, want->data, k));
		most = isfinite(v) && v > most ? v : most;
	}
	return BOUND * precision(want->elem) * most;
}

static bool agree(const struct tensor *a, const struct tensor *b, int64_t k, double bound)
{
	if (dtype_class(a->elem) != DTC_FLOAT)
		return elem_int(a->elem, a->data, k) == elem_int(b->elem, b->data, k);
	double x = elem_float(a->elem, a->data, k), y = elem_float(b->elem, b->data, k);
	return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= bound;
}

static void compare(struct trial *t, const char *name, uint32_t seed, bool exact)
{
	struct tensor want[2], got[2];
	struct buf text = {0};
	struct pass_context c = pass_context_new(&(struct plan_options){.verify = true}, NULL, NULL);
	for (ir_ref r = t->n; r < t->f->n_insts; r++)
		t->f->outputs[t->f->n_outputs++] = r;
	ir_mark_build_time(t->f);
	ir_print(t->f, &text);
	ir_verify_or_abort(t->f, "the generator");
	run(t, want);
	assert_true(pass_run_named("legalize", t->f, &c));
	for (ir_ref r = 0; r < t->f->n_insts; r++)
		assert_false(ir_op_traits(ir_at(t->f, r)->op) & COMPOUND);
	run(t, got);
	for (uint32_t o = 0; o < t->f->n_outputs; o++) {
		bool floats = dtype_class(want[o].elem) == DTC_FLOAT;
		double bound = floats && !exact ? allowed(&want[o]) : 0;
		for (int64_t k = 0; k < tensor_count(&want[o]); k++)
			if (!agree(&want[o], &got[o], k, bound))
				fail_msg("%s, seed %u: result %u differs at %lld: %.9g, expanded %.9g\n%s", name, seed, o, (long long)k,
					 floats ? elem_float(want[o].elem, want[o].data, k)
						: (double)elem_int(want[o].elem, want[o].data, k),
					 floats ? elem_float(got[o].elem, got[o].data, k) : (double)elem_int(got[o].elem, got[o].data, k),
					 text.at);
	}
	buf_free(&text);
}

static void try_operation(void (*make)(struct trial *), const char *name, bool exact)
{
	for (uint32_t seed = 0; seed < quick(ROUNDS, 400); seed++) {
		struct trial t = {.a = arena_new(0), .seed = seed, .special = seed % 4 == 3};
		ir_ref outputs[2];
		t.f = ir_fn_new(t.a, name, dims_new(t.a));
		t.f->inputs = t.types;
		t.f->outputs = outputs;
		below(&t, 2);
		make(&t);
		t.f->n_inputs = t.n;
		compare(&t, name, seed, exact);
		arena_free(t.a);
	}
}

#define OPERATION(name, exact)                              \
	static void name(void **state)                      \
	{                                                   \
		(void)state;                                \
		try_operation(random_##name, #name, exact); \
	}
OPERATION(conv, false)
OPERATION(pool, false)
OPERATION(softmax, false)
OPERATION(norm, false)
OPERATION(attention, false)
OPERATION(quantize, true)
OPERATION(dequantize, true)
OPERATION(embedding, true)
OPERATION(resize, false)

int test_legalize(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(conv),       cmocka_unit_test(pool),      cmocka_unit_test(softmax),
					   cmocka_unit_test(norm),       cmocka_unit_test(attention), cmocka_unit_test(quantize),
					   cmocka_unit_test(dequantize), cmocka_unit_test(embedding), cmocka_unit_test(resize)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
