/* Sound bytes in the wrong place: a value under the key of another, as a flipped bit in a key or a page that was written elsewhere
 * leaves it, is a miss. */
#include "tests/unit/unit.h"
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/os.h"
#include "builder/cache/cache.h"
#include "builder/store/store.h"

enum { LEN = 40 };
static const hash128 keys[2] = {{1, 2}, {3, 4}};
static const char values[2][LEN] = {"one", "two"};
static char dir[64];

static int setup(void **state)
{
	strcpy(dir, "/tmp/trib-mixed-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) { return os_remove_tree(dir) ? 0 : -1; }

/* Of a table with two records. */
static void swap_values(const char *table)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_cursor *cursor;
	MDB_val k, d;
	char key[2][16], bytes[2][200];
	size_t len[2];
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 4), 0);
	assert_int_equal(mdb_env_open(env, dir, 0, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, table, 0, &dbi), 0);
	assert_int_equal(mdb_cursor_open(txn, dbi, &cursor), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(mdb_cursor_get(cursor, &k, &d, MDB_NEXT), 0);
		assert_true(k.mv_size == sizeof key[i] && d.mv_size <= sizeof bytes[i]);
		memcpy(key[i], k.mv_data, sizeof key[i]);
		memcpy(bytes[i], d.mv_data, len[i] = d.mv_size);
	}
	mdb_cursor_close(cursor);
	for (int i = 0; i < 2; i++)
		assert_int_equal(mdb_put(txn, dbi, &(MDB_val){sizeof key[i], key[i]}, &(MDB_val){len[1 - i], bytes[1 - i]}, 0), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

static void store_values(void **state)
{
	struct buf w = {0};
	size_t len;
	struct store *s = store_open(dir, true, &w);
	for (int i = 0; i < 2; i++)
		store_put(s, keys[i], values[i], LEN);
	assert_true(store_close(s, &w));
	swap_values(NULL);
	s = store_open(dir, false, &w);
	assert_null(store_get(s, keys[0], &len));
	assert_null(store_get(s, keys[1], &len));
	assert_int_equal(w.len, 0);
	store_close(s, &w);
	assert_non_null(strstr(w.at, "damaged"));
	buf_free(&w);
}

static struct cache *open_cache(void)
{
	struct buf w = {0};
	struct cache_options o = {.dir = dir, .limits = {.size = CACHE_LEAST_SIZE}, .levels = ~0u};
	struct cache *c = cache_open(&o, &w);
	assert_non_null(c);
	assert_int_equal(w.len, 0);
	return c;
}

/* Both are misses, are kept again, and are found again. */
static void try_table(const char *table)
{
	struct buf w = {0};
	size_t len;
	struct cache *c = open_cache();
	for (int i = 0; i < 2; i++)
		cache_put(c, CACHE_FRAGMENT, keys[i], values[i], LEN, 0);
	assert_true(cache_close(c, &w));
	swap_values(table);
	c = open_cache();
	for (int i = 0; i < 2; i++) {
		assert_null(cache_get(c, CACHE_FRAGMENT, keys[i], &len));
		cache_put(c, CACHE_FRAGMENT, keys[i], values[i], LEN, 0);
	}
	assert_true(cache_close(c, &w));
	c = open_cache();
	for (int i = 0; i < 2; i++) {
		const void *found = cache_get(c, CACHE_FRAGMENT, keys[i], &len);
		assert_non_null(found);
		assert_memory_equal(found, values[i], LEN);
	}
	assert_true(cache_close(c, &w));
	assert_int_equal(w.len, 0);
}

static void cache_entries(void **state) { try_table("entries"); }

static void cache_index(void **state) { try_table("index"); }

int test_mixed_up(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {T(store_values), T(cache_entries), T(cache_index)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
