/* Comparison, broadcasting and reduction of shapes. */
#include "frontend/rules/builtin.h"

bool dims_agree(struct emitter *e, dim a, dim b)
{
	int c = dim_compare(e->b->dims, a, b);
	return c > 0 || (!c && e->checking);
}

bool shapes_agree_except(struct emitter *e, const struct hir_type *a, const struct hir_type *b, uint32_t axis)
{
	bool agree = a->rank == b->rank;
	for (uint32_t k = 0; agree && k < a->rank; k++)
		agree = k == axis || dims_agree(e, a->dims[k], b->dims[k]);
	return agree;
}

bool shapes_agree(struct emitter *e, const struct hir_type *a, const struct hir_type *b)
{
	return shapes_agree_except(e, a, b, UINT32_MAX);
}

struct hir_type reduce_dims(struct emitter *e, const struct hir_type *t, uint32_t mask, bool keep)
{
	struct hir_type out = {.elem = t->elem};
	for (uint32_t k = 0; k < t->rank; k++) {
		if (!(mask >> k & 1))
			out.dims[out.rank++] = t->dims[k];
		else if (keep)
			out.dims[out.rank++] = dim_const(e->b->dims, 1);
	}
	return out;
}

bool check_not_empty(struct emitter *e, struct builtin_call *c, const struct hir_type *t, uint32_t mask)
{
	int64_t n;
	for (uint32_t k = 0; k < t->rank; k++)
		if ((mask >> k & 1) && dim_is_const(e->b->dims, t->dims[k], &n) && !n)
			return rule_reject(e, c, DIAG_SHAPE, c->at, "a tensor of shape %s has no elements", shape_text(e, t));
	return true;
}

bool const_sizes(struct emitter *e, dim a, dim b, int64_t *x, int64_t *y)
{
	return dim_is_const(e->b->dims, a, x) && dim_is_const(e->b->dims, b, y);
}

dim fresh_dim(struct emitter *e) { return dim_new_sym(e->b->dims, "?"); }

static bool broadcast_one(struct emitter *e, dim a, dim b, dim *out)
{
	int64_t x = 0, y = 0;
	bool ca = dim_is_const(e->b->dims, a, &x), cb = dim_is_const(e->b->dims, b, &y);
	*out = ca && x == 1 ? b : a;
	if ((ca && x == 1) || (cb && y == 1) || dim_eq(a, b))
		return true;
	if (!e->checking || dim_compare(e->b->dims, a, b) < 0) {
		/* while checking, a symbol may be 1 */
		if (!e->checking || (ca && cb))
			return false;
	}
	*out = ca ? a : cb ? b : fresh_dim(e);
	return true;
}

bool broadcast_dims(struct emitter *e, struct hir_type *acc, const struct hir_type *t)
{
	struct hir_type out = {.elem = acc->elem, .rank = acc->rank > t->rank ? acc->rank : t->rank};
	for (uint32_t i = 0; i < out.rank; i++) {
		uint32_t ia = i + acc->rank - out.rank, ib = i + t->rank - out.rank; /* wraps for a missing dimension */
		bool has_a = ia < acc->rank, has_b = ib < t->rank;
		if (has_a && has_b) {
			if (!broadcast_one(e, acc->dims[ia], t->dims[ib], &out.dims[i]))
				return false;
		} else {
			out.dims[i] = has_a ? acc->dims[ia] : t->dims[ib];
		}
	}
	*acc = out;
	return true;
}

bool broadcasts_to(struct emitter *e, const struct hir_type *t, const struct hir_type *to)
{
	struct hir_type both = *to;
	bool fits = broadcast_dims(e, &both, t) && both.rank == to->rank;
	for (uint32_t i = 0; fits && i < to->rank; i++)
		fits = dims_agree(e, both.dims[i], to->dims[i]);
	return fits;
}

void note_difference(struct emitter *e, struct diag *g, const struct hir_type *a, const struct hir_type *b, uint32_t except)
{
	uint32_t n = a->rank < b->rank ? a->rank : b->rank;
	bool equal = a->rank == b->rank;
	for (uint32_t i = n; n > 2 && i > 0; i--) { /* unnecessary for one or two dimensions */
		dim da = a->dims[a->rank - i], db = b->dims[b->rank - i], joint;
		bool same = except == UINT32_MAX ? broadcast_one(e, da, db, &joint) : a->rank - i == except || dims_agree(e, da, db);
		if (same)
			continue;
		diag_note(e->report.out, g, "the shapes differ in dimension %d: %s is not %s", equal ? (int)(n - i) : -(int)i,
			  dim_text(e, da), dim_text(e, db));
		return;
	}
}

bool broadcast_or_report(struct emitter *e, struct builtin_call *c, hir_ref a, hir_ref b, span sa, span sb, struct hir_type *out)
{
	*out = *type_of(e, a);
	if (broadcast_dims(e, out, type_of(e, b)))
		return true;
	struct hir_type ta = *type_of(e, a), tb = *type_of(e, b);
	struct diag *g =
		report_error(e, DIAG_BROADCAST, c->at, "the shapes %s and %s do not broadcast", shape_text(e, &ta), shape_text(e, &tb));
	diag_secondary(e->report.out, g, sa, "%s has shape %s", source_excerpt(e, sa), shape_text(e, &ta));
	diag_secondary(e->report.out, g, sb, "%s has shape %s", source_excerpt(e, sb), shape_text(e, &tb));
	note_difference(e, g, &ta, &tb, UINT32_MAX);
	return false;
}
