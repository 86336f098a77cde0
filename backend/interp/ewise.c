/* Element-wise operations. Floats are computed in double and rounded once to their type; for + - * / and sqrt this equals the operation
 * in that type. Integers are computed in 64 bits and wrapped. */
#include <math.h>
#include "backend/interp/element.h"
#include "backend/interp/state.h"
#include "backend/ir/tensor.h"

/* 1/sqrt(x): both correctly rounded in the type. */
static void rsqrt_at(dtype e, void *data, int64_t k, double x)
{
	elem_put_float(e, data, k, sqrt(x));
	elem_put_float(e, data, k, 1 / elem_float(e, data, k));
}

static void select_at(dtype e, const struct tensor *from, int64_t k, void *data)
{
	if (dtype_class(e) == DTC_FLOAT)
		elem_put_float(e, data, k, elem_float(e, from->data, k));
	else
		elem_put_int(e, data, k, elem_int(e, from->data, k));
}

static void float_at(enum ir_op op, const struct tensor *const *x, bool two, struct tensor *out, int64_t k)
{
	dtype e = x[0]->elem;
	double a = elem_float(e, x[0]->data, k), b = two ? elem_float(e, x[1]->data, k) : 0;
	if (element_compares(op))
		elem_put_int(DT_BOOL, out->data, k, ELEMENT_COMPARE(op, a, b));
	else if (op == OP_RSQRT)
		rsqrt_at(e, out->data, k, a);
	else
		elem_put_float(e, out->data, k, element_float(op, a, b));
}

static void int_at(enum ir_op op, const struct tensor *const *x, bool two, struct tensor *out, int64_t k)
{
	dtype e = x[0]->elem;
	int64_t a = elem_int(e, x[0]->data, k), b = two ? elem_int(e, x[1]->data, k) : 0;
	elem_put_int(out->elem, out->data, k, element_compares(op) ? ELEMENT_COMPARE(op, a, b) : element_int(op, a, b));
}

void interp_elements(const struct ir_inst *i, const struct tensor *const *x, struct tensor *out)
{
	bool two = i->n_operands == 2, floats = dtype_class(x[0]->elem) == DTC_FLOAT;
	int64_t n = tensor_count(out);
	for (int64_t k = 0; k < n; k++) {
		if (i->op == OP_CAST)
			elem_cast(out->elem, out->data, k, x[0]->elem, x[0]->data, k);
		else if (i->op == OP_SELECT)
			select_at(out->elem, elem_int(DT_BOOL, x[0]->data, k) ? x[1] : x[2], k, out->data);
		else if (floats)
			float_at(i->op, x, two, out, k);
		else
			int_at(i->op, x, two, out, k);
	}
}

void interp_ewise(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, struct tensor *out)
{
	for (uint32_t o = 0; o < i->n_operands; o++)
		if (tensor_count(x[o]) != tensor_count(out)) {
			interp_fail(in, "operands of %s have different sizes", ir_op_text(i->op));
			return;
		}
	if (!in->operations || !in->operations->ewise(i, x, out))
		interp_elements(i, x, out);
}
