/* Binary contract between generated units, micro-kernels and the model runtime inside one library. */
#ifndef TRI_UNIT_H
#define TRI_UNIT_H
#include <stdint.h>

/* Which check of a unit's run-time sizes failed: the value of tri_fail with TRI_ERR_SHAPE. */
enum tri_misfit {
#define MISFIT(id, word, text) TRI_MISFIT_##id,
#include "backend/runtime/misfits.def"
#undef MISFIT
	TRI_MISFITS
};

struct tri_context; /* of one opened model: threads, first run-time error */

/* A unit. bufs: its run-time inputs, then its outputs, all dense. weights: its slot table. dims: values of its symbols. scratch: 64-byte aligned,
 * at least what its tri_scratch_fn says. */
typedef void tri_unit_fn(struct tri_context *ctx, void *const *bufs, const void *const *weights, const int64_t *dims, char *scratch);
/* Bytes of scratch the unit and its callees need for these dims; TRI_TOO_LARGE: more than 64 bits can say. */
#define TRI_TOO_LARGE INT64_MIN
typedef int64_t tri_scratch_fn(const int64_t *dims);
/* A micro-kernel: bufs and dims as backend/target/kernels.def says. */
typedef void tri_kernel_fn(struct tri_context *ctx, void *const *bufs, const int64_t *dims);

/* Called by generated code for a run-time error (index out of range, failed assertion); remembered, the first one wins, and the run goes on. */
void tri_fail(struct tri_context *ctx, int32_t code, int64_t value, int64_t bound);
/* Writes the template of base/format.h to the standard error stream. For each of n values: kinds, element type << 4 | rank; bufs, its data; dims, its
 * sizes, one value's after the other's. */
void tri_print(struct tri_context *ctx, const char *text, const uint8_t *kinds, void *const *bufs, const int64_t *dims, uint32_t n);
/* The first value is the condition, the template is for the others; false: tri_fail with the text "where: message". */
void tri_assert(struct tri_context *ctx, const char *text, const char *where, const uint8_t *kinds, void *const *bufs, const int64_t *dims,
		uint32_t n);
/* Has this run failed? Then what it computes means nothing: loops end. */
int32_t tri_failed(const struct tri_context *ctx);
/* Runs fn(arg, i) for i in 0 … n-1 on the context's threads, in no order; returns when all are done. */
void tri_parallel(struct tri_context *ctx, void (*fn)(void *arg, int64_t i), void *arg, int64_t n);
#endif
