/* One unit in SSA form over tensors. Built by lower.c or read.c, rewritten by passes, checked by verify.c, run by interp.c. */
#ifndef TRIB_BACKEND_IR_IR_H
#define TRIB_BACKEND_IR_IR_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/origin.h"
#include "base/hash.h"
#include "base/source.h"
#include "frontend/hir/hir.h"

struct arena;
struct buf;
struct diags;

enum ir_op {
#define OP(id, text, signature, elements, traits, record, shape, work, cost) OP_##id,
#include "backend/ir/ops.def"
#undef OP
	OP_COUNT
};
enum ir_trait {
	PURE = 1,
	EWISE = 2,
	VIEW = 4,
	COMMUTES = 8,
	IDEMPOTENT = 16,
	INVOLUTION = 32,
	REDUCES = 64,
	EFFECT = 128,
	EXPENSIVE = 256,
	COMPOUND = 512
};
enum layout {
#define LAYOUT(id, ...) LAYOUT_##id,
#include "backend/ir/layouts.def"
#undef LAYOUT
	LAYOUT_COUNT
};

/* Records of attributes: attributes.def. */
enum ir_record {
	IR_RECORD_none,
#define RECORD(name, members) IR_RECORD_##name,
#include "backend/ir/attributes.def"
	IR_RECORD_COUNT
};
#define TYPE(name, c) typedef c ir_type_##name;
#define CHOICE(id, text) id,
#define CHOICES(name, choices) enum ir_##name{choices};
#define ONE(type, member, word) ir_type_##type member;
#define EACH(type, member, word) ir_type_##type member[HIR_MAX_RANK];
#define LIST(type, member, n, word) ir_type_##type member[n];
#define PICK(choices, member, word) enum ir_##choices member;
#define RECORD(name, members) \
	struct ir_##name {    \
		members       \
	};
#include "backend/ir/attributes.def"
#undef CHOICE
#undef ONE
#undef EACH
#undef LIST
#undef PICK

typedef uint32_t ir_ref; /* index into ir_fn.insts */
#define IR_NONE UINT32_MAX

struct ir_inst {
	enum ir_op op : 16;
	uint8_t layout;                /* enum layout */
	bool build_time;               /* the value is known when the library is built: it depends on weights and constants alone */
	uint32_t operands, n_operands; /* in ir_fn.operands */
	origin_set origin;             /* of ir_fn.origins; never hashed */
	struct hir_type type;          /* dims of ir_fn.dims */
	const void *attributes;        /* the record that ops.def names, read by the functions below; never changed. NULL: none */
};
_Static_assert(sizeof(struct ir_inst) <= 72, "functions have many instructions");

/* Passes read and rewrite it directly. All memory is the `unit` arena's. */
struct ir_fn {
	struct arena *unit;
	const char *name; /* the unit's symbol */
	struct dims *dims;
	struct origins *origins;
	struct ir_inst *insts; /* operands precede users */
	uint32_t n_insts, cap_insts;
	ir_ref *operands;
	uint32_t n_operands, cap_operands;
	struct hir_type *inputs, *weights; /* types of run-time inputs; of build-time inputs, or of slots in a run_fn */
	uint32_t n_inputs, n_weights;
	ir_ref *outputs;
	uint32_t n_outputs;
};

struct ir_fn *ir_fn_new(struct arena *unit, const char *name, struct dims *dims);
/* Makes room for as many, so that adding them leaves no old copies in the arena. */
void ir_reserve(struct ir_fn *f, uint32_t insts, uint32_t operands);
/* Appends an instruction with these operands; the caller sets its attributes, if it has any. */
ir_ref ir_emit(struct ir_fn *f, enum ir_op op, const struct hir_type *type, const ir_ref *operands, uint32_t n, origin_set origin);
/* Appends a copy of i with these operands. The dims and the origin of i must be of f. */
ir_ref ir_copy(struct ir_fn *f, const struct ir_inst *i, const ir_ref *operands, uint32_t n);
static inline struct ir_inst *ir_at(const struct ir_fn *f, ir_ref r) { return &f->insts[r]; }
static inline const struct hir_type *ir_type_of(const struct ir_fn *f, ir_ref r) { return &ir_at(f, r)->type; }
static inline struct hir_type ir_scalar(dtype elem) { return (struct hir_type){.elem = elem}; }
static inline ir_ref ir_operand(const struct ir_fn *f, ir_ref r, uint32_t k) { return f->operands[f->insts[r].operands + k]; }

/* Returns the position of i in the sources, or SPAN_NONE. */
static inline span ir_span(const struct ir_fn *f, const struct ir_inst *i) { return origins_span(f->origins, i->origin); }
/* Adds origins to those of r. */
static inline void ir_add_origins(struct ir_fn *f, ir_ref r, origin_set s)
{
	ir_at(f, r)->origin = origins_union(f->origins, ir_at(f, r)->origin, s);
}

/* Copies the attributes of i, a copy itself, into the arena of f, with the elements and texts that they refer to. */
void ir_own_attributes(struct ir_fn *f, struct ir_inst *i);

const void *ir_attributes(const struct ir_inst *i, enum ir_record r);
void ir_set_attributes(struct ir_fn *f, ir_ref i, enum ir_record r, const void *attributes);
/* ir_slice(i) returns the attributes of i, ir_set_slice sets those of instruction r; the record of the operation must be this one. */
#define RECORD(name, members)                                                                                                   \
	static inline const struct ir_##name *ir_##name(const struct ir_inst *i) { return ir_attributes(i, IR_RECORD_##name); } \
	static inline void ir_set_##name(struct ir_fn *f, ir_ref r, struct ir_##name x) { ir_set_attributes(f, r, IR_RECORD_##name, &x); }
#include "backend/ir/attributes.def"
/* Sets the elements of CONST r, whose type is known. */
void ir_set_const(struct ir_fn *f, ir_ref r, const void *data);

const char *ir_layout_text(enum layout l);
/* True if the elements are packed: they have no strides. */
bool ir_layout_is_packed(enum layout l);
/* Returns the layout in which dim k of this rank is stored first, or LAYOUT_COUNT if there is none. */
enum layout ir_layout_along(uint32_t k, uint32_t rank);
/* Stores the dims in the order in which they are stored, outermost first. The layout must not be packed. */
void ir_layout_order(enum layout l, uint32_t rank, uint32_t order[HIR_MAX_RANK]);
/* True if a value of this type can be stored so. */
bool ir_layout_fits(enum layout l, const struct hir_type *t);
/* True if operand k of an operation may have any layout, because loops read it element by element. */
bool ir_reads_any_layout(const struct ir_inst *i, uint32_t k);

static inline bool ir_calls(enum ir_op op) { return op == OP_CALL || op == OP_IF || op == OP_LOOP; }
const char *ir_op_text(enum ir_op op);
const char *ir_op_signature(enum ir_op op);
int ir_op_operands(enum ir_op op); /* -1: any number */
uint32_t ir_op_traits(enum ir_op op);
/* True if an element-wise operation on elements of these n types gives one of type `result`. */
bool ir_elements_fit(enum ir_op op, const dtype *operands, uint32_t n, dtype result);
enum ir_record ir_op_record(enum ir_op op);
uint32_t ir_op_work(enum ir_op op);
/* True if i prints or asserts, itself or in a unit that it calls. */
bool ir_has_effect(const struct ir_inst *i);
/* The element count of a type, whose dims must be constant. */
int64_t ir_type_count(const struct dims *d, const struct hir_type *t);
bool ir_type_const(const struct dims *d, const struct hir_type *t); /* true if every dim is constant */
bool ir_type_same(const struct hir_type *a, const struct hir_type *b);
/* Returns the type with its dims, which are in `from`, translated; symbol k becomes syms[k]. */
struct hir_type ir_type_translate(struct dims *to, const struct dims *from, const dim *syms, const struct hir_type *t);
/* Sets build_time of every instruction. */
void ir_mark_build_time(struct ir_fn *f);
/* Marks what the build_fn computes, which a run_fn reads from slots: build-time values that depend on a weight or on random numbers, if
 * `fold` also expensive constants, and values in a packed layout. */
void ir_mark_in_build_fn(const struct ir_fn *f, bool fold, bool *in_build_fn);
bool ir_build_time_is_marked(const struct ir_fn *f);

/* Additions, or what takes as long as so many, and the bytes of operands and result, as if nothing were fused. A call costs nothing itself. */
struct ir_cost {
	double operations, bytes;
};
/* `syms`: the values of the symbols. */
struct ir_cost ir_cost(const struct ir_fn *f, ir_ref r, const int64_t *syms);
/* Computes the type of a result by the rules of ops.def. Before, t has what they leave open: the shape of a RESHAPE, the element type of a
 * CAST. Returns false if operands or attributes are not valid. */
bool ir_infer(const struct ir_fn *f, enum ir_op op, const void *attributes, const ir_ref *operands, uint32_t n, struct hir_type *t);
/* Checks the invariants of ops.def. Returns false after writing the instruction and what is wrong with it into `why`. */
bool ir_verify(const struct ir_fn *f, struct buf *why);
/* Aborts with the function's text if it is not valid. `after`: the step that made it. */
void ir_verify_or_abort(const struct ir_fn *f, const char *after);
/* True if the shapes of r and its operands agree for all values of the symbols, not only for some. Only steps of which this is true may
 * be joined: N = 2M and 2M = N + 1 may each be true, N = N + 1 is not. */
bool ir_shapes_proven(const struct ir_fn *f, ir_ref r);
/* Writes f as text; reads such a text back. ir_read returns NULL after reporting an error into `diags`. */
void ir_print(const struct ir_fn *f, struct buf *out);
/* Prints a comment after each instruction for which `note` appends text. */
struct ir_notes {
	void (*note)(const void *context, const struct ir_fn *f, ir_ref r, struct buf *out);
	const void *context;
};
void ir_print_with_notes(const struct ir_fn *f, const struct ir_notes *notes /* may be NULL */, struct buf *out);
struct ir_fn *ir_read(struct arena *unit, const struct source *text, struct diags *diags);
/* The hash of f without positions and names of symbols. A callee counts by its symbol and identity. */
hash128 ir_hash(const struct ir_fn *f);
/* Adds the attributes of i to h; `hash_one` adds one dim. */
typedef void ir_hash_dim(struct hasher *h, const struct dims *dims, dim x);
void ir_hash_attributes(struct hasher *h, const struct dims *dims, const struct ir_inst *i, ir_hash_dim *hash_one);
#endif
