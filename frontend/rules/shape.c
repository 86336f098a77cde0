/* Rules of the builtins that reshape, permute, join and repeat. */
#include <string.h>
#include "frontend/rules/builtin.h"

static dim shape_count_elements(struct emitter *e, const struct hir_type *t, uint32_t from, uint32_t to)
{
	dim d = dim_const(e->b->dims, 1);
	for (uint32_t i = from; i < to; i++)
		d = dim_mul(e->b->dims, d, t->dims[i]);
	return d;
}

/* Replaces a size -1 by total // known, which must be exact. */
static bool solve_minus_one(struct emitter *e, struct builtin_call *c, const struct hir_type *t, struct hir_type *out, uint32_t hole)
{
	struct dims *d = e->b->dims;
	int64_t n;
	out->dims[hole] = dim_const(d, 1);
	dim total = shape_count_elements(e, t, 0, t->rank), known = shape_count_elements(e, out, 0, out->rank);
	if (dim_is_const(d, known, &n) && !n)
		return rule_reject(e, c, DIAG_RESHAPE, c->ats[1], "-1 cannot be combined with a size of 0");
	dim q = dim_floordiv(d, total, known);
	out->dims[hole] = q;
	int exact = dim_compare(d, dim_mul(d, q, known), total);
	if (exact > 0)
		return true;
	if (!exact && e->checking) {
		out->dims[hole] = fresh_dim(e);
		return true;
	}
	struct diag *g = report_error(e, DIAG_RESHAPE, c->ats[1],
				      "`reshape`: the number of elements of %s is not divisible by the other sizes", shape_text(e, t));
	if (!exact)
		diag_note(
			e->report.out, g,
			"it must be divisible for all values of the sizes; write a size that is a multiple as one in the signature: `[4*N, 16]`");
	return false;
}

struct value rule_reshape(struct emitter *e, struct builtin_call *c)
{
	struct hir_type out = {0};
	uint32_t n;
	int hole;
	hir_ref x = c->operand[0];
	if (!need_sizes(e, c, 1, out.dims, &n, &hole))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	out.elem = t.elem;
	out.rank = (uint8_t)n;
	if (hole >= 0) {
		if (!solve_minus_one(e, c, &t, &out, (uint32_t)hole))
			return VALUE_POISON;
	} else if (!dims_agree(e, shape_count_elements(e, &t, 0, t.rank), shape_count_elements(e, &out, 0, n))) {
		struct diag *g =
			report_error(e, DIAG_RESHAPE, c->at, "%s cannot be reshaped to %s", shape_text(e, &t), shape_text(e, &out));
		diag_label_primary(e->report.out, g, "%s elements to %s", dim_text(e, shape_count_elements(e, &t, 0, t.rank)),
				   dim_text(e, shape_count_elements(e, &out, 0, n)));
		return VALUE_POISON;
	}
	return emit_reshape(e, x, &out, c->at);
}

struct value rule_flatten(struct emitter *e, struct builtin_call *c)
{
	uint32_t from, to;
	hir_ref x = c->operand[0];
	struct hir_type t = *type_of(e, x), out = {.elem = t.elem};
	if (!t.rank)
		t.rank = 1, t.dims[0] = dim_const(e->b->dims, 1);
	if (!need_axis(e, c, 1, t.rank, &from) || !need_axis(e, c, 2, t.rank, &to))
		return VALUE_POISON;
	if (to < from)
		return rule_error(e, c, DIAG_ARG_VALUE, c->at, "`start_dim` must not be after `end_dim`");
	for (uint32_t i = 0; i < from; i++)
		out.dims[out.rank++] = t.dims[i];
	out.dims[out.rank++] = shape_count_elements(e, &t, from, to + 1);
	for (uint32_t i = to + 1; i < t.rank; i++)
		out.dims[out.rank++] = t.dims[i];
	return emit_reshape(e, x, &out, c->at);
}

struct value rule_squeeze(struct emitter *e, struct builtin_call *c)
{
	uint32_t axes[HIR_MAX_RANK], n, mask = 0;
	hir_ref x = c->operand[0];
	struct hir_type t = *type_of(e, x), out = {.elem = t.elem};
	if (c->v[1].kind == V_NONE) {
		mask = UINT32_MAX;
	} else {
		if (!need_axes(e, c, 1, t.rank, axes, &n))
			return VALUE_POISON;
		for (uint32_t i = 0; i < n; i++)
			mask |= 1u << axes[i];
	}
	for (uint32_t i = 0; i < t.rank; i++) {
		int64_t size;
		bool one = dim_is_const(e->b->dims, t.dims[i], &size) && size == 1;
		if (!one || !(mask >> i & 1))
			out.dims[out.rank++] = t.dims[i];
	}
	return out.rank == t.rank ? value_tensor(x) : emit_reshape(e, x, &out, c->at);
}

struct value rule_unsqueeze(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	hir_ref x = c->operand[0];
	struct hir_type t = *type_of(e, x), out = {.elem = t.elem};
	if (t.rank == HIR_MAX_RANK)
		return rule_error(e, c, DIAG_RANK, c->at, "a tensor has at most %d dimensions", HIR_MAX_RANK);
	if (!need_axis(e, c, 1, t.rank + 1u, &axis))
		return VALUE_POISON;
	for (uint32_t i = 0; i <= t.rank; i++)
		out.dims[out.rank++] = i == axis ? dim_const(e->b->dims, 1) : t.dims[i < axis ? i : i - 1];
	return emit_reshape(e, x, &out, c->at);
}

/* ---- permutations ---- */

struct value rule_transpose(struct emitter *e, struct builtin_call *c)
{
	uint32_t d0, d1;
	hir_ref x = c->operand[0];
	struct hir_type t = *type_of(e, x);
	if (!need_axis(e, c, 1, t.rank, &d0) || !need_axis(e, c, 2, t.rank, &d1))
		return VALUE_POISON;
	dim swap = t.dims[d0];
	t.dims[d0] = t.dims[d1];
	t.dims[d1] = swap;
	struct hir_arg a[3] = {arg_tensor(x), arg_int(d0 < d1 ? d0 : d1), arg_int(d0 < d1 ? d1 : d0)};
	return d0 == d1 ? value_tensor(x) : value_tensor(emit_builtin(e, BI_TRANSPOSE, &t, a, 3, c->at));
}

struct value rule_permute(struct emitter *e, struct builtin_call *c)
{
	uint32_t order[HIR_MAX_RANK], n;
	hir_ref x = c->operand[0];
	uint32_t rank = type_of(e, x)->rank;
	if (!value_is_seq(c->v[1]) || c->v[1].u.seq->n != rank)
		return rule_error(e, c, DIAG_RANK, c->ats[1], "the tensor has %u dimensions, each of which must be given once", rank);
	if (!need_axes(e, c, 1, rank, order, &n))
		return VALUE_POISON;
	return emit_permute(e, x, order, c->at);
}

struct value rule_moveaxis(struct emitter *e, struct builtin_call *c)
{
	uint32_t from[HIR_MAX_RANK], to[HIR_MAX_RANK], order[HIR_MAX_RANK], n, n_to, moved = 0;
	hir_ref x = c->operand[0];
	uint32_t rank = type_of(e, x)->rank;
	if (!need_axes(e, c, 1, rank, from, &n) || !need_axes(e, c, 2, rank, to, &n_to))
		return VALUE_POISON;
	if (n != n_to)
		return rule_error(e, c, DIAG_ARG_VALUE, c->at, "`source` has %u dimensions, but `destination` has %u", n, n_to);
	for (uint32_t k = 0; k < rank; k++)
		order[k] = UINT32_MAX;
	for (uint32_t k = 0; k < n; k++) {
		order[to[k]] = from[k];
		moved |= 1u << from[k];
	}
	for (uint32_t k = 0, next = 0; k < rank; k++) {
		if (order[k] != UINT32_MAX)
			continue;
		while (moved >> next & 1)
			next++;
		order[k] = next++;
	}
	return emit_permute(e, x, order, c->at);
}

/* ---- joining ---- */

static bool need_tensor_list(struct emitter *e, struct builtin_call *c, hir_ref *first, dtype *elem)
{
	struct value list = c->v[0];
	if (!value_is_seq(list) || !list.u.seq->n)
		return report_false(e, DIAG_TYPE_MISMATCH, c->ats[0], "`%s` needs a list of tensors, not %s", c->sig->name,
				    value_text(e, list));
	for (uint32_t i = 0; i < list.u.seq->n; i++) {
		struct value v = list.u.seq->at[i];
		if (v.kind != V_TENSOR)
			return report_false(e, DIAG_TYPE_MISMATCH, c->ats[0], "element %u of the list for `%s` is %s, not a tensor", i,
					    c->sig->name, value_text(e, v));
		dtype t = type_of(e, v.u.t)->elem;
		*elem = i ? dtype_join(*elem, t) : t;
		if (*elem == DT_COUNT)
			return report_false(e, DIAG_OPERANDS, c->ats[0], "the tensors have element types that cannot be combined");
	}
	*first = list.u.seq->at[0].u.t;
	return true;
}

static struct value report_concat(struct emitter *e, struct builtin_call *c, hir_ref first, hir_ref other, uint32_t axis)
{
	struct hir_type a = *type_of(e, first), b = *type_of(e, other);
	struct diag *g =
		report_error(e, DIAG_SHAPE, c->ats[0], "`%s`: the shape %s must equal %s, that of the first tensor, except in dimension %u",
			     c->sig->name, shape_text(e, &b), shape_text(e, &a), axis);
	note_difference(e, g, &a, &b, axis);
	return VALUE_POISON;
}

static struct value emit_concat(struct emitter *e, struct builtin_call *c, const hir_ref *refs, uint32_t n, uint32_t axis, dtype elem)
{
	struct hir_type out = *type_of(e, refs[0]);
	struct hir_arg *items = ARENA_ARRAY(e->f->arena, struct hir_arg, n), a[2];
	out.elem = elem;
	for (uint32_t i = 0; i < n; i++) {
		struct hir_type t = *type_of(e, refs[i]);
		if (i && !shapes_agree_except(e, &t, &out, axis))
			return report_concat(e, c, refs[0], refs[i], axis);
		if (i)
			out.dims[axis] = dim_add(e->b->dims, out.dims[axis], t.dims[axis]);
		items[i] = arg_tensor(emit_cast(e, refs[i], elem, c->at));
	}
	a[0] = arg_list(e, items, n);
	a[1] = arg_int(axis);
	return value_tensor(emit_builtin(e, BI_CONCAT, &out, a, 2, c->at));
}

/* Joins the elements [n, …] that a run-time loop collected: moves their dimension to the axis; concat also merges it there. */
static struct value join_collected(struct emitter *e, struct builtin_call *c, bool stack)
{
	uint32_t axis, order[HIR_MAX_RANK];
	hir_ref x = c->v[0].u.t;
	uint32_t rank = type_of(e, x)->rank;
	if (!need_axis(e, c, 1, stack ? rank : rank - 1, &axis))
		return VALUE_POISON;
	for (uint32_t k = 0; k < rank; k++)
		order[k] = k < axis ? k + 1 : k == axis ? 0 : k;
	struct value v = axis ? emit_permute(e, x, order, c->at) : value_tensor(x);
	if (stack)
		return v;
	struct hir_type t = *type_of(e, v.u.t);
	t.dims[axis] = dim_mul(e->b->dims, t.dims[axis], t.dims[axis + 1]);
	for (uint32_t k = axis + 1; k + 1 < t.rank; k++)
		t.dims[k] = t.dims[k + 1];
	t.rank--;
	return emit_reshape(e, v.u.t, &t, c->at);
}

struct value rule_concat(struct emitter *e, struct builtin_call *c)
{
	hir_ref first;
	dtype elem;
	uint32_t axis;
	if (c->v[0].kind == V_STACKED)
		return join_collected(e, c, false);
	if (!need_tensor_list(e, c, &first, &elem) || !need_axis(e, c, 1, type_of(e, first)->rank, &axis))
		return VALUE_POISON;
	uint32_t n = c->v[0].u.seq->n;
	hir_ref *refs = ARENA_ARRAY(e->f->arena, hir_ref, n);
	for (uint32_t i = 0; i < n; i++)
		refs[i] = c->v[0].u.seq->at[i].u.t;
	return emit_concat(e, c, refs, n, axis, elem);
}

struct value rule_stack(struct emitter *e, struct builtin_call *c)
{
	hir_ref first;
	dtype elem;
	uint32_t axis;
	if (c->v[0].kind == V_STACKED)
		return join_collected(e, c, true);
	if (!need_tensor_list(e, c, &first, &elem))
		return VALUE_POISON;
	struct hir_type shape = *type_of(e, first);
	if (shape.rank == HIR_MAX_RANK)
		return rule_error(e, c, DIAG_RANK, c->at, "a tensor has at most %d dimensions", HIR_MAX_RANK);
	if (!need_axis(e, c, 1, shape.rank + 1u, &axis))
		return VALUE_POISON;
	uint32_t n = c->v[0].u.seq->n;
	hir_ref *refs = ARENA_ARRAY(e->f->arena, hir_ref, n);
	for (uint32_t i = 0; i < n; i++) {
		struct hir_type t = *type_of(e, c->v[0].u.seq->at[i].u.t), out = {.elem = t.elem};
		if (t.rank != shape.rank)
			return rule_error(e, c, DIAG_SHAPE, c->ats[0], "tensor %u has shape %s, but the first has %s", i, shape_text(e, &t),
					  shape_text(e, &shape));
		for (uint32_t k = 0; k <= t.rank; k++)
			out.dims[out.rank++] = k == axis ? dim_const(e->b->dims, 1) : t.dims[k < axis ? k : k - 1];
		refs[i] = emit_reshape(e, c->v[0].u.seq->at[i].u.t, &out, c->at).u.t;
	}
	return emit_concat(e, c, refs, n, axis, elem);
}

/* ---- repetition ---- */

struct value rule_expand(struct emitter *e, struct builtin_call *c)
{
	struct hir_type out = {0};
	uint32_t n;
	hir_ref x = c->operand[0];
	struct hir_type t = *type_of(e, x);
	out.elem = t.elem;
	/* -1 keeps a size */
	if (value_is_seq(c->v[1])) {
		struct value copy = value_seq(e->f->arena, V_LIST, c->v[1].u.seq->n);
		for (uint32_t i = 0; i < copy.u.seq->n; i++) {
			struct value v = c->v[1].u.seq->at[i];
			uint32_t k = i + t.rank - copy.u.seq->n;
			copy.u.seq->at[i] = v.kind == V_INT && v.u.i == -1 && k < t.rank ? value_dim(e->b->dims, t.dims[k]) : v;
		}
		c->v[1] = copy;
	}
	if (!need_sizes(e, c, 1, out.dims, &n, NULL))
		return VALUE_POISON;
	out.rank = (uint8_t)n;
	if (!broadcasts_to(e, &t, &out))
		return rule_error(e, c, DIAG_BROADCAST, c->at, "%s cannot be expanded to %s", shape_text(e, &t), shape_text(e, &out));
	return EMIT(BI_EXPAND, &out, arg_tensor(x), arg_sizes(e, &out));
}

struct value rule_repeat(struct emitter *e, struct builtin_call *c)
{
	dim times[HIR_MAX_RANK];
	uint32_t n;
	hir_ref x = c->operand[0];
	if (!need_sizes(e, c, 1, times, &n, NULL))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x), out = {.elem = t.elem};
	for (; n < t.rank; n++) { /* those of the first dimensions are 1, as in torch.tile */
		memmove(times + 1, times, n * sizeof *times);
		times[0] = dim_const(e->b->dims, 1);
	}
	out.rank = (uint8_t)n;
	struct hir_arg sizes[HIR_MAX_RANK], a[2] = {arg_tensor(x)};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i + t.rank - n;
		out.dims[i] = k < t.rank ? dim_mul(e->b->dims, t.dims[k], times[i]) : times[i];
		sizes[i] = arg_dim(times[i]);
	}
	a[1] = arg_list(e, sizes, n);
	return value_tensor(emit_builtin(e, BI_REPEAT, &out, a, 2, c->at));
}
