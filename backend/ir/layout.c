/* How values are stored. */
#include "backend/ir/ir.h"
#include "base/bug.h"

#define COUNT 0
#define TRIT (1u << DT_TRIT)
#define FLOAT32 (1u << DT_FLOAT32)
#define NARROW (1u << DT_FLOAT32 | 1u << DT_FLOAT16 | 1u << DT_BFLOAT16)
static const struct {
	const char *text;
	bool packed;
	uint32_t elems; /* of packed values: a bit for each dtype */
	uint8_t least_rank, most_rank;
} layouts[] = {
#define LAYOUT(id, text, packed, elem, least, most) {text, packed, elem, least, most},
#include "backend/ir/layouts.def"
#undef LAYOUT
};
#undef COUNT
#undef TRIT
#undef FLOAT32
#undef NARROW

const char *ir_layout_text(enum layout l) { return layouts[l].text; }

bool ir_layout_is_packed(enum layout l) { return layouts[l].packed; }

enum layout ir_layout_along(uint32_t k, uint32_t rank)
{
	static const enum layout along[] = {LAYOUT_PLAIN, LAYOUT_DIM1_FIRST, LAYOUT_DIM2_FIRST, LAYOUT_DIM3_FIRST};
	return k < rank && k < sizeof along / sizeof *along ? along[k] : LAYOUT_COUNT;
}

void ir_layout_order(enum layout l, uint32_t rank, uint32_t order[HIR_MAX_RANK])
{
	uint32_t moved = l == LAYOUT_PLAIN ? rank : l == LAYOUT_CHANNELS_LAST ? 1 : (uint32_t)(l - LAYOUT_DIM1_FIRST) + 1, n = 0;
	bool first = moved < rank && l != LAYOUT_CHANNELS_LAST;
	BUG_ON(layouts[l].packed);
	if (first)
		order[n++] = moved;
	for (uint32_t k = 0; k < rank; k++)
		if (k != moved)
			order[n++] = k;
	if (moved < rank && !first)
		order[n] = moved;
}

bool ir_layout_fits(enum layout l, const struct hir_type *t)
{
	return t->rank >= layouts[l].least_rank && t->rank <= layouts[l].most_rank &&
	       (!layouts[l].packed || layouts[l].elems >> t->elem & 1);
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
	case OP_ATTENTION: return k == 1 || k == 2; /* rows, of which kernels know the strides */
	case OP_GATHER:
	case OP_GATHER_DIM: return k >= 1;
	default: return ir_op_traits(i->op) & (EWISE | VIEW | REDUCES);
	}
}
