/* Private to interp_*.c: one run of one function. */
#ifndef TRIB_BACKEND_INTERP_STATE_H
#define TRIB_BACKEND_INTERP_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/interp/interp.h"
#include "backend/ir/ir.h"

struct interp {
	const struct ir_fn *f;
	const struct tensor *inputs, *weights;
	const int64_t *syms;
	uint64_t seed;
	uint32_t depth; /* of calls */
	struct arena *scratch, *out;
	struct tensor *values;   /* per instruction */
	void **owned;            /* per instruction: malloc'd data to free after the last use, or NULL */
	struct tensor **results; /* per CALL: its results, data in `scratch` */
	const struct interp_sink *sink;
	span at; /* of the operation that is running */
	struct interp_error error;
};

/* Remembers the first error, in `out`. */
void interp_fail(struct interp *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Each computes `out` (dims set, data allocated, not empty) from the operands x. */
void interp_ewise(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
/* The same for some operations on float32, faster; false: not for this one. */
bool interp_ewise_float32(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
void interp_broadcast(const struct tensor *x, struct tensor *out);
void interp_transpose(const struct ir_inst *i, const struct tensor *x, struct tensor *out);
void interp_slice_check(struct interp *in, const struct ir_inst *i, const struct tensor *x, const struct tensor *out);
void interp_slice(struct interp *in, const struct ir_inst *i, const struct tensor *x, struct tensor *out);
void interp_concat(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
void interp_index_check(struct interp *in, const struct ir_inst *i, const struct tensor *const *x);
void interp_gather(const struct tensor *const *x, struct tensor *out);
void interp_gather_dim(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
void interp_pad(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
void interp_window(const struct ir_inst *i, const struct tensor *x, struct tensor *out);
/* Do they fit? Also where `out` is empty. */
void interp_pad_check(struct interp *in, const struct ir_inst *i, const struct tensor *x, const struct tensor *out);
void interp_window_check(struct interp *in, const struct ir_inst *i, const struct tensor *x, const struct tensor *out);
void interp_sort(const struct ir_inst *i, const struct tensor *x, struct tensor *out); /* order.c */
void interp_scan(const struct ir_inst *i, const struct tensor *x, struct tensor *out);
void interp_scatter(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
void interp_put(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out);
void interp_iota(const struct ir_inst *i, struct tensor *out);
void interp_random(struct interp *in, const struct ir_inst *i, struct tensor *out);
void interp_reduce(const struct ir_inst *i, const struct tensor *x, struct tensor *out);
void interp_matmul(const struct tensor *const *x, struct tensor *out);
#endif
