/* The reference interpreter of the tensor IR: slow and obviously right. It is the oracle of the differential tests, evaluates at build time
 * what depends on parameters only, and initialises parameters. */
#ifndef TRIB_BACKEND_INTERP_H
#define TRIB_BACKEND_INTERP_H
#include <stdbool.h>
#include <stdint.h>
#include "frontend/dtype.h"

struct arena;
struct core_unit;
struct ir_fn;

/* A dense row-major tensor in host layout (a trit is an int8). */
struct tensor {
	dtype elem;
	uint8_t rank;
	int64_t dims[8];
	void *data; /* not owned */
};
int64_t tensor_count(const struct tensor *t);
int64_t tensor_bytes(const struct tensor *t);

/* Runs f. `inputs` and `weights` in the function's order; `syms` holds the values of its dims' symbols; outputs are allocated in `out`. `seed`
 * feeds RANDOM. Float sums are accumulated in double. CALLs run the callee lowered on the fly. False: a run-time error, text in *error. */
bool interp_run(const struct ir_fn *f, const struct tensor *inputs, const struct tensor *weights, const int64_t *syms, uint64_t seed,
		struct arena *out, struct tensor *outputs, const char **error);
#endif
