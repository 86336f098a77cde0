/* A unit ready for code generation: lowered, with small callees inlined, optimised by the passes of its level, and split into
 *   build_fn  what depends only on weights and constants; evaluated when the library is built
 *   run_fn    the rest; compiled.
 * A plan is deterministic. Its hashes decide whether a compiled fragment can be reused. Most of a build needs only hashes, slots and
 * interface, which builder/store/plan_record.h stores; the two functions are then NULL until something has to be made from them. */
#ifndef TRIB_BACKEND_PLAN_PLAN_H
#define TRIB_BACKEND_PLAN_PLAN_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/ir.h"
#include "backend/target/target.h"

/* One pointer of a unit's weight table. */
enum slot_kind {
	SLOT_DATA,  /* a tensor: output `first_output` of the build_fn, packed in `layout` */
	SLOT_TABLE, /* the weight table of `callee`, whose build-time inputs are n_args outputs of the build_fn from first_output on */
};
struct slot {
	enum slot_kind kind;
	enum layout layout;
	struct hir_type type;
	uint32_t first_output, n_args;
	const struct hir_unit *callee;
};

/* The build_fn without its code. It is divided into pieces that share only constants. They are evaluated separately, so memory holds the
 * weights of a piece and not of the unit. */
#define PLAN_NONE UINT32_MAX
struct build_fn_output {
	uint32_t weight;     /* the output is this weight itself; PLAN_NONE: it is computed */
	uint32_t piece, nth; /* if computed: output `nth` of a piece */
	dtype elem;
	uint8_t rank;
	int64_t dims[HIR_MAX_RANK];
};
struct build_fn_interface {
	uint32_t *piece_of; /* for each weight the piece that reads it, or PLAN_NONE */
	uint32_t n_weights;
	struct build_fn_output *outputs;
	uint32_t n_outputs;
	hash128 *pieces; /* for each piece the hash of its code and of all units that it calls */
	uint32_t n_pieces;
};

struct plan_options {
	const struct target *target;
	uint8_t opt; /* 0 … 3 */
	bool size;   /* -Os */
	bool verify; /* verify after every pass */
};

struct plan {
	const struct hir_unit *unit;
	struct plan_options options; /* of the unit: its own level */
	struct dims *dims;           /* of all functions below: a copy of the unit's that has grown. NULL if they are */
	struct ir_fn *build_fn; /* weights: the unit's build-time inputs in order; no run-time inputs; outputs: see slots. May be NULL */
	struct ir_fn *run_fn;   /* the index of a WEIGHT is a slot number. May be NULL */
	struct slot *slots;     /* a call has a slot even if its callee has no weights */
	uint32_t n_slots;
	struct build_fn_interface interface;
	const struct hir_unit **inlined; /* each once, sorted by symbol */
	uint32_t n_inlined;
	hash128 build_fn_hash;
	hash128 run_fn_hash; /* of run_fn and the slots; with target, options and compiler build it is the key of the fragment */
};

/* Makes the plan of u in `unit`. Returns NULL after reporting errors into diags. `dump` receives the IR text after each stage; it may be
 * NULL. */
struct plan *plan_unit(struct arena *unit, const struct hir_unit *u, const struct plan_options *opt, struct diags *diags, struct buf *dump);

/* Fills the interface of a build_fn; its arrays are in `a`. */
void build_fn_describe(struct arena *a, const struct ir_fn *build_fn, struct build_fn_interface *interface);
/* Returns a piece as a function in `a`. It has its weights and outputs in the order of the build_fn. */
struct ir_fn *build_fn_piece(struct arena *a, const struct ir_fn *build_fn, const struct build_fn_interface *interface, uint32_t piece);

/* The size in bytes of t packed in a layout; packing into `out`, which has that size. Thread-safe. */
struct tensor;
size_t layout_packed_size(enum layout layout, const struct tensor *t);
void layout_pack(enum layout layout, const struct tensor *t, void *out);
#endif
