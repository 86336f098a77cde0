/* Private to this folder: the parts of the verifier. Each returns false after writing a message. A part may rely on those before it. */
#ifndef TRIB_BACKEND_LOOPS_VERIFY_VERIFY_STATE_H
#define TRIB_BACKEND_LOOPS_VERIFY_VERIFY_STATE_H
#include "backend/loops/ir/loops.h"

struct verifier {
	const struct loop_fn *f;
	struct buf *why;
	uint32_t stmt; /* that is checked, or LOOP_NONE */
	const struct loop_nest *n;
	const struct loop_block *block; /* the outermost block around; NULL: none */
	const struct loop_nest *outer;  /* the loops of the innermost block around; NULL: none */
	uint32_t blocks;                /* around */
	dtype tile;                     /* of an epilogue: the elements of its kernel's result; DT_COUNT: the nest is none */
};
bool verify_fail(const struct verifier *v, const char *what, uint32_t at);
static inline bool verify_const(const struct verifier *v, dim x, int64_t *out) { return dim_is_const(v->f->dims, x, out); }
/* The number of elements. False: it is not constant, or overflows. */
bool verify_count(const struct verifier *v, const struct hir_type *t, int64_t *count);

bool verify_stmt(const struct verifier *v, const struct loop_stmt *s);     /* verify.c */
bool verify_buffers(const struct verifier *v);                             /* verify_buffer.c */
bool verify_nest(const struct verifier *v, const struct loop_nest *n);     /* verify_nest.c: expressions, types, accesses */
bool verify_schedule(const struct verifier *v);                            /* verify_schedule.c */
bool verify_kernel(const struct verifier *v, const struct loop_kernel *k); /* verify_stmt.c and the others */
bool verify_call(const struct verifier *v, const struct loop_call *c);
bool verify_branch(const struct verifier *v, const struct loop_branch *b);
bool verify_loop(const struct verifier *v, const struct loop_iterate *l);
bool verify_effect(const struct verifier *v, const struct loop_effect *e);
bool verify_block(const struct verifier *v, const struct loop_block *b);      /* verify_block.c */
bool verify_iterations(const struct verifier *v, const struct loop_block *b); /* of an outermost block: that they are independent */
bool verify_memory(struct verifier *v); /* verify_memory.c: what is written before it is read, and places of temporaries */
#endif
