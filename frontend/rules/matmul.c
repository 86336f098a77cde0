/* Rules of matrix products (`@`, matmul, dot, outer), and of embedding. */
#include <string.h>
#include "frontend/rules/builtin.h"

/* Returns the element type of a @ b; DT_COUNT: none. */
static dtype matmul_type(dtype a, dtype b)
{
	enum dtype_class ka = dtype_class(a), kb = dtype_class(b);
	if (ka == DTC_BOOL || kb == DTC_BOOL)
		return DT_COUNT;
	if (ka == DTC_TRIT && kb == DTC_TRIT)
		return DT_INT32;
	if (ka == DTC_TRIT || kb == DTC_TRIT) {
		dtype other = ka == DTC_TRIT ? b : a;
		return dtype_class(other) == DTC_FLOAT ? other : dtype_join(other, DT_INT32);
	}
	if (ka == DTC_INT && kb == DTC_INT)
		return dtype_join(dtype_join(a, b), DT_INT32);
	return dtype_join(a, b);
}

/* True for a size that is a name in the signature of the function being checked. */
static bool matmul_is_named(struct emitter *e, dim x)
{
	uint32_t sym;
	return dim_is_sym(e->b->dims, x, &sym) && sym >= e->b->named_from && sym < e->b->named_to &&
	       strcmp(dims_sym_name(e->b->dims, sym), "?") != 0;
}

/* True if two sizes have different names in the signature. A product that needs them equal fails for most callers. */
static bool have_different_names(struct emitter *e, dim a, dim b)
{
	return e->checking && !e->conditional && !dim_eq(a, b) && matmul_is_named(e, a) && matmul_is_named(e, b);
}

/* True if the size `have` is the constant `want` times a size known only at run time. */
static bool contains_batch(struct emitter *e, dim have, dim want)
{
	int64_t n;
	dim rest;
	return dim_is_const(e->b->dims, want, &n) && n > 1 && !dim_is_const(e->b->dims, have, NULL) &&
	       dim_divide_exact(e->b->dims, have, n, &rest) == 1;
}

static bool report_inner_mismatch(struct emitter *e, struct builtin_call *c, const struct hir_type *a, const struct hir_type *b)
{
	uint32_t ka = a->rank - 1u, kb = b->rank > 1 ? b->rank - 2u : 0;
	int64_t size;
	struct diag *g = report_error(e, DIAG_MATMUL_SHAPE, c->at, "the shapes %s and %s have no matrix product: %s columns, but %s rows",
				      shape_text(e, a), shape_text(e, b), dim_text(e, a->dims[ka]), dim_text(e, b->dims[kb]));
	diag_secondary(e->report.out, g, c->ats[0], "%s has shape %s", source_excerpt(e, c->ats[0]), shape_text(e, a));
	diag_secondary(e->report.out, g, c->ats[1], "%s has shape %s", source_excerpt(e, c->ats[1]), shape_text(e, b));
	if (b->rank >= 2 && dim_eq(a->dims[ka], b->dims[b->rank - 1]))
		diag_help(e->report.out, g, "transpose the second operand: `.transpose(-2, -1)`");
	else if (a->rank == 1 && contains_batch(e, a->dims[ka], b->dims[kb]))
		diag_help(e->report.out, g, "this size includes the batch: flatten from dimension 1, `flatten(x, 1)`");
	else if (!e->checking && !(dim_is_const(e->b->dims, a->dims[ka], &size) && dim_is_const(e->b->dims, b->dims[kb], &size)))
		help_unknown_size(e, g, e->b->dims, a->dims[ka], b->dims[kb]);
	else if (have_different_names(e, a->dims[ka], b->dims[kb]))
		diag_help(e->report.out, g, "use the same name in the signature for sizes that must be equal");
	return false;
}

static bool infer_matmul_shape(struct emitter *e, struct builtin_call *c, const struct hir_type *a, const struct hir_type *b,
			       struct hir_type *out)
{
	if (!a->rank || !b->rank)
		return report_false(e, DIAG_RANK, c->ats[!a->rank ? 0 : 1],
				    "an operand of a matrix product must have at least one dimension");
	dim columns = a->dims[a->rank - 1], rows = b->dims[b->rank > 1 ? b->rank - 2 : 0];
	if (!dims_agree(e, columns, rows) || have_different_names(e, columns, rows))
		return report_inner_mismatch(e, c, a, b);
	struct hir_type batch_a = *a, batch_b = *b;
	batch_a.rank = a->rank > 2 ? (uint8_t)(a->rank - 2) : 0;
	batch_b.rank = b->rank > 2 ? (uint8_t)(b->rank - 2) : 0;
	*out = batch_a;
	if (!broadcast_dims(e, out, &batch_b)) {
		struct diag *g = report_error(e, DIAG_BROADCAST, c->at, "the batch dimensions of %s and %s do not broadcast",
					      shape_text(e, a), shape_text(e, b));
		diag_secondary(e->report.out, g, c->ats[0], "%s", shape_text(e, a));
		diag_secondary(e->report.out, g, c->ats[1], "%s", shape_text(e, b));
		return false;
	}
	if (out->rank + 2 > HIR_MAX_RANK)
		return rule_reject(e, c, DIAG_RANK, c->at, "a tensor has at most %d dimensions", HIR_MAX_RANK);
	if (a->rank > 1)
		out->dims[out->rank++] = a->dims[a->rank - 2];
	if (b->rank > 1)
		out->dims[out->rank++] = b->dims[b->rank - 1];
	return true;
}

bool product_types(struct emitter *e, struct builtin_call *c, hir_ref *a, hir_ref *b, dtype *elem)
{
	dtype ta = type_of(e, *a)->elem, tb = type_of(e, *b)->elem;
	*elem = matmul_type(ta, tb);
	if (*elem == DT_COUNT) {
		struct diag *g = report_error(e, DIAG_OPERANDS, c->at, "a %s of %s and %s is not defined",
					      c->bi == BI_MATMUL || c->bi == BI_TERNARY_MATMUL ? "matrix product" : "convolution",
					      dtype_text(ta), dtype_text(tb));
		diag_secondary(e->report.out, g, c->ats[0], "%s", type_text(e, *a));
		diag_secondary(e->report.out, g, c->ats[1], "%s", type_text(e, *b));
		return false;
	}
	if (dtype_class(*elem) == DTC_FLOAT) {
		*a = ta == DT_TRIT ? *a : emit_cast(e, *a, *elem, c->ats[0]);
		*b = tb == DT_TRIT ? *b : emit_cast(e, *b, *elem, c->ats[1]);
	}
	return true;
}

struct value rule_matmul(struct emitter *e, struct builtin_call *c)
{
	struct hir_type out;
	hir_ref a = need_tensor(e, c, 0), b = need_tensor(e, c, 1);
	if (a == HIR_NONE || b == HIR_NONE)
		return VALUE_POISON;
	struct hir_type ta = *type_of(e, a), tb = *type_of(e, b);
	dtype elem;
	if (!product_types(e, c, &a, &b, &elem) || !infer_matmul_shape(e, c, &ta, &tb, &out))
		return VALUE_POISON;
	out.elem = elem;
	return EMIT(BI_MATMUL, &out, arg_tensor(a), arg_tensor(b));
}

static bool need_vectors(struct emitter *e, struct builtin_call *c)
{
	for (uint32_t i = 0; i < 2; i++) {
		hir_ref r = need_tensor(e, c, i);
		if (r == HIR_NONE)
			return false;
		if (type_of(e, r)->rank != 1)
			return rule_reject(e, c, DIAG_RANK, c->ats[i], "needs vectors, not %s", type_text(e, r));
	}
	return true;
}

struct value rule_dot(struct emitter *e, struct builtin_call *c) { return need_vectors(e, c) ? rule_matmul(e, c) : VALUE_POISON; }

struct value rule_outer(struct emitter *e, struct builtin_call *c)
{
	if (!need_vectors(e, c))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, c->v[0].u.t);
	t.dims[t.rank++] = dim_const(e->b->dims, 1);
	return compose_pair(e, c, BI_MUL, emit_reshape(e, c->v[0].u.t, &t, c->at), c->v[1]);
}

/* Rows whose p-norm is above max_norm are scaled down to it, as in PyTorch. */
static struct value limit_norms(struct emitter *e, struct builtin_call *c, struct value rows, uint32_t max_norm, uint32_t norm_type)
{
	double most, p = 2;
	if (!need_float_value(e, c, max_norm, &most) || (c->given[norm_type] && !need_float_value(e, c, norm_type, &p)))
		return VALUE_POISON;
	struct value norms = COMPOSE(BI_NORM, rows, value_float(p), value_int(-1), value_bool(true));
	struct value scaled = COMPOSE(BI_MUL, rows, COMPOSE(BI_DIV, value_float(most), COMPOSE(BI_ADD, norms, value_float(1e-7))));
	return COMPOSE(BI_WHERE, COMPOSE(BI_GT, norms, value_float(most)), scaled, rows);
}

enum { EMBEDDING_MAX_NORM = 3, EMBEDDING_NORM_TYPE };

struct value rule_embedding(struct emitter *e, struct builtin_call *c)
{
	hir_ref x = c->operand[0], w = c->operand[1];
	struct hir_type t = *type_of(e, x), tw = *type_of(e, w);
	if (dtype_class(t.elem) != DTC_INT)
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[0], "the indices must be integers, not %s", type_text(e, x));
	if (tw.rank != 2 || t.rank == HIR_MAX_RANK)
		return rule_error(e, c, DIAG_RANK, c->ats[1], "`weight` must have two dimensions, not %s", type_text(e, w));
	t.elem = tw.elem;
	t.dims[t.rank++] = tw.dims[1];
	struct value rows = EMIT(BI_EMBEDDING, &t, arg_tensor(x), arg_tensor(w));
	bool limited = c->given[EMBEDDING_MAX_NORM] && c->v[EMBEDDING_MAX_NORM].kind != V_NONE;
	return limited ? limit_norms(e, c, rows, EMBEDDING_MAX_NORM, EMBEDDING_NORM_TYPE) : rows;
}
