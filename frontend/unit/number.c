/* The element types of numbers known at compile time. A number with a declared type is always a value of this type, and behaves as a scalar at
 * run time does: operands are converted to the wider of their types, and the result is rounded to it. A number computed from literals alone
 * has no type; it is exact (a float64, or an integer of 64 bits) until it is rounded to the type of the other operand. */
#include <math.h>
#include <string.h>
#include "frontend/unit/emit.h"

double number_value(struct value v) { return number_as(v, DT_FLOAT64); }

dtype literal_type_beside(struct value v, dtype t)
{
	enum dtype_class k = dtype_class(t);
	if (k == DTC_BOOL)
		return DT_COUNT;
	if (v.kind == V_FLOAT)
		return k == DTC_FLOAT ? t : DT_FLOAT32;
	return k == DTC_TRIT ? DT_INT32 : t;
}

static bool number_is_comparison(enum token_kind op)
{
	return op == TOK_LT || op == TOK_LE || op == TOK_GT || op == TOK_GE || op == TOK_EQ || op == TOK_NE;
}

struct value convert_number(struct emitter *e, struct value v, dtype t, span at)
{
	uint64_t scratch;
	if (v.kind == V_INT && dtype_class(t) != DTC_FLOAT && !scalar_bytes(e, v, t, &scratch, at))
		return VALUE_POISON;
	return value_with_type(v, t);
}

/* As torch.finfo: the largest finite number is below 2^(exponent + 1) and has all bits of the fraction set. */
static bool float_limit(dtype t, const char *name, double *out)
{
	int fraction = t == DT_FLOAT64 ? 52 : t == DT_FLOAT32 ? 23 : t == DT_FLOAT16 ? 10 : 7;
	int exponent = t == DT_FLOAT64 ? 1023 : t == DT_FLOAT16 ? 15 : 127;
	double largest = ldexp(2 - ldexp(1, -fraction), exponent);
	const struct {
		const char *name;
		double value;
	} limits[] = {{"inf", INFINITY}, {"nan", NAN}, {"max", largest}, {"min", -largest}, {"eps", ldexp(1, -fraction)}};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (!strcmp(name, limits[i].name))
			return *out = limits[i].value, true;
	return false;
}

bool number_limit(dtype t, const char *name, struct value *out)
{
	bool max = !strcmp(name, "max");
	double d;
	if (dtype_class(t) == DTC_INT && (max || !strcmp(name, "min")))
		*out = value_int(max ? dtype_largest_int(t) : dtype_least_int(t));
	else if (dtype_class(t) == DTC_FLOAT && float_limit(t, name, &d))
		*out = value_float(d);
	else
		return false;
	out->typed = (uint8_t)(t + 1);
	return true;
}

/* A trit as an integer of type trit. */
static struct value trit_as_int(struct value v)
{
	if (v.kind == V_TRIT)
		v = (struct value){.kind = V_INT, .typed = DT_TRIT + 1, .u.i = v.u.i};
	return v;
}

bool convert_operands(struct emitter *e, enum token_kind op, struct value *a, struct value *b, dtype *t, span at)
{
	struct value x = trit_as_int(*a), y = trit_as_int(*b);
	*t = DT_COUNT;
	if (value_is_literal(x) && value_is_literal(y))
		return true;
	*t = value_is_literal(x)   ? literal_type_beside(x, scalar_type(y))
	     : value_is_literal(y) ? literal_type_beside(y, scalar_type(x))
				   : dtype_join_operands(scalar_type(x), scalar_type(y));
	if (op == TOK_SLASH && dtype_class(*t) == DTC_INT)
		*t = DT_FLOAT32;
	bool wide = number_is_comparison(op) && dtype_class(*t) == DTC_INT; /* integers are compared without conversion */
	if (x.kind != V_DIM && !wide)
		x = convert_number(e, x, *t, at);
	if (y.kind != V_DIM && !wide)
		y = convert_number(e, y, *t, at);
	*a = x;
	*b = y;
	return !is_poison(x) && !is_poison(y);
}
