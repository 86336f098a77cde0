/* Private to this folder: the rules of ops.def. A rule checks the type of an instruction, or computes it. */
#ifndef TRIB_BACKEND_IR_SHAPES_H
#define TRIB_BACKEND_IR_SHAPES_H
#include "backend/ir/ir.h"

struct ir_shape {
	const struct ir_fn *f;
	const ir_ref *operands;
	struct hir_type *computed; /* of the instruction, whose dims then count as equal to all others; NULL: its type is checked */
	const char *fault;         /* the first one; NULL: none */
	bool exact;                /* shapes must agree for all values of the symbols */
};

static inline const struct hir_type *operand(const struct ir_shape *v, uint32_t k) { return &ir_at(v->f, v->operands[k])->type; }
static inline bool need(struct ir_shape *v, bool ok, const char *fault)
{
	if (!ok && !v->fault)
		v->fault = fault;
	return !v->fault;
}
static inline bool may_equal(const struct ir_shape *v, dim a, dim b)
{
	if (v->computed)
		return true;
	return v->exact ? dim_eq(a, b) : dim_compare(v->f->dims, a, b) >= 0;
}
static inline bool is_float(dtype t) { return dtype_class(t) == DTC_FLOAT; }
/* True if the shapes can be equal. */
bool ir_shapes_agree(const struct ir_shape *v, const struct hir_type *a, const struct hir_type *b);
/* State the rank and each dim of the result. Return false after a fault. */
bool ir_result_rank(struct ir_shape *v, const struct ir_inst *i, uint32_t rank);
bool ir_result_dim(struct ir_shape *v, const struct ir_inst *i, uint32_t k, dim d);
/* States the shape of the result. */
bool ir_result_shape(struct ir_shape *v, const struct ir_inst *i, const struct hir_type *t);

#define OP(id, text, signature, elements, traits, record, shape, work, cost) \
	void ir_shape_##shape(struct ir_shape *v, const struct ir_inst *i);
#include "backend/ir/ops.def"
#undef OP

/* Checks or computes the element types by the signature of the operation, and the number of operands. */
bool ir_check_elements(struct ir_shape *v, const struct ir_inst *i);
#endif
