/* One unit in SSA form over tensors. Built by lower.c or read.c, rewritten by passes, checked by verify.c, run by interp.c. */
#ifndef TRIB_BACKEND_IR_IR_H
#define TRIB_BACKEND_IR_IR_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/source.h"
#include "frontend/hir/hir.h"

struct arena;
struct buf;
struct diags;

enum ir_op {
#define OP(id, text, ins, traits, shape) OP_##id,
#include "backend/ir/ops.def"
#undef OP
	OP_COUNT
};
enum ir_trait { PURE = 1, EWISE = 2, COMMUTES = 4, REDUCES = 8, EFFECT = 16 };
enum ir_random { RANDOM_NORMAL, RANDOM_UNIFORM, RANDOM_TRIT, RANDOM_TRIT_BALANCED };

typedef uint32_t ir_ref; /* index into ir_fn.insts */
#define IR_NONE UINT32_MAX

struct ir_inst {
	enum ir_op op;
	bool build_time;               /* every operand is, down to weights and constants */
	struct hir_type type;          /* dims of ir_fn.dims */
	uint32_t operands, n_operands; /* in ir_fn.operands */
	uint32_t index;                /* as ops.def says */
	uint32_t mask;                 /* REDUCE_*, ARG*: bit k set: operand dim k is reduced */
	int64_t ints[HIR_MAX_RANK];
	dim starts[HIR_MAX_RANK]; /* SLICE, PAD */
	double f[2];
	dim extent;                    /* DIM */
	const void *data;              /* CONST */
	const char *text, *where;      /* PRINT, ASSERT */
	const struct hir_unit *callee; /* CALL, IF, LOOP */
	const struct hir_unit *other;  /* IF; has the symbols of the callee */
	const dim *callee_syms;        /* one for each symbol of the callee, in ir_fn.dims */
	span at;
};

/* Open on purpose: passes walk it. All memory is the `unit` arena's. */
struct ir_fn {
	struct arena *unit;
	const char *name; /* the unit's symbol */
	struct dims *dims;
	struct ir_inst *insts; /* operands precede users */
	uint32_t n_insts, cap_insts;
	ir_ref *operands;
	uint32_t n_operands, cap_operands;
	struct hir_type *inputs, *weights; /* types of run-time inputs and of weights (build-time inputs, or slots after the split) */
	uint32_t n_inputs, n_weights;
	ir_ref *outputs;
	uint32_t n_outputs;
};

struct ir_fn *ir_fn_new(struct arena *unit, const char *name, struct dims *dims);
/* Room for as many, so that adding them leaves no old copies in the arena. */
void ir_reserve(struct ir_fn *f, uint32_t insts, uint32_t operands);
/* Appends a zeroed instruction with these operands; the caller fills its attributes. */
ir_ref ir_emit(struct ir_fn *f, enum ir_op op, const struct hir_type *type, const ir_ref *operands, uint32_t n, span at);
/* Appends instruction i, of any function, behind these operands, with all its attributes. Its dims must be those of f (ir_translate). */
ir_ref ir_copy(struct ir_fn *f, const struct ir_inst *i, const ir_ref *operands, uint32_t n);
/* Gives f, which has no symbols yet, those of `from`; the result is what ir_translate wants. */
const dim *ir_same_symbols(struct ir_fn *f, const struct dims *from);
/* Rewrites the dims of i, which are of `from`, in those of f; symbol k becomes syms[k], which is not read for constants. */
void ir_translate(struct ir_fn *f, const struct dims *from, const dim *syms, struct ir_inst *i);
static inline struct ir_inst *ir_at(const struct ir_fn *f, ir_ref r) { return &f->insts[r]; }
static inline ir_ref ir_operand(const struct ir_fn *f, ir_ref r, uint32_t k) { return f->operands[f->insts[r].operands + k]; }

static inline bool ir_calls(enum ir_op op) { return op == OP_CALL || op == OP_IF || op == OP_LOOP; }
const char *ir_op_text(enum ir_op op);
int ir_op_ins(enum ir_op op);
uint32_t ir_op_traits(enum ir_op op);
/* Does r print or assert, itself or in what it calls? */
bool ir_has_effect(const struct ir_fn *f, ir_ref r);
static inline bool ir_op_starts(enum ir_op op) { return op == OP_SLICE || op == OP_PAD; } /* has it `starts`, one for each result dim? */
/* Elements of a type with constant dims (they must be). */
int64_t ir_type_count(const struct dims *d, const struct hir_type *t);
bool ir_type_const(const struct dims *d, const struct hir_type *t); /* every dim a constant? */
bool ir_type_same(const struct hir_type *a, const struct hir_type *b);
/* A type whose dims are of `from`, in dims of `to`; symbol k becomes syms[k]. */
struct hir_type ir_type_translate(struct dims *to, const struct dims *from, const dim *syms, const struct hir_type *t);
/* Sets build_time of every instruction from its operands, attributes and type. */
void ir_mark_build_time(struct ir_fn *f);

/* Invariants of ops.def; on a breach prints the function and what is wrong into `why` and returns false. Run between passes in debug. */
bool ir_verify(const struct ir_fn *f, struct buf *why);
/* Do r's shapes agree with its operands' whatever the symbols' values are, not only for some? Only steps of which this holds may be made one: that
 * N = 2M and 2M = N + 1 may each be true does not say that N = N + 1 may. */
bool ir_shapes_proven(const struct ir_fn *f, ir_ref r);
/* Text, and back: ir_read(ir_print(f)) prints the same. Errors of the text go to `diags`, NULL then. */
void ir_print(const struct ir_fn *f, struct buf *out);
struct ir_fn *ir_read(struct arena *unit, const struct source *text, struct diags *diags);
/* Over everything that has a meaning: no positions, no names of symbols; a callee counts by its symbol and identity, not by its body. */
hash128 ir_hash(const struct ir_fn *f);
#endif
