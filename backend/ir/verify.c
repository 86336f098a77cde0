/* Checks the invariants of the tensor IR: those of its operations, which ops.def states, and those of the function. */
#include <stdio.h>
#include "backend/ir/attributes.h"
#include "backend/ir/shapes.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/print.h"

static const char *type_fault(const struct dims *d, const struct hir_type *t)
{
	int64_t n = 1, size;
	bool empty = false;
	if ((unsigned)t->elem >= DT_COUNT)
		return "unknown element type";
	if (t->rank > HIR_MAX_RANK)
		return "rank above 8";
	for (uint32_t k = 0; k < t->rank; k++) {
		if (t->dims[k].idx >= dims_count(d))
			return "unknown dimension";
		if (!dim_is_const(d, t->dims[k], &size))
			continue;
		if (size < 0)
			return "negative dimension";
		empty = empty || !size;
		if (!empty && __builtin_mul_overflow(n, size, &n))
			return "too many elements";
	}
	return n <= INT64_MAX / 16 ? NULL : "too many elements";
}

typedef void shape_fn(struct ir_shape *v, const struct ir_inst *i);
static shape_fn *const shapes[OP_COUNT] = {
#define OP(id, text, signature, elements, traits, record, shape, work, cost) [OP_##id] = ir_shape_##shape,
#include "backend/ir/ops.def"
#undef OP
};

static bool verify_is_value(enum ir_op op) { return !ir_calls(op) && !(ir_op_traits(op) & EFFECT); }

static const char *operand_fault(const struct ir_fn *f, ir_ref r)
{
	const struct ir_inst *i = ir_at(f, r);
	if (i->operands > f->n_operands || i->n_operands > f->n_operands - i->operands)
		return "operands out of range";
	for (uint32_t k = 0; k < i->n_operands; k++) {
		ir_ref o = ir_operand(f, r, k);
		if (o >= r)
			return "an operand must precede its user";
		enum ir_op of = ir_at(f, o)->op;
		if (ir_calls(of) && i->op != OP_RESULT)
			return "only RESULT may use a call";
		if (ir_op_traits(of) & EFFECT)
			return "an effect has no value";
	}
	return NULL;
}

/* Returns what is wrong with instruction r, or NULL. */
static const char *layout_fault(const struct ir_fn *f, const struct ir_inst *i)
{
	if (i->layout >= LAYOUT_COUNT || !ir_layout_fits(i->layout, &i->type))
		return "a value of this type cannot have this layout";
	for (uint32_t k = 0; k < i->n_operands; k++) {
		enum layout l = ir_at(f, f->operands[i->operands + k])->layout;
		if (l != LAYOUT_PLAIN && !ir_reads_any_layout(i, k))
			return "the operand must be plain";
		if (ir_layout_is_packed(l) && i->op != OP_MATMUL && i->op != OP_CONV && i->op != OP_BROADCAST)
			return "the operand is packed";
	}
	return NULL;
}

static const char *inst_fault(const struct ir_fn *f, ir_ref r, bool exact)
{
	const struct ir_inst *i = ir_at(f, r);
	if ((unsigned)i->op >= OP_COUNT)
		return "unknown operation";
	if (i->layout >= LAYOUT_COUNT)
		return "unknown layout";
	const char *fault = operand_fault(f, r);
	fault = fault ? fault : type_fault(f->dims, &i->type);
	fault = fault ? fault : layout_fault(f, i);
	if (fault)
		return fault;
	struct ir_shape v = {.f = f, .operands = i->n_operands ? f->operands + i->operands : NULL, .exact = exact};
	if (!ir_check_elements(&v, i))
		return v.fault;
	fault = ir_attributes_fault(f, i);
	if (fault)
		return fault;
	shapes[i->op](&v, i);
	return v.fault;
}

bool ir_shapes_proven(const struct ir_fn *f, ir_ref r) { return !inst_fault(f, r, true); }

bool ir_infer(const struct ir_fn *f, enum ir_op op, const void *attributes, const ir_ref *operands, uint32_t n, struct hir_type *t)
{
	struct ir_inst i = {.op = op, .n_operands = n, .type = *t, .attributes = attributes};
	struct ir_shape v = {.f = f, .operands = operands, .computed = &i.type};
	if (ir_check_elements(&v, &i))
		shapes[op](&v, &i);
	*t = i.type;
	return !v.fault;
}

static const char *types_fault(const struct ir_fn *f)
{
	const char *fault = NULL;
	for (uint32_t k = 0; !fault && k < f->n_inputs; k++)
		fault = type_fault(f->dims, &f->inputs[k]);
	for (uint32_t k = 0; !fault && k < f->n_weights; k++)
		fault = type_fault(f->dims, &f->weights[k]);
	return fault;
}

static const char *outputs_fault(const struct ir_fn *f)
{
	for (uint32_t k = 0; k < f->n_outputs; k++)
		if (f->outputs[k] >= f->n_insts || !verify_is_value(ir_at(f, f->outputs[k])->op))
			return "an output must be a value";
		else if (ir_layout_is_packed(ir_at(f, f->outputs[k])->layout))
			return "an output is packed";
	return NULL;
}

bool ir_verify(const struct ir_fn *f, struct buf *why)
{
	const char *fault = types_fault(f);
	for (ir_ref r = 0; !fault && r < f->n_insts; r++) {
		fault = inst_fault(f, r, false);
		if (fault)
			buf_printf(why, "%%%u (%s): ", r, ir_op_text(ir_at(f, r)->op));
	}
	fault = fault ? fault : outputs_fault(f);
	if (fault)
		buf_printf(why, "%s in %s", fault, f->name);
	return !fault;
}

void ir_verify_or_abort(const struct ir_fn *f, const char *after)
{
	struct buf why = {0};
	if (!ir_verify(f, &why)) {
		buf_putc(&why, '\n');
		ir_print(f, &why);
		print(stderr, "after %s: %s", after, why.at);
		BUG("the IR is not valid");
	}
	buf_free(&why);
}
