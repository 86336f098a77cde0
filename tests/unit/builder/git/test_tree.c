/* Trees of hostile repositories, made of raw bytes in memory: which are refused, and what is written. */
#include "builder/git/module.h"
#include "tests/unit/unit.h"
#include <errno.h>
#include <fcntl.h>
#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>
#include <git2/sys/repository.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/os.h"

struct fixture {
	git_odb *odb;
	git_repository *repo;
	struct buf entries; /* of the tree that is being made */
	char dir[32];
	int folder;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	git_odb_backend *memory;
	git_libgit2_init();
	strcpy(f->dir, "/tmp/trib-tree-XXXXXX");
	*state = f;
	if (git_odb_new(&f->odb) || git_mempack_new(&memory) || git_odb_add_backend(f->odb, memory, 1) ||
	    git_repository_wrap_odb(&f->repo, f->odb) || !mkdtemp(f->dir))
		return -1;
	f->folder = open(f->dir, O_RDONLY | O_DIRECTORY);
	return f->folder < 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	close(f->folder);
	os_remove_tree(f->dir);
	git_repository_free(f->repo);
	git_odb_free(f->odb);
	git_libgit2_shutdown();
	buf_free(&f->entries);
	free(f);
	return 0;
}

/* An entry of the next tree. `mode`: as git writes it. */
static void add(struct fixture *f, const char *mode, const char *name, const git_oid *what)
{
	buf_printf(&f->entries, "%s %s", mode, name);
	buf_putc(&f->entries, 0);
	buf_put(&f->entries, what->id, sizeof what->id);
}

static git_oid blob(const struct fixture *f, const char *text)
{
	git_oid id;
	assert_int_equal(git_odb_write(&id, f->odb, text, strlen(text), GIT_OBJECT_BLOB), 0);
	return id;
}

static git_oid tree(struct fixture *f)
{
	git_oid id;
	assert_int_equal(git_odb_write(&id, f->odb, f->entries.at ? f->entries.at : "", f->entries.len, GIT_OBJECT_TREE), 0);
	buf_clear(&f->entries);
	return id;
}

typedef bool tree_fn(struct fixture *f, const git_tree *t, struct git_failure *error);
static bool is_safe(struct fixture *f, const git_tree *t, struct git_failure *error) { return tree_is_safe(f->repo, t, error); }
static bool writes(struct fixture *f, const git_tree *t, struct git_failure *error) { return tree_write(f->repo, t, f->folder, error); }

/* `message` NULL: it succeeds. */
static void ends(struct fixture *f, tree_fn *what, const char *message)
{
	struct git_failure error = {0};
	git_oid id = tree(f);
	git_tree *t;
	assert_int_equal(git_tree_lookup(&t, f->repo, &id), 0);
	bool ok = what(f, t, &error);
	git_tree_free(t);
	assert_string_equal(ok ? "" : error.text, message ? message : "");
	assert_int_equal(ok, !message);
	assert_true(ok || error.problem == GIT_PROBLEM_TREE);
}

static void usual_names_are_accepted(void **state)
{
	struct fixture *f = *state;
	git_oid file = blob(f, "x");
	static const char *const names[] = {".gitignore", "...", "A", "b c", "git~2", "\xc3\xa4", "~"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		add(f, "100644", names[i], &file);
	ends(f, is_safe, NULL);
}

static void names_that_are_no_file_names_are_refused(void **state)
{
	struct fixture *f = *state;
	git_oid file = blob(f, "x");
	static const char *const names[][2] = {{".", "."},         {"..", ".."},   {".git", ".git"}, {".GiT", ".GiT"},
					       {"GIT~1", "GIT~1"}, {"a/b", "a/b"}, {"a\nb", "a?b"},  {"\x7f", "?"}};
	char message[128];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		add(f, "100644", names[i][0], &file);
		snprintf(message, sizeof message, "its folder `.` has an entry with the invalid name `%s`", names[i][1]);
		ends(f, is_safe, message);
	}
}

static void names_must_differ_without_case(void **state)
{
	struct fixture *f = *state;
	git_oid file = blob(f, "x");
	add(f, "120000", "libs", &file);
	add(f, "100644", "x", &file);
	add(f, "160000", "LIBS", &file);
	ends(f, is_safe, "its folder `.` has entries that differ only in the case of letters: `libs` and `LIBS`");
	add(f, "100644", "a", &file);
	add(f, "100644", "a", &file);
	git_oid twice = tree(f);
	add(f, "40000", "below", &twice);
	ends(f, is_safe, "its folder `below` has two entries named `a`");
}

static void levels_are_limited(void **state)
{
	struct fixture *f = *state;
	git_oid below = blob(f, "x");
	add(f, "100644", "file", &below);
	for (int level = 0; level < 64; level++) {
		below = tree(f);
		add(f, "40000", "d", &below);
	}
	struct buf top = {0};
	buf_put(&top, f->entries.at, f->entries.len);
	ends(f, is_safe, NULL);
	buf_put(&f->entries, top.at, top.len);
	below = tree(f);
	add(f, "40000", "d", &below);
	ends(f, is_safe, "its folders are nested more than 64 levels deep");
	buf_free(&top);
}

/* ---- writing ---- */

static void links_that_git_would_misread_are_refused(void **state)
{
	struct fixture *f = *state;
	git_oid target = blob(f, "elsewhere"), nothing = blob(f, "");
	add(f, "120000", ".gitmodules", &target);
	ends(f, writes, "`.gitmodules` is a symbolic link");
	add(f, "120000", "empty", &nothing);
	ends(f, writes, "`empty` is a symbolic link with an invalid target");
}

static void existing_link_is_not_followed(void **state)
{
	struct fixture *f = *state;
	struct git_failure error = {0};
	git_oid text = blob(f, "hello");
	git_tree *t;
	assert_int_equal(symlinkat("target", f->folder, "file"), 0);
	add(f, "100644", "file", &text);
	git_oid id = tree(f);
	git_tree_lookup(&t, f->repo, &id);
	assert_false(tree_write(f->repo, t, f->folder, &error));
	git_tree_free(t);
	assert_int_equal(error.problem, GIT_PROBLEM_DISK);
	assert_int_equal(faccessat(f->folder, "target", F_OK, 0), -1);
}

static void folder_is_opened_without_links_and_parents(void **state)
{
	struct fixture *f = *state;
	char path[300] = "a/";
	assert_true(mkdirat(f->folder, "a", 0777) == 0 && mkdirat(f->folder, "a/b", 0777) == 0 && symlinkat("a", f->folder, "l") == 0);
	static const char *const good[] = {"", "a", "a/b"}, *const bad[] = {"l", "l/b", "..", "a/../a", "a/x", "/a"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		int fd = tree_open_folder(f->dir, good[i]);
		assert_true(fd >= 0);
		close(fd);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(tree_open_folder(f->dir, bad[i]), -1);
	memset(path + 2, 'n', 256);
	assert_int_equal(tree_open_folder(f->dir, path), -1);
	assert_int_equal(errno, ENAMETOOLONG);
}

int test_tree(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(usual_names_are_accepted, setup, teardown),
		cmocka_unit_test_setup_teardown(names_that_are_no_file_names_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(names_must_differ_without_case, setup, teardown),
		cmocka_unit_test_setup_teardown(levels_are_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(links_that_git_would_misread_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(existing_link_is_not_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(folder_is_opened_without_links_and_parents, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
