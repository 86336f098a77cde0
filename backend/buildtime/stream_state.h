/* Private to stream*.c.
 *
 * All elements form `rows` rows of `cols`. A small value has one element for each row, or one for all, which is then repeated; it keeps
 * its own type. A full value is computed in blocks within a row, in passes: one pass computes what reductions and results need of it. A
 * reduction can be used from the next pass on. */
#ifndef TRIB_BACKEND_BUILDTIME_STREAM_STATE_H
#define TRIB_BACKEND_BUILDTIME_STREAM_STATE_H
#include "backend/interp/element.h"
#include "backend/ir/ir.h"
#include "backend/buildtime/stream.h"

enum {
	STREAM_BLOCK = 2048,  /* elements: all blocks of a pass fit into the cache */
	COMPILED_BLOCK = 8192 /* of a compiled pass, which has blocks of weights and results only */
};
enum stream_extent { SMALL, FULL };

struct stream_value {
	enum stream_extent extent;
	uint32_t pass;      /* that computes it */
	struct tensor type; /* without data */
	void *data;         /* small: an element for each row. full: the current block */
	void *repeated;     /* small: a block of the element of the current row */
	int64_t row;        /* of `repeated`; -1: none */
	bool is_needed;     /* in the current pass */
	struct accumulator sum;
	double size;  /* the sum of the absolute values of the terms */
	void *result; /* full: the output's elements, or NULL */
};
/* The block function of a pass, and what it reads and writes: weights and small values; full results and reductions. */
struct stream_block {
	const struct stream_code *code;
	ir_ref *reads, *writes; /* values; a sum is written twice: itself, and the sum of the sizes */
	uint32_t n_reads, n_writes;
	void **bufs;   /* the arguments */
	void **blocks; /* for each read: memory for elements of a weight that is not in memory */
	double *sums;  /* for each write: a reduction of the block */
};
struct stream {
	struct arena *a;
	const struct ir_fn *f;
	struct stream_value *values;
	int64_t rows, cols;
	uint32_t n_passes;
	const struct stream_weight *weights;
	const struct stream_compiler *compiler; /* NULL: none */
	bool sums_in_order;                     /* sums of this row are those of the interpreter, term by term */
	uint64_t seed;                          /* for RANDOM */
	const char *error;
};

/* Computes the small values of a pass. */
void stream_compute_small_values(struct stream *s, uint32_t pass);
/* Computes n <= STREAM_BLOCK elements of each needed full value, starting at column `col` of the row. blocks: memory for each value. */
void stream_run_block(struct stream *s, void **blocks, int64_t row, int64_t col, int64_t n);

/* stream_code.c: finds code for the values that this pass needs. False: the pass is interpreted. */
bool stream_find_code(struct stream *s, struct stream_block *b);
/* As stream_run_block, with n <= COMPILED_BLOCK. */
void stream_run_code(struct stream *s, const struct stream_block *b, int64_t row, int64_t col, int64_t n);

/* True if r is a sum that may be computed in another order: the interpreter's is known up to an error, and rounds to float32. */
static inline bool stream_sums_fast(const struct stream *s, ir_ref r)
{
	return ir_at(s->f, r)->op == OP_REDUCE_SUM && s->values[r].type.elem == DT_FLOAT32 && !s->sums_in_order;
}

static inline bool stream_reduces(enum ir_op op) { return op == OP_REDUCE_SUM || op == OP_REDUCE_MAX || op == OP_REDUCE_MIN; }
#endif
