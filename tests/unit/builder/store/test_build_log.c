#include "builder/store/build_log.h"
#include "tests/unit/unit.h"
#include <stdlib.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/store/store.h"

static void the_last_thousand(void **state)
{
	char dir[] = "/tmp/trib-log-XXXXXX";
	struct buf warning = {0};
	struct arena *a = arena_new(0);
	uint32_t n;
	assert_non_null(mkdtemp(dir));
	struct store *s = store_open(dir, true, &warning);
	build_log_read(a, s, &n);
	assert_int_equal(n, 0);
	for (uint64_t k = 0; k < BUILD_LOG_MOST + 5; k++)
		build_log_add(s, &(struct build_entry){.at = k, .wall_ns = 10 * k, .compiled = 3, .models = "net", .slowest = "link net"});
	store_close(s, &warning);
	s = store_open(dir, false, &warning);
	const struct build_entry *list = build_log_read(a, s, &n);
	assert_int_equal(n, BUILD_LOG_MOST);
	assert_int_equal(list[0].at, 5);
	assert_int_equal(list[n - 1].at, BUILD_LOG_MOST + 4);
	assert_int_equal(list[n - 1].wall_ns, 10 * (BUILD_LOG_MOST + 4));
	assert_string_equal(list[n - 1].slowest, "link net");
	store_close(s, &warning);
	build_log_add(NULL, &(struct build_entry){.models = "", .slowest = ""});
	build_log_read(a, NULL, &n);
	assert_int_equal(n, 0);
	buf_free(&warning);
	arena_free(a);
	os_remove_tree(dir);
}

static void damaged_entries_are_skipped(void **state)
{
	char dir[] = "/tmp/trib-log-XXXXXX";
	struct buf warning = {0};
	struct arena *a = arena_new(0);
	uint32_t n;
	assert_non_null(mkdtemp(dir));
	struct store *s = store_open(dir, true, &warning);
	for (uint64_t k = 0; k < 3; k++)
		build_log_add(s, &(struct build_entry){.at = k, .models = "net", .slowest = ""});
	store_put(s, store_key("build log", "1"), "short", 5);
	const struct build_entry *list = build_log_read(a, s, &n);
	assert_int_equal(n, 2);
	assert_int_equal(list[1].at, 2);
	store_close(s, &warning);
	buf_free(&warning);
	arena_free(a);
	os_remove_tree(dir);
}

int test_build_log(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_thousand),
		cmocka_unit_test(damaged_entries_are_skipped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
