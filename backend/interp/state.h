/* Private to this folder: one run of one function. */
#ifndef TRIB_BACKEND_INTERP_STATE_H
#define TRIB_BACKEND_INTERP_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/interp/interp.h"
#include "backend/ir/ir.h"
#include "backend/runtime/abi/unit.h"

struct interp {
	const struct ir_fn *f;
	const struct tensor *inputs, *weights;
	const int64_t *syms;
	uint64_t seed;
	uint32_t depth;                             /* of calls */
	bool expands;                               /* callees run as their expansions */
	const struct interp_operations *operations; /* or NULL */
	struct arena *scratch, *out;
	struct tensor *values;   /* of each instruction */
	void **owned;            /* of each instruction: malloc'd data, freed after the last use, or NULL */
	struct tensor **results; /* of each CALL; data in `scratch` */
	const struct interp_sink *sink;
	span at; /* of the current operation */
	struct interp_error error;
};

/* Records the first error, in `out`. */
void interp_fail(struct interp *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with the text of a library for sizes that do not fit. */
void interp_fail_sizes(struct interp *in, enum tri_size_error kind);

/* Each function computes `out` from the operands x. `out` has its shape and data, and is not empty. */
void interp_ewise(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
/* Stores the distances between elements along each dim. */
void interp_strides(const struct tensor *t, int64_t *strides);
/* out[index] = x[base + Σ index·stride] for every index of out. */
void interp_copy_strided(const struct tensor *x, struct tensor *out, int64_t base, const int64_t *stride);
void interp_broadcast(const struct tensor *x, struct tensor *out);
void interp_transpose(const struct ir_inst *i, const struct tensor *x, struct tensor *out);
void interp_slice_check(struct interp *in, const struct ir_inst *i, const struct tensor *x, const struct tensor *out);
void interp_slice(struct interp *in, const struct ir_inst *i, const struct tensor *x, struct tensor *out);
void interp_concat(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
/* Checks the indices of an operation that gathers or scatters, even if `out` is empty (gather.c). */
void interp_index_check(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, const struct tensor *out);
void interp_gather(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
void interp_pad(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
void interp_window(const struct ir_inst *i, const struct tensor *x, struct tensor *out);
/* Report an error if the sizes do not fit, even if `out` is empty. */
void interp_pad_check(struct interp *in, const struct ir_inst *i, const struct tensor *x, const struct tensor *out);
void interp_window_check(struct interp *in, const struct ir_inst *i, const struct tensor *x, const struct tensor *out);
void interp_sort(const struct ir_inst *i, const struct tensor *x, struct tensor *out); /* order.c */
void interp_scan(const struct ir_inst *i, const struct tensor *x, struct tensor *out);
void interp_scatter(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
void interp_put(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
void interp_iota(const struct ir_inst *i, struct tensor *out);
void interp_reduce(const struct ir_inst *i, const struct tensor *x, struct tensor *out);
void interp_matmul(const struct tensor *const *x, struct tensor *out);

/* ---- compound operations (compound.c) ---- */

/* Checks the sizes, and computes `out`, which may be empty. */
void interp_compound(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
/* True if the sizes of the operands and the result agree. */
bool interp_conv_fits(const struct ir_conv *a, const struct tensor *const *x, const struct tensor *out);
bool interp_pool_fits(const struct ir_pool *a, const struct tensor *x, const struct tensor *out);
bool interp_norm_fits(const struct ir_norm *a, const struct tensor *const *x, uint32_t n);
bool interp_attention_fits(const struct tensor *const *x, uint32_t n, const struct tensor *out);
bool interp_resize_fits(const struct tensor *x, const struct tensor *out);
void interp_conv(const struct ir_conv *a, const struct tensor *const *x, struct tensor *out);
void interp_pool(const struct ir_pool *a, const struct tensor *x, struct tensor *out);
void interp_softmax(const struct ir_softmax *a, const struct tensor *x, struct tensor *out);
void interp_norm(const struct ir_norm *a, const struct tensor *const *x, struct tensor *out);
void interp_attention(const struct ir_attention *a, const struct tensor *const *x, uint32_t n, struct tensor *out);
void interp_quantize(const struct ir_quantize *a, const struct tensor *const *x, struct tensor *out);
void interp_quant_scale(const struct ir_quantize *a, const struct tensor *x, struct tensor *out);
void interp_dequantize(const struct tensor *const *x, struct tensor *out);
void interp_resize(const struct ir_resize *a, const struct tensor *x, struct tensor *out);
#endif
