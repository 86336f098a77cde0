/* The reference interpreter against both variants of kernels on the first OpenCL device, over random inputs: every operation for every element type, casts,
 * reductions, views, gathers, matmuls, and random expressions. One library with one program holds all units, since building a program is
 * what takes time. Integers must be equal, floats within 1e-5 of the sum of the absolute terms. TRIB_SEED chooses another run. */
#include "backend/ir/tensor.h"
#include "gpu/opencl.h"
#include "tests/unit/gpu/opencl_fixture.h"
#include "tests/unit/gpu/random_values.h"
#include "tests/unit/unit.h"

enum { N = 5 }; /* the value of the symbol */

/* How far floats may be off: relative to the value, or, where an output `scale` holds the sum of the absolute terms, to that. */
struct expectation {
	struct unit *unit;
	int32_t scale[MAX_IO]; /* output number or -1 */
	bool indices;          /* int32 inputs are indices into 7 rows */
};
static struct expectation expectations[MAX_UNITS];

static struct unit *begin(struct model *m, const char *name)
{
	struct expectation *e = &expectations[m->n_units];
	memset(e, 0, sizeof *e);
	memset(e->scale, 0xff, sizeof e->scale);
	return e->unit = unit_new(m, name);
}
static void out_scaled(struct unit *u, struct model *m, ir_ref v, int32_t scale)
{
	expectations[m->n_units - 1].scale[u->f->n_outputs] = scale;
	unit_output(u, v);
}

static void ewise_unit(struct model *m, dtype t)
{
	struct unit *u = begin(m, dtype_text(t));
	struct hir_type ty = TYPE(u, t, -1, 3, 4), bo = TYPE(u, DT_BOOL, -1, 3, 4);
	ir_ref a = unit_input(u, ty), b = unit_input(u, ty), c = unit_input(u, bo);
	static const enum ir_op any[] = {OP_MIN, OP_MAX}, bits[] = {OP_AND, OP_OR, OP_XOR}, cmp[] = {OP_EQ, OP_NE, OP_LT, OP_LE};
	static const enum ir_op num1[] = {OP_NEG, OP_ABS, OP_SIGN, OP_CEIL, OP_FLOOR, OP_ROUND};
	static const enum ir_op num2[] = {OP_ADD, OP_SUB, OP_MUL, OP_FLOORDIV, OP_MOD, OP_POW};
	static const enum ir_op flo[] = {OP_RSQRT, OP_SQRT, OP_EXP, OP_LOG, OP_SIN, OP_COS, OP_TANH, OP_ERF};
	for (uint32_t i = 0; i < 2; i++)
		unit_output(u, OP_(u, any[i], ty, a, b));
	for (uint32_t i = 0; i < 4; i++)
		unit_output(u, OP_(u, cmp[i], bo, a, b));
	unit_output(u, OP_(u, OP_SELECT, ty, c, a, b));
	for (uint32_t i = 0; i < 3 && (t == DT_BOOL || dtype_class(t) == DTC_INT); i++)
		unit_output(u, OP_(u, bits[i], ty, a, b));
	if (t == DT_BOOL) {
		unit_output(u, OP_(u, OP_NOT, bo, a));
		return;
	}
	for (uint32_t i = 0; i < 6; i++)
		unit_output(u, OP_(u, num1[i], ty, a));
	if (t == DT_TRIT)
		return;
	for (uint32_t i = 0; i < 6; i++)
		if (!is_float(t) || num2[i] != OP_POW) /* bases of both signs: done below */
			unit_output(u, OP_(u, num2[i], ty, a, b));
	if (!is_float(t)) {
		unit_output(u, OP_(u, OP_SHL, ty, a, b));
		unit_output(u, OP_(u, OP_SHR, ty, a, b));
		return;
	}
	ir_ref positive = OP_(u, OP_ABS, ty, a);
	unit_output(u, OP_(u, OP_DIV, ty, a, b));
	unit_output(u, OP_(u, OP_POW, ty, positive, b));
	for (uint32_t i = 0; i < 8; i++)
		unit_output(u, OP_(u, flo[i], ty, i < 4 ? positive : a));
}

static void cast_unit(struct model *m, dtype from)
{
	struct unit *u = begin(m, arena_printf(m->a, "cast_%s", dtype_text(from)));
	ir_ref a = unit_input(u, TYPE(u, from, -1, 8));
	for (int to = DT_TRIT; to < DT_COUNT; to++)
		unit_output(u, OP_(u, OP_CAST, TYPE(u, (dtype)to, -1, 8), a));
	if (from != DT_BOOL) /* of the sign: no NaN */
		unit_output(u, OP_(u, OP_CAST, TYPE(u, DT_BOOL, -1, 8), OP_(u, OP_SIGN, TYPE(u, from, -1, 8), a)));
}

static ir_ref reduce(struct unit *u, enum ir_op op, struct hir_type t, ir_ref v, uint32_t mask)
{
	ir_ref r = OP_(u, op, t, v);
	ir_set_axes(u->f, r, (struct ir_axes){mask});
	return r;
}

/* [N, 13, 23] over the last dim, over the first and last, over the last two (shared by a work group), over all; sums with their scales. */
static void reduce_unit(struct model *m, dtype t)
{
	struct unit *u = begin(m, arena_printf(m->a, "reduce_%s", dtype_text(t)));
	struct hir_type full = TYPE(u, t, -1, 13, 23), last = TYPE(u, t, -1, 13), mid = TYPE(u, t, 13), none = type_of(u, t, 0, NULL);
	ir_ref a = unit_input(u, full);
	unit_output(u, reduce(u, OP_REDUCE_MAX, last, a, 4));
	unit_output(u, reduce(u, OP_REDUCE_MIN, mid, a, 5));
	unit_output(u, reduce(u, OP_REDUCE_MAX, TYPE(u, t, -1), a, 6));
	unit_output(u, reduce(u, OP_REDUCE_MIN, TYPE(u, t, -1), a, 6));
	unit_output(u, reduce(u, OP_ARGMAX, TYPE(u, DT_INT64, -1, 13), a, 4));
	unit_output(u, reduce(u, OP_ARGMIN, TYPE(u, DT_INT64, -1, 23), a, 2));
	if (t == DT_BOOL || t == DT_TRIT)
		return;
	unit_output(u, reduce(u, OP_REDUCE_PROD, TYPE(u, t, -1, 23), a, 2));
	ir_ref size = OP_(u, OP_ABS, full, a);
	const struct {
		struct hir_type type;
		uint32_t mask;
	} sums[] = {{last, 4}, {mid, 5}, {none, 7}, {TYPE(u, t, -1), 6}};
	for (uint32_t i = 0; i < 4; i++) {
		int32_t scale = (int32_t)u->f->n_outputs;
		unit_output(u, reduce(u, OP_REDUCE_SUM, sums[i].type, size, sums[i].mask));
		out_scaled(u, m, reduce(u, OP_REDUCE_SUM, sums[i].type, a, sums[i].mask), scale);
	}
	struct hir_type part = TYPE(u, t, 13, 1); /* keeps the two reduction loops apart */
	ir_ref b = unit_input(u, part), wide = OP_(u, OP_BROADCAST, full, b), product = OP_(u, OP_MUL, full, a, wide);
	int32_t scale = (int32_t)u->f->n_outputs;
	unit_output(u, reduce(u, OP_REDUCE_SUM, TYPE(u, t, -1), OP_(u, OP_ABS, full, product), 6));
	out_scaled(u, m, reduce(u, OP_REDUCE_SUM, TYPE(u, t, -1), product, 6), scale);
}

/* Broadcast, transpose, slice, concat, iota, dims, a large constant and a small one. */
static void view_unit(struct model *m)
{
	static float large[400], small[4] = {1.5f, -2, 0.25f, 3};
	struct unit *u = begin(m, "views");
	struct hir_type row = TYPE(u, DT_FLOAT32, 4), mat = TYPE(u, DT_FLOAT32, -1, 4), turned = TYPE(u, DT_FLOAT32, 4, -1);
	ir_ref a = unit_input(u, mat), k = op_n(u, OP_CONST, row, 0, NULL);
	ir_set_const(u->f, k, small);
	ir_ref b = OP_(u, OP_ADD, mat, a, OP_(u, OP_BROADCAST, mat, k));
	ir_ref t = OP_(u, OP_TRANSPOSE, turned, b);
	ir_set_perm(u->f, t, (struct ir_perm){{1, 0}});
	unit_output(u, t);
	ir_ref s = OP_(u, OP_SLICE, TYPE(u, DT_FLOAT32, -1, 2), b);
	dim last = dim_sub(u->f->dims, u->n, dim_const(u->f->dims, 1));
	ir_set_slice(u->f, s, (struct ir_slice){{last, dim_const(u->f->dims, 3)}, {-1, -2}});
	ir_ref c = OP_(u, OP_CONCAT, TYPE(u, DT_FLOAT32, -1, 6), s, a);
	ir_set_axis(u->f, c, (struct ir_axis){1});
	unit_output(u, c);
	ir_ref iota = op_n(u, OP_IOTA, TYPE(u, DT_INT32, -1, 4), 0, NULL);
	ir_set_axis(u->f, iota, (struct ir_axis){0});
	ir_ref extent = op_n(u, OP_DIM, type_of(u, DT_INT64, 0, NULL), 0, NULL);
	ir_set_extent(u->f, extent, (struct ir_extent){u->n});
	ir_ref wide = OP_(u, OP_BROADCAST, TYPE(u, DT_INT32, -1, 4), OP_(u, OP_CAST, type_of(u, DT_INT32, 0, NULL), extent));
	unit_output(u, OP_(u, OP_MUL, TYPE(u, DT_INT32, -1, 4), iota, wide));
	for (uint32_t i = 0; i < 400; i++)
		large[i] = (float)i * 0.5f;
	struct hir_type big = TYPE(u, DT_FLOAT32, 100, 4);
	ir_ref l = op_n(u, OP_CONST, big, 0, NULL);
	ir_set_const(u->f, l, large);
	unit_output(u, OP_(u, OP_MUL, big, l, OP_(u, OP_BROADCAST, big, k)));
}

static void gather_unit(struct model *m)
{
	struct unit *u = begin(m, "gather");
	expectations[m->n_units - 1].indices = true;
	ir_ref table = unit_input(u, TYPE(u, DT_FLOAT16, 7, 3)), idx = unit_input(u, TYPE(u, DT_INT32, -1, 2));
	ir_ref rows = OP_(u, OP_GATHER, TYPE(u, DT_FLOAT16, -1, 2, 3), table, idx);
	ir_set_gather(u->f, rows, (struct ir_gather){.mask = 1});
	unit_output(u, rows);
}

/* Enough elements for work items that take vectors: a broadcast row, casts, comparisons, a run-time size. */
static void large_unit(struct model *m, dtype t)
{
	static float row[64];
	struct unit *u = begin(m, "large");
	struct hir_type full = TYPE(u, t, -1, 1024, 64), bo = TYPE(u, DT_BOOL, -1, 1024, 64), f32 = TYPE(u, DT_FLOAT32, -1, 1024, 64);
	ir_ref a = unit_input(u, full), b = unit_input(u, full), k = op_n(u, OP_CONST, TYPE(u, DT_FLOAT32, 64), 0, NULL);
	for (uint32_t i = 0; i < 64; i++)
		row[i] = (float)i * 0.25f - 4;
	ir_set_const(u->f, k, row);
	ir_ref least = OP_(u, OP_MIN, full, a, b), less = OP_(u, OP_LT, bo, a, b);
	ir_ref sum = OP_(u, OP_ADD, f32, OP_(u, OP_CAST, f32, least), OP_(u, OP_BROADCAST, f32, k));
	unit_output(u, OP_(u, OP_SELECT, full, less, OP_(u, OP_SUB, full, a, b), OP_(u, OP_MUL, full, a, b)));
	unit_output(u, OP_(u, OP_NOT, bo, less));
	unit_output(u, OP_(u, OP_MAX, f32, OP_(u, OP_TANH, f32, sum), OP_(u, OP_ROUND, f32, sum)));
	unit_output(u, OP_(u, OP_CAST, TYPE(u, DT_INT8, -1, 1024, 64), sum));
}

static const void *random_trits(struct model *m, int64_t n)
{
	int8_t *t = ARENA_ARRAY(m->a, int8_t, n);
	for (int64_t i = 0; i < n; i++)
		t[i] = (int8_t)((int)rnd(3) - 1);
	return t;
}

/* Shapes with whole and broken steps, half and whole panels. */
static void matmul_unit(struct model *m, dtype x, bool packed, int64_t K, int64_t cols)
{
	struct unit *u = begin(m, "matmul");
	dtype result = x == DT_INT8 ? DT_INT32 : x;
	struct hir_type wt = TYPE(u, packed ? DT_TRIT : x, K, cols), yt = TYPE(u, result, -1, cols);
	ir_ref a = unit_input(u, TYPE(u, x, -1, K));
	ir_ref w = packed ? unit_weight(u, wt, LAYOUT_TRIT2, random_trits(m, K * cols)) : unit_input(u, wt);
	ir_ref y = OP_(u, OP_MATMUL, yt, a, w);
	if (!is_float(x)) {
		unit_output(u, y);
		return;
	}
	ir_ref rows = reduce(u, OP_REDUCE_SUM, TYPE(u, x, -1), OP_(u, OP_ABS, TYPE(u, x, -1, K), a), 2); /* at least the sum of the terms */
	ir_ref scale = OP_(u, OP_TRANSPOSE, yt, OP_(u, OP_BROADCAST, TYPE(u, x, cols, -1), rows));
	ir_set_perm(u->f, scale, (struct ir_perm){{1, 0}});
	unit_output(u, scale);
	out_scaled(u, m, y, 0);
}

/* A float of a random tree. Only tanh is computed in different ways. Further results that it enters are off by a part of `scale`, the sum of the absolute values
 * on the way, and not of themselves: the difference of values near each other keeps their errors. */
struct random_float {
	ir_ref value, scale; /* scale: of one that is not exact */
	bool exact;
};

static ir_ref most_scale(struct unit *u, struct hir_type t, ir_ref scale)
{
	static float most = 2e5f; /* tanh is off by at most 2 */
	ir_ref k = op_n(u, OP_CONST, type_of(u, DT_FLOAT32, 0, NULL), 0, NULL);
	ir_set_const(u->f, k, &most);
	return OP_(u, OP_MIN, t, scale, OP_(u, OP_BROADCAST, t, k));
}

static struct random_float random_float(struct unit *u, enum ir_op op, struct hir_type t, struct random_float a, struct random_float b)
{
	bool sum = op == OP_ADD || op == OP_SUB, one = ir_op_operands(op) == 1;
	struct random_float r = {one ? OP_(u, op, t, a.value) : OP_(u, op, t, a.value, b.value), a.scale, a.exact};
	if (!one && !b.exact)
		r.scale = a.exact ? b.scale : OP_(u, sum ? OP_ADD : OP_MAX, t, a.scale, b.scale);
	r.exact = op != OP_TANH && a.exact && (one || b.exact);
	if (!r.exact && (sum || op == OP_TANH)) {
		ir_ref own = OP_(u, OP_ABS, t, r.value);
		r.scale = a.exact && op == OP_TANH ? own : OP_(u, OP_ADD, t, own, op == OP_TANH ? most_scale(u, t, r.scale) : r.scale);
	}
	return r;
}

/* A random tree over two int32 and two float32 inputs, with a reduction now and then. */
static void random_unit(struct model *m)
{
	struct unit *u = begin(m, "random");
	static const enum ir_op ops[2][6] = {{OP_ADD, OP_SUB, OP_MUL, OP_FLOORDIV, OP_MOD, OP_MAX},
					     {OP_ADD, OP_SUB, OP_MIN, OP_MAX, OP_TANH, OP_ABS}};
	int64_t dims[3] = {-1, 1 + rnd(6), 1 + rnd(90)};
	struct hir_type t[2] = {type_of(u, DT_INT32, 3, dims), type_of(u, DT_FLOAT32, 3, dims)};
	struct hir_type sums[2] = {type_of(u, DT_INT32, 2, dims), type_of(u, DT_FLOAT32, 2, dims)};
	ir_ref ints[12] = {unit_input(u, t[0]), unit_input(u, t[0])};
	struct random_float floats[12] = {{.value = unit_input(u, t[1]), .exact = true}, {.value = unit_input(u, t[1]), .exact = true}};
	uint32_t n[2] = {2, 2};
	for (uint32_t i = 0; i < 12; i++) {
		uint32_t f = rnd(2);
		enum ir_op op = ops[f][rnd(6)];
		if (n[f] == 12)
			continue;
		uint32_t a = rnd(n[f]), b = rnd(n[f]), to = n[f]++;
		if (f)
			floats[to] = random_float(u, op, t[1], floats[a], floats[b]);
		else
			ints[to] = OP_(u, op, t[0], ints[a], ints[b]);
	}
	struct random_float last = floats[n[1] - 1], clipped = random_float(u, OP_TANH, t[1], last, last);
	unit_output(u, ints[n[0] - 1]);
	unit_output(u, reduce(u, OP_REDUCE_SUM, sums[0], ints[n[0] - 1], 4));
	unit_output(u, reduce(u, OP_REDUCE_SUM, sums[1], clipped.scale, 4));
	out_scaled(u, m, reduce(u, OP_REDUCE_SUM, sums[1], clipped.value, 4), 2);
	unit_output(u, last.exact ? last.value : last.scale);
	out_scaled(u, m, last.value, last.exact ? -1 : 4);
}

static void fill(struct tensor *t, bool indices)
{
	static const double special[] = {0, -0.0, 1, -1, 0.5, 1.5, 2.5, -0.5, 1e30, -1e30, 3e-5, INFINITY, -INFINITY, NAN};
	for (int64_t i = 0; i < tensor_count(t); i++) {
		if (is_float(t->elem))
			elem_put_float(t->elem, t->data, i, rnd(12) ? (double)rnd(4001) / 1000 - 2 : special[rnd(14)]);
		else if (t->elem == DT_TRIT)
			elem_put_int(t->elem, t->data, i, (int64_t)rnd(3) - 1);
		else if (indices)
			elem_put_int(t->elem, t->data, i, rnd(7));
		else
			elem_put_int(t->elem, t->data, i,
				     rnd(4) ? (int64_t)rnd(7) - 3 : (int64_t)((uint64_t)rnd(1u << 31) << rnd(34)) * (rnd(2) ? 1 : -1));
	}
}

/* Only finite numbers, for sums. */
static void fill_tame(struct tensor *t)
{
	for (int64_t i = 0; i < tensor_count(t); i++)
		if (is_float(t->elem))
			elem_put_float(t->elem, t->data, i, (double)rnd(4001) / 1000 - 2);
}

static struct tensor host(struct arena *a, const struct dims *d, const struct hir_type *t)
{
	struct tensor h = {.elem = t->elem, .rank = t->rank};
	int64_t syms[1] = {N};
	for (uint32_t k = 0; k < t->rank; k++)
		h.dims[k] = dim_eval(d, t->dims[k], syms);
	h.data = arena_alloc(a, (size_t)tensor_bytes(&h) + 1, 16);
	return h;
}

static tri_tensor io_of(const struct tensor *h)
{
	tri_tensor t = {.data = h->data, .rank = h->rank, .dtype = (int32_t)h->elem};
	memcpy(t.shape, h->dims, sizeof h->dims);
	return t;
}

static void compare(const struct expectation *e, uint32_t k, const struct tensor *got, const struct tensor *want)
{
	dtype t = want[k].elem;
	for (int64_t i = 0; i < tensor_count(&want[k]); i++) {
		if (!is_float(t)) {
			int64_t g = elem_int(t, got[k].data, i), w = elem_int(t, want[k].data, i);
			if (g != w)
				fail_msg("%s output %u element %lld: got %lld, want %lld", e->unit->f->name, k, (long long)i, (long long)g,
					 (long long)w);
			continue;
		}
		double g = elem_float(t, got[k].data, i), w = elem_float(t, want[k].data, i);
		double scale = e->scale[k] >= 0 ? elem_float(t, want[e->scale[k]].data, i) : fabs(w);
		if (!close_enough(t, g, w, scale))
			fail_msg("%s output %u element %lld: got %.9g, want %.9g (scale %g)", e->unit->f->name, k, (long long)i, g, w,
				 scale);
	}
}

static void check_unit(struct model *m, uint32_t index, bool tame)
{
	const struct expectation *e = &expectations[index];
	struct unit *u = e->unit;
	struct tensor inputs[MAX_IO], got[MAX_IO], want[MAX_IO];
	tri_tensor io[2 * MAX_IO];
	uint32_t n = u->f->n_inputs;
	const char *error = NULL;
	tri_error err = {0};
	for (uint32_t i = 0; i < n; i++) {
		inputs[i] = host(m->a, u->f->dims, &u->f->inputs[i]);
		fill(&inputs[i], e->indices);
		if (tame)
			fill_tame(&inputs[i]);
		io[i] = io_of(&inputs[i]);
	}
	for (uint32_t i = 0; i < u->f->n_outputs; i++) {
		got[i] = host(m->a, u->f->dims, &ir_at(u->f, u->f->outputs[i])->type);
		io[n + i] = io_of(&got[i]);
	}
	if (!interp_run(u->f, inputs, u->slots, (int64_t[]){N}, 0, m->a, want, &error))
		fail_msg("%s: %s", u->f->name, error);
	if (m->desc->run(m->open, index, io, &err) != TRI_OK)
		fail_msg("%s: %s", u->f->name, err.message);
	for (uint32_t i = 0; i < u->f->n_outputs; i++)
		compare(e, i, got, want);
}

static void against_interpreter(void **state)
{
	static const int64_t shapes[][2] = {{1, 1}, {16, 16}, {37, 33}, {64, 32}, {130, 50}};
	struct model m;
	model_init(&m);
	rnd_begin();
	const int step = (int)quick(1, 8); /* a sample: bool, float32 */
	for (int t = 0; t < DT_COUNT; t += step) {
		ewise_unit(&m, (dtype)t);
		cast_unit(&m, (dtype)t);
	}
	uint32_t first_tame = m.n_units;
	for (int t = 0; t < DT_COUNT; t += step)
		reduce_unit(&m, (dtype)t);
	for (uint32_t i = 0; i < quick(5, 2); i++) {
		matmul_unit(&m, DT_INT8, true, shapes[i][0], shapes[i][1]);
		matmul_unit(&m, DT_FLOAT32, true, shapes[i][0], shapes[i][1]);
	}
	matmul_unit(&m, DT_FLOAT32, false, 70, 9);
	matmul_unit(&m, DT_INT32, false, 3, 5);
	uint32_t last_tame = m.n_units;
	view_unit(&m);
	gather_unit(&m);
	for (uint32_t i = 0; i < quick(6, 1); i++)
		random_unit(&m);
	static const dtype large[] = {DT_FLOAT32, DT_INT32, DT_UINT8, DT_BFLOAT16, DT_FLOAT16, DT_INT64};
	for (uint32_t i = 0; i < quick(6, 2); i++)
		large_unit(&m, large[i]);
	model_build(&m, m.n_units, m.n_units);
	static const char *const variants[] = {"wide", "groups"};
	for (uint32_t v = 0; v < 2; v++) {
		setenv("TRIB_OPENCL_VARIANT", variants[v], 1);
		model_open(&m);
		for (uint32_t turn = 0; turn < quick(4, 1); turn++)
			for (uint32_t i = 0; i < m.n_units; i++)
				check_unit(&m, i, (i >= first_tame && i < last_tame));
		m.desc->close(m.open);
		m.open = NULL;
	}
	unsetenv("TRIB_OPENCL_VARIANT");
	model_end(&m);
}

int test_opencl_diff(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(against_interpreter)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
