#include "builder/run/test_case.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/path.h"
#include "builder/manifest/glob.h"
#include "builder/run/run.h"

static bool test_case_has_name(const tri_io_desc *io, int32_t n, const char *name)
{
	for (int32_t i = 0; i < n; i++)
		if (strcmp(io[i].name, name) == 0)
			return true;
	return false;
}

/* The entry with the name of a folder in the path, else the first. */
static uint32_t test_case_entry_of(struct arena *a, const struct run_model *m, const char *folder, size_t root)
{
	for (const char *s = strlen(folder) > root ? folder + root + 1 : ""; *s;) {
		size_t n = strcspn(s, "/");
		const char *part = arena_strndup(a, s, n);
		for (uint32_t i = 0; i < m->n_entries; i++)
			if (strcmp(m->entries[i].name, part) == 0)
				return i;
		s += n + (s[n] == '/');
	}
	return 0;
}

/* The case of one folder with these files. */
static struct test_case make_case(struct arena *a, const struct run_model *m, const char *folder, size_t root, const char *const *files,
				  uint32_t n)
{
	struct test_case c = {.name = folder + strlen(TEST_FOLDER) + 1, .folder = folder, .entry = test_case_entry_of(a, m, folder, root)};
	const tri_entry_desc *e = &m->entries[c.entry];
	const char **inputs = ARENA_ARRAY(a, const char *, n + 1), **expected = ARENA_ARRAY(a, const char *, n + 1);
	const char **strays = ARENA_ARRAY(a, const char *, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = path_stem(a, files[i]), *text = arena_printf(a, "%s=%s", name, files[i]);
		if (test_case_has_name(e->inputs, e->n_inputs, name))
			inputs[c.n_inputs++] = text;
		else if (test_case_has_name(e->outputs, e->n_outputs, name))
			expected[c.n_expected++] = text;
		else
			strays[c.n_strays++] = files[i];
	}
	c.inputs = inputs;
	c.expected = expected;
	c.strays = strays;
	return c;
}

static int test_case_by_name(const void *x, const void *y)
{
	return strcmp(((const struct test_case *)x)->name, ((const struct test_case *)y)->name);
}

const struct test_case *test_cases(struct arena *a, const struct run_model *m, uint32_t *n)
{
	uint32_t n_files;
	const char *root = arena_printf(a, TEST_FOLDER "/%s", m->name);
	const char *const *files = glob_expand(a, arena_printf(a, "%s/**/*.npy", root), &n_files);
	struct test_case *list = ARENA_ARRAY(a, struct test_case, n_files + 1);
	bool *taken = ARENA_ARRAY(a, bool, n_files + 1);
	const char **same = ARENA_ARRAY(a, const char *, n_files + 1);
	*n = 0;
	for (uint32_t i = 0; i < n_files; i++) {
		const char *folder = path_dir(a, files[i]);
		uint32_t n_same = 0;
		for (uint32_t k = i; k < n_files && !taken[i]; k++)
			if (strcmp(path_dir(a, files[k]), folder) == 0)
				same[n_same++] = files[k];
		for (uint32_t k = i + 1; k < n_files; k++)
			taken[k] |= strcmp(path_dir(a, files[k]), folder) == 0;
		if (n_same)
			list[(*n)++] = make_case(a, m, folder, strlen(root), same, n_same);
	}
	if (*n)
		qsort(list, *n, sizeof *list, test_case_by_name);
	return list;
}

const struct test_case *test_case_first(struct arena *a, const struct run_model *m, const tri_entry_desc *e)
{
	uint32_t n;
	const struct test_case *list = test_cases(a, m, &n);
	for (uint32_t i = 0; i < n; i++)
		if (&m->entries[list[i].entry] == e && list[i].n_inputs == (uint32_t)e->n_inputs)
			return &list[i];
	return NULL;
}
