/* A unit ready for code generation: lowered, with small callees inlined, optimised by the passes of its level, and split into
 *   build_fn  what depends only on weights and constants; evaluated when the library is built
 *   run_fn    the rest; compiled.
 * A plan is deterministic. Its hashes decide whether a compiled fragment can be reused. Most of a build needs only hashes, slots and
 * interface, which builder/store/plan_record.h stores; the functions are then NULL until something has to be made from them. */
#ifndef TRIB_BACKEND_PLAN_PLAN_H
#define TRIB_BACKEND_PLAN_PLAN_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/slot.h"
#include "backend/loops/ir/loops.h"
#include "backend/passes/options.h"
#include "backend/passes/pass.h"
#include "backend/target/target.h"

/* The build_fn without its code. It is divided into pieces that share only constants. They are evaluated separately, so memory holds the
 * weights of a piece and not of the unit. */
#define PLAN_NONE UINT32_MAX
struct build_fn_output {
	uint32_t weight;     /* the output is this weight itself; PLAN_NONE: it is computed */
	bool is_transposed;  /* it is the transpose of the weight, a matrix */
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

/* Where the statements of the loops come from, and then their checks; then those of the loops for target->also. */
struct plan_statement {
	const char *name; /* loop_stmt_name */
	origin_set origins;
	uint8_t kind, ceiling; /* enum tri_statement_kind, enum tri_ceiling */
};
struct plan_origins {
	struct origins *table;
	struct plan_statement *statements;
	uint32_t n;
};

struct plan {
	const struct hir_unit *unit;
	struct plan_options options; /* of the unit: its own level */
	struct dims *dims;           /* of all functions below: a copy of the unit's that has grown and is closed. May be NULL */
	const struct ir_fn
		*build_fn; /* weights: the unit's build-time inputs in order; no run-time inputs; outputs: see slots. May be NULL */
	const struct ir_fn *run_fn;         /* the index of a WEIGHT is a slot number. May be NULL */
	const struct loop_fn *loops, *also; /* of the run_fn for the target, and for target->also. May be NULL */
	struct slot *slots;                 /* a call has a slot even if its callee has no weights */
	uint32_t n_slots;
	struct build_fn_interface interface;
	struct plan_origins origins;
	const struct hir_unit **inlined; /* each once, sorted by symbol */
	uint32_t n_inlined;
	hash128 build_fn_hash;
	hash128 run_fn_hash; /* of run_fn and the slots; with target, options and compiler build it is the key of the fragment */
};

/* What the caller wants to see of the two lists of passes. */
struct plan_trace {
	struct pass_trace ir, loops;
};

/* Makes the plan of u in `unit`. Afterwards it is constant: threads may read it at once. Returns NULL after reporting errors into diags, and if the
 * trace stops the pipeline. `trace` may be NULL. */
struct plan *plan_unit(struct arena *unit, const struct hir_unit *u, const struct plan_options *o, struct diags *diags,
		       struct plan_trace *trace);

/* Fills the interface of a build_fn; its arrays are in `a`. */
void build_fn_describe(struct arena *a, const struct ir_fn *build_fn, struct build_fn_interface *interface);
/* Returns a piece as a function in `a`. It has its weights and outputs in the order of the build_fn. */
struct ir_fn *build_fn_piece(struct arena *a, const struct ir_fn *build_fn, const struct build_fn_interface *interface, uint32_t piece);

/* The size in bytes of t packed in a layout; packing into `out`, which has that size. Thread-safe. */
struct tensor;
size_t layout_packed_size(enum layout layout, const struct tensor *t);
void layout_pack(enum layout layout, const struct tensor *t, void *out);
/* As layout_pack, of the transpose of a matrix. */
void layout_pack_transposed(enum layout layout, const struct tensor *t, void *out);
/* Returns how many rows of the tensor, or a multiple, can be packed alone: packed parts follow each other. 0: only all rows. A plain tensor of any rank
 * counts as one column. */
int64_t layout_part_rows(enum layout layout, bool is_transposed);
/* True if packed values have indices (runtime/pack/trit_blocks.h), which kernels follow. */
bool layout_has_indices(enum layout layout);
/* The zeros of packed trits, and how kernels multiply by them. */
struct packed_trits {
	/* "dense"; "blocks": blocks of zeros are skipped; "lists": only non-zero trits are stored; "bytes": not packed */
	const char *form;
	uint64_t zeros;                   /* trits */
	uint32_t zero_rows, zero_columns; /* of the matrix; of a convolution its input and output channels */
	uint32_t zero_blocks, blocks;     /* of four rows by 32 columns of the packed matrix */
	/* Estimated time of blocks and of lists for one row of activations, and for each of many; dense: 1. 0: the layout or the weight has none. */
	float blocks_one, blocks_many, lists_one, lists_many;
};
/* Describes t, which is packed in a layout. Returns false if it has no trits, or is damaged. */
bool layout_describe_trits(enum layout layout, const struct tensor *t, const void *packed, struct packed_trits *out);
#endif
