/* A unit made ready: lowered, its inlined callees taken in, optimised by the passes of its level, and split into what is evaluated when the
 * library is built (the slice) and what runs. Deterministic; its hashes decide whether a fragment can be reused. Most of a build needs only what a
 * plan looks like from outside, which can be recorded (builder/store/plan_record.h); its code is there when something has to be made from it. */
#ifndef TRIB_BACKEND_PLAN_PLAN_H
#define TRIB_BACKEND_PLAN_PLAN_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/ir.h"

enum layout {
#define LAYOUT(id) LAYOUT_##id,
#include "backend/plan/layouts.def"
#undef LAYOUT
	LAYOUT_COUNT
};

/* One pointer of a unit's weight table. */
enum slot_kind {
	SLOT_DATA,  /* a packed tensor: output `slice_output` of the slice, in `layout` */
	SLOT_TABLE, /* the table of a callee: its build-time inputs are outputs slice_output … +n_args-1 of the slice */
};
struct slot {
	enum slot_kind kind;
	enum layout layout;
	struct hir_type type;
	uint32_t slice_output, n_args;
	const struct hir_unit *callee;
};

/* The slice from outside. It falls into pieces that share nothing but constants; each is evaluated on its own, so that no more is in memory than
 * belongs together. */
#define PLAN_NONE UINT32_MAX
struct build_fn_output {
	uint32_t weight;     /* the weight that is handed on, or PLAN_NONE: then it is … */
	uint32_t piece, nth; /* … output `nth` of a piece */
	dtype elem;
	uint8_t rank;
	int64_t dims[HIR_MAX_RANK];
};
struct build_fn_interface {
	uint32_t *piece_of; /* per weight: the piece that reads it; PLAN_NONE: none */
	uint32_t n_weights;
	struct build_fn_output *outputs;
	uint32_t n_outputs;
	hash128 *pieces; /* per piece: its code, with all that it calls */
	uint32_t n_pieces;
};

struct plan_options {
	uint8_t opt; /* 0 … 3 */
	bool size;   /* -Os */
	bool verify; /* run the verifier between passes */
};

struct plan {
	const struct hir_unit *unit;
	struct ir_fn
		*slice; /* weights: the unit's build-time inputs in order; no run-time inputs; outputs named by the slots. NULL: not made */
	struct ir_fn *run;  /* WEIGHT index: slot number. NULL: not made */
	struct slot *slots; /* every unit that is called has a table here */
	uint32_t n_slots;
	struct build_fn_interface face;
	const struct hir_unit **inlined; /* taken in, each once, by name */
	uint32_t n_inlined;
	hash128 slice_hash;
	hash128 run_hash; /* of `run` and the slots: with target, options and compiler build it is the unit's key */
};

/* Everything in `unit`'s arena. NULL: errors were reported into diags. `dump`: NULL, or receives the IR text after each stage. */
struct plan *plan_unit(struct arena *unit, const struct hir_unit *u, const struct plan_options *opt, struct diags *diags, struct buf *dump);

/* Fills the face of a slice, in `a` (pieces.c). */
void plan_interface(struct arena *a, const struct ir_fn *slice, struct build_fn_interface *face);
/* A piece as a function; its outputs are those of the slice that belong to it, in order, its weights those that it reads. It has dims of its own, with
 * symbols only if a dimension needs them. */
struct ir_fn *plan_piece(struct arena *a, const struct ir_fn *slice, const struct build_fn_interface *face, uint32_t piece);

/* Packed size in bytes, and packing of a host tensor into `out` (plan_packed_size bytes). Thread-safe. */
struct tensor;
size_t layout_packed_size(enum layout layout, const struct tensor *t);
void layout_pack(enum layout layout, const struct tensor *t, void *out);
#endif
