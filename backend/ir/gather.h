/* What GATHER, GATHER_DIM and EMBEDDING do with each dim of their table, operand 0. */
#ifndef TRIB_BACKEND_IR_GATHER_H
#define TRIB_BACKEND_IR_GATHER_H
#include "backend/ir/ir.h"

/* One dim of the table. */
struct ir_table_dim {
	uint32_t index; /* the operand with the places along this dim; 0: there is none */
	uint32_t at;    /* the dim of the result that it becomes, IR_NONE: none. With an index: that of its windows */
};
bool ir_gathers(enum ir_op op);
/* Stores those of a table of the rank, with indices of the other rank. */
void ir_table_dims(const struct ir_inst *i, uint32_t rank, uint32_t index_rank, struct ir_table_dim *dims);
/* The same of instruction r. */
void ir_table_dims_of(const struct ir_fn *f, ir_ref r, struct ir_table_dim *dims);
/* True if the operation takes whole rows: dim 0 has the only index. */
bool ir_gathers_rows(const struct ir_inst *i);
#endif
