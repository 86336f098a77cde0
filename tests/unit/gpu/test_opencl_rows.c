/* Attention, sorts and scans of both variants on the first OpenCL device against the interpreter of loop IR: random sizes, with whole and broken tiles, groups
 * of heads, masks, rows of each element type in two orders; equal elements, NaNs and infinities. Integers must be equal, floats within 2e-5 of the sum of
 * the absolute terms. TRIB_SEED chooses another run. */
#include <math.h>
#include "backend/kernels/kernel.h"
#include "backend/ir/tensor.h"
#include "backend/loops/interp/interp.h"
#include "backend/runtime/kernels/attention.h"
#include "gpu/opencl.h"
#include "tests/unit/gpu/opencl_fixture.h"
#include "tests/unit/unit.h"

enum { CALLS = 160 };

struct call {
	enum kernel kernel;
	int64_t dims[KERNEL_FIELDS];
	struct tensor of[KERNEL_OPERANDS]; /* the buffers */
};

static struct call calls[CALLS];
static uint32_t n_calls;
static uint64_t rng;
static uint32_t rnd(uint32_t below)
{
	rng = rng * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((rng >> 33) % below);
}
static int64_t one_of(const int64_t *x, uint32_t n) { return x[rnd(n)]; }
#define ONE_OF(...) one_of((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* ---- random calls ---- */

/* The positions are first, as in a cache, or after the heads. */
static struct tri_attention_strides strides_of(int64_t batch, int64_t heads, int64_t rows, int64_t width)
{
	if (rnd(2))
		return (struct tri_attention_strides){heads * width, width, batch * heads * width};
	return (struct tri_attention_strides){heads * rows * width, rows * width, width};
}

static struct call random_attention(void)
{
	static const enum kernel kernels[2][2] = {{KERNEL_attention_f32, KERNEL_attention_mask_f32},
						  {KERNEL_attention_i8, KERNEL_attention_mask_i8}};
	static const float scales[] = {0, 0.3f};
	bool codes = rnd(3) == 0, mask = quick(rnd(2), codes); /* a sample has two of the kernels, since a driver takes long to build one */
	struct call c = {.kernel = kernels[codes][mask]};
	int64_t kv = ONE_OF(1, 2, 3), heads = kv * ONE_OF(1, 1, 2, 5), B = ONE_OF(1, 2), L = ONE_OF(1, 1, 2, 4, 5, 33, 70);
	int64_t S = ONE_OF(1, 3, 63, 64, 65, 130, 260), E = ONE_OF(1, 7, 16, 64, 100, 128), V = ONE_OF(1, 5, 16, 31, 64, 130);
	struct tri_attention_strides k = strides_of(B, kv, S, E), v = strides_of(B, kv, S, V), ks = strides_of(B, kv, S, 1),
				     vs = strides_of(B, kv, S, 1);
	uint32_t bits;
	memcpy(&bits, &scales[rnd(2)], sizeof bits);
	struct tri_attention_dims d = {
		B,
		heads,
		kv,
		L,
		S,
		E,
		V,
		rnd(2),
		bits,
		k.batch,
		k.head,
		k.row,
		v.batch,
		v.head,
		v.row,
		codes ? TRI_ELEM_I8 : ONE_OF(TRI_ELEM_F32, TRI_ELEM_F16, TRI_ELEM_BF16),
		codes ? TRI_ELEM_I8 : ONE_OF(TRI_ELEM_F32, TRI_ELEM_F16, TRI_ELEM_BF16),
		ks.batch,
		ks.head,
		ks.row,
		vs.batch,
		vs.head,
		vs.row,
		mask ? ONE_OF(1, B) : 1,
		mask ? ONE_OF(1, heads) : 1,
		mask ? ONE_OF(1, L) : 1,
		mask ? ONE_OF(1, S) : 1,
		mask ? ONE_OF(TRI_ELEM_F32, TRI_ELEM_BOOL) : TRI_ELEM_F32,
	};
	memcpy(c.dims, &d, sizeof d);
	return c;
}

static struct call random_sort(void)
{
	return (struct call){.kernel = (enum kernel)ONE_OF(KERNEL_sort_f32, KERNEL_sort_f64, KERNEL_sort_i64),
			     .dims = {ONE_OF(1, 2, 5), ONE_OF(1, 2, 3, 17, 64, 100, 255, 256, 257, 1000, 1025, 3000), rnd(2)}};
}

static struct call random_scan(void)
{
	return (struct call){.kernel = (enum kernel)ONE_OF(KERNEL_scan_f32, KERNEL_scan_f64, KERNEL_scan_i64),
			     .dims = {ONE_OF(1, 2, 5), ONE_OF(1, 3, 64, 257, 1025, 2100, 3000), ONE_OF(1, 1, 1, 2, 33), rnd(2)}};
}

/* ---- their units ---- */

/* `most`: of random floats. */
static void fill(const struct call *c, struct tensor *t, double most)
{
	static const double special[] = {INFINITY, -INFINITY, NAN, -0.0};
	const enum kernel_family family = kernel_family(c->kernel);
	for (int64_t i = 0; i < tensor_count(t); i++) {
		double x = ((double)rnd(2001) / 1000 - 1) * most;
		if (t->elem == DT_INT8)
			elem_put_int(t->elem, t->data, i, (int64_t)rnd(255) - 127);
		else if (dtype_class(t->elem) != DTC_FLOAT)
			elem_put_int(t->elem, t->data, i,
				     family == FAMILY_sort ? rnd(40) - 20
				     : rnd(2)              ? rnd(7)
							   : (int64_t)(rng >> 3) - rnd(5));
		else if (family == FAMILY_sort)
			elem_put_float(t->elem, t->data, i, rnd(9) ? (double)rnd(60) / 4 - 7 : special[rnd(4)]);
		else if (family == FAMILY_scan && c->dims[3]) /* products */
			elem_put_float(t->elem, t->data, i, 1 + x / 100);
		else
			elem_put_float(t->elem, t->data, i, family == FAMILY_scan && rnd(999) == 0 ? special[rnd(3)] : x);
	}
}

/* A unit with one statement, the call. Its inputs are what the kernel reads, in order. */
static void add_call(struct model *m, struct call c)
{
	struct unit *u = unit_new(m, kernel_info(c.kernel)->symbol);
	struct dims *d = u->f->dims = dims_new(m->a);
	struct loop_fn *f = u->loops = ARENA_NEW(m->a, struct loop_fn);
	const struct kernel_record *r = kernel_record(c.kernel);
	dim *dims = ARENA_ARRAY(m->a, dim, r->n_fields);
	uint32_t n = kernel_buffer_count(c.kernel), *buffers = ARENA_ARRAY(m->a, uint32_t, n);
	for (uint32_t i = 0; i < r->n_fields; i++)
		dims[i] = dim_const(d, c.dims[i]);
	*f = (struct loop_fn){.unit = m->a, .symbol = u->f->name, .dims = d, .scratch = dim_const(d, 0)};
	f->buffers = ARENA_ARRAY(m->a, struct loop_buffer, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct kernel_operand *o = kernel_operand(c.kernel, i);
		const struct hir_type type = {.elem = kernel_buffer_elem(c.kernel, i, d, dims),
					      .rank = 1,
					      .dims = {dim_const(d, kernel_shape_count(&o->size, c.dims))}};
		struct loop_buffer *b = &f->buffers[f->n_buffers++];
		*b = (struct loop_buffer){
			.kind = BUFFER_INPUT, .type = type, .offset = dim_const(d, 0), .alias = LOOP_NONE, .grows = LOOP_NONE};
		buffers[i] = i;
		c.of[i] = (struct tensor){.elem = type.elem, .rank = 1, .dims = {kernel_shape_count(&o->size, c.dims)}};
		c.of[i].data = arena_alloc(m->a, (size_t)tensor_bytes(&c.of[i]) + 1, 64);
		if (o->workspace) {
			b->kind = BUFFER_TEMP;
			b->end = 1;
			f->scratch = dim_const(d, tensor_bytes(&c.of[i]));
		} else if (o->written) {
			b->kind = BUFFER_OUTPUT;
			b->index = f->n_outputs++;
			unit_output(u, op_n(u, OP_CONST, type, 0, NULL)); /* for its type */
		} else {
			fill(&c, &c.of[i], o->step[0] && !o->elem ? 0.008 : 1); /* scales of codes are small */
			b->index = f->n_inputs++;
			unit_input(u, type);
		}
	}
	f->stmts = ARENA_NEW(m->a, struct loop_stmt);
	f->stmts[f->n_stmts++] = (struct loop_stmt){.kind = STMT_KERNEL, .u.kernel = {.kernel = c.kernel, buffers, .n_buffers = n, dims}};
	calls[n_calls++] = c;
}

/* ---- checks ---- */

static double value(const struct tensor *t, int64_t i)
{
	return dtype_class(t->elem) == DTC_FLOAT ? elem_float(t->elem, t->data, i) : (double)elem_int(t->elem, t->data, i);
}

/* Returns how far element i of the result may be off: elements of values are at most 1, the terms of sums, too. */
static double tolerance(const struct call *c, int64_t i, double want)
{
	if (kernel_family(c->kernel) == FAMILY_attention)
		return 2e-5;
	return c->dims[3] ? 2e-5 * fabs(want) : 2e-5 * (double)(i / c->dims[2] % c->dims[1] + 1);
}

static void check_element(const struct call *c, const char *name, const struct tensor *got, const struct tensor *want, int64_t i)
{
	double x = value(got, i), y = value(want, i);
	bool ok = dtype_class(got->elem) != DTC_FLOAT ? elem_int(got->elem, got->data, i) == elem_int(want->elem, want->data, i)
		  : isfinite(y)                       ? fabs(x - y) <= tolerance(c, i, y)
		  : isnan(y)                          ? isnan(x)
						      : x == y;
	struct buf dims = {0};
	for (uint32_t k = 0; !ok && k < kernel_record(c->kernel)->n_fields; k++)
		buf_printf(&dims, " %lld", (long long)c->dims[k]);
	if (!ok)
		fail_msg("%s %s%s element %lld: got %.9g, want %.9g", getenv("TRIB_OPENCL_VARIANT"), name, dims.at, (long long)i, x, y);
}

static void check_call(struct model *m, uint32_t index)
{
	struct call *c = &calls[index];
	const struct unit *u = m->units[index];
	const uint32_t n = kernel_buffer_count(c->kernel);
	struct tensor *got = &c->of[n - 1], want = *got;
	tri_tensor io[KERNEL_OPERANDS];
	void *bufs[KERNEL_OPERANDS];
	uint32_t n_io = 0;
	tri_error err = {0};
	struct loop_error error = {0};
	for (uint32_t i = 0; i < n; i++) {
		if (kernel_operand(c->kernel, i)->workspace)
			continue;
		bufs[n_io] = c->of[i].data;
		io[n_io++] = (tri_tensor){.data = c->of[i].data, .rank = 1, .dtype = (int32_t)c->of[i].elem, .shape = {c->of[i].dims[0]}};
	}
	bufs[n_io - 1] = want.data = arena_alloc(m->a, (size_t)tensor_bytes(&want) + 1, 64);
	if (!loop_interp(u->loops, bufs, NULL, NULL, &(struct loop_host){0}, &error))
		fail_msg("%s: %s", u->f->name, error.text);
	memset(got->data, 0x55, (size_t)tensor_bytes(got));
	if (m->desc->run(m->open, (int32_t)index, io, &err) != TRI_OK)
		fail_msg("%s: %s", u->f->name, err.message);
	for (int64_t i = 0; i < tensor_count(got); i++)
		check_element(c, u->f->name, got, &want, i);
}

static void both_variants(void **state)
{
	static const char *const variants[] = {"groups", "wide"};
	static struct call (*const random[])(void) = {random_attention, random_attention, random_sort, random_scan};
	struct model m;
	const char *seed = getenv("TRIB_SEED");
	rng = seed ? strtoull(seed, NULL, 0) : 1;
	model_init(&m);
	for (uint32_t i = 0; i < quick(CALLS, 48); i++)
		add_call(&m, random[i % 4]());
	model_build(&m, m.n_units, m.n_units);
	for (uint32_t v = 0; v < 2; v++) {
		setenv("TRIB_OPENCL_VARIANT", variants[v], 1);
		model_open(&m);
		for (uint32_t i = 0; i < n_calls; i++)
			check_call(&m, i);
		m.desc->close(m.open);
		m.open = NULL;
	}
	unsetenv("TRIB_OPENCL_VARIANT");
	model_end(&m);
}

int test_opencl_rows(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(both_variants)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
