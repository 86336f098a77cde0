/* The unit tests of one room: `unit_<room> [test_<file>…]` runs the named test files, or all of them. UNIT_TESTS names a generated list
 * of them. */
#include <stdio.h>
#include <string.h>

#define TEST_FILE(name) int name(void);
#include UNIT_TESTS
#undef TEST_FILE

static const struct test_file {
	const char *name;
	int (*run)(void); /* returns the number of failed tests */
} files[] = {
#define TEST_FILE(name) {#name, name},
#include UNIT_TESTS
#undef TEST_FILE
};
enum { N_FILES = sizeof files / sizeof files[0] };

static const struct test_file *file_find(const char *name)
{
	for (int i = 0; i < N_FILES; i++)
		if (!strcmp(files[i].name, name))
			return &files[i];
	return NULL;
}

int main(int argc, char **argv)
{
	int failed = 0;
	for (int i = 0; argc == 1 && i < N_FILES; i++)
		failed += files[i].run() != 0;
	for (int i = 1; i < argc; i++) {
		const struct test_file *file = file_find(argv[i]);
		if (!file) {
			fprintf(stderr, "%s: no test file '%s'\n", argv[0], argv[i]);
			return 2;
		}
		failed += file->run() != 0;
	}
	return failed ? 1 : 0;
}
