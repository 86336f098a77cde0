/* Private to loops_*.c: what fusion decides about every value, and how loop coordinates run through operations. */
#ifndef TRIB_BACKEND_LOOPS_BUILD_H
#define TRIB_BACKEND_LOOPS_BUILD_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/loops/loops.h"

/* Where in a value an iteration of a nest reads: for each dimension base + Σ coef·loop variable. */
struct coord {
	dim base, coef[LOOP_MAX];
};
struct coords {
	uint32_t rank;
	uint32_t in_reduction; /* inside the reduction loops */
	struct coord at[HIR_MAX_RANK];
};

/* One nest to be: the value (or part of a concatenation, what is padded or padded with, or copy of an output) that it stores, or the indices that it
 * checks. */
enum group_kind { GROUP_VALUE, GROUP_PART, GROUP_COPY, GROUP_RANGE };
struct group {
	enum group_kind kind;
	ir_ref root;   /* GROUP_PART: the CONCAT or PAD; GROUP_COPY: the value copied; GROUP_RANGE: the gather */
	uint32_t part; /* GROUP_PART: operand number; GROUP_COPY: output number */
	uint8_t n_parallel, n_reduce;
	dim extent[LOOP_MAX];
};

enum fused_use { USE_NONE, USE_ONE, USE_MANY };
struct fused {
	bool stored; /* has a buffer of its own that this unit writes */
	bool forced; /* must have one */
	enum fused_use use;
	uint32_t group; /* USE_ONE: computed in this nest, at these coordinates */
	struct coords *coords;
	uint32_t cost, size;  /* of computing one element from buffers, roughly in vector instructions; expressions */
	uint32_t output;      /* output it is stored to, or LOOP_NONE */
	uint32_t first_group; /* stored: its nest (CONCAT: that of part 0, PAD: of the value around), or LOOP_NONE */
	uint32_t range_group; /* a gather's nest that only checks its indices, or LOOP_NONE */
};

struct builder {
	struct arena *unit;
	const struct plan *plan;
	const struct ir_fn *ir;
	struct dims *dims;
	dim zero, one;
	struct fused *values; /* one per instruction */
	struct group *groups;
	uint32_t n_groups, cap_groups;
	struct loop_fn *fn;
	uint32_t *buffer;     /* per instruction: its buffer, or LOOP_NONE */
	ir_ref *results;      /* per call its first RESULT, per RESULT the call's next, or IR_NONE */
	uint32_t range_table; /* the buffer that nests read which only check indices, or LOOP_NONE */
};

/* The value under reshapes: same elements in the same dense order. */
ir_ref loops_base(const struct ir_fn *f, ir_ref v);
/* Does it always lie in memory that others provide (input, weight, constant, result of a call)? */
bool loops_given(const struct ir_fn *f, ir_ref v);

/* A new temporary buffer. */
uint32_t loops_temp(struct builder *b, const struct hir_type *type);
/* Is this constant the same element everywhere? It needs no memory then, unless a call wants it (`forced`). */
bool loops_splat(const struct builder *b, const struct ir_inst *in);

/* Is `v` a matmul for a micro-kernel? Then which, and the values (under reshapes) of its operands. */
bool loops_kernel(const struct builder *b, ir_ref v, enum kernel *kernel, ir_ref *x, ir_ref *w);
/* Is the operation always a kernel? *kernel is that for float32, or for bytes; those for float64 and int64 follow it (kernel.c). */
bool loops_op_kernel(enum ir_op op, enum kernel *kernel);

/* checks.c: fills fn->checks. */
void loops_checks(struct builder *b);
/* Is x at least 0 for all values of the symbols, which are never negative? False also where this cannot tell. */
bool loops_never_negative(const struct dims *d, dim x);
/* fuse.c: fills values and groups. */
void loops_fuse(struct builder *b);
/* range.c: must a nest of its own check the indices of gather v, whose users are decided? Then over this space, at the indices' coordinates. */
bool loops_range_space(const struct builder *b, ir_ref v, struct hir_type *space);
/* Negative if v indexes an empty dimension, by the sizes alone; 0 for all other values. */
dim loops_range_room(const struct builder *b, ir_ref v);
/* 1 where extent x is 0, else 0. */
dim loops_is_empty(const struct builder *b, dim x);
uint32_t loops_range_table(struct builder *b);
/* nest.c: the nest of group `g`. */
void loops_nest(struct builder *b, uint32_t g, struct loop_nest *out);
/* simplify.c: drops loops of one iteration, joins loops that are one in memory. */
void loops_simplify(struct dims *d, struct loop_nest *n);
/* merge.c: nests over the same space that share what they read become one with several stores. */
void loops_merge(struct loop_fn *f);
/* memory.c: offsets of temporaries and the size of the scratch. */
void loops_place(struct loop_fn *f);

/* coords.c */
bool coords_eq(const struct coords *a, const struct coords *b);
void coords_identity(const struct builder *b, uint32_t rank, struct coords *out);
/* Dense row-major strides of a type. */
void coords_strides(const struct builder *b, const struct hir_type *t, dim *strides);
/* The loop that a coordinate is, or LOOP_NONE. */
uint32_t coord_single(const struct builder *b, const struct coord *c);
/* Is every parallel loop of the group exactly one coordinate? (loops of one iteration aside) */
bool coords_cover(const struct builder *b, const struct group *g, const struct hir_type *t, const struct coords *c);
/* Do they depend on outer loops only, so that what they give is computed once for all inner ones? */
bool coords_outer(const struct builder *b, const struct group *g, const struct coords *c);
/* Coordinates in operand k of `v` for those of `v`. REDUCE and MATMUL: reduction loops are `first_reduce` …. False: not affine (a reshape that
 * joins dimensions). Not for GATHER's table. */
bool coords_operand(const struct builder *b, ir_ref v, uint32_t k, const struct coords *c, uint32_t first_reduce, struct coords *out);
/* Extents of the reduction loops of a REDUCE, ARG or MATMUL; returns how many. */
uint32_t coords_reduce_extents(const struct builder *b, ir_ref v, dim *extents);
#endif
