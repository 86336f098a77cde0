#include "builder/store/costs.h"
#include "tests/unit/unit.h"
#include <stdlib.h>
#include "base/buf.h"
#include "base/os.h"
#include "builder/store/store.h"

static void halfway_to_the_newest(void **state)
{
	char dir[] = "/tmp/trib-costs-XXXXXX";
	struct buf warning = {0};
	hash128 target = {1, 2}, key = cost_key("compile f() [N]", target, 1), other = cost_key("compile f() [N]", target, 2);
	struct cost guess = {5, 6}, c;
	assert_non_null(mkdtemp(dir));
	struct store *s = store_open(dir, true, &warning);
	assert_int_equal(cost_find(s, key, guess).ns, 5);
	cost_note(s, key, (struct cost){1000, 64});
	assert_int_equal(cost_find(s, key, guess).ns, 1000);
	cost_note(s, key, (struct cost){3000, 128});
	store_close(s, &warning);
	s = store_open(dir, false, &warning);
	c = cost_find(s, key, guess);
	assert_int_equal(c.ns, 2000);
	assert_int_equal(c.memory, 96);
	assert_int_equal(cost_find(s, other, guess).ns, 5); /* another level */
	store_close(s, &warning);
	cost_note(NULL, key, c);
	assert_int_equal(cost_find(NULL, key, guess).memory, 6);
	buf_free(&warning);
	os_remove_tree(dir);
}

int test_costs(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(halfway_to_the_newest)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
