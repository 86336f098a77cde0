#include "backend/ir/gather.h"

bool ir_gathers(enum ir_op op) { return op == OP_GATHER || op == OP_GATHER_DIM || op == OP_EMBEDDING; }

static struct ir_gather masks_of(const struct ir_inst *i)
{
	switch (i->op) {
	case OP_GATHER: return *ir_gather(i);
	case OP_GATHER_DIM: return (struct ir_gather){.mask = 1u << ir_axis(i)->axis};
	default: return (struct ir_gather){.mask = 1};
	}
}

/* The indices of GATHER_DIM have all dims of the result. */
void ir_table_dims(const struct ir_inst *i, uint32_t rank, uint32_t index_rank, struct ir_table_dim *dims)
{
	struct ir_gather g = masks_of(i);
	uint32_t operand = 1, at = index_rank;
	for (uint32_t k = 0; k < rank; k++) {
		bool chosen = g.mask >> k & 1, kept = !chosen || (g.windows >> k & 1);
		dims[k].index = chosen ? operand++ : 0;
		dims[k].at = !kept ? IR_NONE : i->op == OP_GATHER_DIM ? k : at++;
	}
}

void ir_table_dims_of(const struct ir_fn *f, ir_ref r, struct ir_table_dim *dims)
{
	ir_table_dims(ir_at(f, r), ir_at(f, ir_operand(f, r, 0))->type.rank, ir_at(f, ir_operand(f, r, 1))->type.rank, dims);
}

bool ir_gathers_rows(const struct ir_inst *i) { return i->op != OP_GATHER_DIM && masks_of(i).mask == 1 && !masks_of(i).windows; }
