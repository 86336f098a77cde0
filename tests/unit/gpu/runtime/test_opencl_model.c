/* An OpenCL library of two units, one called twice with different weights: opened, run with several sizes, misused, closed. And the
 * module that lists devices. */
#include <pthread.h>
#include "gpu/module.h"
#include "tests/unit/gpu/opencl_fixture.h"

enum { WIDTH = 20 };
static int8_t weights[2][WIDTH * WIDTH];

/* layer(x [N, 20]) = relu(x @ w) */
static struct unit *layer_unit(struct model *m, const char *name, const int8_t *w)
{
	struct unit *u = unit_new(m, name);
	struct hir_type t = TYPE(u, DT_FLOAT32, -1, WIDTH);
	ir_ref x = unit_input(u, t), k = unit_weight(u, TYPE(u, DT_TRIT, WIDTH, WIDTH), LAYOUT_TRIT2, w);
	ir_ref y = OP_(u, OP_MATMUL, t, x, k), zero = op_n(u, OP_CONST, t, 0, NULL);
	static const float nothing;
	ir_at(u->f, zero)->type = type_of(u, DT_FLOAT32, 0, NULL);
	ir_set_const(u->f, zero, &nothing);
	unit_output(u, OP_(u, OP_MAX, t, y, OP_(u, OP_BROADCAST, t, zero)));
	return u;
}

static struct loop_buffer plain(struct unit *u, enum buffer_kind kind, uint32_t index, struct hir_type t)
{
	return (struct loop_buffer){
		.kind = kind, .index = index, .type = t, .offset = dim_const(u->f->dims, 0), .alias = LOOP_NONE, .grows = LOOP_NONE};
}

/* net(x [N, 20], i int32 [N]) = layer2(layer1(x)) by two calls, and row i[n] of x by an index that may be out of range. */
static void net_loops(struct unit *u, struct unit *callee)
{
	struct arena *a = u->a;
	struct dims *d = u->f->dims;
	struct hir_type t = u->f->inputs[0];
	dim zero = dim_const(d, 0), one = dim_const(d, 1), width = dim_const(d, WIDTH), bytes = dim_const(d, 4 * WIDTH + 60);
	struct loop_fn *f = u->loops = ARENA_NEW(a, struct loop_fn);
	*f = (struct loop_fn){
		.unit = a, .symbol = u->f->name, .dims = d, .n_buffers = 5, .n_stmts = 3, .n_inputs = 2, .n_outputs = 2, .n_slots = 2};
	f->scratch = dim_mul(d, dim_floordiv(d, dim_add(d, dim_mul(d, u->n, bytes), dim_const(d, 63)), dim_const(d, 64)), dim_const(d, 64));
	f->buffers = ARENA_ARRAY(a, struct loop_buffer, 5);
	f->buffers[0] = plain(u, BUFFER_INPUT, 0, t);
	f->buffers[1] = plain(u, BUFFER_INPUT, 1, u->f->inputs[1]);
	f->buffers[2] = plain(u, BUFFER_OUTPUT, 0, t);
	f->buffers[3] = plain(u, BUFFER_OUTPUT, 1, t);
	f->buffers[4] = plain(u, BUFFER_TEMP, 0, t);
	f->stmts = ARENA_ARRAY(a, struct loop_stmt, 3);
	static uint32_t args[2][2] = {{0, 4}, {4, 2}};
	for (uint32_t i = 0; i < 2; i++) {
		dim *n = ARENA_NEW(a, dim);
		*n = u->n;
		f->stmts[i] = (struct loop_stmt){
			.kind = STMT_CALL,
			.u.call = {.buffers = args[i], .n_buffers = 2, .dims = n, .n_dims = 1, .callee = callee->f->name, .slot = i}};
	}
	struct loop_nest *n = &f->stmts[2].u.nest;
	n->n_parallel = 2;
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		n->extent[k] = k == 0 ? u->n : k == 1 ? width : zero;
	struct loop_access none = {.base = zero, .index = LOOP_NONE, .scale = zero};
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		none.stride[k] = zero;
	n->exprs = ARENA_ARRAY(a, struct loop_expr, 4);
	n->n_exprs = 4;
	n->exprs[0] = (struct loop_expr){.kind = LOOP_LOAD, .elem = DT_INT32, .access = none};
	n->exprs[0].access.buffer = 1;
	n->exprs[0].access.stride[0] = one;
	n->exprs[1] = (struct loop_expr){.kind = LOOP_OP, .op = OP_CAST, .elem = DT_INT64, .args = {0, LOOP_NONE, LOOP_NONE}};
	n->exprs[2] = (struct loop_expr){.kind = LOOP_CHECK, .elem = DT_INT64, .args = {1, LOOP_NONE, LOOP_NONE}, .extent = u->n};
	n->exprs[3] = (struct loop_expr){.kind = LOOP_LOAD, .elem = DT_FLOAT32, .access = none};
	n->exprs[3].access.index = 2;
	n->exprs[3].access.stride[1] = one;
	n->exprs[3].access.scale = width;
	n->stores = ARENA_NEW(a, struct loop_store);
	n->n_stores = 1;
	n->stores[0] = (struct loop_store){3, none};
	n->stores[0].access.buffer = 3;
	n->stores[0].access.stride[0] = width;
	n->stores[0].access.stride[1] = one;
	loops_schedule(f, &(struct plan_options){.target = target_get(TARGET_OPENCL)});
}

static struct unit *net_unit(struct model *m)
{
	struct unit *u = unit_new(m, "net");
	struct hir_type t = TYPE(u, DT_FLOAT32, -1, WIDTH);
	ir_ref x = unit_input(u, t);
	unit_input(u, TYPE(u, DT_INT32, -1));
	unit_output(u, x); /* for its type */
	unit_output(u, x);
	u->plan.n_slots = 2;
	for (uint32_t s = 0; s < 2; s++)
		u->plan.slots[s] = (struct slot){.kind = SLOT_TABLE, .first_output = 1 + s};
	return u;
}

static struct model model;

static int setup(void **state)
{
	model_init(&model);
	for (uint32_t i = 0; i < WIDTH * WIDTH; i++) {
		weights[0][i] = (int8_t)((int)(i * 7 % 3) - 1);
		weights[1][i] = (int8_t)((int)(i * i % 5 % 3) - 1);
	}
	struct unit *net = net_unit(&model), *layer = layer_unit(&model, "layer", weights[0]);
	layer_unit(&model, "other_weights", weights[1]);
	net_loops(net, layer);
	model_build(&model, 1, 2);
	model_open(&model);
	return 0;
}
static int teardown(void **state)
{
	model_end(&model);
	return 0;
}

static void layer(const float *x, const int8_t *w, int64_t n, float *y)
{
	for (int64_t r = 0; r < n; r++)
		for (int64_t c = 0; c < WIDTH; c++) {
			double sum = 0;
			for (int64_t k = 0; k < WIDTH; k++)
				sum += (double)x[r * WIDTH + k] * w[k * WIDTH + c];
			y[r * WIDTH + c] = sum > 0 ? (float)sum : 0;
		}
}

struct data {
	float x[50 * WIDTH], mid[50 * WIDTH], want[50 * WIDTH], y[50 * WIDTH], row[50 * WIDTH];
	int32_t i[50];
	tri_tensor io[4];
};

static void data_fill(struct data *d, int64_t n)
{
	for (int64_t k = 0; k < n * WIDTH; k++)
		d->x[k] = (float)((k * 37 + n) % 19 - 9); /* small integers: every sum is exact */
	for (int64_t k = 0; k < n; k++)
		d->i[k] = (int32_t)(n - 1 - k);
	layer(d->x, weights[0], n, d->mid);
	layer(d->mid, weights[1], n, d->want);
	d->io[0] = (tri_tensor){d->x, {n, WIDTH}, 2, TRI_FLOAT32};
	d->io[1] = (tri_tensor){d->i, {n}, 1, TRI_INT32};
	d->io[2] = (tri_tensor){d->y, {n, WIDTH}, 2, TRI_FLOAT32};
	d->io[3] = (tri_tensor){d->row, {n, WIDTH}, 2, TRI_FLOAT32};
}

static void check_run(struct tri_model *m, struct data *d, int64_t n)
{
	tri_error err = {0};
	data_fill(d, n);
	if (model.desc->run(m, 0, d->io, &err) != TRI_OK)
		fail_msg("%s", err.message);
	assert_memory_equal(d->y, d->want, (size_t)n * WIDTH * 4);
	for (int64_t k = 0; k < n; k++)
		assert_memory_equal(d->row + k * WIDTH, d->x + (n - 1 - k) * WIDTH, WIDTH * 4);
}

static void sizes(void **state)
{
	static const int64_t n[] = {1, 5, 5, 50, 0, 3, 50};
	struct data *d = calloc(1, sizeof *d);
	for (size_t i = 0; i < sizeof n / sizeof *n; i++)
		check_run(model.open, d, n[i]);
	free(d);
}

static void described(void **state)
{
	const tri_model_desc *d = model.desc;
	assert_int_equal(d->abi, TRI_ABI);
	assert_int_equal(d->n_entries, 1);
	assert_int_equal(d->entries[0].n_inputs, 2);
	assert_int_equal(d->entries[0].n_outputs, 2);
	assert_string_equal(d->entries[0].inputs[0].name, "x0");
	assert_ptr_equal(dlsym(model.library, "net_open") ? d->open : NULL, d->open);
	assert_non_null(dlsym(model.library, "net_run"));
	assert_non_null(dlsym(model.library, "net_close"));
	assert_null(dlsym(model.library, "tri_model_open"));
}

/* The CPU library's checks and messages. */
static void misuse(void **state)
{
	struct data *d = calloc(1, sizeof *d);
	tri_error err = {0};
	data_fill(d, 4);
	d->io[0].shape[1] = 7;
	assert_int_equal(model.desc->run(model.open, 0, d->io, &err), TRI_ERR_SHAPE);
	assert_non_null(strstr(err.message, "input x0: expected ["));
	data_fill(d, 4);
	d->io[1].dtype = TRI_INT64;
	assert_int_equal(model.desc->run(model.open, 0, d->io, &err), TRI_ERR_DTYPE);
	data_fill(d, 4);
	d->io[3].data = NULL;
	assert_int_equal(model.desc->run(model.open, 0, d->io, &err), TRI_ERR_ARGUMENT);
	assert_int_equal(model.desc->run(model.open, 9, d->io, NULL), TRI_ERR_ARGUMENT);
	data_fill(d, 4);
	d->i[2] = 4;
	assert_int_equal(model.desc->run(model.open, 0, d->io, &err), TRI_ERR_RANGE);
	assert_string_equal(err.message, "index 4 is out of range: it must be at least 0 and less than 4");
	check_run(model.open, d, 4); /* as good as new */
	model.desc->close(NULL);
	free(d);
}

static void devices_by_number(void **state)
{
	tri_error err = {0};
	tri_options opt = {.size = sizeof opt, .device = "0"};
	struct tri_model *m = model.desc->open(&opt, &err);
	if (!m)
		fail_msg("%s", err.message);
	model.desc->close(m);
	opt.device = "999";
	assert_null(model.desc->open(&opt, &err));
	assert_int_equal(err.code, TRI_ERR_DEVICE);
	assert_non_null(strstr(err.message, "no OpenCL device 999"));
	opt.device = "no such name";
	assert_null(model.desc->open(&opt, &err));
	assert_int_equal(err.code, TRI_ERR_DEVICE);
	assert_non_null(strstr(err.message, "no OpenCL device no such name: 0 is"));
}

static void *other_thread(void *arg)
{
	struct data *d = calloc(1, sizeof *d);
	for (int64_t n = 1; n < 20; n++)
		check_run(arg, d, n);
	free(d);
	return NULL;
}

/* Two models of one library at a time: nothing is shared. */
static void two_threads(void **state)
{
	pthread_t t;
	struct tri_model *m = model.desc->open(NULL, NULL);
	assert_non_null(m);
	assert_int_equal(pthread_create(&t, NULL, other_thread, m), 0);
	other_thread(model.open);
	pthread_join(t, NULL);
	model.desc->close(m);
}

static void module(void **state)
{
	static struct gpu_answer found;
	void *lib = dlopen(TRIB_BINARY_DIR "/lib/trib/libtrib-gpu.so", RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		fail_msg("%s", dlerror());
	gpu_entry_fn *entry;
	*(void **)&entry = dlsym(lib, GPU_ENTRY);
	assert_non_null(entry);
	assert_int_equal(entry()->abi, GPU_ABI);
	entry()->devices(&found);
	assert_true(found.n > 0 && found.asked[0]);
	assert_true(found.list[0].name[0] && found.list[0].platform[0] && found.list[0].compute_units > 0 &&
		    found.list[0].memory_bytes > 0);
}

int test_opencl_model(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(described),         cmocka_unit_test(sizes),       cmocka_unit_test(misuse),
		cmocka_unit_test(devices_by_number), cmocka_unit_test(two_threads), cmocka_unit_test(module),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
