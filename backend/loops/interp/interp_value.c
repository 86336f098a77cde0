/* The values of expressions. */
#include <math.h>
#include "backend/interp/element.h"
#include "backend/ir/tensor.h"
#include "backend/loops/interp/interp_state.h"

static bool interp_value_is_float(dtype t) { return dtype_class(t) == DTC_FLOAT; }

struct loop_value value_load(dtype t, const void *data, int64_t at)
{
	struct loop_value v = {0, 0};
	if (interp_value_is_float(t))
		v.f = elem_float(t, data, at);
	else
		v.i = elem_int(t, data, at);
	return v;
}

void value_store(dtype t, void *data, int64_t at, struct loop_value v)
{
	if (interp_value_is_float(t))
		elem_put_float(t, data, at, v.f);
	else
		elem_put_int(t, data, at, v.i);
}

struct loop_value value_of(dtype t, struct loop_value v)
{
	uint64_t bytes = 0;
	value_store(t, &bytes, 0, v);
	return value_load(t, &bytes, 0);
}

static struct loop_value cast(dtype out, dtype in, struct loop_value x)
{
	uint64_t from = 0, to = 0;
	value_store(in, &from, 0, x);
	elem_cast(out, &to, 0, in, &from, 0);
	return value_load(out, &to, 0);
}

struct loop_value value_op(enum ir_op op, dtype out, dtype in, const struct loop_value *x)
{
	struct loop_value v = {0, 0};
	if (op == OP_SELECT)
		return x[0].i ? x[1] : x[2];
	if (op == OP_CAST)
		return cast(out, in, x[0]);
	if (element_compares(op)) {
		v.i = interp_value_is_float(in) ? ELEMENT_COMPARE(op, x[0].f, x[1].f) : ELEMENT_COMPARE(op, x[0].i, x[1].i);
		return v;
	}
	if (op == OP_RSQRT)
		v.f = 1 / value_of(in, (struct loop_value){sqrt(x[0].f), 0}).f;
	else if (interp_value_is_float(in))
		v.f = element_float(op, x[0].f, x[1].f);
	else
		v.i = element_int(op, x[0].i, x[1].i);
	return value_of(out, v);
}
