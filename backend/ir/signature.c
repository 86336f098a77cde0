/* The signatures of ops.def: element types of operands and results. */
#include <ctype.h>
#include <string.h>
#include "backend/ir/shapes.h"

#define SET(t) (1u << DT_##t)
enum {
	FLOATS = SET(FLOAT16) | SET(BFLOAT16) | SET(FLOAT32) | SET(FLOAT64),
	BOOLS = SET(BOOL),
	WIDE = SET(FLOAT32) | SET(FLOAT64),
	ORDERED = SET(FLOAT32) | SET(FLOAT64) | SET(INT64),
	NUMBERS = (1u << DT_COUNT) - 1 - SET(BOOL) - SET(TRIT),
	INTS = NUMBERS - FLOATS,
	BITS = INTS | BOOLS,
	ANY = (1u << DT_COUNT) - 1
};
#undef SET

static const uint32_t legal[OP_COUNT] = {
#define OP(id, text, signature, elements, traits, record, shape, work, cost) [OP_##id] = elements,
#include "backend/ir/ops.def"
#undef OP
};

static dtype product_elem(dtype a, dtype b)
{
	if (is_float(a) && (b == a || b == DT_TRIT))
		return a;
	if (is_float(b) && a == DT_TRIT)
		return b;
	if (a == DT_FLOAT32 && (b == DT_FLOAT16 || b == DT_BFLOAT16))
		return a; /* widened by the kernel */
	if ((a == DT_INT8 || a == DT_TRIT) && (b == DT_INT8 || b == DT_TRIT))
		return DT_INT32;
	return a == b && dtype_class(a) == DTC_INT ? a : DT_COUNT;
}

/* True if e is as the letter says; `t` is the type of all t, DT_COUNT before the first. */
static bool signature_matches(char letter, dtype e, dtype *t, uint32_t types)
{
	switch (tolower((unsigned char)letter)) {
	case 'a': return true;
	case 'b': return e == DT_BOOL;
	case 'l': return e == DT_INT64;
	case 'i': return dtype_class(e) == DTC_INT;
	case 'w':
		if (!is_float(*t) && dtype_class(e) == DTC_INT && dtype_size(e) >= dtype_size(*t))
			return true;
		return e == *t;
	default:
		if (*t == DT_COUNT)
			*t = e;
		return e == *t && (types >> e & 1);
	}
}

static bool operands_match(struct ir_shape *v, const struct ir_inst *i, const char *s, dtype *t)
{
	const char *result = strchr(s, ':');
	for (uint32_t k = 0; k < i->n_operands; k++) {
		if (!need(v, s < result, "wrong number of operands"))
			return false;
		const struct hir_type *o = operand(v, k);
		need(v, signature_matches(*s, o->elem, t, legal[i->op]), "an operand has the wrong element type");
		need(v, !isupper((unsigned char)*s) || !o->rank, "an operand must be a scalar");
		if (s[1] != '*')
			s++;
	}
	return need(v, s == result || s[1] == '*', "wrong number of operands");
}

bool ir_check_elements(struct ir_shape *v, const struct ir_inst *i)
{
	dtype t = DT_COUNT;
	const char *s = ir_op_signature(i->op), result = strchr(s, ':')[1];
	if (!operands_match(v, i, s, &t))
		return false;
	dtype product = result == 'm' ? product_elem(operand(v, 0)->elem, operand(v, 1)->elem) : DT_COUNT;
	if (v->computed && result != 'a' && t != DT_COUNT)
		v->computed->elem = t;
	if (v->computed && (result == 'm' || result == 'b' || tolower((unsigned char)result) == 'l'))
		v->computed->elem = result == 'm' ? product : result == 'b' ? DT_BOOL : DT_INT64;
	if (result == 'm')
		return need(v, product != DT_COUNT && i->type.elem == product, "wrong element types");
	need(v, !isupper((unsigned char)result) || !i->type.rank, "the result must be a scalar");
	return need(v, signature_matches(result, i->type.elem, &t, legal[i->op]), "the result has the wrong element type");
}

bool ir_elements_fit(enum ir_op op, const dtype *operands, uint32_t n, dtype result)
{
	dtype t = DT_COUNT;
	const char *s = ir_op_signature(op);
	for (uint32_t k = 0; k < n; k++)
		if (s[k] == ':' || !signature_matches(s[k], operands[k], &t, legal[op]))
			return false;
	return s[n] == ':' && signature_matches(s[n + 1], result, &t, legal[op]);
}
