/* Which folders are watched, and which of their entries matter. */
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/os.h"
#include "builder/store/inputs.h"
#include "builder/watch/watcher.h"

/* A project in DIR/p: src/a.tri, src/deep/b.tri, and link.tri → ../far/c.tri. */
static int setup(void **state)
{
	char *dir = strdup("/tmp/trib-folders-XXXXXX");
	*state = dir;
	return !(mkdtemp(dir) && chdir(dir) == 0 && os_mkdirs("p/src/deep") && os_mkdirs("far") &&
		 os_write_atomic("far/c.tri", "", 0, 0644, false) && os_write_atomic("p/src/a.tri", "", 0, 0644, false) &&
		 symlink("../far/c.tri", "p/link.tri") == 0 && chdir("p") == 0);
}

static int teardown(void **state)
{
	bool ok = chdir("/") == 0 && os_remove_tree(*state);
	free(*state);
	return !ok;
}

static struct watched_folders *watched(const char *path, enum input_kind kind, hash128 content)
{
	const struct input in = {.path = path, .kind = kind, .content = content};
	return watched_folders_new(&in, 1);
}

/* The watched folders with commas between them. `outside`: what absolute paths begin with. */
static void folders(const struct watched_folders *w, const char *outside, const char *expected)
{
	struct buf out = {0};
	buf_puts(&out, "");
	for (uint32_t i = 0; i < watched_folders_count(w); i++) {
		const char *path = watched_folder_path(w, i);
		size_t n = *path == '/' ? strlen(outside) : 0;
		buf_printf(&out, "%s%s", i ? ", " : "", path + n);
	}
	assert_string_equal(out.at, expected);
	buf_free(&out);
}

static enum folder_entry entry(const struct watched_folders *w, const char *folder, const char *name, bool is_folder)
{
	uint32_t i = 0;
	while (strcmp(watched_folder_path(w, i), folder) != 0)
		i++;
	return watched_folder_entry(w, i, name, is_folder);
}

static void file_is_watched_with_the_folders_above_it(void **state)
{
	struct watched_folders *w = watched("src/a.tri", INPUT_FILE, (hash128){1, 1});
	folders(w, "", "., src");
	assert_int_equal(entry(w, "src", "a.tri", false), ENTRY_FILE);
	assert_int_equal(entry(w, ".", "src", true), ENTRY_FOLDER);
	assert_int_equal(entry(w, "src", "a.tri", true), ENTRY_FOLDER); /* a folder in its place */
	watched_folders_free(w);
}

static void files_of_editors_do_not_matter(void **state)
{
	static const char *const names[] = {"a.tri~", ".a.tri.swp", "4913", "#a.tri#", "b.tri"};
	struct watched_folders *w = watched("src/a.tri", INPUT_FILE, (hash128){1, 1});
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_int_equal(entry(w, "src", names[i], false), ENTRY_NONE);
	watched_folders_free(w);
}

static void missing_folder_is_waited_for(void **state)
{
	struct watched_folders *w = watched("gone/x/y.tri", INPUT_FILE, (hash128){0});
	folders(w, "", ".");
	assert_int_equal(entry(w, ".", "gone", true), ENTRY_FOLDER);
	watched_folders_free(w);
	w = watched("/absent/x/y.tri", INPUT_FILE, (hash128){0}); /* but not outside of the project */
	folders(w, "", "");
	watched_folders_free(w);
}

static void pattern_of_any_depth_watches_all_folders(void **state)
{
	struct watched_folders *w = watched("src/**/*.tri", INPUT_PATTERN, (hash128){1, 1});
	assert_int_equal(entry(w, "src", "fresh", true), ENTRY_FOLDER); /* it may have files that match */
	assert_int_equal(entry(w, "src/deep", "b.tri", false), ENTRY_FILE);
	assert_int_equal(entry(w, "src/deep", "b.txt", false), ENTRY_NONE);
	watched_folders_free(w);
}

static void target_of_a_link_is_watched(void **state)
{
	const char *dir = *state;
	char far[64];
	struct watched_folders *w = watched("link.tri", INPUT_FILE, (hash128){1, 1});
	folders(w, dir, "., /far");
	snprintf(far, sizeof far, "%s/far", dir);
	assert_int_equal(entry(w, far, "c.tri", false), ENTRY_FILE);
	watched_folders_free(w);
}

static void folders_above_the_project_wait_for_no_repository(void **state)
{
	struct watched_folders *w = watched("../.git", INPUT_FILE, (hash128){0});
	folders(w, "", "");
	watched_folders_free(w);
	w = watched("../.git/HEAD", INPUT_FILE, (hash128){0});
	folders(w, "", "");
	watched_folders_free(w);
	w = watched("../far/c.tri", INPUT_FILE, (hash128){1, 1});
	folders(w, "", "../far");
	watched_folders_free(w);
	w = watched(".git", INPUT_FILE, (hash128){0}); /* the project's own may come */
	folders(w, "", ".");
	watched_folders_free(w);
}

int test_watched_folders(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(file_is_watched_with_the_folders_above_it, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_editors_do_not_matter, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_folder_is_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(pattern_of_any_depth_watches_all_folders, setup, teardown),
		cmocka_unit_test_setup_teardown(target_of_a_link_is_watched, setup, teardown),
		cmocka_unit_test_setup_teardown(folders_above_the_project_wait_for_no_repository, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
