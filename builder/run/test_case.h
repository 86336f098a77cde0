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

/* ---- compare.c: Compares the outputs of a run with the expected ones. ---- */
struct tolerance {
	/* |got - want| <= atol + rounding + rtol * |want|; integers, trits and bools must be equal if all are 0 */
	double rtol, atol;
	double rounding; /* of the model: rounding_widen */
};
struct comparison {
	int64_t n, n_wrong;
	int64_t worst;    /* the element with the largest difference, relative to the tolerance; -1: none */
	double got, want; /* its values */
};
/* The tolerance of an element type, without rounding. rtol and atol replace it unless they are -1. */
struct tolerance tolerance_of(dtype t, double rtol, double atol);
/* Compares element by element; NaN equals NaN. False: shapes or kinds of types differ, *error says how. */
bool compare_tensors(const struct tensor *got, const struct tensor *want, struct tolerance t, struct comparison *out, struct buf *error);
#endif
