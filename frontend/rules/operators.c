/* Arithmetic on compile-time values: integers of 64 bits (overflow is an error), dimensions, floats as doubles, bools, strings, lists. A
 * result of numbers with declared types is then converted to theirs (unit/number.c). */
#include "frontend/rules/builtin.h"
#include <math.h>
#include <string.h>
#include "base/arith.h"
#include "base/buf.h"
#include "frontend/unit/text.h"

static struct value arithmetic_error(struct emitter *e, span at, const char *what)
{
	return report_poison(e, DIAG_CONST_ARITH, at, "%s", what);
}

static struct value operators_int_pow(struct emitter *e, int64_t a, int64_t b, span at)
{
	int64_t r = 1;
	if (b < 0)
		return a ? value_float(pow((double)a, (double)b)) : arithmetic_error(e, at, "division by zero");
	if (a == 0 || a == 1 || a == -1)
		return value_int(a < 0 ? (b & 1 ? -1 : 1) : b ? a : 1);
	for (int64_t i = 0; i < b; i++)
		if (__builtin_mul_overflow(r, a, &r))
			return arithmetic_error(e, at, "integer overflow in a constant expression");
	return value_int(r);
}

static struct value operators_int_op(struct emitter *e, enum token_kind op, int64_t a, int64_t b, span at)
{
	int64_t r = 0;
	bool over = false;
	switch (op) {
	case TOK_PLUS: over = __builtin_add_overflow(a, b, &r); break;
	case TOK_MINUS: over = __builtin_sub_overflow(a, b, &r); break;
	case TOK_STAR: over = __builtin_mul_overflow(a, b, &r); break;
	case TOK_SLASH: return b ? value_float((double)a / (double)b) : arithmetic_error(e, at, "division by zero");
	case TOK_SLASH2:
	case TOK_PERCENT:
		if (!b)
			return arithmetic_error(e, at, "division by zero");
		over = op == TOK_SLASH2 && a == INT64_MIN && b == -1;
		r = op == TOK_SLASH2 ? arith_int_floordiv(a, b) : arith_int_mod(a, b);
		break;
	case TOK_STAR2: return operators_int_pow(e, a, b, at);
	case TOK_LT: return value_bool(a < b);
	case TOK_LE: return value_bool(a <= b);
	case TOK_GT: return value_bool(a > b);
	case TOK_GE: return value_bool(a >= b);
	case TOK_EQ: return value_bool(a == b);
	case TOK_NE: return value_bool(a != b);
	default: return VALUE_POISON;
	}
	return over ? arithmetic_error(e, at, "integer overflow in a constant expression") : value_int(r);
}

static struct value operators_float_op(struct emitter *e, enum token_kind op, double a, double b, span at)
{
	switch (op) {
	case TOK_PLUS: return value_float(a + b);
	case TOK_MINUS: return value_float(a - b);
	case TOK_STAR: return value_float(a * b);
	case TOK_SLASH: return b != 0 ? value_float(a / b) : arithmetic_error(e, at, "division by a constant zero");
	case TOK_SLASH2: return b != 0 ? value_float(arith_float_floordiv(a, b)) : arithmetic_error(e, at, "division by a constant zero");
	case TOK_PERCENT: return b != 0 ? value_float(arith_float_mod(a, b)) : arithmetic_error(e, at, "division by a constant zero");
	case TOK_STAR2: return value_float(pow(a, b));
	case TOK_LT: return value_bool(a < b);
	case TOK_LE: return value_bool(a <= b);
	case TOK_GT: return value_bool(a > b);
	case TOK_GE: return value_bool(a >= b);
	case TOK_EQ: return value_bool(a == b);
	case TOK_NE: return value_bool(a != b);
	default: return VALUE_POISON;
	}
}

static dim as_dim(struct emitter *e, struct value v) { return v.kind == V_DIM ? v.u.d : dim_const(e->b->dims, v.u.i); }

/* Compares two sizes. False: the result depends on the sizes. */
static bool compare_dims(struct emitter *e, enum token_kind op, dim a, dim b, struct value *out)
{
	struct dims *d = e->b->dims;
	int64_t diff;
	int same = dim_compare(d, a, b);
	if (op == TOK_EQ || op == TOK_NE) {
		*out = value_bool((same > 0) == (op == TOK_EQ));
		return same != 0;
	}
	if (!dim_is_const(d, dim_sub(d, a, b), &diff))
		return false;
	*out = operators_int_op(e, op, diff, 0, SPAN_NONE);
	return true;
}

/* False: no such operation on dimensions; the operands become run-time scalars. */
static bool dim_op(struct emitter *e, enum token_kind op, struct value x, struct value y, span at, struct value *out)
{
	struct dims *d = e->b->dims;
	dim a = as_dim(e, x), b = as_dim(e, y), r;
	int64_t n;
	switch (op) {
	case TOK_PLUS: r = dim_add(d, a, b); break;
	case TOK_MINUS: r = dim_sub(d, a, b); break;
	case TOK_STAR: r = dim_mul(d, a, b); break;
	case TOK_STAR2:
		if (!dim_is_const(d, b, &n) || n < 0 || n > 8) {
			*out = VALUE_POISON;
			return e->checking; /* known when the layer is instantiated */
		}
		for (r = dim_const(d, 1); n > 0; n--)
			r = dim_mul(d, r, a);
		break;
	case TOK_SLASH2:
	case TOK_PERCENT:
		if (dim_is_const(d, b, &n) && !n) {
			*out = arithmetic_error(e, at, "division by zero");
			return true;
		}
		r = op == TOK_SLASH2 ? dim_floordiv(d, a, b) : dim_mod(d, a, b);
		break;
	case TOK_LT:
	case TOK_LE:
	case TOK_GT:
	case TOK_GE:
	case TOK_EQ:
	case TOK_NE:
		if (compare_dims(e, op, a, b, out))
			return true;
		*out = VALUE_POISON;
		return e->checking;
	default: return false;
	}
	bool over = dims_overflowed(d);
	*out = over && e->checking ? VALUE_POISON /* known when the definition is used */
	       : over              ? arithmetic_error(e, at, "dimension arithmetic overflows 64 bits or is too complicated")
				   : value_dim(d, r);
	return true;
}

static bool is_list(struct value v) { return value_is_seq(v) && !value_is_partial(v); }

static struct value join_seqs(struct emitter *e, struct value a, struct value b, span at)
{
	uint32_t copied;
	struct value v = value_concat(e->f->arena, a, b, &copied);
	e->report.steps += copied;
	return check_list_size(e, v, at) ? v : VALUE_POISON;
}

static struct value repeat_seq(struct emitter *e, struct value a, int64_t n, span at)
{
	n = n < 0 ? 0 : n;
	if ((uint64_t)n * a.u.seq->n > 1000000)
		return report_poison(e, DIAG_ELAB_STEPS, at, "the list has more than 1000000 elements");
	struct value v = value_seq(e->f->arena, a.kind, a.u.seq->n * (uint32_t)n);
	for (uint32_t i = 0; i < v.u.seq->n; i++)
		v.u.seq->at[i] = a.u.seq->at[i % a.u.seq->n];
	return checked_list(e, v, at);
}

static struct value repeat_string(struct emitter *e, const char *s, int64_t n, span at)
{
	struct buf b = {0};
	size_t len = strlen(s);
	for (int64_t i = 0; i < n && len && b.len <= 1 << 20; i++)
		buf_put(&b, s, len);
	struct value v = checked_string(e, b.at ? b.at : "", b.len, at);
	buf_free(&b);
	return v;
}

static bool operators_is_number(struct value v) { return v.kind == V_INT || v.kind == V_FLOAT || v.kind == V_TRIT || v.kind == V_DIM; }

/* Returns 1 if equal, 0 if not, -1 if unknown. */
static int values_equal(struct emitter *e, struct value a, struct value b)
{
	dtype t;
	if (is_poison(a) || is_poison(b))
		return -1;
	if (value_is_seq(a) && value_is_seq(b)) {
		int all = 1;
		if (a.u.seq->n != b.u.seq->n)
			return 0;
		for (uint32_t i = 0; i < a.u.seq->n; i++) {
			int c = values_equal(e, a.u.seq->at[i], b.u.seq->at[i]);
			if (!c)
				return 0;
			all = c < 0 ? -1 : all;
		}
		return all;
	}
	if (a.kind == V_RANGE && b.kind == V_RANGE && a.u.range->step == b.u.range->step) {
		int from = values_equal(e, a.u.range->from, b.u.range->from), to = values_equal(e, a.u.range->to, b.u.range->to);
		return !from || !to ? 0 : from < 0 || to < 0 ? -1 : 1;
	}
	if (a.kind == V_DIM || b.kind == V_DIM) {
		if (!value_is_scalar(a) || !value_is_scalar(b))
			return 0;
		int c = dim_compare(e->b->dims, as_dim(e, a), as_dim(e, b));
		return c > 0 ? 1 : c < 0 ? 0 : -1;
	}
	if (operators_is_number(a) && operators_is_number(b) && !convert_operands(e, TOK_EQ, &a, &b, &t, SPAN_NONE))
		return -1;
	if (value_is_scalar(a) && value_is_scalar(b) && (a.kind == V_FLOAT || a.kind != b.kind))
		return number_value(a) == number_value(b);
	if (a.kind == V_INT && b.kind == V_INT)
		return a.u.i == b.u.i;
	return value_is_same(a, b);
}

static bool is_arith(enum token_kind op)
{
	return op == TOK_PLUS || op == TOK_MINUS || op == TOK_STAR || op == TOK_SLASH || op == TOK_SLASH2 || op == TOK_PERCENT ||
	       op == TOK_STAR2;
}

static bool operators_is_comparison(enum token_kind op)
{
	return op == TOK_LT || op == TOK_LE || op == TOK_GT || op == TOK_GE || op == TOK_EQ || op == TOK_NE;
}

/* ---- bits ---- */

static bool is_shift(enum token_kind op) { return op == TOK_SHL || op == TOK_SHR; }
static bool operators_is_bitwise(enum token_kind op) { return op == TOK_AMP || op == TOK_PIPE || op == TOK_CARET || is_shift(op); }

/* Returns the integer of type t that has the lowest bits of x. */
static int64_t wrap_to(dtype t, uint64_t x)
{
	uint64_t mask = UINT64_MAX >> (64 - 8 * dtype_size(t));
	x &= mask;
	return (int64_t)(x > (uint64_t)dtype_largest_int(t) ? x - mask - 1 : x);
}

/* Shifts by b >= 0. t: the type of the operands; DT_COUNT: literals, whose result is exact. */
static struct value int_bits(struct emitter *e, enum token_kind op, int64_t a, int64_t b, dtype t, span at)
{
	switch (op) {
	case TOK_AMP: return value_int(a & b);
	case TOK_PIPE: return value_int(a | b);
	case TOK_CARET: return value_int(a ^ b);
	case TOK_SHR: return value_int(arith_int_shr(a, b));
	default: break;
	}
	int64_t r = arith_int_shl(a, b);
	if (t != DT_COUNT)
		return value_int(wrap_to(t, (uint64_t)r));
	if (a && (b > 63 || r >> b != a))
		return arithmetic_error(e, at, "integer overflow in a constant expression");
	return value_int(r);
}

/* Sizes: a shift is a product or a quotient. False: becomes an operation at run time. */
static bool dim_bits(struct emitter *e, enum token_kind op, struct value a, struct value b, span at, struct value *out)
{
	int64_t n;
	if (!is_shift(op) || !dim_is_const(e->b->dims, as_dim(e, b), &n) || n < 0 || n > 62) {
		*out = VALUE_POISON;
		return e->checking; /* known when the definition is used */
	}
	return dim_op(e, op == TOK_SHL ? TOK_STAR : TOK_SLASH2, a, value_int((int64_t)1 << n), at, out);
}

static bool operators_is_integer(struct value v) { return v.kind == V_INT || v.kind == V_TRIT || v.kind == V_DIM; }

/* Bit operators on compile-time values. False: becomes a tensor operation, or an error. */
static bool static_bits(struct emitter *e, enum token_kind op, struct value a, struct value b, span at, struct value *out)
{
	dtype t;
	if (a.kind == V_BOOL && b.kind == V_BOOL && !is_shift(op))
		return *out = value_bool(int_bits(e, op, a.u.b, b.u.b, DT_COUNT, at).u.i), true;
	if (!operators_is_integer(a) || !operators_is_integer(b))
		return false;
	if (is_shift(op) && b.kind != V_DIM && b.u.i < 0)
		return *out = arithmetic_error(e, at, "a negative shift amount"), true;
	if (!convert_operands(e, op, &a, &b, &t, at))
		return *out = VALUE_POISON, true;
	if (a.kind == V_INT && b.kind == V_INT)
		*out = int_bits(e, op, a.u.i, b.u.i, t, at);
	else if (!dim_bits(e, op, a, b, at, out))
		return false;
	if (t != DT_COUNT)
		*out = convert_number(e, *out, t, at);
	return true;
}

/* Operators on values that are not tensors. False: becomes a tensor operation. */
static bool static_binary(struct emitter *e, enum token_kind op, struct value a, struct value b, span at, struct value *out)
{
	bool numbers = (a.kind == V_INT || a.kind == V_FLOAT) && (b.kind == V_INT || b.kind == V_FLOAT);
	if (a.kind == V_INT && b.kind == V_INT)
		return *out = operators_int_op(e, op, a.u.i, b.u.i, at), true;
	if ((a.kind == V_DIM || a.kind == V_INT) && (b.kind == V_DIM || b.kind == V_INT))
		return dim_op(e, op, a, b, at, out);
	if (numbers)
		return *out = operators_float_op(e, op, number_value(a), number_value(b), at), true;
	if ((op == TOK_EQ || op == TOK_NE) && a.kind != V_TEXT && b.kind != V_TEXT) {
		e->report.steps += value_count(a);
		int c = values_equal(e, a, b);
		*out = c < 0 ? VALUE_POISON : value_bool((c == 1) == (op == TOK_EQ));
		return c >= 0 || e->checking;
	}
	if (op == TOK_PLUS && (a.kind == V_STR || a.kind == V_TEXT) && (b.kind == V_STR || b.kind == V_TEXT))
		return *out = values_to_text(e, (struct value[]){a, b}, 2, at), true;
	if (op == TOK_PLUS && is_list(a) && is_list(b))
		return *out = join_seqs(e, a, b, at), true;
	if (op == TOK_STAR && a.kind == V_STR && b.kind == V_INT)
		return *out = repeat_string(e, a.u.s, b.u.i, at), true;
	if (op == TOK_STAR && is_list(a) && b.kind == V_INT)
		return *out = repeat_seq(e, a, b.u.i, at), true;
	if (op == TOK_STAR && value_is_seq(a) && b.kind == V_DIM && e->checking) /* known when the definition is used */
		return *out = VALUE_POISON, true;
	return false;
}

static const struct {
	enum token_kind op;
	enum builtin bi;
} operators[] = {
	{TOK_PLUS, BI_ADD},      {TOK_MINUS, BI_SUB},   {TOK_STAR, BI_MUL},    {TOK_SLASH, BI_DIV},     {TOK_SLASH2, BI_FLOORDIV},
	{TOK_PERCENT, BI_MOD},   {TOK_STAR2, BI_POW},   {TOK_AT, BI_MATMUL},   {TOK_LT, BI_LT},         {TOK_LE, BI_LE},
	{TOK_GT, BI_GT},         {TOK_GE, BI_GE},       {TOK_EQ, BI_EQ},       {TOK_NE, BI_NE},         {TOK_AND, BI_LOGICAL_AND},
	{TOK_OR, BI_LOGICAL_OR}, {TOK_AMP, BI_BIT_AND}, {TOK_PIPE, BI_BIT_OR}, {TOK_CARET, BI_BIT_XOR}, {TOK_TILDE, BI_BIT_NOT},
	{TOK_SHL, BI_SHL},       {TOK_SHR, BI_SHR},
};
enum { N_OPERATORS = sizeof operators / sizeof *operators };

static enum builtin operator_builtin(enum token_kind op)
{
	for (uint32_t i = 0; i < N_OPERATORS; i++)
		if (operators[i].op == op)
			return operators[i].bi;
	return BI_COUNT;
}

const char *builtin_text(enum builtin bi)
{
	for (uint32_t i = 0; i < N_OPERATORS && bi != BI_MATMUL; i++)
		if (operators[i].bi == bi)
			return token_kind_text(operators[i].op);
	return builtin_name(bi);
}

/* A bool times a number is the number, or 0 of its type. */
static bool operators_multiply_by_bool(struct emitter *e, struct value a, struct value b, span at, struct value *out)
{
	if (b.kind == V_BOOL && operators_is_number(a))
		return operators_multiply_by_bool(e, b, a, at, out);
	if (a.kind != V_BOOL || !operators_is_number(b))
		return false;
	*out = b.kind == V_TRIT ? (struct value){.kind = V_INT, .typed = DT_INT8 + 1, .u.i = b.u.i} : b;
	if (b.kind == V_FLOAT || b.kind == V_INT)
		*out = convert_number(e, *out, scalar_type(b), at);
	if (a.u.b)
		return true;
	*out = (struct value){.kind = b.kind == V_FLOAT ? V_FLOAT : V_INT, .typed = out->typed};
	return true;
}

static struct value negative_power_error(struct emitter *e, dtype t, span at)
{
	struct diag *g = report_error(e, DIAG_CONST_ARITH, at, "a negative power of an integer is no %s", dtype_text(t));
	diag_help(e->report.out, g, "convert the integer: `float32(…) ** …`");
	return VALUE_POISON;
}

/* Arithmetic and comparisons of compile-time numbers. False: becomes a tensor operation. */
static bool static_numbers(struct emitter *e, enum token_kind op, struct value a, struct value b, span at, struct value *out)
{
	dtype t;
	if (op == TOK_STAR && operators_multiply_by_bool(e, a, b, at, out))
		return true;
	if (operators_is_bitwise(op))
		return static_bits(e, op, a, b, at, out);
	if (!operators_is_number(a) || !operators_is_number(b) || !(is_arith(op) || operators_is_comparison(op)))
		return static_binary(e, op, a, b, at, out);
	if (!convert_operands(e, op, &a, &b, &t, at))
		return *out = VALUE_POISON, true;
	if (!static_binary(e, op, a, b, at, out))
		return false;
	if (t != DT_COUNT && out->kind == V_FLOAT && dtype_class(t) == DTC_INT)
		return *out = negative_power_error(e, t, at), true;
	if (t != DT_COUNT)
		*out = convert_number(e, *out, t, at);
	return true;
}

/* Help for operands that are strings, tuples or lists. */
static void help_operands(struct emitter *e, struct diag *g, enum token_kind op, struct value a, struct value b)
{
	if (a.kind == V_STR && (op == TOK_PERCENT || op == TOK_PLUS))
		diag_help(e->report.out, g, "format values with an f-string: `f\"n = {n}\"`");
	else if (op == TOK_CARET && (a.kind == V_FLOAT || b.kind == V_FLOAT))
		diag_help(e->report.out, g, "`^` is exclusive or; a power is written `**`");
	else if (a.kind == V_TUPLE || b.kind == V_TUPLE)
		diag_help(e->report.out, g, "use one value of the tuple, `t[0]`, or name all of them: `let (a, b) = t`");
	else if ((a.kind == V_LIST || b.kind == V_LIST) && (a.kind == V_TENSOR || b.kind == V_TENSOR))
		diag_help(e->report.out, g, "convert the list with `tensor(…)`");
}

/* Converts to a tensor whose first dimension counts the elements. */
static struct value stacked_tensor(struct emitter *e, struct value v, span at)
{
	return v.kind == V_STACKED ? value_tensor(v.u.t) : COMPOSE_AT(at, BI_STACK, v);
}

struct value concat_stacked(struct emitter *e, struct value a, struct value b, span at)
{
	if ((value_is_seq(a) && !a.u.seq->n) || (value_is_seq(b) && !b.u.seq->n))
		return value_is_seq(a) && !a.u.seq->n ? b : a;
	struct value v = COMPOSE_AT(at, BI_CONCAT, LIST(stacked_tensor(e, a, at), stacked_tensor(e, b, at)));
	return v.kind == V_TENSOR ? (struct value){.kind = V_STACKED, .u.t = v.u.t} : v;
}

/* Compares lists or tuples with elements known only at run time. */
static struct value compare_seqs(struct emitter *e, enum token_kind op, struct value a, struct value b, span at, span sa, span sb)
{
	struct value all = value_bool(true);
	for (uint32_t i = 0; i < a.u.seq->n; i++) {
		struct value one = apply_binary(e, TOK_EQ, a.u.seq->at[i], b.u.seq->at[i], at, sa, sb);
		if (is_poison(one))
			return one;
		if (one.kind == V_BOOL)
			continue;
		all = all.kind == V_BOOL ? one : COMPOSE_AT(at, BI_LOGICAL_AND, all, one);
	}
	return op == TOK_EQ ? all : COMPOSE_AT(at, BI_LOGICAL_NOT, all);
}

/* True if v is a bool or a tensor of bools: functions take numbers as conditions, operators do not. */
static bool check_bool(struct emitter *e, enum token_kind op, struct value v, span at)
{
	if (v.kind == V_TENSOR ? type_of(e, v.u.t)->elem == DT_BOOL : v.kind == V_BOOL)
		return true;
	struct diag *g = report_error(e, DIAG_OPERANDS, at, "`%s` needs bools, not %s", token_kind_text(op), value_text(e, v));
	diag_help(e->report.out, g, "write a comparison: `x != 0`, `x == 0`, `x == none`");
	return false;
}

struct value apply_binary(struct emitter *e, enum token_kind op, struct value a, struct value b, span at, span sa, span sb)
{
	struct value out;
	if (is_poison(a) || is_poison(b))
		return VALUE_POISON;
	bool tensors = a.kind == V_TENSOR || b.kind == V_TENSOR;
	if ((op == TOK_EQ || op == TOK_NE) && (a.kind == V_NONE || b.kind == V_NONE)) { /* tests if an argument was given */
		if (tensors && e->checking)                                             /* callers may pass the argument */
			return VALUE_POISON;
		return value_bool((a.kind == b.kind) == (op == TOK_EQ));
	}
	if (!tensors && op != TOK_AND && op != TOK_OR && static_numbers(e, op, a, b, at, &out))
		return out;
	if ((op == TOK_EQ || op == TOK_NE) && value_is_seq(a) && value_is_seq(b))
		return compare_seqs(e, op, a, b, at, sa, sb);
	if (op == TOK_PLUS && (a.kind == V_STACKED || b.kind == V_STACKED) && (a.kind == V_STACKED || value_is_seq(a)) &&
	    (b.kind == V_STACKED || value_is_seq(b)))
		return concat_stacked(e, a, b, at);
	bool scalars = value_is_scalar(a) && value_is_scalar(b) && (a.kind == V_DIM || b.kind == V_DIM);
	bool operands = (a.kind == V_TENSOR || value_is_scalar(a)) && (b.kind == V_TENSOR || value_is_scalar(b));
	enum builtin bi = operator_builtin(op);
	if (report_missing_arguments(e, a, sa) || report_missing_arguments(e, b, sb))
		return VALUE_POISON;
	if (bi == BI_COUNT || !operands ||
	    !(tensors || (scalars && (is_arith(op) || operators_is_comparison(op) || operators_is_bitwise(op))))) {
		struct diag *g = report_error(e, DIAG_OPERANDS, at, "`%s` does not accept %s and %s", token_kind_text(op), value_text(e, a),
					      value_text(e, b));
		diag_secondary(e->report.out, g, sa, "%s", value_text(e, a));
		diag_secondary(e->report.out, g, sb, "%s", value_text(e, b));
		help_operands(e, g, op, a, b);
		return VALUE_POISON;
	}
	if ((op == TOK_AND || op == TOK_OR) && (!check_bool(e, op, a, sa) || !check_bool(e, op, b, sb)))
		return VALUE_POISON;
	struct arg two[] = {{.v = a, .at = sa}, {.v = b, .at = sb}};
	struct args args = {2, two};
	return call_builtin(e, bi, &args, at);
}

static struct value with_type_of(struct emitter *e, struct value v, struct value out, span at)
{
	return v.typed ? convert_number(e, out, scalar_type(v), at) : out;
}

/* ~v of a value known at compile time. False: it has no bits. */
static bool static_not(struct emitter *e, struct value v, span at, struct value *out)
{
	if (v.kind == V_BOOL)
		*out = value_bool(!v.u.b);
	else if (v.kind == V_INT)
		*out = with_type_of(e, v, value_int(v.typed ? wrap_to(scalar_type(v), ~(uint64_t)v.u.i) : ~v.u.i), at);
	else if (v.kind == V_TRIT)
		*out = (struct value){.kind = V_INT, .typed = DT_INT8 + 1, .u.i = ~v.u.i};
	else if (v.kind == V_DIM)
		*out = with_type_of(e, v, value_dim(e->b->dims, dim_sub(e->b->dims, dim_const(e->b->dims, -1), v.u.d)), at);
	else
		return false;
	return true;
}

struct value apply_unary(struct emitter *e, enum token_kind op, struct value v, span at)
{
	struct arg one = {.v = v, .at = at};
	struct args args = {1, &one};
	struct value out;
	if (is_poison(v))
		return v;
	if (op == TOK_BANG) {
		if (v.kind == V_BOOL)
			return value_bool(!v.u.b);
		if (v.kind == V_TENSOR)
			return check_bool(e, op, v, at) ? call_builtin(e, BI_LOGICAL_NOT, &args, at) : VALUE_POISON;
	} else if (op == TOK_TILDE) {
		if (static_not(e, v, at, &out))
			return out;
		if (v.kind == V_TENSOR)
			return call_builtin(e, BI_BIT_NOT, &args, at);
	} else if (op == TOK_PLUS) {
		if (v.kind == V_TENSOR || (value_is_scalar(v) && v.kind != V_BOOL))
			return v;
	} else {
		if (v.kind == V_INT)
			return with_type_of(e, v, operators_int_op(e, TOK_MINUS, 0, v.u.i, at), at);
		if (v.kind == V_FLOAT)
			return with_type_of(e, v, value_float(-v.u.f), at);
		if (v.kind == V_TRIT)
			return (struct value){.kind = V_TRIT, .u.i = -v.u.i};
		if (v.kind == V_DIM)
			return with_type_of(e, v, value_dim(e->b->dims, dim_sub(e->b->dims, dim_const(e->b->dims, 0), v.u.d)), at);
		if (v.kind == V_TENSOR)
			return call_builtin(e, BI_NEG, &args, at);
	}
	if (report_missing_arguments(e, v, at))
		return VALUE_POISON;
	return report_poison(e, DIAG_OPERANDS, at, "`%s` does not accept %s", token_kind_text(op), value_text(e, v));
}
