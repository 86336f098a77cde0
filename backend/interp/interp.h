/* The reference interpreter of the tensor IR: slow and obviously right. It is the oracle of the differential tests, evaluates at build time
 * what depends on parameters only, and initialises parameters. */
#ifndef TRIB_BACKEND_INTERP_INTERP_H
#define TRIB_BACKEND_INTERP_INTERP_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/tensor.h"
#include "base/source.h"

struct arena;
struct hir_unit;
struct ir_fn;

/* Runs f. `inputs` and `weights` in the function's order; `syms` holds the values of its dims' symbols; outputs are allocated in `out`. `seed`
 * feeds RANDOM. Float sums are accumulated in double. CALLs run the callee lowered on the fly. False: a run-time error, text in *error. */
bool interp_run(const struct ir_fn *f, const struct tensor *inputs, const struct tensor *weights, const int64_t *syms, uint64_t seed,
		struct arena *out, struct tensor *outputs, const char **error);

enum { INTERP_MAX_PATH = 8 };
struct interp_error {
	const char *text; /* in `out` */
	bool assertion;
	span at; /* the operation; SPAN_NONE where there is none */
	struct {
		const char *callee; /* "Block(64) [N, 64]" */
		span at;            /* the call of it */
	} path[INTERP_MAX_PATH];    /* innermost first */
	uint32_t n_path;
};
/* Where PRINT goes; NULL: nowhere. */
struct interp_sink {
	void (*put)(void *ctx, const char *text, size_t n);
	void *ctx;
};
/* The same with what is printed, and errors with their places. */
bool interp_program(const struct ir_fn *f, const struct tensor *inputs, const struct tensor *weights, const int64_t *syms,
		    const struct interp_sink *sink, struct arena *out, struct tensor *outputs, struct interp_error *error);
#endif
