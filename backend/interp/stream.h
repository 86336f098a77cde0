/* Runs functions whose values are element-wise in one large weight, but for reductions of rows or of all elements: quantizers. It computes
 * block by block, so the large values are never in memory, but for results. The results equal those of interp_run bit by bit. */
#ifndef TRIB_BACKEND_INTERP_STREAM_H
#define TRIB_BACKEND_INTERP_STREAM_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/tensor.h"

struct arena;
struct ir_fn;

/* A weight; tensor.data NULL: `read` gives elements first … first+n-1. It returns false with a message in *error. */
struct stream_weight {
	struct tensor tensor;
	bool (*read)(void *ctx, uint32_t param, int64_t first, int64_t n, void *out, const char **error);
	void *ctx;
	uint32_t param;
};
struct stream_result {
	struct tensor tensor; /* in `out` */
	bool is_transposed;   /* a matrix, of which the tensor is the transpose */
};
struct stream;
/* Plans the run, in `a`. NULL: f is none of these functions, or so small that it does not matter. */
struct stream *stream_plan(struct arena *a, const struct ir_fn *f);
/* False: *error, in `out`. */
bool stream_run(struct stream *s, const struct stream_weight *weights, struct arena *out, struct stream_result *results,
		const char **error);
#endif
