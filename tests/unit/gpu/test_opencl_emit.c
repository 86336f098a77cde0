/* Loop functions made by hand, printed as OpenCL C and CUDA C++ and compared with golden/opencl/<name>.cl and golden/cuda/<name>.cu. TRIB_BLESS=1 rewrites those. */
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/loops/ir/loops.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/source.h"
#include "gpu/forms.h"
#include "gpu/opencl.h"

enum { MAX = 32 };

struct fixture {
	struct arena *a;
	struct loop_fn *f;
	struct dims *dims; /* of f */
	dim zero, one, n;  /* n: the symbol N */
};

static struct fixture setup(const char *symbol)
{
	struct fixture x = {.a = arena_new(0)};
	x.f = ARENA_NEW(x.a, struct loop_fn);
	x.f->unit = x.a;
	x.f->symbol = symbol;
	x.f->dims = x.dims = dims_new(x.a);
	x.n = dim_new_sym(x.dims, "N");
	x.zero = dim_const(x.dims, 0);
	x.one = dim_const(x.dims, 1);
	x.f->scratch = x.zero;
	x.f->buffers = ARENA_ARRAY(x.a, struct loop_buffer, MAX);
	x.f->stmts = ARENA_ARRAY(x.a, struct loop_stmt, MAX);
	return x;
}

static dim num(struct fixture *x, int64_t v) { return dim_const(x->dims, v); }

static uint32_t buffer(struct fixture *x, enum buffer_kind kind, dtype elem, uint32_t rank, const dim *dims, const void *data)
{
	struct loop_buffer *b = &x->f->buffers[x->f->n_buffers];
	*b = (struct loop_buffer){.kind = kind,
				  .type = {.elem = elem, .rank = (uint8_t)rank},
				  .offset = x->zero,
				  .alias = LOOP_NONE,
				  .grows = LOOP_NONE,
				  .data = data};
	memcpy(b->type.dims, dims, rank * sizeof *dims);
	b->data_bytes = 8 * sizeof(float); /* of all constants here */
	b->index = kind == BUFFER_INPUT ? x->f->n_inputs++ : kind == BUFFER_OUTPUT ? x->f->n_outputs++ : 0;
	return x->f->n_buffers++;
}

static struct loop_nest *nest(struct fixture *x, uint8_t n_parallel, uint8_t n_reduce, const dim *extents)
{
	struct loop_nest *n = &x->f->stmts[x->f->n_stmts++].u.nest;
	*n = (struct loop_nest){.n_parallel = n_parallel, .n_reduce = n_reduce};
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		n->extent[k] = k < (uint32_t)n_parallel + n_reduce ? extents[k] : x->zero;
	n->exprs = ARENA_ARRAY(x->a, struct loop_expr, MAX);
	n->reductions = ARENA_ARRAY(x->a, struct loop_reduction, MAX);
	n->stores = ARENA_ARRAY(x->a, struct loop_store, MAX);
	return n;
}

static struct loop_access at(struct fixture *x, uint32_t b, uint32_t n, const dim *strides)
{
	struct loop_access a = {.buffer = b, .base = x->zero, .index = LOOP_NONE, .scale = x->zero};
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		a.stride[k] = k < n ? strides[k] : x->zero;
	return a;
}

static uint32_t put(struct loop_nest *n, struct loop_expr e)
{
	n->exprs[n->n_exprs] = e;
	return n->n_exprs++;
}
static uint32_t load(struct loop_nest *n, dtype t, struct loop_access a, bool in)
{
	return put(n, (struct loop_expr){.kind = LOOP_LOAD, .elem = t, .in_reduction = in, .access = a});
}
static uint32_t op2(struct loop_nest *n, enum ir_op op, dtype t, uint32_t p, uint32_t q, bool in)
{
	return put(n, (struct loop_expr){.kind = LOOP_OP, .op = op, .elem = t, .args = {p, q, LOOP_NONE}, .in_reduction = in});
}
static uint32_t op1(struct loop_nest *n, enum ir_op op, dtype t, uint32_t p, bool in) { return op2(n, op, t, p, LOOP_NONE, in); }
static uint32_t check_place(struct loop_nest *n, uint32_t place, dim bound)
{
	return put(n, (struct loop_expr){.kind = LOOP_CHECK, .elem = DT_INT64, .args = {place, LOOP_NONE, LOOP_NONE}, .extent = bound});
}
static uint32_t konst(struct loop_nest *n, dtype t, int64_t i, double f, bool in)
{
	return put(n, (struct loop_expr){.kind = LOOP_CONST, .elem = t, .i = i, .f = f, .in_reduction = in});
}
static uint32_t acc(struct loop_nest *n, enum ir_op op, dtype t, uint32_t value)
{
	n->reductions[n->n_reductions] = (struct loop_reduction){.op = op, .elem = t, .value = value};
	return put(n, (struct loop_expr){.kind = LOOP_ACC, .elem = t, .var = n->n_reductions++});
}
static void store(struct loop_nest *n, uint32_t value, struct loop_access a) { n->stores[n->n_stores++] = (struct loop_store){value, a}; }

static void compare(const char *folder, const char *name, const char *text)
{
	char path[512], *want = NULL;
	size_t len;
	snprintf(path, sizeof path, "%s/tests/golden/%s/%s", TRIB_SOURCE_DIR, folder, name);
	if (getenv("TRIB_BLESS"))
		assert_true(os_write_atomic(path, text, strlen(text), 0644, false));
	assert_true(os_read_file(path, 0, &want, &len));
	assert_string_equal(text, want);
	free(want);
}

static void check_variant(struct fixture *x, enum tri_cl_variant variant, enum target_id target, const char *name)
{
	struct buf out = {0}, again = {0};
	x->f->unit = x->a;
	loops_schedule(x->f, &(struct plan_options){.target = target_get(target), .opt = 1});
	opencl_unit(variant, x->f, &out);
	opencl_unit(variant, x->f, &again);
	assert_string_equal(out.at, again.at);
	compare("opencl", name, out.at);
	buf_free(&out);
	buf_free(&again);
}

/* As the groups of OpenCL are scheduled. */
static void check_cuda(struct fixture *x, const char *name)
{
	struct buf out = {0};
	cuda_unit(x->f, &out);
	compare("cuda", name, out.at);
	buf_free(&out);
}

static void check_groups(struct fixture *x, const char *name)
{
	check_variant(x, TRI_CL_GROUPS, TARGET_OPENCL, arena_printf(x->a, "%s.cl", name));
	check_cuda(x, arena_printf(x->a, "%s.cu", name));
}

static void check(struct fixture *x, const char *name)
{
	check_groups(x, name);
	check_variant(x, TRI_CL_WIDE, TARGET_OPENCL_WIDE, arena_printf(x->a, "%s_wide.cl", name));
	arena_free(x->a);
}

/* y[N, 8] = relu(x[N, 8] + b[8]), b a constant in the text */
static void bias_relu(void **state)
{
	static const float bias[8] = {0.5f, -1.0f, 0.0f, 1e-20f, 3.0f, 0.1f, -0.0f, 65536.0f};
	struct fixture x = setup("bias_relu");
	dim eight = num(&x, 8);
	uint32_t in = buffer(&x, BUFFER_INPUT, DT_FLOAT32, 2, (dim[]){x.n, eight}, NULL);
	uint32_t out = buffer(&x, BUFFER_OUTPUT, DT_FLOAT32, 2, (dim[]){x.n, eight}, NULL);
	uint32_t b = buffer(&x, BUFFER_CONST, DT_FLOAT32, 1, (dim[]){eight}, bias);
	struct loop_nest *n = nest(&x, 2, 0, (dim[]){x.n, eight});
	uint32_t v = load(n, DT_FLOAT32, at(&x, in, 2, (dim[]){eight, x.one}), false);
	uint32_t w = load(n, DT_FLOAT32, at(&x, b, 2, (dim[]){x.zero, x.one}), false);
	uint32_t s = op2(n, OP_ADD, DT_FLOAT32, v, w, false);
	uint32_t r = op2(n, OP_MAX, DT_FLOAT32, s, konst(n, DT_FLOAT32, 0, 0, false), false);
	store(n, r, at(&x, out, 2, (dim[]){eight, x.one}));
	check(&x, "bias_relu");
}

/* Softmax over 100 columns of N rows: a maximum and a sum, three nests, a temporary in between. */
static void softmax(void **state)
{
	struct fixture x = setup("softmax");
	dim cols = num(&x, 100), strides[] = {cols, x.one};
	uint32_t in = buffer(&x, BUFFER_INPUT, DT_FLOAT32, 2, (dim[]){x.n, cols}, NULL);
	uint32_t out = buffer(&x, BUFFER_OUTPUT, DT_FLOAT32, 2, (dim[]){x.n, cols}, NULL);
	uint32_t max = buffer(&x, BUFFER_TEMP, DT_FLOAT32, 1, (dim[]){x.n}, NULL),
		 sum = buffer(&x, BUFFER_TEMP, DT_FLOAT32, 1, (dim[]){x.n}, NULL);
	struct loop_nest *n = nest(&x, 1, 1, (dim[]){x.n, cols});
	store(n, acc(n, OP_REDUCE_MAX, DT_FLOAT32, load(n, DT_FLOAT32, at(&x, in, 2, strides), true)), at(&x, max, 1, (dim[]){x.one}));
	n = nest(&x, 1, 1, (dim[]){x.n, cols});
	uint32_t m = load(n, DT_FLOAT32, at(&x, max, 1, (dim[]){x.one}), false);
	uint32_t d = op2(n, OP_SUB, DT_FLOAT32, load(n, DT_FLOAT32, at(&x, in, 2, strides), true), m, true);
	store(n, acc(n, OP_REDUCE_SUM, DT_FLOAT32, op1(n, OP_EXP, DT_FLOAT32, d, true)), at(&x, sum, 1, (dim[]){x.one}));
	n = nest(&x, 2, 0, (dim[]){x.n, cols});
	m = load(n, DT_FLOAT32, at(&x, max, 1, (dim[]){x.one}), false);
	d = op2(n, OP_SUB, DT_FLOAT32, load(n, DT_FLOAT32, at(&x, in, 2, strides), false), m, false);
	uint32_t total = load(n, DT_FLOAT32, at(&x, sum, 1, (dim[]){x.one}), false);
	uint32_t q = op2(n, OP_DIV, DT_FLOAT32, op1(n, OP_EXP, DT_FLOAT32, d, false), total, false);
	store(n, q, at(&x, out, 2, strides));
	check(&x, "softmax");
}

/* The mean square of 8 images of 3 x 40 x 40, each shared by a work group. */
static void mean_square(void **state)
{
	struct fixture x = setup("mean_square");
	dim eight = num(&x, 8), three = num(&x, 3), area = num(&x, 1600), pixels = num(&x, 4800);
	uint32_t in = buffer(&x, BUFFER_INPUT, DT_FLOAT32, 2, (dim[]){eight, pixels}, NULL);
	uint32_t gain = buffer(&x, BUFFER_INPUT, DT_FLOAT32, 1, (dim[]){three}, NULL);
	uint32_t out = buffer(&x, BUFFER_OUTPUT, DT_FLOAT32, 1, (dim[]){eight}, NULL);
	struct loop_nest *n = nest(&x, 1, 2, (dim[]){eight, three, area});
	uint32_t v = load(n, DT_FLOAT32, at(&x, in, 3, (dim[]){pixels, area, x.one}), true);
	uint32_t w = load(n, DT_FLOAT32, at(&x, gain, 2, (dim[]){x.zero, x.one}), true);
	uint32_t sum = acc(n, OP_REDUCE_SUM, DT_FLOAT32, op2(n, OP_MUL, DT_FLOAT32, op2(n, OP_MUL, DT_FLOAT32, v, v, true), w, true));
	uint32_t mean = op2(n, OP_DIV, DT_FLOAT32, sum, konst(n, DT_FLOAT32, 0, 4800, false), false);
	store(n, mean, at(&x, out, 1, (dim[]){x.one}));
	check(&x, "mean_square");
}

/* Rows of a table by run-time index, as bfloat16, and the place of the largest of each. */
static void gather(void **state)
{
	struct fixture x = setup("gather");
	dim width = num(&x, 3), rows = dim_add(x.dims, x.n, num(&x, 7));
	uint32_t idx = buffer(&x, BUFFER_INPUT, DT_INT32, 1, (dim[]){x.n}, NULL);
	uint32_t table = buffer(&x, BUFFER_WEIGHT, DT_FLOAT16, 2, (dim[]){rows, width}, NULL);
	uint32_t out = buffer(&x, BUFFER_OUTPUT, DT_BFLOAT16, 2, (dim[]){x.n, width}, NULL);
	uint32_t best = buffer(&x, BUFFER_OUTPUT, DT_INT64, 1, (dim[]){x.n}, NULL);
	struct loop_nest *n = nest(&x, 2, 0, (dim[]){x.n, width});
	struct loop_access a = at(&x, table, 2, (dim[]){x.zero, x.one});
	a.index = op1(n, OP_CAST, DT_INT64, load(n, DT_INT32, at(&x, idx, 1, (dim[]){x.one}), false), false);
	a.index = check_place(n, a.index, rows);
	a.scale = width;
	store(n, op1(n, OP_CAST, DT_BFLOAT16, load(n, DT_FLOAT16, a, false), false), at(&x, out, 2, (dim[]){width, x.one}));
	n = nest(&x, 1, 1, (dim[]){x.n, width});
	uint32_t v = load(n, DT_BFLOAT16, at(&x, out, 2, (dim[]){width, x.one}), true);
	store(n, acc(n, OP_ARGMAX, DT_INT64, v), at(&x, best, 1, (dim[]){x.one}));
	check(&x, "gather");
}

/* Integers of every size: wrapping, Python's division, casts; a 4 x 4 space in 32-bit indices, walked backwards. */
static void integers(void **state)
{
	struct fixture x = setup("integers");
	dim four = num(&x, 4);
	uint32_t in = buffer(&x, BUFFER_INPUT, DT_INT32, 2, (dim[]){four, four}, NULL);
	uint32_t flo = buffer(&x, BUFFER_INPUT, DT_FLOAT64, 2, (dim[]){four, four}, NULL);
	uint32_t out = buffer(&x, BUFFER_OUTPUT, DT_INT8, 2, (dim[]){four, four}, NULL);
	uint32_t trits = buffer(&x, BUFFER_OUTPUT, DT_TRIT, 2, (dim[]){four, four}, NULL);
	struct loop_nest *n = nest(&x, 2, 0, (dim[]){four, four});
	struct loop_access back = at(&x, in, 2, (dim[]){num(&x, -4), num(&x, -1)});
	back.base = num(&x, 15);
	uint32_t v = load(n, DT_INT32, back, false), k = konst(n, DT_INT32, INT32_MIN, 0, false);
	uint32_t i = put(n, (struct loop_expr){.kind = LOOP_INDEX, .elem = DT_INT64, .var = 1});
	uint32_t narrow = op1(n, OP_CAST, DT_INT32, i, false), sum = op2(n, OP_ADD, DT_INT32, v, k, false);
	uint32_t s = op2(n, OP_FLOORDIV, DT_INT32, sum, narrow, false);
	uint32_t b = op1(n, OP_CAST, DT_INT8, op2(n, OP_MOD, DT_INT32, s, konst(n, DT_INT32, -7, 0, false), false), false);
	uint32_t f = load(n, DT_FLOAT64, at(&x, flo, 2, (dim[]){four, x.one}), false);
	uint32_t c = op2(n, OP_LT, DT_BOOL, f, konst(n, DT_FLOAT64, 0, 0.1, false), false);
	uint32_t t = op1(n, OP_CAST, DT_TRIT, f, false);
	uint32_t sel = put(
		n,
		(struct loop_expr){.kind = LOOP_OP, .op = OP_SELECT, .elem = DT_INT8, .args = {c, b, op1(n, OP_CAST, DT_INT8, v, false)}});
	store(n, sel, at(&x, out, 2, (dim[]){four, x.one}));
	store(n, t, at(&x, trits, 2, (dim[]){four, x.one}));
	check(&x, "integers");
}

/* y[N, 8] = relu(x[N, 4] · w[4, 8] + b[8]) as an epilogue */
static void epilogue(void **state)
{
	static const float bias[8] = {0.5f, -1.0f, 0.0f, 1e-20f, 3.0f, 0.1f, -0.0f, 65536.0f};
	struct fixture x = setup("epilogue");
	dim four = num(&x, 4), eight = num(&x, 8), dims[3] = {x.n, four, eight};
	uint32_t operands[2] = {buffer(&x, BUFFER_INPUT, DT_FLOAT32, 2, (dim[]){x.n, four}, NULL),
				buffer(&x, BUFFER_INPUT, DT_FLOAT32, 2, (dim[]){four, eight}, NULL)};
	uint32_t out = buffer(&x, BUFFER_OUTPUT, DT_FLOAT32, 2, (dim[]){x.n, eight}, NULL);
	uint32_t b = buffer(&x, BUFFER_CONST, DT_FLOAT32, 1, (dim[]){eight}, bias);
	struct loop_nest *n = ARENA_NEW(x.a, struct loop_nest);
	*n = *nest(&x, 3, 0, (dim[]){x.one, x.n, eight});
	uint32_t v = put(n, (struct loop_expr){.kind = LOOP_TILE, .elem = DT_FLOAT32});
	uint32_t w = load(n, DT_FLOAT32, at(&x, b, 3, (dim[]){x.zero, x.zero, x.one}), false);
	uint32_t r = op2(n, OP_MAX, DT_FLOAT32, op2(n, OP_ADD, DT_FLOAT32, v, w, false), konst(n, DT_FLOAT32, 0, 0, false), false);
	store(n, r, at(&x, out, 3, (dim[]){x.zero, eight, x.one}));
	x.f->stmts[0] = (struct loop_stmt){.kind = STMT_KERNEL,
					   .u.kernel = {.kernel = KERNEL_matmul_f32, operands, .n_buffers = 2, dims, .epilogue = n}};
	check(&x, "epilogue");
}

/* y[1024, 256] = x < b[256] ? int8 : 0, large enough for work items that take vectors; four bytes are one load. */
static void vectors(void **state)
{
	struct fixture x = setup("vectors");
	dim rows = num(&x, 1024), width = num(&x, 256);
	uint32_t in = buffer(&x, BUFFER_INPUT, DT_INT8, 2, (dim[]){rows, width}, NULL);
	uint32_t b = buffer(&x, BUFFER_INPUT, DT_INT8, 1, (dim[]){width}, NULL);
	uint32_t out = buffer(&x, BUFFER_OUTPUT, DT_INT8, 2, (dim[]){rows, width}, NULL);
	struct loop_nest *n = nest(&x, 2, 0, (dim[]){rows, width});
	uint32_t v = load(n, DT_INT8, at(&x, in, 2, (dim[]){width, x.one}), false);
	uint32_t w = load(n, DT_INT8, at(&x, b, 2, (dim[]){x.zero, x.one}), false);
	uint32_t less = op2(n, OP_LT, DT_BOOL, v, w, false), none = konst(n, DT_INT8, 0, 0, false);
	uint32_t chosen = put(n, (struct loop_expr){.kind = LOOP_OP, .op = OP_SELECT, .elem = DT_INT8, .args = {less, v, none}});
	store(n, chosen, at(&x, out, 2, (dim[]){width, x.one}));
	check(&x, "vectors");
}

/* Nothing of a program depends on units that are missing; helpers come first, a template once and only if it is used. */
static void program(void **state)
{
	struct fixture x = setup("matmul");
	dim dims[3] = {x.n, num(&x, 32), num(&x, 16)};
	x.f->stmts[x.f->n_stmts++] = (struct loop_stmt){.kind = STMT_KERNEL, .u.kernel = {.kernel = KERNEL_matmul_i8_trit2, .dims = dims}};
	const struct loop_fn *units[] = {NULL, x.f, x.f};
	struct buf out = {0};
	opencl_program(TRI_CL_GROUPS, units, 3, NULL, &out);
	uint32_t forms = 0; /* each once, for any number of rows */
	for (const char *at = out.at; (at = strstr(at, "#define TRI_NAME tri_matmul_i8_trit2")); at++)
		forms++;
	assert_int_equal(strncmp(out.at, form_template(TRI_CL_GROUPS, "opencl"), 100), 0);
	assert_int_equal(forms, 4);
	assert_null(strstr(out.at, "#define TRI_FP64"));
	buf_free(&out);
	arena_free(x.a);
}

/* Prints loops that are in a file, and checks their text. */
static void print_text(const char *path, const char *name, void checks(struct fixture *, const char *))
{
	struct fixture x = {.a = arena_new(0)};
	struct sources *sources = sources_new();
	struct diags *d = diags_new(0);
	char *text;
	size_t len;
	assert_true(os_read_file(path, 0, &text, &len));
	x.f = loops_read(x.a, sources_add(sources, path, text, len), d);
	diags_print(d, sources, stderr, false);
	assert_non_null(x.f);
	checks(&x, name);
	free(text);
	diags_free(d);
	sources_free(sources);
}

/* Items of groups keep elements, and launches have several statements. */
static void check_only_groups(struct fixture *x, const char *name)
{
	check_groups(x, name);
	arena_free(x->a);
}

static void blocks(void **state)
{
	print_text(TRIB_SOURCE_DIR "/tests/golden/loops/norm_rows_device.loops", "block", check_only_groups);
	print_text(TRIB_SOURCE_DIR "/tests/golden/loops/nested_device.loops", "nested", check);
}

static void beside(void **state) { print_text(TRIB_SOURCE_DIR "/tests/golden/loops/beside_device.loops", "beside", check_only_groups); }
static void repeat(void **state) { print_text(TRIB_SOURCE_DIR "/tests/golden/loops/repeat_device.loops", "repeat", check_only_groups); }

static void bounded_casts(void **state) { print_text(TRIB_SOURCE_DIR "/tests/golden/loops/bounded_device.loops", "bounded", check); }

int test_opencl_emit(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bias_relu),     cmocka_unit_test(softmax), cmocka_unit_test(mean_square), cmocka_unit_test(gather),
		cmocka_unit_test(integers),      cmocka_unit_test(program), cmocka_unit_test(epilogue),    cmocka_unit_test(blocks),
		cmocka_unit_test(bounded_casts), cmocka_unit_test(vectors), cmocka_unit_test(beside),      cmocka_unit_test(repeat),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
