/* A project's tests: the files tests/MODEL/x.npy and out.npy, or folders with such files: tests/MODEL/CASE/x.npy. In a model with
 * several entries, the folder with the name of an entry has the cases of that entry. */
#ifndef TRIB_BUILDER_RUN_TEST_CASE_H
#define TRIB_BUILDER_RUN_TEST_CASE_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/interp/interp.h"
#include "backend/runtime/abi/tri.h"

struct arena;
struct buf;
struct run_model;

#define TEST_FOLDER "tests"

struct test_case {
	const char *name;   /* "net/small" */
	const char *folder; /* "tests/net/small" */
	uint32_t entry;
	const char *const *inputs, *const *expected, *const *strays; /* "x=tests/net/small/x.npy"; strays: neither input nor output */
	uint32_t n_inputs, n_expected, n_strays;
};
/* The cases of a model, sorted by name. In `a`. */
const struct test_case *test_cases(struct arena *a, const struct run_model *m, uint32_t *n);
/* The first case with all inputs of the entry, or NULL. */
const struct test_case *test_case_first(struct arena *a, const struct run_model *m, const tri_entry_desc *e);
#endif
