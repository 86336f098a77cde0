/* Private to loops/: the result of fusion for every value, and the mapping of coordinates through operations. */
#ifndef TRIB_BACKEND_LOOPS_BUILD_BUILD_H
#define TRIB_BACKEND_LOOPS_BUILD_BUILD_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/gather.h"
#include "backend/loops/loop_passes.h"

/* The element of a value that an iteration reads: in each dimension base + Σ coef·loop variable. */
struct coord {
	dim base, coef[LOOP_MAX];
};
struct coords {
	uint32_t rank;
	uint32_t in_reduction; /* inside the reduction loops */
	struct coord at[HIR_MAX_RANK];
};

/* A nest that will be built. It stores a value, a part of a CONCAT or PAD, or the copy of an output, or it checks indices. */
enum group_kind { GROUP_VALUE, GROUP_PART, GROUP_COPY, GROUP_RANGE };
enum { PART_WHOLE = 1, PART_BORDER }; /* of a PAD: its value everywhere, or before and after dimension k in PART_BORDER + k */
struct group {
	enum group_kind kind;
	ir_ref root;   /* GROUP_PART: the CONCAT or PAD; GROUP_COPY: the value copied; GROUP_RANGE: the gather */
	uint32_t part; /* GROUP_PART: operand number; of a PAD 0, PART_WHOLE or a border; GROUP_COPY: output number */
	uint8_t n_parallel, n_reduce;
	dim extent[LOOP_MAX];
};

enum fused_use { USE_NONE, USE_ONE, USE_MANY };
struct fused {
	bool stored; /* has a buffer, which a nest or a kernel writes */
	bool forced; /* must have a buffer */
	enum fused_use use;
	uint32_t group; /* USE_ONE: computed in this nest, at these coordinates */
	struct coords *coords;
	uint32_t cost, size;  /* of one element: roughly the number of vector instructions; the number of expressions */
	uint32_t output;      /* output it is stored to, or LOOP_NONE */
	uint32_t first_group; /* if stored: its nest (CONCAT: of part 0; PAD: the first one, and others follow), or LOOP_NONE */
	uint32_t range_group; /* of a gather: the nest that only checks its indices, or LOOP_NONE */
};

struct builder {
	struct arena *unit;
	const struct ir_fn *ir;
	const struct slot *slots;
	const struct target *target;
	const struct ir_program *program; /* what was decided for callees */
	struct argument_layouts own;      /* of the unit */
	struct dims *dims;
	dim zero, one;
	struct fused *values; /* of each instruction */
	struct group *groups;
	uint32_t n_groups, cap_groups;
	struct loop_fn *fn;
	uint32_t *buffer;   /* of each instruction, or LOOP_NONE */
	ir_ref *results;    /* of each call its first RESULT, of each RESULT the next one of the call, or IR_NONE */
	ir_ref *grown;      /* build_grow.c: of each instruction the one that it grows, or IR_NONE */
	bool *output_grows; /* of each output: it grows an input */
};

/* True if the value is in memory that no nest writes: an input, weight, constant or result of a call. */
bool loops_is_external(const struct ir_fn *f, ir_ref v);

/* Adds a temporary buffer and returns it. */
uint32_t loops_add_temp(struct builder *b, const struct hir_type *type);
/* True if all elements of the constant are equal. It then needs no buffer, unless a call reads it (`forced`). */
bool loops_is_splat(const struct builder *b, const struct ir_inst *in);

/* build_grow.c: fills grown and output_grows. */
void loops_find_growth(struct builder *b);
/* Returns the buffer that result `number` of a call grows, or LOOP_NONE. */
uint32_t loops_grown_result(const struct builder *b, ir_ref call, uint32_t number);
/* The callee grows an input that is no memory with room: passes a copy that has room. copied[output]: the buffer of the result, to which
 * loops_copy_back copies it after the call; LOOP_NONE: it is there. */
void loops_copy_grown(struct builder *b, ir_ref v, struct loop_call *call, uint32_t input, uint32_t output, uint32_t *copied);
void loops_copy_back(struct builder *b, ir_ref v, const struct loop_call *call, const uint32_t *copied);

/* checks.c: fills fn->checks. */
void loops_add_checks(struct builder *b);
/* True if x is known to be at least 0 for all values of the symbols, which are never negative. */
bool loops_is_nonnegative(const struct dims *d, dim x);
/* fuse.c: fills values and groups. */
void loops_fuse(struct builder *b);
/* range.c: true if a separate nest must check the indices of gather v, over the dims of *space. The users of v must be decided. */
bool loops_needs_range_nest(const struct builder *b, ir_ref v, struct hir_type *space);
/* Returns a dim that is negative if v indexes an empty dimension, and 0 otherwise. */
dim loops_empty_index(const struct builder *b, ir_ref v);
/* The places of gather v along dim k of its table are less than this. */
dim gather_bound(const struct builder *b, ir_ref v, uint32_t k, struct ir_table_dim d);
/* kernel_dims.c: the dims of a kernel call that computes v, by the names of its record. */
dim *loops_kernel_dims(struct builder *b, ir_ref v, const struct kernel_match *m);
/* nest.c: builds the nest of group `g`. Sets the values of the statement. */
void loops_build_nest(struct builder *b, uint32_t g, struct loop_stmt *out);
/* coords.c */
bool coords_eq(const struct coords *a, const struct coords *b);
void coords_identity(const struct builder *b, uint32_t rank, struct coords *out);
/* Computes the strides of a type in a layout that is not packed. */
void coords_strides(const struct builder *b, const struct hir_type *t, enum layout layout, dim *strides);
/* If the coordinate is a single loop variable, returns the loop, else LOOP_NONE. */
uint32_t coord_single(const struct builder *b, const struct coord *c);
/* True if every parallel loop of the group, except loops of one iteration, is exactly one coordinate. */
bool coords_cover(const struct builder *b, const struct group *g, const struct hir_type *t, const struct coords *c);
/* True if the coordinates depend on outer loops only, so that a value is computed once for all inner iterations. */
bool coords_outer(const struct builder *b, const struct group *g, const struct coords *c);
/* Maps coordinates of v to operand k. The reduction loops of REDUCE and MATMUL start at `first_reduce`. Returns false if the map is not
 * affine (a reshape that joins dimensions). Not for the table of a GATHER. */
bool coords_operand(const struct builder *b, ir_ref v, uint32_t k, const struct coords *c, uint32_t first_reduce, struct coords *out);
/* Stores the extents of the reduction loops of a REDUCE, ARG or MATMUL; returns their number. */
uint32_t coords_reduce_extents(const struct builder *b, ir_ref v, dim *extents);
#endif
