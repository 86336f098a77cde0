/* Rules of the builtins that create tensors. */
#include <string.h>
#include "frontend/rules/builtin.h"

static bool check_seed(struct emitter *e, struct builtin_call *c)
{
	int64_t seed;
	uint32_t i = find_param(e, c, "seed");
	return i == c->sig->n || c->v[i].kind == V_NONE || need_int(e, c, i, &seed);
}

/* Converts trits to the element type in the last argument, `dtype`. */
static struct value convert_trits(struct emitter *e, struct builtin_call *c, struct value v)
{
	dtype t;
	if (is_poison(v) || !need_dtype(e, c, c->sig->n - 1, &t))
		return VALUE_POISON;
	if (dtype_is_unsigned(t))
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[c->sig->n - 1], "`dtype` must be a type that holds -1, not %s",
				  dtype_text(t));
	return as_elem(e, v, t, c->at);
}

/* Sets a seed for random numbers in a constant, so that all its uses have the same value. */
static void set_constant_seed(struct emitter *e, struct builtin_call *c)
{
	uint32_t last = c->sig->n - 1;
	if (!e->seed || strcmp(arg_name(e, c, last), "seed") || c->v[last].kind != V_NONE)
		return;
	c->v[last] = value_int((int64_t)(e->seed >> 2));
	e->seed = hash_bytes(&e->seed, sizeof e->seed).lo | 1;
}

static struct value emit_created(struct emitter *e, struct builtin_call *c, const struct hir_type *t)
{
	set_constant_seed(e, c);
	struct hir_arg a[BUILTIN_MAX_PARAMS] = {arg_sizes(e, t)};
	for (uint32_t i = 1; i < c->sig->n; i++)
		a[i] = c->v[i].kind == V_TENSOR ? arg_tensor(c->v[i].u.t) : plain_arg(c->v[i]);
	return value_tensor(emit_builtin(e, c->bi, t, a, c->sig->n, c->at));
}

struct value rule_create(struct emitter *e, struct builtin_call *c)
{
	struct hir_type t = {0};
	uint32_t n;
	if (!need_sizes(e, c, 0, t.dims, &n, NULL) || !need_dtype(e, c, 1, &t.elem) || !check_seed(e, c))
		return VALUE_POISON;
	t.rank = (uint8_t)n;
	if ((c->bi == BI_RAND || c->bi == BI_RANDN) && dtype_class(t.elem) != DTC_FLOAT)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[1], "`dtype` must be a float type, not %s", dtype_text(t.elem));
	return emit_created(e, c, &t);
}

struct value rule_create_trit(struct emitter *e, struct builtin_call *c)
{
	struct hir_type t = {.elem = DT_TRIT};
	static const char *const distributions[] = {"uniform", "balanced"};
	uint32_t n, distribution;
	double sparsity = 0;
	if (!need_sizes(e, c, 0, t.dims, &n, NULL) || !check_seed(e, c))
		return VALUE_POISON;
	t.rank = (uint8_t)n;
	if (c->bi == BI_TERNARY_WEIGHTS) {
		if (!need_float_value(e, c, 1, &sparsity))
			return VALUE_POISON;
		if (sparsity < 0 || sparsity > 1)
			return rule_error(e, c, DIAG_ARG_VALUE, c->ats[1], "`sparsity` must be between 0 and 1");
		if (!need_word(e, c, 2, distributions, 2, &distribution))
			return VALUE_POISON;
		c->v[1] = value_float(sparsity);
	}
	return convert_trits(e, c, emit_created(e, c, &t));
}

struct value rule_full(struct emitter *e, struct builtin_call *c)
{
	struct hir_type t = {0};
	uint32_t n;
	if (!need_sizes(e, c, 0, t.dims, &n, NULL))
		return VALUE_POISON;
	t.rank = (uint8_t)n;
	t.elem = c->v[1].kind == V_TENSOR ? type_of(e, c->v[1].u.t)->elem : scalar_type(c->v[1]);
	if (c->v[2].kind != V_NONE && !need_dtype(e, c, 2, &t.elem))
		return VALUE_POISON;
	hir_ref v = c->v[1].kind == V_TENSOR   ? emit_cast(e, c->v[1].u.t, t.elem, c->at)
		    : value_is_scalar(c->v[1]) ? emit_scalar(e, c->v[1], t.elem, c->ats[1])
					       : need_tensor(e, c, 1);
	if (v == HIR_NONE)
		return VALUE_POISON;
	if (type_of(e, v)->rank)
		return rule_error(e, c, DIAG_RANK, c->ats[1], "the value must be a scalar, not %s", type_text(e, v));
	c->v[1] = value_tensor(v);
	return emit_created(e, c, &t);
}

struct value rule_eye(struct emitter *e, struct builtin_call *c)
{
	struct hir_type t = {.rank = 2};
	if (!size_value(e, c->v[0], &t.dims[0]))
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[0], "the size must be an integer");
	t.dims[1] = t.dims[0];
	if (c->v[1].kind != V_NONE && !size_value(e, c->v[1], &t.dims[1]))
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[1], "the size must be an integer");
	if (!need_dtype(e, c, 2, &t.elem))
		return VALUE_POISON;
	return EMIT(BI_EYE, &t, arg_dim(t.dims[0]), arg_dim(t.dims[1]), arg_none());
}

static struct value arange_ints(struct emitter *e, struct builtin_call *c, dtype elem)
{
	struct dims *d = e->b->dims;
	dim from, to;
	int64_t step, n;
	size_value(e, c->v[0], &from);
	size_value(e, c->v[1], &to);
	if (!need_int(e, c, 2, &step))
		return VALUE_POISON;
	if (!step)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[2], "`step` must not be 0");
	dim diff = step > 0 ? dim_sub(d, to, from) : dim_sub(d, from, to), size = dim_const(d, step > 0 ? step : -step);
	dim len = dim_floordiv(d, dim_add(d, diff, dim_sub(d, size, dim_const(d, 1))), size);
	if (dim_is_const(d, len, &n) && n < 0)
		len = dim_const(d, 0);
	struct hir_type t = {.elem = elem, .rank = 1, .dims = {len}};
	return EMIT(BI_ARANGE, &t, arg_dim(from), arg_dim(to), arg_dim(dim_const(d, step)), arg_none());
}

static struct value arange_floats(struct emitter *e, struct builtin_call *c, dtype elem)
{
	double v[3];
	struct hir_arg a[4] = {0};
	for (uint32_t i = 0; i < 3; i++) {
		if (!need_float_value(e, c, i, &v[i]))
			return VALUE_POISON;
		a[i] = arg_float(v[i]);
	}
	double n = (v[1] - v[0]) / v[2];
	if (!(n < 1e9) || v[2] == 0)
		return rule_error(e, c, DIAG_ARG_VALUE, c->at, "the range is infinite or too long");
	int64_t len = n <= 0 ? 0 : (int64_t)n + (n > (double)(int64_t)n);
	struct hir_type t = {.elem = elem, .rank = 1, .dims = {dim_const(e->b->dims, len)}};
	return value_tensor(emit_builtin(e, BI_ARANGE, &t, a, 4, c->at));
}

struct value rule_arange(struct emitter *e, struct builtin_call *c)
{
	dtype elem;
	bool ints = true;
	if (c->v[1].kind == V_NONE) {
		c->v[1] = c->v[0];
		c->ats[1] = c->ats[0];
		c->v[0] = value_int(0);
	}
	for (uint32_t i = 0; i < 3; i++)
		ints = ints && (c->v[i].kind == V_INT || c->v[i].kind == V_DIM);
	elem = ints ? DT_INT64 : DT_FLOAT32;
	if (c->v[3].kind != V_NONE && !need_dtype(e, c, 3, &elem))
		return VALUE_POISON;
	if (elem == DT_BOOL || elem == DT_TRIT)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[3], "`dtype` must not be %s", dtype_text(elem));
	if (!ints)
		return arange_floats(e, c, elem);
	bool direct = elem == DT_INT64 || elem == DT_INT32;
	struct value v = arange_ints(e, c, direct ? elem : DT_INT64);
	return direct || is_poison(v) ? v : value_tensor(emit_cast(e, v.u.t, elem, c->at));
}

struct value rule_linspace(struct emitter *e, struct builtin_call *c)
{
	double v[2];
	struct hir_type t = {.rank = 1};
	struct hir_arg a[4] = {0};
	for (uint32_t i = 0; i < 2; i++) {
		if (!need_float_value(e, c, i, &v[i]))
			return VALUE_POISON;
		a[i] = arg_float(v[i]);
	}
	if (!size_value(e, c->v[2], &t.dims[0]) || (c->v[2].kind == V_INT && c->v[2].u.i < 0))
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[2], "`steps` must be an integer of at least 0, not %s",
				  value_text(e, c->v[2]));
	if (!need_dtype(e, c, 3, &t.elem))
		return VALUE_POISON;
	if (dtype_class(t.elem) != DTC_FLOAT && dtype_class(t.elem) != DTC_INT)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[3], "`dtype` must not be %s", dtype_text(t.elem));
	a[2] = arg_dim(t.dims[0]);
	return value_tensor(emit_builtin(e, c->bi, &t, a, 4, c->at));
}

/* ---- literals: nested lists of numbers ---- */

struct literal {
	struct hir_type type;
	int64_t sizes[HIR_MAX_RANK];
	uint64_t count;
	dtype literals, declared; /* the types of literals and of other numbers; DT_COUNT: none */
	char *data, *end;
};

/* Literals take the type of the other numbers if possible. */
static dtype common_elem(const struct literal *l)
{
	if (l->declared == DT_COUNT || l->literals == DT_COUNT)
		return l->declared == DT_COUNT ? l->literals : l->declared;
	bool adapts = dtype_class(l->declared) == DTC_FLOAT || (dtype_class(l->declared) == DTC_INT && l->literals == DT_INT32);
	return adapts ? l->declared : dtype_join(l->declared, l->literals);
}

static bool measure_literal(struct emitter *e, struct builtin_call *c, struct value v, uint32_t depth, struct literal *l)
{
	if (!value_is_seq(v)) {
		if (!value_is_scalar(v) || v.kind == V_DIM)
			return rule_reject(e, c, DIAG_TYPE_MISMATCH, c->ats[0], "the data must be numbers known at compile time, not %s",
					   value_text(e, v));
		dtype t = scalar_type(v);
		if (depth != l->type.rank && l->count)
			return rule_reject(e, c, DIAG_SHAPE, c->ats[0], "the lists are nested to different depths");
		l->type.rank = (uint8_t)depth;
		dtype *with = value_is_literal(v) ? &l->literals : &l->declared;
		*with = *with == DT_COUNT ? t : dtype_join(*with, t);
		l->count++;
		l->type.elem = common_elem(l);
		if (l->type.elem == DT_COUNT)
			return rule_reject(e, c, DIAG_OPERANDS, c->ats[0], "the numbers have types that cannot be combined");
		return true;
	}
	if (depth == HIR_MAX_RANK)
		return rule_reject(e, c, DIAG_RANK, c->ats[0], "a tensor has at most %d dimensions", HIR_MAX_RANK);
	if (l->sizes[depth] < 0)
		l->sizes[depth] = v.u.seq->n;
	if (l->sizes[depth] != v.u.seq->n)
		return rule_reject(e, c, DIAG_SHAPE, c->ats[0], "the lists have different lengths: %lld and %u", (long long)l->sizes[depth],
				   v.u.seq->n);
	for (uint32_t i = 0; i < v.u.seq->n; i++)
		if (!measure_literal(e, c, v.u.seq->at[i], depth + 1, l))
			return false;
	if (!v.u.seq->n && !l->count)
		l->type.rank = (uint8_t)(depth + 1);
	return true;
}

static bool store_literal(struct emitter *e, struct builtin_call *c, struct value v, struct literal *l)
{
	if (value_is_seq(v)) {
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			if (!store_literal(e, c, v.u.seq->at[i], l))
				return false;
		return true;
	}
	bool ok = scalar_bytes(e, v, l->type.elem, l->end, c->ats[0]);
	l->end += dtype_size(l->type.elem);
	return ok;
}

struct value rule_tensor(struct emitter *e, struct builtin_call *c)
{
	struct literal l = {.type.elem = DT_FLOAT32, .literals = DT_COUNT, .declared = DT_COUNT};
	memset(l.sizes, -1, sizeof l.sizes);
	if (c->v[0].kind == V_TENSOR)
		return c->v[0];
	if (!measure_literal(e, c, c->v[0], 0, &l))
		return VALUE_POISON;
	if (c->bi == BI_TERNARY_TENSOR)
		l.type.elem = DT_TRIT;
	else if (c->v[1].kind != V_NONE && !need_dtype(e, c, 1, &l.type.elem))
		return VALUE_POISON;
	for (uint32_t i = 0; i < l.type.rank; i++)
		l.type.dims[i] = dim_const(e->b->dims, l.sizes[i]);
	l.data = l.end = arena_alloc(e->f->arena, l.count * dtype_size(l.type.elem) + 8, 16);
	if (!store_literal(e, c, c->v[0], &l))
		return VALUE_POISON;
	struct value v = value_tensor(emit_const(e, &l.type, l.data, c->at));
	return c->bi == BI_TERNARY_TENSOR ? convert_trits(e, c, v) : v;
}

struct value rule_like(struct emitter *e, struct builtin_call *c)
{
	static const enum builtin of[] = {
		[BI_ZEROS_LIKE - BI_ZEROS_LIKE] = BI_ZEROS, [BI_ONES_LIKE - BI_ZEROS_LIKE] = BI_ONES,
		[BI_FULL_LIKE - BI_ZEROS_LIKE] = BI_FULL,   [BI_RAND_LIKE - BI_ZEROS_LIKE] = BI_RAND,
		[BI_RANDN_LIKE - BI_ZEROS_LIKE] = BI_RANDN,
	};
	hir_ref r = need_tensor(e, c, 0);
	if (r == HIR_NONE)
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r);
	struct value v[BUILTIN_MAX_PARAMS] = {list_of_sizes(e, &t)};
	uint32_t type = c->bi == BI_FULL_LIKE ? 2 : 1;
	for (uint32_t k = 1; k < c->sig->n; k++)
		v[k] = c->v[k];
	if (v[type].kind == V_NONE)
		v[type] = (struct value){.kind = V_DTYPE, .u.dt = t.elem};
	return compose(e, of[c->bi - BI_ZEROS_LIKE], v, c->sig->n, c->at);
}
