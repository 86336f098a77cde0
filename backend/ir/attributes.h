/* Private to this folder: the attributes of one instruction, as attributes.def lists them. */
#ifndef TRIB_BACKEND_IR_ATTRIBUTES_H
#define TRIB_BACKEND_IR_ATTRIBUTES_H
#include "backend/ir/ir.h"

struct ir_reader;

void ir_print_attributes(const struct ir_fn *f, const struct ir_inst *i, struct buf *out);
/* Reads what ir_print_attributes printed, except the elements of a constant: ir_read_constant reads those, once the type is known. */
void ir_read_attributes(struct ir_reader *r, struct ir_inst *i);
void ir_read_constant(struct ir_reader *r, struct ir_inst *i);
/* True if all dims among the attributes of i are constant. The symbols of a callee do not count. */
bool ir_attributes_const(const struct dims *d, const struct ir_inst *i);
/* "[a, b]" */
void ir_print_dims(const struct dims *d, const dim *x, uint32_t n, struct buf *out);
#endif
