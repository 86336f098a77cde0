/* The reference interpreter of the tensor IR. It is simple and slow: the oracle of the differential tests. */
#ifndef TRIB_BACKEND_INTERP_INTERP_H
#define TRIB_BACKEND_INTERP_INTERP_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/tensor.h"
#include "base/source.h"

struct arena;
struct ir_fn;
struct ir_inst;
struct ir_random;

/* Runs f and stores its outputs in `out`. syms: the values of the symbols. seed: for RANDOM. Float sums are computed in double; callees
 * are lowered when they are called, and run as their expansions, so that weights do not depend on how they are computed. Returns false on a run-time error, with a message in *error, in `out`. */
bool interp_run(const struct ir_fn *f, const struct tensor *inputs, const struct tensor *weights, const int64_t *syms, uint64_t seed,
		struct arena *out, struct tensor *outputs, const char **error);
/* Other code for operations that gives the same bits. */
struct interp_operations {
	bool (*ewise)(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out); /* false: it has none for this one */
	void (*random)(const struct ir_random *r, uint64_t seed, int64_t first, int64_t n, dtype elem, void *out);
};
/* As interp_run, with these operations. */
bool interp_run_with(const struct interp_operations *operations, const struct ir_fn *f, const struct tensor *inputs,
		     const struct tensor *weights, const int64_t *syms, uint64_t seed, struct arena *out, struct tensor *outputs,
		     const char **error);
/* Computes one element-wise operation. The operands and `out` have the same number of elements. */
void interp_elements(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);

enum { INTERP_MAX_PATH = 8 };
struct interp_error {
	const char *text; /* in `out` */
	bool assertion;
	span at; /* the operation, or SPAN_NONE */
	struct {
		const char *callee; /* "Block(64) [N, 64]" */
		span at;            /* the call */
	} path[INTERP_MAX_PATH];    /* innermost first */
	uint32_t n_path;
};
/* Receives the text of PRINT. */
struct interp_sink {
	void (*put)(void *ctx, const char *text, size_t n);
	void *ctx;
};
/* As interp_run, with printed text, and errors with source positions. `sink` may be NULL. */
bool interp_program(const struct ir_fn *f, const struct tensor *inputs, const struct tensor *weights, const int64_t *syms,
		    const struct interp_sink *sink, struct arena *out, struct tensor *outputs, struct interp_error *error);
#endif
