/* A unit made ready: lowered, its inlined callees taken in, optimised by the passes of its level, and split into what is evaluated when the
 * library is built (the slice) and what runs. Cheap and deterministic: made again on every build whose sources changed; its key decides
 * whether a fragment can be reused. */
#ifndef TRIB_BACKEND_PLAN_H
#define TRIB_BACKEND_PLAN_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir.h"

enum layout {
#define LAYOUT(id) LAYOUT_##id,
#include "backend/layouts.def"
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
	struct core_type type;
	uint32_t slice_output, n_args;
	const struct core_unit *callee;
};

struct plan_options {
	uint8_t opt;       /* 0 … 3 */
	bool size;         /* -Os */
	bool verify;       /* run the verifier between passes */
};

struct plan {
	const struct core_unit *unit;
	struct ir_fn *slice; /* weights: the unit's build-time inputs in order; no run-time inputs; outputs named by the slots */
	struct ir_fn *run;   /* WEIGHT index: slot number */
	struct slot *slots;
	uint32_t n_slots;
	const struct core_unit **inlined; /* taken in, each once, by name */
	uint32_t n_inlined;
	hash128 slice_hash;
	hash128 run_hash;    /* of `run` and the slots: with target, options and compiler build it is the unit's key */
};

/* Everything in `unit`'s arena. NULL: errors were reported into diags. `dump`: NULL, or receives the IR text after each stage. */
struct plan *plan_unit(struct arena *unit, const struct core_unit *u, const struct plan_options *opt, struct diags *diags, struct buf *dump);

/* Packed size in bytes, and packing of a host tensor into `out` (plan_packed_size bytes). Thread-safe. */
struct tensor;
size_t layout_packed_size(enum layout layout, const struct tensor *t);
void layout_pack(enum layout layout, const struct tensor *t, void *out);
#endif
