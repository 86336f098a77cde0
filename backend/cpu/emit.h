/* Private to backend/cpu: emits LLVM IR for loop IR.
 *
 * One loop of a nest is vectorised: a parallel loop, whose lanes are different results, or a reduction loop, whose lanes are partial
 * results that are combined in a fixed order. An expression that does not depend on that loop is scalar, and is computed in the
 * outermost loop possible. */
#ifndef TRIB_BACKEND_CPU_EMIT_H
#define TRIB_BACKEND_CPU_EMIT_H
#include <stdbool.h>
#include <stdint.h>
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include "backend/loops/ir/cost.h"
#include "backend/target/codegen.h"
#include "base/vec.h"

struct dim_value {
	dim of;
	LLVMValueRef value;
};
enum { UNIT_VALUES = 5 }; /* context, buffers, weights, dims, scratch */
/* The iterations of one loop that a chunk runs over. */
struct emit_range {
	uint32_t loop;
	LLVMValueRef from, size;
};
/* What a prologue or epilogue is called for: its first element, the elements from one row to the next, and for each axis the start and the size. */
struct emit_tile {
	LLVMValueRef ptr, stride, at[TILE_AXES], size[TILE_AXES];
	uint32_t dense; /* the axis whose elements follow each other: columns or rows. Those of the other one are `stride` apart */
};
/* The blocks around the statement that is emitted. */
struct emit_outer {
	const struct emit_outer *around; /* NULL: this one is the outermost */
	const struct loop_block *block;  /* the innermost */
	LLVMValueRef var[LOOP_MAX];      /* of their loops */
	LLVMValueRef *privates;          /* of each buffer its memory, or NULL */
	LLVMValueRef list; /* the unit, the frame and the private buffers, for nests that are functions; NULL: there are none */
};
struct emit {
	LLVMContextRef context;
	LLVMModuleRef module;
	LLVMBuilderRef builder;
	const struct codegen_target *target;
	bool fma, f16c;
	const struct loop_fn *fn;
	const struct emit_range *range;                           /* of the chunk that is emitted; NULL: all of a nest */
	const struct emit_outer *outer;                           /* NULL: no block */
	LLVMValueRef frame;                                       /* of the blocks in this function; NULL: not used yet */
	const struct emit_tile *tile;                             /* of the prologue or epilogue that is emitted; NULL: a nest of its own */
	LLVMValueRef function, ctx, bufs, weights, dims, scratch; /* of the unit */
	VEC(struct dim_value) dim_values;                         /* computed in the current statement */
	LLVMValueRef overflow; /* bool: true if a dim overflowed so far in this function; NULL: not recorded */
	LLVMValueRef check;    /* the function that checks indices; NULL: not used yet */
	LLVMTypeRef ptr, i1, i8, i16, i32, i64, f32, f64;
	LLVMMetadataRef scope, line; /* of the current statement: emit_lines.c */
	uint32_t statement;          /* its number, from 1 on */
	struct live_buffers live;    /* if statements are profiled */
};

/* emit_run.c: emits one unit into e->module. */
void emit_unit(struct emit *e, const struct loop_fn *f);

/* emit_stmt.c */
void emit_stmt(struct emit *e, const struct loop_stmt *s);
/* Returns the scratch bytes of the unit that is called. */
LLVMValueRef emit_callee_scratch(struct emit *e, const struct loop_call *call);
/* The types of tri_unit_fn and tri_scratch_fn. */
LLVMTypeRef emit_unit_type(struct emit *e);
LLVMTypeRef emit_scratch_type(struct emit *e);
/* Returns the module's function of this name; declares it if it is missing. */
LLVMValueRef emit_declare(struct emit *e, const char *name, LLVMTypeRef type);
/* Adds the attributes of every function of a unit: target, vector width. */
void emit_attributes(struct emit *e, LLVMValueRef f);
/* Emits a call of tri_fail. */
void emit_fail(struct emit *e, int32_t code, LLVMValueRef ctx, LLVMValueRef value, LLVMValueRef bound);
/* Returns the value of a dim as an int64. */
LLVMValueRef emit_dim(struct emit *e, dim x);
/* If the dim is a constant, stores it and returns true. */
bool dim_known(const struct emit *e, dim x, int64_t *v);
/* Returns a + b or a·b. Records an overflow in e->overflow unless that is NULL. */
LLVMValueRef emit_dim_sum(struct emit *e, LLVMValueRef a, LLVMValueRef b, bool mul);
/* Allocates an array in the entry block, so once for each call of the function. */
LLVMValueRef emit_stack_array(struct emit *e, LLVMTypeRef type, uint32_t n);
/* Returns the address of an element. */
LLVMValueRef emit_element(struct emit *e, LLVMTypeRef type, LLVMValueRef array, uint32_t k);
/* Sets what the code of a unit uses to five values: context, buffers, weights, dims, scratch. */
void emit_use_unit(struct emit *e, const LLVMValueRef values[UNIT_VALUES]);
/* Returns the address of a buffer. */
LLVMValueRef emit_buffer(struct emit *e, uint32_t buffer);
LLVMValueRef emit_i64(struct emit *e, int64_t v);
/* Returns index i, or 0 after tri_fail if it is not in 0 … bound-1; of a vector each lane. */
LLVMValueRef emit_checked_index(struct emit *e, LLVMValueRef i, LLVMValueRef bound);
LLVMBasicBlockRef emit_block(struct emit *e, const char *name);

/* emit_lines.c: the number of the statement that code belongs to. */
void emit_lines_open(struct emit *e);
/* Assigns the code that follows to statement `number` - 1; 0: to none. */
void emit_line(struct emit *e, uint32_t number);
/* Sets the number again, after the builder was at another instruction. */
void emit_same_line(struct emit *e);

/* emit_profile.c: emits statement k, and calls that report its time if the host program wants it. */
void emit_profiled(struct emit *e, uint32_t k);

/* emit_loop.c: a counted loop with carried values. */
struct emit_loop {
	LLVMBasicBlockRef before, body, after;
	LLVMValueRef var, end, step;
	LLVMValueRef *carried; /* in the body; after emit_loop_close those after the loop */
	LLVMValueRef *initial;
	uint32_t n_carried;
};
/* Emits for (var = start; var < end; var += step) and moves into its body. `carried`: n values before the loop, replaced by those in the
 * body. */
void emit_loop_open(struct emit *e, struct emit_loop *l, LLVMValueRef start, LLVMValueRef end, LLVMValueRef step, LLVMValueRef *carried,
		    uint32_t n);
/* Ends the loop. l->carried has the values at the end of the body, and is replaced by those after the loop. */
void emit_loop_close(struct emit *e, struct emit_loop *l);

/* emit_outline.c: a part of a unit as a function of its own. */
struct emit_outlined {
	LLVMValueRef function;
	LLVMBasicBlockRef block;
	LLVMValueRef frame;
	LLVMValueRef values[UNIT_VALUES];
};
/* Stores the values of the unit in an array; loads them from it. */
LLVMValueRef emit_store_unit(struct emit *e);
void emit_load_unit(struct emit *e, LLVMValueRef list, LLVMValueRef values[UNIT_VALUES]);
/* Adds a private function and moves into it; moves back. */
LLVMValueRef emit_outline(struct emit *e, const char *name, LLVMTypeRef type, struct emit_outlined *o);
void emit_inline_again(struct emit *e, const struct emit_outlined *o);

/* emit_parallel.c: emits a nest or block whose first axis is parallel. */
void emit_parallel(struct emit *e, const struct loop_stmt *s);

/* emit_nested.c: emits a block. */
void emit_nested(struct emit *e, const struct loop_block *b);
/* Returns the address of a buffer of the current block. */
LLVMValueRef emit_own_buffer(struct emit *e, uint32_t buffer);

/* emit_tile.c: emits the function of a prologue or epilogue, and returns a struct tri_prologue or tri_epilogue for it. */
LLVMValueRef emit_tile_function(struct emit *e, const char *name, const struct loop_nest *n);

/* emit_nest.c */
void emit_nest(struct emit *e, const struct loop_nest *n);

/* emit_memory.c */
LLVMTypeRef type_register(const struct emit *e, dtype elem);
LLVMTypeRef type_memory(const struct emit *e, dtype elem);
LLVMTypeRef type_lanes(LLVMTypeRef scalar, uint32_t width); /* width 1: the scalar */
uint32_t value_lanes(LLVMValueRef v);
LLVMValueRef emit_splat(struct emit *e, LLVMValueRef scalar, uint32_t width);
/* Load or store elements at ptr, ptr + stride …; `stride` NULL: dense. */
LLVMValueRef emit_load(struct emit *e, dtype elem, LLVMValueRef ptr, uint32_t width, LLVMValueRef stride);
void emit_store(struct emit *e, dtype elem, LLVMValueRef value, LLVMValueRef ptr, uint32_t width, LLVMValueRef stride);
/* Loads the element at ptr + index[k] · scale for each lane k. */
LLVMValueRef emit_load_indexed(struct emit *e, dtype elem, LLVMValueRef ptr, uint32_t width, LLVMValueRef stride, LLVMValueRef index,
			       LLVMValueRef scale);
LLVMValueRef emit_offset(struct emit *e, dtype elem, LLVMValueRef ptr, LLVMValueRef elements);
LLVMValueRef emit_lane(struct emit *e, LLVMValueRef v, uint32_t lane);
LLVMValueRef emit_set_lane(struct emit *e, LLVMValueRef v, LLVMValueRef x, uint32_t lane);

/* emit_half.c: 16-bit floats to and from float32 registers. */
LLVMValueRef emit_from_half(struct emit *e, dtype elem, LLVMValueRef bits);
LLVMValueRef emit_to_half(struct emit *e, dtype elem, LLVMValueRef value);

/* emit_op.c: one element-wise operation on values of equal width. `from`: element type of the operands. */
LLVMValueRef emit_op(struct emit *e, enum ir_op op, dtype elem, dtype from, LLVMValueRef *args);
LLVMValueRef emit_cast(struct emit *e, LLVMValueRef v, dtype from, dtype to);
LLVMValueRef emit_max(struct emit *e, dtype elem, LLVMValueRef a, LLVMValueRef b, bool max);
LLVMValueRef emit_number(struct emit *e, dtype elem, uint32_t width, double f, int64_t i);
LLVMValueRef emit_fma(struct emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c); /* a·b + c, with one rounding if the target has it */
LLVMValueRef emit_intrinsic(struct emit *e, const char *name, LLVMValueRef *args, uint32_t n, LLVMTypeRef *types, uint32_t n_types);
LLVMValueRef emit_unary_intrinsic(struct emit *e, const char *name, LLVMValueRef x);
/* Calls a function of the C library for each lane, which is a float or a double. */
LLVMValueRef emit_libm(struct emit *e, const char *name_f32, const char *name_f64, LLVMValueRef *args, uint32_t n);

/* emit_bounded.c: the value of bounded cast x of v. */
LLVMValueRef emit_bounded_cast(struct emit *e, const struct loop_expr *x, LLVMValueRef v);

/* emit_lookup.c: x[i % n] for each lane. n is 16 or 32. */
LLVMValueRef emit_lookup(struct emit *e, const float *x, uint32_t n, LLVMValueRef i);

/* emit_math.c: operation x of the nest by its method, on values of float32, or of any float type if it is a product. */
LLVMValueRef emit_approximation(struct emit *e, const struct loop_nest *n, const struct loop_expr *x, LLVMValueRef *args);
/* By polynomials, or with tables. */
LLVMValueRef emit_exp(struct emit *e, LLVMValueRef x, bool lookup);
LLVMValueRef emit_erf(struct emit *e, LLVMValueRef x, bool lookup); /* emit_erf.c */

/* emit_reduce.c: accumulators. ARGMAX and ARGMIN have two values, the best element and its index, others one. */
uint32_t reduce_values(const struct loop_reduction *r);
void reduce_identity(struct emit *e, const struct loop_reduction *r, dtype compared, uint32_t width, LLVMValueRef *acc);
/* acc ⊕= value (at index `index`). */
void reduce_step(struct emit *e, const struct loop_reduction *r, dtype compared, LLVMValueRef *acc, LLVMValueRef value, LLVMValueRef index);
/* acc ⊕= other accumulator */
void reduce_combine(struct emit *e, const struct loop_reduction *r, dtype compared, LLVMValueRef *acc, LLVMValueRef *other);
/* Combines all lanes into one. */
void reduce_lanes(struct emit *e, const struct loop_reduction *r, dtype compared, LLVMValueRef *acc);
/* Replaces the lanes below `dead` by the identity. */
LLVMValueRef reduce_mask(struct emit *e, const struct loop_reduction *r, dtype compared, LLVMValueRef value, uint32_t dead);
#endif
