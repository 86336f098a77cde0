#include "builder/deps/lockfile.h"
#include "tests/unit/unit.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define BLOCK "dependency blocks\n    git = ../b c.git\n    commit = " COMMIT "\n"

struct fixture {
	struct arena *a;
	struct diags *diags;
	struct sources *sources;
	struct lockfile *lock;
};

static struct fixture read_text(const char *text, size_t len)
{
	struct fixture f = {.a = arena_new(0), .diags = diags_new(0), .sources = sources_new()};
	f.lock = lockfile_read(f.a, sources_add(f.sources, "tri.lock", text, len), f.diags);
	return f;
}

static void done(struct fixture *f)
{
	sources_free(f->sources);
	diags_free(f->diags);
	arena_free(f->a);
}

static void written_and_read(void **state)
{
	struct buf text = {0};
	const struct lockfile_entry entries[] = {{"blocks", {"../b c.git", GIT_REF_HEAD, ""}, COMMIT, SPAN_NONE},
						 {"gates", {"https://h/g", GIT_REF_TAG, "v 1"}, COMMIT, SPAN_NONE}};
	lockfile_print(entries, 2, &text);
	struct fixture f = read_text(text.at, text.len);
	assert_non_null(f.lock);
	assert_int_equal(f.lock->n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct lockfile_entry *e = lockfile_find(f.lock, entries[i].name);
		assert_non_null(e);
		assert_string_equal(e->source.git, entries[i].source.git);
		assert_string_equal(e->source.ref, entries[i].source.ref);
		assert_string_equal(e->commit, COMMIT);
		assert_int_equal(e->source.kind, entries[i].source.kind);
	}
	assert_null(lockfile_find(f.lock, "block"));
	done(&f);
	buf_free(&text);
}

/* Cut anywhere it is damaged, or what is left is whole. */
static void cut(void **state)
{
	static const char whole[] = "version = 1\n" BLOCK;
	for (size_t n = 0; n < sizeof whole - 1; n++) {
		struct fixture f = read_text(whole, n);
		bool complete = n == strlen("version = 1") || n == strlen("version = 1\n") || n == sizeof whole - 2;
		if (!f.lock == complete)
			fail_msg("cut at %zu", n);
		done(&f);
	}
}

static void damage(void **state)
{
	static const struct {
		const char *text;
		uint32_t line;
	} bad[] = {
		{"", 1},
		{"version = 2\n", 1},
		{"version = 1\nversion = 1\n", 2},
		{BLOCK, 1},
		{"version = 1\n" BLOCK BLOCK, 5},
		{"version = 1\n    git = x\n", 2},
		{"version = 1\n" BLOCK "    commit = " COMMIT "\n", 5},
		{"version = 1\ndependency a\n    git = x\n    commit = " COMMIT "0\n", 4},
		{"version = 1\ndependency a\n    git = x\n    rev = 1\n    tag = 1\n", 5},
		{"version = 1\ndependency a\n    commit = " COMMIT "\n", 2},
		{"version = 1\n=======\n" BLOCK, 2},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct fixture f = read_text(bad[i].text, strlen(bad[i].text));
		assert_null(f.lock);
		assert_int_equal(diags_errors(f.diags), 1);
		const struct diag *g = diags_at(f.diags, 0);
		assert_int_equal(g->code, DIAG_LOCK_SYNTAX);
		assert_int_equal(source_position(f.sources, 0, g->primary.at.start).line, bad[i].line);
		done(&f);
	}
}

int test_lockfile(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(written_and_read), cmocka_unit_test(cut), cmocka_unit_test(damage)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
