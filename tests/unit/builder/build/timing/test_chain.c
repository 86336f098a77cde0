/* The longest chain of dependent tasks. */
#include "builder/build/timing/chain.h"
#include "tests/unit/unit.h"
#include "scheduler/task.h"

static uint32_t add(struct chain *c, int64_t ns)
{
	uint32_t i = chain_add(c);
	chain_ran(c, i, &(struct task_result){.end = TASK_DONE, .worker = 1, .began = 5, .wall_ns = ns});
	return i;
}

static void diamond(void **state)
{
	struct chain c = {0};
	uint32_t link = add(&c, 4), slow = add(&c, 10), fast = add(&c, 3), first = add(&c, 2), alone = add(&c, 15);
	chain_need(&c, link, slow);
	chain_need(&c, link, fast);
	chain_need(&c, fast, first); /* ends first: the slower input replaces it */
	chain_need(&c, slow, first);
	assert_int_equal(chain_find_longest(&c), 16);
	assert_true(c.tasks.at[first].is_critical && c.tasks.at[slow].is_critical && c.tasks.at[link].is_critical);
	assert_false(c.tasks.at[fast].is_critical || c.tasks.at[alone].is_critical);
	assert_int_equal(c.tasks.at[slow].lane, 2);
	chain_finish(&c, NULL);
}

static void skipped(void **state)
{
	struct chain c = {0};
	uint32_t ran = add(&c, 7), user = chain_add(&c);
	chain_need(&c, user, ran);
	chain_ran(&c, user, &(struct task_result){.end = TASK_SKIPPED, .wall_ns = 99});
	assert_int_equal(chain_find_longest(&c), 7);
	chain_finish(&c, NULL);
	assert_int_equal(chain_find_longest(&c), 0);
	chain_finish(&c, NULL);
}

int test_chain(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(diamond), cmocka_unit_test(skipped)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
