/* How values are stored. */
#include "backend/ir/ir.h"

static const struct {
	const char *text;
	bool packed;
	dtype elem;
	uint8_t least_rank, most_rank;
} layouts[] = {
#define LAYOUT(id, text, packed, elem, least, most) {text, packed, DT_##elem, least, most},
#include "backend/ir/layouts.def"
#undef LAYOUT
};

const char *ir_layout_text(enum layout l) { return layouts[l].text; }

bool ir_layout_is_packed(enum layout l) { return layouts[l].packed; }

bool ir_layout_fits(enum layout l, const struct hir_type *t)
{
	return t->rank >= layouts[l].least_rank && t->rank <= layouts[l].most_rank && (!layouts[l].packed || t->elem == layouts[l].elem);
}

bool ir_reads_any_layout(const struct ir_inst *i, uint32_t k)
{
	switch (i->op) {
	case OP_RESHAPE: return false; /* its result is in the same memory */
	case OP_CALL:                  /* as its callee takes it */
	case OP_MATMUL:
	case OP_CONV:
	case OP_PAD:
	case OP_CONCAT: return true;
	case OP_GATHER:
	case OP_GATHER_DIM: return k == 1;
	default: return ir_op_traits(i->op) & (EWISE | VIEW | REDUCES);
	}
}
