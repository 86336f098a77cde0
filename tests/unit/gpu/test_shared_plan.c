/* A plan is constant once it is made: threads compile it, print it and evaluate its build_fn at once, with the results of one thread. The
 * thread sanitizer and helgrind judge the rest. */
#include <pthread.h>
#include "tests/unit/unit.h"
#include "backend/loops/ir/serialize.h"
#include "backend/plan/plan.h"
#include "base/diag.h"
#include "gpu/opencl.h"
#include "tests/unit/backend/cpu/codegen_native.h"
#include "tests/unit/backend/hir_fixture.h"

enum { THREADS = 8, KINDS = 4 };

/* Softmax over the rows of relu(x @ w + b) @ absmean(t), with strides, offsets and a slot of each layout. */
static struct hir_unit *unit(struct arena *a)
{
	struct hir_unit *u = hir_new(a, "shared_0");
	dim_new_sym(u->dims, "N");
	hir_ref x = hir_input_new(u, "x", SHAPE(u, DT_FLOAT32, -1, 5), false);
	hir_ref w = hir_input_new(u, "w", SHAPE(u, DT_FLOAT32, 5, 7), true);
	hir_ref b = hir_input_new(u, "b", SHAPE(u, DT_FLOAT32, 7), true);
	hir_ref t = hir_input_new(u, "t", SHAPE(u, DT_FLOAT32, 7, 3), true);
	hir_ref q = BI(u, BI_ABSMEAN_QUANTIZE, SHAPE(u, DT_TRIT, 7, 3), T(t));
	hir_ref trits = hir_result_new(u, q, 0, SHAPE(u, DT_TRIT, 7, 3));
	hir_ref y = BI(u, BI_MATMUL, SHAPE(u, DT_FLOAT32, -1, 7), T(x), T(w));
	y = BI(u, BI_ADD, SHAPE(u, DT_FLOAT32, -1, 7), T(y), T(b));
	y = BI(u, BI_RELU, SHAPE(u, DT_FLOAT32, -1, 7), T(y));
	y = BI(u, BI_MATMUL, SHAPE(u, DT_FLOAT32, -1, 3), T(y), T(trits));
	hir_output_new(u, BI(u, BI_SOFTMAX, SHAPE(u, DT_FLOAT32, -1, 3), T(y), I(1)));
	return u;
}

static struct plan *plan(struct arena *a, const struct hir_unit *u, enum target_id target)
{
	struct diags *d = diags_new(0);
	struct plan_options o = {.target = target_get(target), .opt = 2, .verify = true};
	struct plan *p = plan_unit(a, u, &o, d, NULL);
	if (!p)
		fail_msg("%s", diags_at(d, 0)->message);
	diags_free(d);
	return p;
}

struct job {
	const struct codegen_api *api;
	const struct plan *cpu, *device;
	uint32_t kind;
	struct buf out;
	bool ok;
};

static bool compile(struct job *j)
{
	struct buf error = {0};
	struct codegen *c = j->api->open(&(struct codegen_target){"x86-64-v3", "", 32, 2, false, false}, &error);
	bool ok = c && j->api->compile(c, j->cpu->loops, &j->out, &error);
	j->api->close(c);
	buf_free(&error);
	return ok;
}

static void print(struct job *j)
{
	ir_print(j->cpu->run_fn, &j->out);
	ir_print(j->cpu->build_fn, &j->out);
	loops_print(j->cpu->loops, &j->out);
	loops_serialize(j->cpu->loops, &j->out);
}

static void take_pieces(struct job *j)
{
	struct arena *a = arena_new(0);
	for (uint32_t k = 0; k < j->cpu->interface.n_pieces; k++)
		ir_print(build_fn_piece(a, j->cpu->build_fn, &j->cpu->interface, k), &j->out);
	arena_free(a);
}

static void *work(void *arg)
{
	struct job *j = arg;
	j->ok = true;
	switch (j->kind % KINDS) {
	case 0: j->ok = compile(j); break;
	case 1: opencl_unit(TRI_CL_GROUPS, j->device->loops, &j->out); break;
	case 2: print(j); break;
	default: take_pieces(j);
	}
	return NULL;
}

static void threads_share_a_plan(void **state)
{
	struct arena *a = arena_new(0);
	const struct hir_unit *u = unit(a);
	const struct job all = {native_api(), plan(a, u, TARGET_X86_64_V3), plan(a, u, TARGET_OPENCL), 0, {0}, false};
	struct job alone[KINDS], jobs[THREADS];
	pthread_t threads[THREADS];
	(void)state;
	assert_non_null(all.api);
	assert_true(all.cpu->interface.n_pieces > 0);
	for (uint32_t k = 0; k < KINDS; k++) {
		alone[k] = all;
		alone[k].kind = k;
		work(&alone[k]);
		assert_true(alone[k].ok && alone[k].out.len);
	}
	for (uint32_t k = 0; k < THREADS; k++) {
		jobs[k] = all;
		jobs[k].kind = k;
		assert_int_equal(pthread_create(&threads[k], NULL, work, &jobs[k]), 0);
	}
	for (uint32_t k = 0; k < THREADS; k++) {
		const struct buf *want = &alone[k % KINDS].out;
		assert_int_equal(pthread_join(threads[k], NULL), 0);
		assert_true(jobs[k].ok && jobs[k].out.len == want->len && !memcmp(jobs[k].out.at, want->at, want->len));
		buf_free(&jobs[k].out);
	}
	for (uint32_t k = 0; k < KINDS; k++)
		buf_free(&alone[k].out);
	arena_free(a);
}

int test_shared_plan(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_a_plan)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
