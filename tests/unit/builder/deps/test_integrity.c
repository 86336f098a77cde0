#include "builder/deps/checkout.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"

/* A folder with a source, one below, and what is no source. */
struct place {
	struct arena *a;
	char folder[64];
	const char *record, *top, *below, *other;
};

static void put(const char *path, const char *text)
{
	chmod(path, 0644);
	assert_true(os_write_atomic(path, text, strlen(text), 0644, false));
}

static struct place make(void)
{
	struct place p = {.a = arena_new(0), .folder = "/tmp/trib-record-XXXXXX"};
	assert_non_null(mkdtemp(p.folder));
	const char *deep = arena_printf(p.a, "%s/files/deep", p.folder);
	assert_true(os_mkdirs(deep));
	p.top = arena_printf(p.a, "%s/files/a.tri", p.folder);
	p.below = arena_printf(p.a, "%s/b.tri", deep);
	p.other = arena_printf(p.a, "%s/notes.txt", deep);
	p.record = arena_printf(p.a, "%s/files.record", p.folder);
	put(p.top, "one");
	put(p.below, "two");
	put(p.other, "three");
	return p;
}

static const char *files(const struct place *p) { return arena_printf(p->a, "%s/files", p->folder); }

/* The number of links that are removed. */
static uint32_t write_record(const struct place *p)
{
	struct outward_links removed;
	assert_true(integrity_write(p->a, files(p), p->record, &removed));
	return removed.n;
}

static void drop(struct place *p)
{
	os_remove_tree(p->folder);
	arena_free(p->a);
}

static void test_holds(void **state)
{
	struct place p = make();
	struct stat st;
	assert_false(integrity_holds(p.a, files(&p), p.record)); /* there is none yet */
	assert_int_equal(write_record(&p), 0);
	assert_true(integrity_holds(p.a, files(&p), p.record));
	assert_int_equal(stat(p.below, &st), 0);
	assert_int_equal(st.st_mode & 0222, 0);
	put(p.other, "four");
	assert_true(integrity_holds(p.a, files(&p), p.record));
	drop(&p);
}

static void test_other_stamps(void **state)
{
	struct place p = make();
	assert_int_equal(write_record(&p), 0);
	put(p.below, "two"); /* as a copy would have it */
	assert_true(integrity_holds(p.a, files(&p), p.record));
	put(p.below, "owt");
	assert_false(integrity_holds(p.a, files(&p), p.record));
	drop(&p);
}

static void test_other_files(void **state)
{
	struct place p = make();
	const char *more = arena_printf(p.a, "%s/files/deep/tri.build", p.folder);
	assert_int_equal(write_record(&p), 0);
	put(more, "");
	assert_false(integrity_holds(p.a, files(&p), p.record));
	unlink(more);
	assert_true(integrity_holds(p.a, files(&p), p.record));
	assert_int_equal(rename(p.below, arena_printf(p.a, "%s/files/b.tri", p.folder)), 0);
	assert_false(integrity_holds(p.a, files(&p), p.record));
	drop(&p);
}

/* Only links to files and folders of the folder stay. */
static void test_links(void **state)
{
	static const char *const targets[] = {"deep/b.tri", "deep", ".", "/etc/passwd", "../..", "nothing", "6", "/dev/zero"};
	struct place p = make();
	struct stat st;
	for (int i = 0; i < 8; i++)
		assert_int_equal(symlink(targets[i], arena_printf(p.a, "%s/files/%d", p.folder, i)), 0);
	assert_int_equal(write_record(&p), 5);
	for (int i = 0; i < 8; i++)
		assert_int_equal(lstat(arena_printf(p.a, "%s/files/%d", p.folder, i), &st) == 0, i < 3);
	assert_true(integrity_holds(p.a, files(&p), p.record));
	unlink(p.top);
	assert_int_equal(symlink("/etc/passwd", p.top), 0);
	assert_false(integrity_holds(p.a, files(&p), p.record));
	drop(&p);
}

static void test_damaged(void **state)
{
	struct place p = make();
	char *text;
	size_t len;
	assert_int_equal(write_record(&p), 0);
	assert_true(os_read_file(p.record, 0, &text, &len));
	for (size_t n = 0; n < len; n++) { /* cut at every byte */
		assert_true(os_write_atomic(p.record, text, n, 0644, false));
		assert_false(integrity_holds(p.a, files(&p), p.record));
	}
	text[40] ^= 1; /* the contents' digest is not asked while the stamps are the same */
	assert_true(os_write_atomic(p.record, text, len, 0644, false));
	assert_true(integrity_holds(p.a, files(&p), p.record));
	text[3] ^= 1;
	assert_true(os_write_atomic(p.record, text, len, 0644, false));
	assert_false(integrity_holds(p.a, files(&p), p.record));
	free(text);
	drop(&p);
}

int test_integrity(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_holds), cmocka_unit_test(test_links), cmocka_unit_test(test_other_stamps),
					   cmocka_unit_test(test_other_files), cmocka_unit_test(test_damaged)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
