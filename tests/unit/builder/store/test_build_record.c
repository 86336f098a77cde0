/* The record of a build: what counts as unchanged. Files are real, times are set. */
#include "builder/store/build_record.h"
#include "tests/unit/unit.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/store/disk.h"
#include "builder/store/store.h"

static char dir[64];
static const hash128 REST = {7, 7}, KEY = {1, 1};

static int64_t waited; /* what the clock of the inputs is ahead; 0: stamps are of this moment */

static int64_t clock_ahead(void *ctx) { return os_disk.clock(ctx) + waited; }

static struct disk disk;

/* Stamps are trusted, and each change has another one. */
static void settle(void) { waited += INT64_C(3600000000000); }

/* The ctime may be that of the last change. */
static void stamp_apart(const char *name)
{
	static time_t last = 1000000000;
	if (waited)
		utimensat(AT_FDCWD, name, (struct timespec[]){{++last, 0}, {last, 0}}, 0);
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(name, "wb");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	stamp_apart(name);
	stamp_apart("src");
}

static void take(const char *name)
{
	unlink(name);
	stamp_apart("src");
}

static int setup(void **state)
{
	strcpy(dir, "/tmp/trib-trace-XXXXXX");
	waited = 0;
	disk = os_disk;
	disk.clock = clock_ahead;
	if (!mkdtemp(dir) || chdir(dir) != 0)
		return -1;
	mkdir("src", 0777);
	put("tri.build", "model m\n");
	put("src/a.tri", "fn a");
	put("src/b.tri", "fn b");
	put("out.so", "library");
	return 0;
}

static int teardown(void **state) { return chdir("/") == 0 && os_remove_tree(dir) ? 0 : -1; }

/* Records everything and writes it to a store. */
static void record(void)
{
	struct arena *a = arena_new(0);
	struct buf w = {0};
	struct inputs *in = inputs_new(a, &disk);
	char *text;
	size_t len;
	uint32_t n;
	struct store *s = store_open("store", true, &w);
	const char *const *files = inputs_glob(in, "src/*.tri", &n);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(inputs_read(in, files[i], &text, &len));
		free(text);
	}
	assert_true(inputs_note(in, "tri.build", NULL));
	assert_false(inputs_note(in, "src/nn.tri", NULL));
	struct input *list = calloc(inputs_count(in), sizeof *list);
	for (uint32_t i = 0; i < inputs_count(in); i++)
		list[i] = *inputs_at(in, i);
	struct build_record_output out = {.path = "out.so"};
	os_stamp(out.path, &out.stamp);
	struct build_record_source src = {"src/a.tri", 0, {3, 4}};
	struct build_record t = {REST, list, inputs_count(in), &out, 1, &src, 1, 5, false};
	build_record_save(s, KEY, &t);
	assert_true(store_close(s, &w));
	free(list);
	inputs_free(in);
	arena_free(a);
}

static enum build_record_state verify(bool *touched)
{
	struct arena *a = arena_new(0);
	struct buf w = {0};
	const char *why;
	struct store *s = store_open("store", false, &w);
	struct build_record *t = build_record_load(a, s, KEY);
	assert_non_null(t);
	assert_int_equal(t->units, 5);
	enum build_record_state state = build_record_verify(&disk, a, t, REST, touched, &why);
	if (*touched)
		build_record_save(s, KEY, t);
	store_close(s, &w);
	arena_free(a);
	return state;
}

static void nothing_changed(void **state)
{
	bool touched;
	settle();
	record();
	assert_int_equal(verify(&touched), RECORD_FRESH);
	assert_false(touched);
}

static void fresh_files_are_read_again_once(void **state)
{
	bool touched = false;
	for (int i = 0; i < 100 && !touched; i++) { /* on a busy machine the tick may end before the record is made */
		waited = 0;
		put("src/a.tri", "fn a");
		record(); /* in the same tick: the stamp proves nothing */
		settle();
		assert_int_equal(verify(&touched), RECORD_FRESH);
	}
	assert_true(touched);
	assert_int_equal(verify(&touched), RECORD_FRESH);
	assert_false(touched);
}

static void edit_in_the_same_tick_is_seen(void **state)
{
	bool touched;
	for (int i = 0; i < 20; i++) {
		put("src/a.tri", "fn a");
		record();
		put("src/a.tri", "fn c"); /* same size, same inode, perhaps the same times */
		assert_int_equal(verify(&touched), RECORD_SOURCES);
	}
}

static void touch_is_no_change(void **state)
{
	bool touched;
	settle();
	record();
	stamp_apart("src/a.tri");
	assert_int_equal(verify(&touched), RECORD_FRESH);
	assert_true(touched);
	assert_int_equal(verify(&touched), RECORD_FRESH);
	assert_false(touched);
}

static void old_time_restored(void **state)
{
	bool touched;
	struct stat st;
	settle();
	record();
	stat("src/a.tri", &st);
	put("src/a.tri", "fn x");
	utimensat(AT_FDCWD, "src/a.tri", (struct timespec[]){st.st_atim, st.st_mtim}, 0);
	assert_int_equal(verify(&touched), RECORD_SOURCES);
}

static void expect(enum build_record_state want)
{
	bool touched;
	assert_int_equal(verify(&touched), want);
}

static void other_changes(void **state)
{
	settle();
	record();
	put("tri.build", "model n\n");
	expect(RECORD_STALE);
	put("tri.build", "model m\n");
	expect(RECORD_FRESH);
	put("src/c.tri", "fn c"); /* a new match of the pattern */
	expect(RECORD_STALE);
	take("src/c.tri");
	expect(RECORD_FRESH);
	put("src/other.txt", "not a match");
	expect(RECORD_FRESH);
	put("src/nn.tri", "looked for in vain before");
	expect(RECORD_STALE);
	take("src/nn.tri");
	take("src/b.tri");
	expect(RECORD_STALE);
	put("src/b.tri", "fn b");
	expect(RECORD_FRESH);
	put("out.so", "library");
	expect(RECORD_STALE);
}

static void other_options(void **state)
{
	struct arena *a = arena_new(0);
	struct buf w = {0};
	bool touched;
	const char *why;
	record();
	struct store *s = store_open("store", false, &w);
	struct build_record *t = build_record_load(a, s, KEY);
	assert_int_equal(build_record_verify(&disk, a, t, (hash128){8, 8}, &touched, &why), RECORD_STALE);
	assert_null(build_record_load(a, s, (hash128){2, 2}));
	struct build_record_source same = {"src/a.tri", 0, {3, 4}}, edited = {"src/a.tri", 0, {3, 5}};
	assert_true(build_record_same_sources(t, &same, 1));
	assert_false(build_record_same_sources(t, &edited, 1));
	assert_false(build_record_same_sources(t, &same, 0));
	store_close(s, &w);
	arena_free(a);
}

static void cut_record(void **state)
{
	struct arena *a = arena_new(0);
	struct buf w = {0};
	size_t len;
	record();
	struct store *s = store_open("store", false, &w);
	char *whole = (char *)(uintptr_t)store_get(s, KEY, &len);
	for (size_t n = 0; n < len; n++) {
		store_put(s, (hash128){n, 99}, whole, n);
		assert_null(build_record_load(a, s, (hash128){n, 99}));
	}
	store_close(s, &w);
	arena_free(a);
}

/* Enough for several threads: whichever looks at a file, its change is seen. */
static void many_files(void **state)
{
	enum { FILES = 2400 };
	static const int edited[] = {0, 1, FILES / 4, FILES / 2 - 1, FILES / 2, FILES - 1};
	char name[32];
	bool touched;
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof name, "src/many%04d.tri", i);
		put(name, "fn a");
	}
	settle();
	record();
	assert_int_equal(verify(&touched), RECORD_FRESH);
	assert_false(touched);
	for (size_t k = 0; k < sizeof edited / sizeof *edited; k++) {
		snprintf(name, sizeof name, "src/many%04d.tri", edited[k]);
		put(name, "fn b");
		assert_int_equal(verify(&touched), RECORD_SOURCES);
		put(name, "fn a");
		settle();
		assert_int_equal(verify(&touched), RECORD_FRESH);
		assert_true(touched);
	}
	take(name);
	assert_int_equal(verify(&touched), RECORD_STALE);
}

int test_build_record(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(nothing_changed),
		T(fresh_files_are_read_again_once),
		T(edit_in_the_same_tick_is_seen),
		T(touch_is_no_change),
		T(old_time_restored),
		T(other_changes),
		T(other_options),
		T(cut_record),
		T(many_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
