/* The binary interface between units, micro-kernels and the runtime inside a library. */
#ifndef TRI_UNIT_H
#define TRI_UNIT_H
#include <stdint.h>

/* The check of a unit's run-time sizes that failed: `value` of tri_fail with TRI_ERR_SHAPE. */
enum tri_size_error {
#define SIZE_ERROR(id, word, text) TRI_SIZE_ERROR_##id,
#include "backend/runtime/abi/size_errors.def"
#undef SIZE_ERROR
	TRI_SIZE_ERRORS
};

struct tri_context; /* of an opened model: its threads and the first run-time error */

/* A unit. bufs: its run-time inputs, then its outputs, all dense. weights: its weight table. dims: the values of its symbols. scratch:
 * as many bytes as its tri_scratch_fn returns, aligned to 64. */
typedef void tri_unit_fn(struct tri_context *ctx, void *const *bufs, const void *const *weights, const int64_t *dims, char *scratch);
/* Returns the scratch bytes of the unit and its callees for these dims, or TRI_TOO_LARGE if 64 bits cannot hold them. */
#define TRI_TOO_LARGE INT64_MIN
typedef int64_t tri_scratch_fn(const int64_t *dims);
/* What a unit does with a finished tile of a kernel's result, while the tile is in the cache. `tile` has rows × columns elements, of which
 * the first is element [batch, row, column] = `at` of the result; its rows are `stride` elements apart. Threads of the kernel call `fn` for
 * different tiles at the same time, once for each element of the result, in any order. */
struct tri_epilogue;
typedef void tri_epilogue_fn(const struct tri_epilogue *e, const void *tile, int64_t stride, const int64_t at[3], int64_t rows,
			     int64_t columns);
struct tri_epilogue {
	tri_epilogue_fn *fn;
	void *const *unit; /* private to the unit */
	tri_epilogue_fn
		*by_columns; /* if fn is tri_epilogue_by_columns: as fn, but takes tiles whose columns are dense and `stride` apart */
};
/* Transposes the tile, whose elements have four bytes, and calls e->by_columns for its parts: for results whose columns are dense in memory. */
tri_epilogue_fn tri_epilogue_by_columns;
/* A micro-kernel. backend/runtime/kernels/records.def describes bufs and dims, and says which kernels take an epilogue. With one, the kernel passes
 * its result to it and has no last buffer. NULL: it stores the result in the last buffer. */
typedef void tri_kernel_fn(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue);

/* Computes a part of a kernel's first operand, when the kernel packs it: `tile` gets rows × columns elements, of which the first is element
 * [batch, row, column] = `at` of the operand; its rows are `stride` elements apart. Threads of the kernel call `fn` at the same time, once for
 * each element of the operand, in any order. */
struct tri_prologue;
typedef void tri_prologue_fn(const struct tri_prologue *p, void *tile, int64_t stride, const int64_t at[3], int64_t rows, int64_t columns);
struct tri_prologue {
	tri_prologue_fn *fn;
	void *const *unit; /* private to the unit */
};
/* A micro-kernel with a prologue. It does not read the first buffer. */
typedef void tri_filled_kernel_fn(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue,
				  const struct tri_prologue *prologue);

/* Records a run-time error, for example an index out of range. The first error counts. The run continues. With TRI_ERR_SHAPE the value is an enum
 * tri_size_error, and the bound the place of the check, as below. */
void tri_fail(struct tri_context *ctx, int32_t code, int64_t value, int64_t bound);
/* The same with the code TRI_ERR_RANGE for index `value` of a statement. place: its number; in the upper half the tag of the unit. The
 * checks of sizes are numbered behind the statements. */
void tri_fail_at(struct tri_context *ctx, int64_t value, int64_t bound, uint64_t place);
/* Writes a template of base/format.h with n values to standard error. kinds: for each value its element type << 4 | rank. bufs: its
 * data. dims: the sizes of all values, one value after the other. */
void tri_print(struct tri_context *ctx, const char *text, const uint8_t *kinds, void *const *bufs, const int64_t *dims, uint32_t n);
/* The first value is the condition, the template is for the others. If the condition is false, records the error "where: message". */
void tri_assert(struct tri_context *ctx, const char *text, const char *where, const uint8_t *kinds, void *const *bufs, const int64_t *dims,
		uint32_t n);
/* For units with the profile hook: what one execution of a statement costs. */
struct tri_profile_cost {
	int64_t start_ns; /* 0: the hook is NULL */
	int64_t others_ns;
	int64_t of[3]; /* bytes, operations, memory, as in tri_profile_event: enum loop_cost */
};
/* Sets the times. */
void tri_profile_begin(struct tri_context *ctx, struct tri_profile_cost *cost);
/* Reports a statement of the unit to the context's function. Units call it through SYMBOL_profile, a function of the library that adds the last
 * argument. */
struct tri_unit_desc;
void tri_profile_end(struct tri_context *ctx, uint32_t statement, const struct tri_profile_cost *cost, const struct tri_unit_desc *unit);
/* True if this run failed. Its results then have no meaning, and loops end. */
int32_t tri_failed(const struct tri_context *ctx);
/* Returns the number of threads that tri_parallel may use. */
uint32_t tri_threads(const struct tri_context *ctx);
/* True if the processor has AVX-512 VBMI, which no processor level promises. */
_Bool tri_has_vbmi(const struct tri_context *ctx);
/* True if vectors count the bits of words (AVX-512 VPOPCNTDQ), which is part of no processor level. */
_Bool tri_counts_words(const struct tri_context *ctx);
/* Returns memory of the calling thread, TRI_SPACE bytes aligned to 64, in place of the stack, which may be small: a host program chooses it. A kernel
 * uses it either itself or in the calls of fn of its loops, and keeps nothing there; so does a block of generated code. */
enum { TRI_SPACE = 5 << 17 };
void *tri_space(struct tri_context *ctx);
/* Calls fn(arg, i) for i in 0 … n-1 on the context's threads, in any order, and returns when all calls have ended. */
void tri_parallel(struct tri_context *ctx, void (*fn)(void *arg, int64_t i), void *arg, int64_t n);
#endif
