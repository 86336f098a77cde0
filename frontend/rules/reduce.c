/* Rules of reductions. `dim` is argument 1, `keepdim` the last one. */
#include "frontend/rules/builtin.h"

/* What distinguishes the reductions. */
struct reduction {
	bool one_axis;  /* `dim` is not a list */
	bool not_empty; /* needs an element along each reduced dimension */
	dtype elem;     /* of the result; DT_COUNT: that of x */
};

/* Reads `dim`. Without it, all dimensions are reduced. */
static bool read_axes(struct emitter *e, struct builtin_call *c, uint32_t rank, bool one_axis, uint32_t *mask, struct hir_arg *arg)
{
	uint32_t axes[HIR_MAX_RANK], n = 1, count = 0;
	struct hir_arg items[HIR_MAX_RANK];
	*arg = arg_none();
	*mask = (1u << rank) - 1;
	if (c->v[1].kind == V_NONE)
		return true;
	if (!(one_axis ? need_axis(e, c, 1, rank, axes) : need_axes(e, c, 1, rank, axes, &n)))
		return false;
	*mask = 0;
	for (uint32_t k = 0; k < n; k++)
		*mask |= 1u << axes[k];
	for (uint32_t k = 0; k < rank; k++)
		if (*mask >> k & 1)
			items[count++] = arg_int(k);
	*arg = n == 1 ? items[0] : arg_list(e, items, n);
	return true;
}

/* Emits the builtin for x, which may be HIR_NONE. */
static struct value reduce_reduce(struct emitter *e, struct builtin_call *c, hir_ref x, const struct reduction *r)
{
	struct hir_arg a[BUILTIN_MAX_PARAMS];
	uint32_t mask;
	bool keep;
	if (x == HIR_NONE || !read_axes(e, c, type_of(e, x)->rank, r->one_axis, &mask, &a[1]) || !need_bool(e, c, c->sig->n - 1, &keep))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if (r->not_empty && !check_not_empty(e, c, &t, mask))
		return VALUE_POISON;
	t = reduce_dims(e, &t, mask, keep);
	t.elem = r->elem == DT_COUNT ? t.elem : r->elem;
	a[0] = arg_tensor(x);
	for (uint32_t i = 2; i < c->sig->n; i++)
		a[i] = plain_arg(c->v[i]);
	return emit_call(e, c->bi, &t, a, c->sig->n, c->at);
}

struct value rule_reduce_sum(struct emitter *e, struct builtin_call *c)
{
	hir_ref x = c->operand[0];
	bool floats = dtype_class(type_of(e, x)->elem) == DTC_FLOAT;
	return reduce_reduce(e, c, x, &(struct reduction){.elem = floats ? DT_COUNT : DT_INT64});
}

struct value rule_reduce_bool(struct emitter *e, struct builtin_call *c)
{
	return reduce_reduce(e, c, c->operand[0], &(struct reduction){.elem = DT_BOOL});
}

struct value rule_reduce_extreme(struct emitter *e, struct builtin_call *c)
{
	return reduce_reduce(e, c, c->operand[0], &(struct reduction){.not_empty = true, .elem = DT_COUNT});
}

struct value rule_logsumexp(struct emitter *e, struct builtin_call *c)
{
	return reduce_reduce(e, c, c->operand[0], &(struct reduction){.elem = DT_COUNT});
}

struct value rule_reduce_arg(struct emitter *e, struct builtin_call *c)
{
	return reduce_reduce(e, c, c->operand[0], &(struct reduction){.one_axis = true, .not_empty = true, .elem = DT_INT64});
}

struct value rule_reduce_mean(struct emitter *e, struct builtin_call *c)
{
	int64_t correction;
	bool has_correction = c->sig->n == 4;
	hir_ref x = c->operand[0];
	if (type_of(e, x)->elem == DT_TRIT)
		x = need_float(e, c, 0);
	if (dtype_class(type_of(e, x)->elem) != DTC_FLOAT) {
		struct diag *g =
			report_error(e, DIAG_OPERANDS, c->ats[0], "`%s` needs floats, not %s", c->sig->name, value_text(e, c->v[0]));
		diag_help(e->report.out, g, "convert with `float32(…)`");
		return VALUE_POISON;
	}
	if (has_correction && c->v[2].kind == V_BOOL) /* `unbiased` */
		c->v[2] = value_int(c->v[2].u.b);
	if (has_correction && !need_int(e, c, 2, &correction))
		return VALUE_POISON;
	return reduce_reduce(e, c, x, &(struct reduction){.elem = DT_COUNT});
}

/* max, min: of the elements, of the elements along `dim` with their indices, or of two operands. */
struct value rule_reduce_minmax(struct emitter *e, struct builtin_call *c)
{
	bool scalar = c->v[0].kind == V_TENSOR ? !type_of(e, c->v[0].u.t)->rank : value_is_scalar(c->v[0]);
	bool number = c->v[1].kind == V_FLOAT || c->v[1].kind == V_INT || c->v[1].kind == V_DIM;
	bool sizes = (c->v[0].kind == V_INT || c->v[0].kind == V_DIM) && (c->v[1].kind == V_INT || c->v[1].kind == V_DIM);
	if (e->checking && sizes && !c->named[1])
		return (struct value){.kind = V_DIM, .u.d = fresh_dim(e)}; /* of a definition checked on its own: some size */
	if (c->v[1].kind == V_TENSOR || (scalar && number && !c->named[1]))
		return compose_pair(e, c, c->bi == BI_MAX ? BI_MAXIMUM : BI_MINIMUM, c->v[0], c->v[1]);
	struct value v =
		reduce_reduce(e, c, need_vector(e, c, 0), &(struct reduction){.one_axis = true, .not_empty = true, .elem = DT_COUNT});
	if (is_poison(v) || c->v[1].kind == V_NONE)
		return v;
	struct hir_type values = *type_of(e, v.u.t), indices = values;
	indices.elem = DT_INT64;
	return emit_two_results(e, v.u.t, &values, &indices, c->at);
}

struct value rule_softmax(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	hir_ref x = c->operand[0];
	if (!need_axis(e, c, 1, type_of(e, x)->rank, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	return EMIT(c->bi, &t, arg_tensor(x), arg_int(axis));
}
