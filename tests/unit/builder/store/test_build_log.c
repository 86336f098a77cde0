#include "builder/store/build_log.h"
#include "tests/unit/unit.h"
#include <stdlib.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/store/serializer.h"
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
		build_log_add(
			s, &(struct build_entry){
				   .at = k, .wall_ns = 10 * k, .compiled = 3, .models = "net", .slowest = "link net", .command = "build"});
	store_close(s, &warning);
	s = store_open(dir, false, &warning);
	const struct build_entry *list = build_log_read(a, s, &n);
	assert_int_equal(n, BUILD_LOG_MOST);
	assert_int_equal(list[0].at, 5);
	assert_int_equal(list[n - 1].at, BUILD_LOG_MOST + 4);
	assert_int_equal(list[n - 1].wall_ns, 10 * (BUILD_LOG_MOST + 4));
	assert_string_equal(list[n - 1].slowest, "link net");
	store_close(s, &warning);
	build_log_add(NULL, &(struct build_entry){.models = "", .slowest = "", .command = ""});
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
		build_log_add(s, &(struct build_entry){.at = k, .models = "net", .slowest = "", .command = ""});
	store_put(s, store_key("build log", "1"), "short", 5);
	const struct build_entry *list = build_log_read(a, s, &n);
	assert_int_equal(n, 2);
	assert_int_equal(list[1].at, 2);
	store_close(s, &warning);
	buf_free(&warning);
	arena_free(a);
	os_remove_tree(dir);
}

/* An entry of the format before commands and look-ups were recorded. */
static void older_entries_are_read(void **state)
{
	char dir[] = "/tmp/trib-log-XXXXXX";
	struct buf warning = {0}, old = {0};
	struct arena *a = arena_new(0);
	uint64_t zero = 0, at = 7;
	uint32_t two = 2, n;
	const char *models = "net", *slowest = "link net";
	assert_non_null(mkdtemp(dir));
	struct store *s = store_open(dir, true, &warning);
	struct serializer z = serializer_to(&old);
	struct build_entry new = {.at = 9, .models = "net", .slowest = "", .command = "run", .lookups[LOOKUPS_L3] = {3, 4}};
	build_log_add(s, &new);
	build_log_add(s, &new);
	serialize_u64(&z, &zero);
	serialize_u64(&z, &at);
	serialize_u64(&z, &zero);
	serialize_u64(&z, &zero);
	for (int i = 0; i < 4; i++)
		serialize_u32(&z, &two);
	serialize_str(&z, &models);
	serialize_str(&z, &slowest);
	serialize_u64(&z, &at);
	store_put(s, store_key("build log", "0"), old.at, old.len);
	const struct build_entry *list = build_log_read(a, s, &n);
	assert_int_equal(n, 2);
	assert_int_equal(list[0].at, 7);
	assert_int_equal(list[0].misses, 2);
	assert_string_equal(list[0].slowest, "link net");
	assert_string_equal(list[0].command, "");
	assert_int_equal(lookups_all(&list[0].lookups[LOOKUPS_L3]), 0);
	assert_string_equal(list[1].command, "run");
	assert_int_equal(list[1].lookups[LOOKUPS_L3].hits, 3);
	assert_int_equal(list[1].lookups[LOOKUPS_L3].misses, 4);
	store_close(s, &warning);
	buf_free(&old);
	buf_free(&warning);
	arena_free(a);
	os_remove_tree(dir);
}

int test_build_log(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(older_entries_are_read),
		cmocka_unit_test(the_last_thousand),
		cmocka_unit_test(damaged_entries_are_skipped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
