/* Micro-kernels of both variants on the first OpenCL device against loops as simple as can be: sizes with whole and broken tiles, steps and panels, rows at
 * addresses that are no multiples of words, windows beside the image. Integers must be equal, floats within 1e-5 of the sum of the absolute terms. */
#include <math.h>
#include "backend/kernels/kernel.h"
#include "gpu/opencl.h"
#include "tests/unit/gpu/opencl_fixture.h"
#include "tests/unit/unit.h"

enum { CALLS = 160 };

/* y [M, N] = x [M, K] · w [K, N], or a convolution: see records.def. */
struct call {
	enum kernel kernel;
	enum layout layout; /* of w */
	dtype x, w;
	union {
		struct {
			int64_t M, K, N;
		} product;
		struct {
			int64_t batch, channels, height, width, out, kernel_height, kernel_width, out_height, out_width, stride_height,
				stride_width, pad_top, pad_left, dilation_height, dilation_width, group_channels;
		} conv;
		int64_t dims[16];
	} of;
	struct tensor in, weights, result;
};

static struct call calls[CALLS];
static uint32_t n_calls;
static uint64_t rng = 1;
static uint32_t rnd(uint32_t below)
{
	rng = rng * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((rng >> 33) % below);
}

static struct tensor random_tensor(struct arena *a, dtype t, uint32_t rank, const int64_t *dims)
{
	struct tensor h = {.elem = t, .rank = (uint8_t)rank};
	memcpy(h.dims, dims, rank * sizeof *dims);
	h.data = arena_alloc(a, (size_t)tensor_bytes(&h) + 1, 64);
	for (int64_t i = 0; i < tensor_count(&h); i++) {
		if (dtype_class(t) == DTC_FLOAT)
			elem_put_float(t, h.data, i, (double)rnd(4001) / 1000 - 2);
		else if (t == DT_TRIT)
			elem_put_int(t, h.data, i, (int64_t)rnd(3) - 1);
		else
			elem_put_int(t, h.data, i, (int64_t)rnd(256) - 128);
	}
	return h;
}

static uint32_t fields_of(const struct call *c) { return kernel_record(c->kernel)->n_fields; }

/* A unit with one statement, the call. Inputs and results are dense in the order in which the kernel reads them. */
static void add_call(struct model *m, struct call c, dtype y, uint32_t rank, const int64_t *x, const int64_t *w, uint32_t w_rank,
		     const int64_t *result)
{
	struct unit *u = unit_new(m, kernel_info(c.kernel)->symbol);
	struct dims *d = dims_new(m->a);
	struct loop_fn *f = ARENA_NEW(m->a, struct loop_fn);
	const int64_t *shapes[] = {x, w, result};
	const dtype elems[] = {c.x, c.w, y};
	const bool packed = c.layout != LAYOUT_PLAIN; /* else w is an input, too */
	const enum buffer_kind kinds[] = {BUFFER_INPUT, packed ? BUFFER_WEIGHT : BUFFER_INPUT, BUFFER_OUTPUT};
	dim *dims = ARENA_ARRAY(m->a, dim, fields_of(&c));
	static uint32_t operands[3] = {0, 1, 2};
	c.in = random_tensor(m->a, c.x, rank, x);
	c.weights = random_tensor(m->a, c.w, w_rank, w);
	c.result = random_tensor(m->a, y, rank, result);
	*f = (struct loop_fn){
		.unit = m->a, .symbol = u->f->name, .dims = d, .scratch = dim_const(d, 0), .n_inputs = 1, .n_outputs = 1, .n_slots = 1};
	f->buffers = ARENA_ARRAY(m->a, struct loop_buffer, 3);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t n = i == 1 ? w_rank : rank;
		f->buffers[f->n_buffers] =
			(struct loop_buffer){.kind = kinds[i], .offset = dim_const(d, 0), .alias = LOOP_NONE, .grows = LOOP_NONE};
		struct hir_type *t = &f->buffers[f->n_buffers++].type;
		*t = (struct hir_type){.elem = elems[i], .rank = (uint8_t)n};
		for (uint32_t k = 0; k < n; k++)
			t->dims[k] = dim_const(d, shapes[i][k]);
	}
	u->f->dims = d;
	f->buffers[1].layout = c.layout;
	f->buffers[1].index = packed ? 0 : 1;
	f->n_inputs = packed ? 1 : 2;
	unit_input(u, f->buffers[0].type);
	if (packed)
		unit_weight(u, f->buffers[1].type, c.layout, c.weights.data);
	else
		unit_input(u, f->buffers[1].type);
	for (uint32_t k = 0; k < fields_of(&c); k++)
		dims[k] = dim_const(d, c.of.dims[k]);
	f->stmts = ARENA_NEW(m->a, struct loop_stmt);
	f->stmts[f->n_stmts++] = (struct loop_stmt){.kind = STMT_KERNEL, .u.kernel = {.kernel = c.kernel, operands, .n_buffers = 3, dims}};
	u->loops = f;
	unit_output(u, op_n(u, OP_CONST, f->buffers[2].type, 0, NULL)); /* for its type */
	calls[n_calls++] = c;
}

static void add_product(struct model *m, enum kernel kernel, int64_t M, int64_t K, int64_t N)
{
	const struct kernel_info *k = kernel_info(kernel);
	struct call c = {.kernel = kernel,
			 .layout = (enum layout)k->operands[1].layout,
			 .x = (dtype)k->operands[0].elem,
			 .w = (dtype)k->operands[1].elem};
	c.of.product.M = M, c.of.product.K = K, c.of.product.N = N;
	add_call(m, c, (dtype)k->operands[2].elem, 2, (int64_t[]){M, K}, (int64_t[]){K, N}, 2, (int64_t[]){M, N});
	if (c.x == DT_FLOAT32 && c.w == DT_TRIT && N % 2 == 1) /* zero trits skip it */
		elem_put_float(DT_FLOAT32, calls[n_calls - 1].in.data, M * K - 1, NAN);
}

static void add_conv(struct model *m, enum kernel kernel, int64_t batch, int64_t channels, int64_t height, int64_t width, int64_t out,
		     int64_t side, int64_t stride, int64_t pad, int64_t dilation, int64_t groups)
{
	const struct kernel_info *k = kernel_info(kernel);
	struct call c = {.kernel = kernel,
			 .layout = (enum layout)k->operands[1].layout,
			 .x = (dtype)k->operands[0].elem,
			 .w = (dtype)k->operands[1].elem};
	int64_t reach = dilation * (side - 1) + 1, oh = (height + 2 * pad - reach) / stride + 1,
		ow = (width + 2 * pad - reach) / stride + 1;
	const int64_t dims[16] = {batch, channels, height, width, out, side,     side,     oh,
				  ow,    stride,   stride, pad,   pad, dilation, dilation, channels / groups};
	memcpy(c.of.dims, dims, sizeof dims);
	add_call(m, c, (dtype)k->operands[2].elem, 4, (int64_t[]){batch, height, width, channels},
		 (int64_t[]){out, channels / groups, side, side}, 4, (int64_t[]){batch, oh, ow, out});
}

static double value(const struct tensor *t, int64_t i)
{
	return dtype_class(t->elem) == DTC_FLOAT ? elem_float(t->elem, t->data, i) : (double)elem_int(t->elem, t->data, i);
}

/* Returns element i of the result; *scale is the sum of the absolute terms. */
static double product_want(const struct call *c, int64_t i, double *scale)
{
	double sum = 0;
	for (int64_t k = 0, N = c->of.product.N, K = c->of.product.K; k < K; k++) {
		double weight = value(&c->weights, k * N + i % N), term = value(&c->in, i / N * K + k) * weight;
		if (c->w == DT_TRIT && weight == 0)
			continue;
		sum += term, *scale += fabs(term);
	}
	return sum;
}

static double conv_want(const struct call *c, int64_t i, double *scale)
{
	double sum = 0;
	int64_t used = c->of.conv.group_channels, group_out = c->of.conv.out / (c->of.conv.channels / used);
	int64_t o = i % c->of.conv.out, p = i / c->of.conv.out, P = c->of.conv.out_height * c->of.conv.out_width, image = p / P;
	int64_t top = p % P / c->of.conv.out_width * c->of.conv.stride_height - c->of.conv.pad_top;
	int64_t left = p % P % c->of.conv.out_width * c->of.conv.stride_width - c->of.conv.pad_left;
	for (int64_t kh = 0; kh < c->of.conv.kernel_height; kh++)
		for (int64_t kw = 0; kw < c->of.conv.kernel_width; kw++)
			for (int64_t ch = 0; ch < used; ch++) {
				int64_t h = top + kh * c->of.conv.dilation_height, v = left + kw * c->of.conv.dilation_width;
				if (h < 0 || h >= c->of.conv.height || v < 0 || v >= c->of.conv.width)
					continue;
				double term = value(&c->in, ((image * c->of.conv.height + h) * c->of.conv.width + v) * c->of.conv.channels +
								    o / group_out * used + ch) *
					      value(&c->weights,
						    ((o * used + ch) * c->of.conv.kernel_height + kh) * c->of.conv.kernel_width + kw);
				sum += term, *scale += fabs(term);
			}
	return sum;
}

static void check_call(struct model *m, uint32_t index)
{
	struct call *c = &calls[index];
	const struct tensor *all[] = {&c->in, c->layout == LAYOUT_PLAIN ? &c->weights : &c->result, &c->result};
	tri_tensor io[3];
	for (uint32_t i = 0; i < 3; i++) {
		io[i] = (tri_tensor){.data = all[i]->data, .rank = all[i]->rank, .dtype = (int32_t)all[i]->elem};
		memcpy(io[i].shape, all[i]->dims, sizeof all[i]->dims);
	}
	memset(c->result.data, 0x55, (size_t)tensor_bytes(&c->result));
	tri_error err = {0};
	if (m->desc->run(m->open, (int32_t)index, io, &err) != TRI_OK)
		fail_msg("%s: %s", m->units[index]->f->name, err.message);
	for (int64_t i = 0; i < tensor_count(&c->result); i++) {
		double scale = 0, got = value(&c->result, i);
		double want = kernel_family(c->kernel) == FAMILY_matmul ? product_want(c, i, &scale) : conv_want(c, i, &scale);
		if (!(isnan(want) && isnan(got)) && !(fabs(got - want) <= (c->result.elem == DT_FLOAT32 ? 1e-5 * scale : 0)))
			fail_msg("%s %s element %lld: got %.9g, want %.9g", getenv("TRIB_OPENCL_VARIANT"), m->units[index]->f->name,
				 (long long)i, got, want);
	}
}

static void add_calls(struct model *m)
{
	static const int64_t products[][3] = {{1, 1, 1},    {1, 64, 33},  {1, 300, 50}, {1, 1030, 16}, {2, 48, 32},   {3, 37, 40},
					      {5, 130, 49}, {64, 66, 17}, {65, 64, 64}, {70, 129, 65}, {130, 80, 100}};
	static const enum kernel kernels[] = {KERNEL_matmul_i8_trit2,   KERNEL_matmul_f32_trit2, KERNEL_matmul_f32,
					      KERNEL_matmul_f32_panels, KERNEL_matmul_f32_bf16,  KERNEL_matmul_f32_f16};
	static const int64_t convs[][9] = {/* batch, channels, height, width, results, side, stride, pad, dilation */
					   {1, 4, 5, 6, 3, 1, 1, 0, 1},    {2, 8, 9, 7, 33, 3, 1, 1, 1},   {1, 20, 7, 8, 70, 3, 2, 1, 1},
					   {3, 3, 11, 13, 18, 5, 2, 2, 1}, {2, 12, 12, 9, 20, 3, 1, 2, 2}, {2, 5, 10, 9, 20, 3, 1, 3, 3},
					   {1, 1, 7, 7, 5, 7, 1, 3, 1},    {1, 6, 8, 8, 65, 2, 2, 0, 1},   {1, 40, 9, 35, 97, 3, 1, 1, 1}};
	static const enum kernel dense[] = {KERNEL_conv_i8_trit2, KERNEL_conv_f32, KERNEL_conv_f32_trit2};
	static const enum kernel grouped[] = {KERNEL_conv_groups_i8_trit2, KERNEL_conv_f32, KERNEL_conv_groups_f32_trit2};
	static const enum kernel depthwise[] = {KERNEL_depthwise_i8_trit2, KERNEL_depthwise_f32};
	for (uint32_t i = 0; i < sizeof products / sizeof *products; i++)
		for (uint32_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
			add_product(m, kernels[k], products[i][0], products[i][1], products[i][2]);
	add_product(m, KERNEL_matmul_i8_trit2, 2, 140000, 3);
	for (uint32_t i = 0; i < sizeof convs / sizeof *convs; i++)
		for (uint32_t k = 0; k < sizeof dense / sizeof *dense; k++) {
			const int64_t *c = convs[i];
			add_conv(m, dense[k], c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], 1);
		}
	add_conv(m, KERNEL_pointwise_f32, 2, 20, 5, 9, 24, 1, 1, 0, 1, 1);
	for (uint32_t k = 0; k < sizeof grouped / sizeof *grouped; k++) {
		add_conv(m, grouped[k], 2, 12, 9, 7, 18, 3, 1, 1, 1, 3);
		add_conv(m, grouped[k], 1, 80, 5, 18, 160, 3, 2, 1, 1, 2);
		add_conv(m, grouped[k], 1, 6, 9, 8, 66, 2, 1, 1, 2, 2);
	}
	for (uint32_t k = 0; k < sizeof depthwise / sizeof *depthwise; k++) {
		add_conv(m, depthwise[k], 2, 7, 9, 7, 7, 3, 1, 1, 1, 7);
		add_conv(m, depthwise[k], 1, 83, 10, 21, 83, 3, 2, 1, 1, 83);
		add_conv(m, depthwise[k], 1, 64, 12, 19, 64, 5, 1, 2, 1, 64);
		add_conv(m, depthwise[k], 1, 33, 9, 18, 33, 3, 1, 2, 2, 33);
		add_conv(m, depthwise[k], 1, 17, 16, 18, 17, 15, 1, 7, 1, 17); /* more taps than are unpacked at a time */
	}
}

static void check_calls(struct model *m, const char *variant)
{
	setenv("TRIB_OPENCL_VARIANT", variant, 1);
	model_open(m);
	for (uint32_t i = 0; i < n_calls; i++)
		check_call(m, i);
	m->desc->close(m->open);
	m->open = NULL;
	unsetenv("TRIB_OPENCL_VARIANT");
}

/* They end together: PoCL goes on using the cache of the first one. */
static struct model portable, matrix;

static void both_variants(void **state)
{
	n_calls = 0;
	model_init(&portable);
	add_calls(&portable);
	model_build(&portable, portable.n_units, portable.n_units);
	check_calls(&portable, "groups");
	check_calls(&portable, "wide");
}

/* The forms with matrix instructions, each of which is computed by its definition. PoCL builds its programs with these flags, too. */
static void matrix_instructions(void **state)
{
	static const int64_t products[][3] = {{65, 64, 64}, {70, 129, 65}, {130, 80, 100}, {66, 3, 16}, {128, 400, 49}, {193, 16, 130}};
	n_calls = 0;
	model_init(&matrix);
	for (uint32_t i = 0; i < sizeof products / sizeof *products; i++)
		add_product(&matrix, KERNEL_matmul_i8_trit2, products[i][0], products[i][1], products[i][2]);
	setenv("POCL_EXTRA_BUILD_FLAGS", "-DTRI_MMA_NVIDIA=80 -DTRI_EMULATED", 1);
	setenv("TRIB_CACHE", "false", 1); /* whose keys do not have the flags */
	model_build(&matrix, matrix.n_units, matrix.n_units);
	check_calls(&matrix, "groups");
	unsetenv("POCL_EXTRA_BUILD_FLAGS");
	unsetenv("TRIB_CACHE");
}

static int end_models(void **state)
{
	model_end(&portable);
	model_end(&matrix);
	return 0;
}

int test_opencl_kernels(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(both_variants), cmocka_unit_test(matrix_instructions)};
	return cmocka_run_group_tests(tests, NULL, end_models);
}
