/* Private to this folder: one run of one loop function. */
#ifndef TRIB_BACKEND_LOOPS_INTERP_INTERP_STATE_H
#define TRIB_BACKEND_LOOPS_INTERP_INTERP_STATE_H
#include "backend/loops/interp/interp.h"

struct loop_memory {
	char *at;
	int64_t count; /* elements; of packed weights that of the tensor */
	size_t size;   /* of an element */
	bool outside;  /* of the scratch memory: it must not be used */
	/* Of temporaries and outputs the buffer that wrote each byte, plus one; 0: none. Temporaries share the owners of the scratch. NULL: of others,
	 * which are always defined. */
	uint32_t *owner;
	/* Of each byte the iteration of an outermost block that wrote it; 0: none. Those of the current block follow `before`. */
	uint32_t *iteration;
};
struct loop_run {
	const struct loop_fn *f;
	const void *const *weights;
	const int64_t *syms;
	const struct loop_host *host;
	struct loop_error *error;
	uint32_t depth; /* of calls */
	struct arena *arena;
	struct loop_memory *memory;     /* of each buffer */
	bool *grown;                    /* of each buffer: another one grows it */
	const struct loop_block *block; /* the outermost one that runs; NULL: none */
	const struct loop_nest *loops;  /* of the innermost one that runs */
	int64_t at[LOOP_MAX];           /* where its loops are */
	uint32_t before, iteration;     /* iterations of all outermost blocks, before this one and so far */
};
static inline bool run_failed(const struct loop_run *r) { return r->error->kind != LOOP_RAN; }
/* Records the first error. */
void run_fail(struct loop_run *r, enum loop_error_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int64_t run_dim(const struct loop_run *r, dim x);
/* True if elements [from, from + n) are in the buffer, and defined if they are read. Else it fails. */
bool run_reads(struct loop_run *r, uint32_t buffer, int64_t from, int64_t n);
bool run_writes(struct loop_run *r, uint32_t buffer, int64_t from, int64_t n);
/* The whole buffer. Return its memory, or NULL after an error. */
void *run_input(struct loop_run *r, uint32_t buffer);
void *run_output(struct loop_run *r, uint32_t buffer);

/* As loop_interp, of a callee. */
bool loop_interp_at(const struct loop_fn *f, void *const *bufs, const void *const *weights, const int64_t *dims,
		    const struct loop_host *host, uint32_t depth, struct loop_error *error);

/* One function for each kind of statement. */
#define STMT(id, word, member) void run_##member(struct loop_run *r, const struct loop_stmt *s);
#include "backend/loops/ir/stmts.def"
#undef STMT

void run_stmt(struct loop_run *r, const struct loop_stmt *s);
/* Gives the buffers of the outermost block fresh memory, for an iteration of it. */
void run_open_frame(struct loop_run *r);
/* Runs a prologue before its kernel, whose dense operand is `tile`; an epilogue after its kernel, whose dense result is `tile`. */
void run_prologue(struct loop_run *r, const struct loop_nest *n, void *tile);
void run_epilogue(struct loop_run *r, const struct loop_nest *n, const void *tile);

/* One call of a micro-kernel. */
struct kernel_run {
	struct loop_run *run;
	enum kernel kernel;
	void **bufs;
	const int64_t *dims;
	const dtype *elems; /* of the buffers */
};
void run_attention(const struct kernel_run *k); /* interp_attention.c */

/* ---- values of expressions ---- */
struct loop_value {
	double f;  /* of float types */
	int64_t i; /* of others */
};
struct loop_value value_load(dtype t, const void *data, int64_t at);
void value_store(dtype t, void *data, int64_t at, struct loop_value v);
/* The result of an element-wise operation on operands of type `in`. */
struct loop_value value_op(enum ir_op op, dtype out, dtype in, const struct loop_value *x);
/* Rounded or wrapped to the type. */
struct loop_value value_of(dtype t, struct loop_value v);
#endif
