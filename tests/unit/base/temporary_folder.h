/* A folder for each test of files, which is the current one while the test runs. */
#ifndef TRIB_TESTS_TEMPORARY_FOLDER_H
#define TRIB_TESTS_TEMPORARY_FOLDER_H
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/os.h"
#include "tests/unit/unit.h"

static inline int folder_enter(void **state)
{
	char *path = strdup("/tmp/trib-test-os-XXXXXX");
	*state = path;
	return path && mkdtemp(path) ? chdir(path) : -1;
}

static inline int folder_leave(void **state)
{
	char *path = *state;
	bool ok = chdir("/") == 0 && os_remove_tree(path) && access(path, F_OK) != 0;
	free(path);
	return ok ? 0 : -1;
}

static inline int folder_entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static inline void file_check(const char *path, const char *expect)
{
	char *data;
	size_t len;

	assert_true(os_read_file(path, 0, &data, &len));
	assert_int_equal(len, strlen(expect));
	assert_string_equal(data, expect);
	free(data);
}
#endif
