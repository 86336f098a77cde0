/* Rules of builtins that are composed of others: arithmetic, norms, moved elements. */
#include "frontend/rules/builtin.h"
#include <math.h>
#include "base/format.h"

enum { MAX_PARTS = 4096 };

struct value rule_masked_fill(struct emitter *e, struct builtin_call *c) { return COMPOSE(BI_WHERE, c->v[1], c->v[2], c->v[0]); }

/* From the nearer end, as in PyTorch: so a weight of 1 gives the end exactly. */
struct value rule_lerp(struct emitter *e, struct builtin_call *c)
{
	struct value x = c->v[0], end = c->v[1], w = c->v[2], way = COMPOSE(BI_SUB, end, x);
	bool known = w.kind == V_INT || w.kind == V_FLOAT, near = known && number_value(w) < 0.5;
	struct value from = known && !near ? VALUE_NONE : COMPOSE(BI_ADD, x, COMPOSE(BI_MUL, w, way));
	if (near)
		return from;
	struct value rest = apply_binary(e, TOK_MINUS, value_float(1), w, c->at, c->at, c->ats[2]);
	struct value to = COMPOSE(BI_SUB, end, COMPOSE(BI_MUL, rest, way));
	return known ? to : COMPOSE(BI_WHERE, COMPOSE(BI_LT, COMPOSE(BI_ABS, w), value_float(0.5)), from, to);
}

/* beta · x + alpha · (a @ b). With beta = 0 x only gives the shape: what is not a number there does not count. */
struct value rule_addmm(struct emitter *e, struct builtin_call *c)
{
	struct value y = COMPOSE(BI_MATMUL, c->v[1], c->v[2]), x = c->v[0];
	bool integers = is_tensor(y) && dtype_class(type_of(e, y.u.t)->elem) == DTC_INT;
	for (uint32_t k = 3; integers && k < 5; k++)
		if (c->v[k].kind == V_FLOAT)
			return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[k], "`%s` must be an integer for a product of integers",
					  arg_name(e, c, k));
	if (c->given[4])
		y = COMPOSE(BI_MUL, y, c->v[4]);
	if (c->given[3] && is_tensor(x) && (c->v[3].kind == V_INT || c->v[3].kind == V_FLOAT) && !number_value(c->v[3]))
		x = COMPOSE(BI_ZEROS_LIKE, x);
	else if (c->given[3])
		x = COMPOSE(BI_MUL, x, c->v[3]);
	return COMPOSE(BI_ADD, x, y);
}

struct value rule_linear(struct emitter *e, struct builtin_call *c)
{
	struct value y = COMPOSE(BI_MATMUL, c->v[0], COMPOSE(BI_TRANSPOSE, c->v[1]));
	return c->v[2].kind == V_NONE ? y : COMPOSE(BI_ADD, y, c->v[2]);
}

/* ---- norms ---- */

/* Returns the p-norm of x along `axis` (none: of all elements). */
static struct value compose_norm(struct emitter *e, struct builtin_call *c, struct value x, struct value p, struct value axis, bool keep)
{
	double power = number_value(p);
	struct value size = value_bool(keep);
	if (p.kind != V_INT && p.kind != V_FLOAT)
		return rule_error(e, c, DIAG_ARG_VALUE, c->at, "`p` must be a number known at compile time");
	if (power == 2)
		return COMPOSE(BI_SQRT, COMPOSE(BI_SUM, COMPOSE(BI_MUL, x, x), axis, size));
	struct value a = COMPOSE(BI_ABS, x);
	if (power == 1)
		return COMPOSE(BI_SUM, a, axis, size);
	if (isinf(power))
		return COMPOSE(power > 0 ? BI_AMAX : BI_AMIN, a, axis, size);
	if (power == 0) { /* the number of elements that are not 0 */
		struct value n = COMPOSE(BI_SUM, COMPOSE(BI_NE, x, value_int(0)), axis, size);
		return as_elem(e, n, type_of(e, x.u.t)->elem, c->at);
	}
	struct value sum = COMPOSE(BI_SUM, COMPOSE(BI_POW, a, value_float(power)), axis, size);
	return COMPOSE(BI_POW, sum, value_float(1 / power));
}

/* Computes in wide floats; the result has the type of the argument. */
struct value rule_norm(struct emitter *e, struct builtin_call *c)
{
	double p;
	bool keep;
	hir_ref given = need_float(e, c, 0), x = given == HIR_NONE ? HIR_NONE : need_wide_float(e, c, 0);
	if (x == HIR_NONE || !need_float_value(e, c, 1, &p) || !need_bool(e, c, 3, &keep))
		return VALUE_POISON;
	if (isnan(p))
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[1], "`p` must be a number");
	dtype t = type_of(e, given)->elem;
	return as_elem(e, compose_norm(e, c, value_tensor(x), value_float(p), c->v[2], keep), t, c->at);
}

struct value rule_normalize(struct emitter *e, struct builtin_call *c)
{
	struct value x = value_tensor(c->operand[0]);
	return COMPOSE(BI_DIV, x, COMPOSE(BI_MAXIMUM, compose_norm(e, c, x, c->v[1], c->v[2], true), c->v[3]));
}

static struct value expand_to(struct emitter *e, struct builtin_call *c, struct value x, struct value to)
{
	return COMPOSE(BI_EXPAND, x, list_of_sizes(e, type_of(e, to.u.t)));
}

struct value rule_cosine_similarity(struct emitter *e, struct builtin_call *c)
{
	struct value a = value_tensor(c->operand[0]), b = value_tensor(c->operand[1]), no = value_bool(false);
	struct value both = COMPOSE(BI_MUL, a, b), ab = COMPOSE(BI_SUM, both, c->v[2], no);
	if (!is_tensor(both))
		return both;
	struct value one = compose_norm(e, c, expand_to(e, c, a, both), value_int(2), c->v[2], false);
	struct value other = compose_norm(e, c, expand_to(e, c, b, both), value_int(2), c->v[2], false);
	return COMPOSE(BI_DIV, ab, COMPOSE(BI_MUL, COMPOSE(BI_MAXIMUM, one, c->v[3]), COMPOSE(BI_MAXIMUM, other, c->v[3])));
}

struct value rule_cdist(struct emitter *e, struct builtin_call *c)
{
	struct value a = value_tensor(c->operand[0]), b = value_tensor(c->operand[1]);
	struct value away = COMPOSE(BI_SUB, COMPOSE(BI_UNSQUEEZE, a, value_int(-2)), COMPOSE(BI_UNSQUEEZE, b, value_int(-3)));
	return compose_norm(e, c, away, c->v[2], value_int(-1), false);
}

/* std_mean, var_mean */
struct value rule_moments(struct emitter *e, struct builtin_call *c)
{
	struct value spread = COMPOSE(c->bi == BI_STD_MEAN ? BI_STD : BI_VAR, c->v[0], c->v[1], c->v[2], c->v[3]);
	struct value mean = COMPOSE(BI_MEAN, c->v[0], c->v[1], c->v[3]);
	return is_poison(spread) || is_poison(mean) ? VALUE_POISON : TUPLE(spread, mean);
}

/* ---- moved elements ---- */

struct value rule_flip(struct emitter *e, struct builtin_call *c)
{
	struct value x = c->v[0], dims = c->v[1];
	uint32_t n = item_count(dims);
	for (uint32_t k = 0; k < n; k++)
		x = COMPOSE(BI_SLICE, x, item_of(dims, k), VALUE_NONE, VALUE_NONE, value_int(-1));
	return x;
}

/* x rolled by a size: its last `by` elements, then those before them. The modulus is one at run time, too. */
static struct value roll_by_size(struct emitter *e, struct builtin_call *c, struct value x, dim shift, uint32_t axis)
{
	struct dims *d = e->b->dims;
	dim n = type_of(e, x.u.t)->dims[axis], zero = dim_const(d, 0);
	dim by = dim_eq(n, zero) ? zero : dim_mod(d, shift, n);
	if (dim_eq(by, zero))
		return x;
	struct value along = value_int(axis), split = value_dim(d, dim_sub(d, n, by));
	struct value last = COMPOSE(BI_SLICE, x, along, split), first = COMPOSE(BI_SLICE, x, along, VALUE_NONE, split);
	return COMPOSE(BI_CONCAT, LIST(last, first), along);
}

/* x rolled by an integer that is known only at run time. Its remainder is taken first: the difference cannot overflow. */
static struct value roll_by_value(struct emitter *e, struct builtin_call *c, struct value x, struct value shift, uint32_t axis)
{
	struct value size = value_dim(e->b->dims, type_of(e, x.u.t)->dims[axis]);
	struct value n = value_tensor(emit_scalar(e, size, DT_INT64, c->at));
	struct value by = COMPOSE(BI_MOD, as_elem(e, shift, DT_INT64, c->at), n);
	struct value from = COMPOSE(BI_MOD, COMPOSE(BI_SUB, COMPOSE(BI_ARANGE, size), by), n);
	return COMPOSE(BI_INDEX_SELECT, x, value_int(axis), from);
}

static struct value roll_one(struct emitter *e, struct builtin_call *c, struct value x, struct value shift, struct value along)
{
	uint32_t axis;
	dim by;
	if (!is_tensor(x) || is_poison(shift) || is_poison(along))
		return VALUE_POISON;
	if (!is_integer_scalar(e, shift))
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[1], "`shifts` must be integers, not %s", value_text(e, shift));
	if (along.kind != V_INT)
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[2], "`dims` must be integers known at compile time, not %s",
				  value_text(e, along));
	if (!axis_of(e, c, along.u.i, rank_of(e, x), c->at, &axis))
		return VALUE_POISON;
	return size_value(e, shift, &by) ? roll_by_size(e, c, x, by, axis) : roll_by_value(e, c, x, shift, axis);
}

/* Without `dims`, rolls the flattened tensor. */
struct value rule_roll(struct emitter *e, struct builtin_call *c)
{
	hir_ref r = c->operand[0];
	struct value x = value_tensor(r), shifts = c->v[1], dims = c->v[2];
	struct hir_type t = *type_of(e, r);
	if (dims.kind == V_NONE) {
		x = roll_one(e, c, COMPOSE(BI_FLATTEN, x), shifts, value_int(0));
		return is_tensor(x) ? emit_reshape(e, x.u.t, &t, c->at) : x;
	}
	uint32_t n = item_count(dims);
	if (item_count(shifts) != n)
		return rule_error(e, c, DIAG_ARG_VALUE, c->at, "`shifts` and `dims` must have the same length");
	for (uint32_t k = 0; k < n; k++)
		x = roll_one(e, c, x, item_of(shifts, k), item_of(dims, k));
	return x;
}

struct value rule_unbind(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	int64_t n;
	hir_ref x = c->operand[0];
	if (!need_axis(e, c, 1, type_of(e, x)->rank, &axis))
		return VALUE_POISON;
	if (!need_const_size(e, c, c->at, type_of(e, x)->dims[axis], "the size of the dimension", &n))
		return VALUE_POISON;
	if (n > MAX_PARTS)
		return e->checking ? VALUE_POISON
				   : rule_error(e, c, DIAG_UNSUPPORTED, c->at, "the dimension has more than %d elements", MAX_PARTS);
	struct value all = value_seq(e->f->arena, V_TUPLE, (uint32_t)n);
	for (int64_t k = 0; k < n; k++)
		all.u.seq->at[k] = COMPOSE(BI_SELECT, value_tensor(x), value_int(axis), value_int(k));
	return all;
}

struct value rule_one_hot(struct emitter *e, struct builtin_call *c)
{
	int64_t classes;
	hir_ref x = c->operand[0];
	if (!need_int(e, c, 1, &classes))
		return VALUE_POISON;
	if (dtype_class(type_of(e, x)->elem) != DTC_INT || classes < 1)
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->at, "needs a tensor of integers, and `num_classes` of at least 1");
	struct value hot = COMPOSE(BI_EQ, COMPOSE(BI_UNSQUEEZE, value_tensor(x), value_int(-1)), COMPOSE(BI_ARANGE, c->v[1]));
	return is_tensor(hot) ? value_tensor(emit_cast(e, hot.u.t, DT_INT64, c->at)) : hot;
}

struct value rule_float_class(struct emitter *e, struct builtin_call *c)
{
	hir_ref r = c->operand[0];
	struct value x = value_tensor(r), most = value_float(HUGE_VAL);
	if (c->bi == BI_ISNAN)
		return COMPOSE(BI_NE, x, x);
	return COMPOSE(c->bi == BI_ISINF ? BI_EQ : BI_LT, COMPOSE(BI_ABS, x), most);
}

/* Weights known at compile time must be no less than 0, and enough of each row must be greater. */
static bool check_weights(struct emitter *e, struct builtin_call *c, const struct hir_type *t, int64_t wanted)
{
	const struct hir_node *n = node_at(e, c->operand[0]);
	int64_t k, rows = 1;
	bool known = dim_is_const(e->b->dims, t->dims[t->rank - 1], &k);
	if (!known || n->kind != HIR_CONST || !n->data || (t->rank == 2 && !dim_is_const(e->b->dims, t->dims[0], &rows)))
		return true;
	for (int64_t i = 0; i < rows; i++) {
		int64_t positive = 0;
		for (int64_t j = 0; j < k; j++) {
			double w = format_element_float((enum format_elem)t->elem, n->data, i * k + j);
			if (!(w >= 0 && w < HUGE_VAL))
				return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[0], "the probability %g is not a number of at least 0", w);
			positive += w > 0;
		}
		if (positive < wanted)
			return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[0],
					   "the number of probabilities greater than 0 is %lld, but must be at least %lld",
					   (long long)positive, (long long)wanted);
	}
	return true;
}

/* Without replacement: the greatest of p / -log(u), as exponential clocks ring (Efraimidis, Spirakis 2006); a u of 0 gives 0, which
 * is still before elements of probability 0. With it: the place of u times the last running sum among the running sums. u: `noise`,
 * uniform in [0, 1), or numbers of `seed`, which are the same in each run. */
struct value rule_multinomial(struct emitter *e, struct builtin_call *c)
{
	enum { N = 1, REPLACEMENT, SEED, NOISE };
	bool again;
	int64_t n, k = 0;
	struct value p = value_tensor(c->operand[0]), last = value_int(-1);
	struct hir_type t = *type_of(e, p.u.t);
	if (!need_int(e, c, N, &n) || !need_bool(e, c, REPLACEMENT, &again))
		return VALUE_POISON;
	if (t.rank != 1 && t.rank != 2)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "needs a tensor [K] or [N, K], not %s", type_text(e, p.u.t));
	if (n < 0 || (!again && dim_is_const(e->b->dims, t.dims[t.rank - 1], &k) && n > k))
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[N],
				  n < 0 ? "`num_samples` is %lld" : "cannot draw %lld of %lld without replacement", (long long)n,
				  (long long)k);
	if (!check_weights(e, c, &t, again ? n > 0 : n))
		return VALUE_POISON;
	struct hir_type drawn = t;
	if (again)
		drawn.dims[t.rank - 1] = dim_const(e->b->dims, n);
	struct value u = c->given[NOISE] ? c->v[NOISE] : VALUE_NONE, type = {.kind = V_DTYPE, .u.dt = t.elem};
	if (u.kind == V_NONE)
		u = COMPOSE(BI_RAND, list_of_sizes(e, &drawn), type, c->given[SEED] ? c->v[SEED] : VALUE_NONE);
	else if (is_tensor(u) && !shapes_agree(e, type_of(e, u.u.t), &drawn))
		return rule_error(e, c, DIAG_SHAPE, c->ats[NOISE], "`noise` has shape %s, but must have %s",
				  shape_text(e, type_of(e, u.u.t)), shape_text(e, &drawn));
	if (!again) {
		struct value clock = COMPOSE(BI_DIV, p, COMPOSE(BI_NEG, COMPOSE(BI_LOG, u)));
		struct value first = COMPOSE(BI_WHERE, COMPOSE(BI_GT, p, value_int(0)), clock, value_int(-1));
		return item_of(COMPOSE(BI_TOPK, first, c->v[N]), 1);
	}
	struct value sums = COMPOSE(BI_CUMSUM, p, last), all = COMPOSE(BI_AMAX, sums, last, value_bool(true));
	struct value past =
		COMPOSE(BI_LE, COMPOSE(BI_UNSQUEEZE, sums, value_int(-2)), COMPOSE(BI_UNSQUEEZE, COMPOSE(BI_MUL, u, all), last));
	return COMPOSE(BI_SUM, past, last);
}
