/* Spans nest, add up by name and place, and cost nothing without a log. */
#include "base/measure.h"
#include "tests/unit/unit.h"
#include "base/arena.h"
#include "base/usage.h"

static int64_t wall, cpu;
static int64_t fake_wall(void) { return wall; }
static int64_t fake_cpu(void) { return cpu; }

static struct measure_log *start(void)
{
	struct measure_log *log = measure_log_new();
	log->wall_ns = fake_wall;
	log->cpu_ns = fake_cpu;
	assert_null(measure_attach(log));
	return log;
}

static void pass(int64_t ns)
{
	wall += ns;
	cpu += ns / 2;
}

static void nesting(void **state)
{
	struct measure_log *log = start();
	for (int i = 0; i < 2; i++) {
		measure_begin_of("outer", "unit");
		pass(100);
		measure_begin("inner");
		pass(30000);
		measure_end();
		measure_begin("short");
		pass(10);
		measure_end();
		measure_end();
	}
	measure_begin("inner"); /* at another place */
	pass(7);
	measure_end();
	assert_ptr_equal(measure_attach(NULL), log);
	assert_int_equal(log->nodes.len, 4);
	const struct measure_node *outer = &log->nodes.at[0], *inner = &log->nodes.at[1], *root = &log->nodes.at[3];
	assert_string_equal(inner->name, "inner");
	assert_int_equal(inner->parent, 0);
	assert_int_equal(inner->cost.calls, 2);
	assert_int_equal(inner->cost.wall_ns, 60000);
	assert_int_equal(inner->cost.cpu_ns, 30000);
	assert_int_equal(outer->cost.wall_ns, 2 * 30110);
	assert_int_equal(root->parent, MEASURE_NONE);
	assert_int_equal(root->cost.wall_ns, 7);
	assert_int_equal(log->events.len, 5); /* outermost spans, and the two long inner ones */
	assert_string_equal(log->events.at[1].subject, "unit");
	assert_int_equal(log->events.at[1].start_ns, 0);
	assert_int_equal(log->events.at[1].ns, 30110);
	measure_log_free(log);
}

static void memory(void **state)
{
	struct measure_log *log = start();
	vec_reserve(&log->nodes, 2); /* its lists do not grow inside */
	vec_reserve(&log->open, 2);
	vec_reserve(&log->events, 2);
	measure_begin("keeps");
	struct arena *kept = arena_new(4096);
	arena_alloc(kept, 1, 1);
	measure_begin("drops");
	struct arena *dropped = arena_new(65536);
	arena_alloc(dropped, 1, 1);
	arena_free(dropped);
	usage_of_thread.read += 5;
	measure_end();
	measure_end();
	measure_attach(NULL);
	const struct measure_cost *keeps = &log->nodes.at[0].cost, *drops = &log->nodes.at[1].cost;
	assert_int_equal(keeps->net_bytes, 4096);
	assert_int_equal(keeps->peak_bytes, 4096 + 65536);
	assert_int_equal(keeps->allocations, 2);
	assert_int_equal(drops->net_bytes, 0);
	assert_int_equal(drops->peak_bytes, 65536);
	assert_int_equal(drops->read_bytes, 5);
	assert_int_equal(keeps->read_bytes, 5);
	arena_free(kept);
	measure_log_free(log);
}

static void without_a_log(void **state)
{
	assert_null(measure_log_of_thread);
	measure_begin("nothing");
	measure_end();
}

int test_measure(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nesting), cmocka_unit_test(memory), cmocka_unit_test(without_a_log)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
