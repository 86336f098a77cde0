/* The pointers of a unit's weight table, which hold the values that its run_fn reads from outside. */
#ifndef TRIB_BACKEND_IR_SLOT_H
#define TRIB_BACKEND_IR_SLOT_H
#include "backend/ir/ir.h"

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
#endif
