#include "builder/weights/packed.h"
#include "tests/unit/unit.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"

enum { LARGE = MODEL_LARGE_BLOB + 100, N = 6 };

/* Large blobs 0, 1, 3 with `first`, `first`, 'b', and small ones 2, 4, 5, of which two are equal. */
struct image {
	struct model_weights weights;
	struct model_blob blobs[N];
};

static char byte_of(uint32_t i, char first) { return i < 2 ? first : i == 3 ? 'b' : i == 4 ? 'c' : 'd'; }

static void image_new(struct image *m)
{
	static const uint32_t order[N] = {0, 1, 3, 2, 4, 5};
	memset(m, 0, sizeof *m);
	m->weights = (struct model_weights){.blobs = m->blobs, .n_blobs = N};
	for (uint32_t k = 0; k < N; k++) {
		struct model_blob *b = &m->blobs[order[k]];
		*b = (struct model_blob){.key = {order[k], 1}, .len = k < 3 ? LARGE : 70, .offset = m->weights.size};
		m->weights.size += (b->len + 63) / 64 * 64;
	}
}

static void write_blob(struct packed *p, struct model_blob *b, char fill)
{
	static char bytes[LARGE];
	const char *error;
	memset(bytes, fill, b->len);
	size_t half = b->len / 3; /* in two pieces */
	assert_true(packed_write(p, b, 0, bytes, half, &error));
	assert_true(packed_write(p, b, half, bytes + half, b->len - half, &error));
}

static void check_file(const struct image *m, const char *path, uint64_t at, char first)
{
	const void *bytes;
	size_t len;
	assert_true(os_map_file(path, &bytes, &len));
	for (uint32_t i = 0; i < N; i++)
		for (size_t k = 0; k < m->blobs[i].len; k++)
			assert_int_equal(((const char *)bytes)[at + m->blobs[i].offset + k], byte_of(i, first));
	os_unmap(bytes, len);
}

static const char *folder(struct arena *a)
{
	const char *tmp = getenv("TMPDIR"), *dir = arena_printf(a, "%s/trib-packed-%d", tmp ? tmp : "/tmp", (int)getpid());
	assert_true(os_mkdirs(dir));
	return dir;
}

static void put_byte(const char *path, long at, char byte)
{
	FILE *f = fopen(path, "r+b");
	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fputc(byte, f), byte);
	assert_int_equal(fclose(f), 0);
}

static void equal_blobs_are_stored_once(void **state)
{
	struct arena *a = arena_new(0);
	const char *dir = folder(a), *path = arena_printf(a, "%s/lib.so", dir);
	struct image m;
	image_new(&m);
	struct packed *p = packed_open(path, 4096, 0755, &m.weights);
	assert_non_null(p);
	for (uint32_t i = N; i-- > 0;)
		write_blob(p, &m.blobs[i], byte_of(i, 'a'));
	assert_true(packed_merge(p));
	assert_false(packed_failed(p));
	assert_int_equal(m.blobs[0].offset, 0);
	assert_int_equal(m.blobs[1].offset, 0);
	assert_int_equal(m.blobs[3].offset, (LARGE + 63) / 64 * 64);
	assert_int_equal(m.blobs[2].offset, m.blobs[5].offset);
	assert_int_not_equal(m.blobs[2].offset, m.blobs[4].offset);
	assert_int_equal(m.weights.size, 2 * ((LARGE + 63) / 64 * 64) + 2 * 128);
	assert_memory_equal(packed_map(p) + m.blobs[3].offset, "bbbb", 4);
	static char around[5000];
	memset(around, 'x', sizeof around);
	uint64_t gap = (m.weights.size + 4095) / 4096 * 4096;
	assert_true(packed_publish(p, around, sizeof around, 4096, gap));
	const struct triw_entry *table = packed_table(a, p);
	packed_close(p);
	check_file(&m, path, 4096, 'a');

	struct image damaged; /* what changed on the disk is not copied */
	put_byte(path, (long)(4096 + m.blobs[3].offset + LARGE - 1), 'c');
	image_new(&damaged);
	p = packed_open(arena_printf(a, "%s/damaged.so", dir), 4096, 0755, &damaged.weights);
	packed_reuse(p, path, table, N);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(packed_find(p, &damaged.blobs[i]), i != 3);
	packed_close(p);
	put_byte(path, (long)(4096 + m.blobs[3].offset + LARGE - 1), 'b');

	struct image again; /* what the earlier file has is copied; what it has not is not found */
	image_new(&again);
	again.blobs[1].key.hi = 2;
	p = packed_open(path, 4096, 0755, &again.weights);
	packed_reuse(p, path, table, N);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(packed_find(p, &again.blobs[i]), i != 1);
	write_blob(p, &again.blobs[1], 'a');
	assert_true(packed_merge(p));
	assert_int_equal(again.weights.size, m.weights.size);
	struct file_stamp before, after;
	assert_true(os_stamp(path, &before));
	assert_true(packed_publish(p, around, sizeof around, 4096, gap)); /* the same content: the file stays */
	packed_close(p);
	assert_true(os_stamp(path, &after));
	assert_true(os_stamp_eq(&before, &after));
	assert_true(os_remove_tree(dir));
	arena_free(a);
}

static void another_library_shares_its_weights(void **state)
{
	struct arena *a = arena_new(0);
	const char *dir = folder(a), *path = arena_printf(a, "%s/two.so", dir);
	struct image m, n;
	image_new(&m);
	image_new(&n);
	struct packed *p = packed_open(arena_printf(a, "%s/one.so", dir), 4096, 0755, &m.weights),
		      *q = packed_open(path, 0, 0755, &n.weights);
	for (uint32_t i = 0; i < N; i++)
		write_blob(p, &m.blobs[i], byte_of(i, 'z'));
	packed_share(q, p);
	for (uint32_t i = 0; i < N; i++)
		assert_true(packed_find(q, &n.blobs[i]));
	assert_true(packed_merge(q));
	assert_true(packed_publish(q, "", 0, 0, n.weights.size));
	packed_close(q);
	packed_close(p);
	check_file(&n, path, 0, 'z');
	assert_int_equal(access(arena_printf(a, "%s/one.so", dir), F_OK), -1);
	assert_true(os_remove_tree(dir));
	arena_free(a);
}

static void errors(void **state)
{
	struct image m;
	image_new(&m);
	assert_null(packed_open("/nowhere/lib.so", 4096, 0755, &m.weights));
	assert_int_equal(errno, ENOENT);
	packed_close(NULL);
	assert_false(packed_failed(NULL));
}

int test_packed(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_blobs_are_stored_once),
		cmocka_unit_test(another_library_shares_its_weights),
		cmocka_unit_test(errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
