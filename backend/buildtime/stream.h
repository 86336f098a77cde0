/* Runs functions whose values are element-wise in one large weight, but for reductions of rows or of all elements: quantizers. It computes
 * block by block, so the large values are never in memory, but for results. The results equal those of interp_run bit by bit, interpreted or compiled. */
#ifndef TRIB_BACKEND_BUILDTIME_STREAM_H
#define TRIB_BACKEND_BUILDTIME_STREAM_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/tensor.h"

struct arena;
struct ir_fn;

/* A weight; tensor.data NULL: `read` gives elements first … first+n-1. It returns false with a message in *error. */
struct stream_weight {
	struct tensor tensor;
	bool (*read)(void *reader, int64_t first, int64_t n, void *out, const char **error);
	void *reader;
};
struct stream_result {
	struct tensor tensor; /* in `out` */
	bool is_transposed;   /* a matrix, of which the tensor is the transpose */
};
/* Compiles blocks of streams. Compiled code and the interpreter give the same bits, so the compiler may refuse any block. */
struct stream_compiler {
	/* Returns code for f, or NULL to interpret it. f has one symbol: the number of elements of its vectors. interpreting_ns: the estimated
	 * time of the interpreter. */
	const struct stream_code *(*find)(void *ctx, const struct ir_fn *f, double interpreting_ns);
	/* bufs: the inputs of f, then its outputs. */
	void (*run)(const struct stream_code *code, void *const *bufs, int64_t n);
	void *ctx;
};
struct stream;
/* Plans the run, in `a`. NULL: f is none of these functions, or so small that it does not matter. */
struct stream *stream_plan(struct arena *a, const struct ir_fn *f);
/* compiler: NULL interprets all. False: *error, in `out`. */
bool stream_run(struct stream *s, const struct stream_weight *weights, const struct stream_compiler *compiler, struct arena *out,
		struct stream_result *results, const char **error);

struct stream_elements;
/* Plans to compute parts of the result of f in `a`: one value without weights, element-wise in random numbers. NULL: f is another function, or small. */
struct stream_elements *stream_plan_elements(struct arena *a, const struct ir_fn *f, uint64_t seed);
dtype stream_element_type(const struct stream_elements *e);
int64_t stream_element_count(const struct stream_elements *e);
/* Stores elements first … first+n-1, those that interp_run computes with this seed. One thread at a time. */
void stream_read_elements(struct stream_elements *e, int64_t first, int64_t n, void *out);
#endif
