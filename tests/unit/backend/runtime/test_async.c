/* Asynchronous runs of an opened model: their order, what `done` may call, errors, closing, forks. */
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "backend/runtime/engine.h" /* compiled into test_runtime.c */
#include "backend/runtime/model.h"

/* ---- a model: y [N] int32 is twice x [N] int32; fails where x[0] is 99; waits for `goes_on` where x[0] is 7 ---- */

enum { WAITS = 7, FAILS = 99, MOST = 4 };
static _Atomic bool goes_on;

static void twice(struct tri_context *ctx, void *const *bufs, const void *const *weights, const int64_t *dims, char *scratch)
{
	(void)weights, (void)scratch;
	const int32_t *x = bufs[0];
	while (x[0] == WAITS && !goes_on)
		usleep(100);
	if (x[0] == FAILS)
		tri_fail(ctx, 0, FAILS, 5);
	for (int64_t i = 0; i < dims[0]; i++)
		((int32_t *)bufs[1])[i] = 2 * x[i];
}

static const tri_dim_step step_n[] = {{TRI_DIM_SYM, 0, 0}};
static const tri_io_desc x_desc = {"x", TRI_INT32, 1, {{step_n, 1, 0}}}, y_desc = {"y", TRI_INT32, 1, {{step_n, 1, 0}}};
static const char *const n_name[] = {"N"};
static const struct tri_entry_code twice_code = {.unit = twice};
static const tri_entry_desc twice_entry = {"forward", &x_desc, &y_desc, 1, 1, n_name, 1, 0, &twice_code, NULL, NULL, 0, 0, NULL};
static const tri_model_desc twice_desc = {
	.abi = TRI_ABI, .n_entries = 1, .name = "twice", .entries = &twice_entry, .engine = &tri_processor};

/* A model, its tensors, and what `done` does. */
struct later {
	struct tri_model *m;
	int32_t x[MOST], y[MOST];
	tri_tensor io[2];
	int left; /* runs that `done` starts */
	bool runs, closes;
	tri_error err; /* of the last run */
	_Atomic int ended;
};

static void later_open(struct later *x, int32_t first)
{
	*x = (struct later){.m = tri_model_open(NULL, NULL, &twice_desc), .x = {first, 2, 3, 4}};
	assert_non_null(x->m);
	x->io[0] = (tri_tensor){x->x, {MOST}, 1, TRI_INT32};
	x->io[1] = (tri_tensor){x->y, {MOST}, 1, TRI_INT32};
}

static void note_end(void *user, const tri_error *err)
{
	struct later *x = user;
	x->err = *err;
	if (x->runs)
		assert_int_equal(tri_model_run(x->m, 0, x->io, NULL), TRI_OK);
	if (x->left-- > 0)
		assert_int_equal(tri_model_run_async(x->m, 0, x->io, note_end, x, NULL), TRI_OK);
	else if (x->closes)
		tri_model_close(x->m);
	x->ended++;
}

static void wait_for_runs(struct later *x, int n)
{
	while (x->ended < n)
		usleep(100);
}

static void start_run(struct later *x) { assert_int_equal(tri_model_run_async(x->m, 0, x->io, note_end, x, NULL), TRI_OK); }

static void results_and_errors_come_to_done(void **state)
{
	struct later x;
	tri_error err;
	later_open(&x, 1);
	start_run(&x);
	wait_for_runs(&x, 1);
	assert_int_equal(x.err.code, TRI_OK);
	assert_int_equal(x.y[3], 8);
	x.x[0] = FAILS;
	start_run(&x);
	wait_for_runs(&x, 2);
	assert_int_equal(x.err.code, TRI_ERR_RANGE);
	x.io[0].shape[0] = 3; /* of the tensors, too */
	start_run(&x);
	wait_for_runs(&x, 3);
	assert_string_equal(x.err.message, "output y: expected [N=3], got [4]");
	assert_int_equal(tri_model_run_async(x.m, 1, x.io, note_end, &x, &err), TRI_ERR_ARGUMENT);
	assert_int_equal(tri_model_run_async(x.m, 0, x.io, NULL, &x, &err), TRI_ERR_ARGUMENT);
	assert_int_equal(tri_model_run_async(NULL, 0, x.io, note_end, &x, &err), TRI_ERR_ARGUMENT);
	assert_int_equal(x.ended, 3);
	tri_model_close(x.m);
}

/* The model is free in it: it may be run, also at once, and closed. */
static void done_may_use_the_model(void **state)
{
	struct later x;
	later_open(&x, 1);
	x.left = 2;
	x.runs = x.closes = true;
	start_run(&x);
	wait_for_runs(&x, 3);
	assert_int_equal(x.err.code, TRI_OK);
}

static void a_run_during_a_run_is_busy(void **state)
{
	struct later x;
	goes_on = false;
	later_open(&x, WAITS);
	start_run(&x);
	assert_int_equal(tri_model_run(x.m, 0, x.io, NULL), TRI_ERR_BUSY);
	assert_int_equal(tri_model_run_async(x.m, 0, x.io, note_end, &x, NULL), TRI_ERR_BUSY);
	goes_on = true;
	wait_for_runs(&x, 1);
	tri_model_close(x.m);
	assert_int_equal(x.ended, 1);
}

static void a_model_is_closed_during_a_run(void **state)
{
	struct later x;
	goes_on = false;
	later_open(&x, WAITS);
	start_run(&x);
	tri_model_close(x.m);
	assert_int_equal(x.ended, 0);
	goes_on = true;
	wait_for_runs(&x, 1);
	assert_int_equal(x.err.code, TRI_OK);
	assert_int_equal(x.y[0], 2 * WAITS);
}

static void models_run_at_the_same_time(void **state)
{
	struct later blocked, other;
	goes_on = false;
	later_open(&blocked, WAITS);
	later_open(&other, 1);
	start_run(&blocked);
	start_run(&other);
	wait_for_runs(&other, 1);
	assert_int_equal(blocked.ended, 0);
	goes_on = true;
	wait_for_runs(&blocked, 1);
	tri_model_close(blocked.m);
	tri_model_close(other.m);
}

static void a_forked_child_runs(void **state)
{
	struct later x;
	int status;
	later_open(&x, 1);
	start_run(&x);
	wait_for_runs(&x, 1);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		start_run(&x);
		wait_for_runs(&x, 2);
		tri_model_close(x.m);
		_exit(x.err.code);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	tri_model_close(x.m);
}

int test_async(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_and_errors_come_to_done), cmocka_unit_test(done_may_use_the_model),
		cmocka_unit_test(a_run_during_a_run_is_busy),      cmocka_unit_test(a_model_is_closed_during_a_run),
		cmocka_unit_test(models_run_at_the_same_time),     cmocka_unit_test(a_forked_child_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
