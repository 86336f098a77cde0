/* Shared by the rules of builtins: checked arguments, shapes, nodes, calls of other builtins. */
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "frontend/rules/builtin.h"

const char *arg_name(struct emitter *e, const struct builtin_call *c, uint32_t i) { return name_text(e->f, c->sig->params[i].name); }

uint32_t find_param(struct emitter *e, const struct builtin_call *c, const char *name)
{
	uint32_t i = 0;
	while (i < c->sig->n && strcmp(arg_name(e, c, i), name))
		i++;
	return i;
}

static void report_kind(struct emitter *e, struct builtin_call *c, uint32_t i, const char *want)
{
	struct diag *g = report_error(e, DIAG_TYPE_MISMATCH, c->ats[i], "argument `%s` of `%s` must be %s, not %s", arg_name(e, c, i),
				      c->sig->name, want, value_text(e, c->v[i]));
	if (i == 1 && (c->bi == BI_MAX || c->bi == BI_MIN))
		diag_help(e->report.out, g,
			  c->bi == BI_MAX ? "for the larger of two values write `maximum(x, y)`; `maximum(x, 0.0)` is `relu(x)`"
					  : "for the smaller of two values write `minimum(x, y)`");
	else if (c->v[i].kind == V_TUPLE)
		diag_help(e->report.out, g, "use one value of the tuple, `t[0]`, or name all of them: `let (a, b) = t`");
	else if (c->v[i].kind == V_LIST)
		diag_help(e->report.out, g, "convert the list with `tensor(…)`");
	else if (c->v[i].kind == V_INT && i == 2 && c->v[1].kind == V_INT && !strcmp(arg_name(e, c, 1), "dim") &&
		 !strcmp(arg_name(e, c, 2), "keepdim"))
		diag_help(e->report.out, g, "pass several dimensions as a list: `dim=[%lld, %lld]`", (long long)c->v[1].u.i,
			  (long long)c->v[2].u.i);
	else if (c->sig->n > 1)
		diag_note(e->report.out, g, "the signature is `%s(%s)`", c->sig->name, c->sig->text);
}

hir_ref need_tensor(struct emitter *e, struct builtin_call *c, uint32_t i)
{
	struct value v = c->v[i];
	if (v.kind == V_TENSOR)
		return v.u.t;
	if (value_is_scalar(v))
		return emit_scalar(e, v, scalar_type(v), c->ats[i]);
	report_kind(e, c, i, "a tensor");
	return HIR_NONE;
}

hir_ref need_float(struct emitter *e, struct builtin_call *c, uint32_t i)
{
	hir_ref r = need_tensor(e, c, i);
	if (r == HIR_NONE)
		return r;
	dtype t = type_of(e, r)->elem;
	if (dtype_class(t) == DTC_FLOAT)
		return r;
	if (dtype_class(t) == DTC_INT || t == DT_TRIT)
		return emit_cast(e, r, DT_FLOAT32, c->ats[i]);
	report_kind(e, c, i, "a tensor of floats");
	return HIR_NONE;
}

hir_ref need_wide_float(struct emitter *e, struct builtin_call *c, uint32_t i)
{
	hir_ref x = need_float(e, c, i);
	return x == HIR_NONE || type_of(e, x)->elem == DT_FLOAT64 ? x : emit_cast(e, x, DT_FLOAT32, c->at);
}

dtype float_type_of(struct emitter *e, const struct builtin_call *c, uint32_t i)
{
	dtype t = c->v[i].kind == V_TENSOR ? type_of(e, c->v[i].u.t)->elem : DT_FLOAT32;
	return dtype_class(t) == DTC_FLOAT ? t : DT_FLOAT32;
}

bool is_trits(struct emitter *e, const struct builtin_call *c, uint32_t i)
{
	return c->v[i].kind == V_TRIT || (c->v[i].kind == V_TENSOR && type_of(e, c->v[i].u.t)->elem == DT_TRIT);
}

bool need_int(struct emitter *e, struct builtin_call *c, uint32_t i, int64_t *out)
{
	if (c->v[i].kind == V_INT)
		return *out = c->v[i].u.i, true;
	if (!e->checking || c->v[i].kind != V_DIM)
		report_kind(e, c, i, "an integer known at compile time");
	return false;
}

bool need_float_value(struct emitter *e, struct builtin_call *c, uint32_t i, double *out)
{
	if (c->v[i].kind == V_FLOAT)
		return *out = c->v[i].u.f, true;
	if (c->v[i].kind == V_INT)
		return *out = (double)c->v[i].u.i, true;
	if (!e->checking || c->v[i].kind != V_DIM)
		report_kind(e, c, i, "a number known at compile time");
	return false;
}

bool need_bool(struct emitter *e, struct builtin_call *c, uint32_t i, bool *out)
{
	if (c->v[i].kind == V_BOOL)
		return *out = c->v[i].u.b, true;
	report_kind(e, c, i, "true or false");
	return false;
}

bool need_dtype(struct emitter *e, struct builtin_call *c, uint32_t i, dtype *out)
{
	if (c->v[i].kind == V_DTYPE)
		return *out = c->v[i].u.dt, true;
	if (c->v[i].kind == V_STR && dtype_find(c->v[i].u.s) != DT_COUNT) {
		struct diag *g = report_error(e, DIAG_TYPE_MISMATCH, c->ats[i], "an element type must be written without quotes");
		diag_edit(e->report.out, g, c->ats[i], dtype_text(dtype_find(c->v[i].u.s)));
		return false;
	}
	report_kind(e, c, i, "an element type");
	return false;
}

bool need_word(struct emitter *e, struct builtin_call *c, uint32_t i, const char *const *words, uint32_t n, uint32_t *out)
{
	if (c->v[i].kind == V_STR)
		for (*out = 0; *out < n; ++*out)
			if (!strcmp(c->v[i].u.s, words[*out]))
				return true;
	struct buf b = {0};
	for (uint32_t k = 0; k < n; k++)
		buf_printf(&b, "%s\"%s\"", k ? k + 1 == n ? " or " : ", " : "", words[k]);
	struct diag *g = report_error(e, DIAG_ARG_VALUE, c->ats[i], "argument `%s` of `%s` must be %s, not %s", arg_name(e, c, i),
				      c->sig->name, b.at, value_text(e, c->v[i]));
	const char *near = c->v[i].kind == V_STR ? diag_nearest(c->v[i].u.s, words, n) : NULL;
	if (near)
		diag_help(e->report.out, g, "did you mean \"%s\"?", near);
	buf_free(&b);
	return false;
}

bool axis_of(struct emitter *e, struct builtin_call *c, int64_t v, uint32_t rank, span at, uint32_t *out)
{
	int64_t n = (int64_t)rank;
	if (v >= -n && v < n) {
		*out = (uint32_t)(v < 0 ? v + n : v);
		return true;
	}
	struct diag *g = report_error(e, DIAG_DIM_RANGE, at, "`%s`: dimension %lld is out of range", c->sig->name, (long long)v);
	diag_label_primary(e->report.out, g, "the tensor has %u dimension%s", rank, rank == 1 ? "" : "s");
	return false;
}

bool need_axis(struct emitter *e, struct builtin_call *c, uint32_t i, uint32_t rank, uint32_t *out)
{
	int64_t v;
	return need_int(e, c, i, &v) && axis_of(e, c, v, rank, c->ats[i], out);
}

bool need_axes(struct emitter *e, struct builtin_call *c, uint32_t i, uint32_t rank, uint32_t *axes, uint32_t *n)
{
	uint32_t seen = 0;
	*n = item_count(c->v[i]);
	if (!value_is_seq(c->v[i]))
		return need_axis(e, c, i, rank, axes);
	if (*n > rank)
		return rule_reject(e, c, DIAG_RANK, c->ats[i], "%u dimensions are given, but the tensor has %u", *n, rank);
	for (uint32_t k = 0; k < *n; k++) {
		struct value v = item_of(c->v[i], k);
		if (v.kind != V_INT)
			return rule_reject(e, c, DIAG_TYPE_MISMATCH, c->ats[i],
					   "a dimension must be an integer known at compile time, not %s", value_text(e, v));
		if (!axis_of(e, c, v.u.i, rank, c->ats[i], &axes[k]))
			return false;
		if (seen >> axes[k] & 1)
			return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[i], "dimension %u is given twice", axes[k]);
		seen |= 1u << axes[k];
	}
	return true;
}

bool size_value(struct emitter *e, struct value v, dim *out)
{
	if (v.kind == V_INT)
		*out = dim_const(e->b->dims, v.u.i);
	else if (v.kind == V_DIM)
		*out = v.u.d;
	return v.kind == V_INT || v.kind == V_DIM;
}

bool need_sizes(struct emitter *e, struct builtin_call *c, uint32_t i, dim *out, uint32_t *n, int *minus_one)
{
	struct value one = c->v[i], *at = &one;
	*n = 1;
	if (value_is_seq(c->v[i])) {
		at = c->v[i].u.seq->at;
		*n = c->v[i].u.seq->n;
	}
	if (minus_one)
		*minus_one = -1;
	if (*n > HIR_MAX_RANK) {
		report_error(e, DIAG_RANK, c->ats[i], "a tensor has at most %d dimensions", HIR_MAX_RANK);
		return false;
	}
	for (uint32_t k = 0; k < *n; k++) {
		if (!size_value(e, at[k], &out[k])) {
			struct diag *g =
				report_error(e, DIAG_TYPE_MISMATCH, c->ats[i], "a size must be an integer, not %s", value_text(e, at[k]));
			if (at[k].kind == V_FLOAT || at[k].kind == V_TENSOR)
				diag_help(e->report.out, g, "divide sizes with `//`, which returns an integer");
			return false;
		}
		if (at[k].kind != V_INT || at[k].u.i >= 0)
			continue;
		if (minus_one && at[k].u.i == -1 && *minus_one < 0) {
			*minus_one = (int)k;
			continue;
		}
		report_error(e, DIAG_ARG_VALUE, c->ats[i],
			     minus_one && at[k].u.i == -1 ? "only one size can be -1" : "a size cannot be negative");
		return false;
	}
	return true;
}

bool need_const_size(struct emitter *e, struct builtin_call *c, span at, dim size, const char *what, int64_t *out)
{
	if (dim_is_const(e->b->dims, size, out))
		return true;
	return e->checking ? false : rule_reject(e, c, DIAG_UNSUPPORTED, at, "%s must be known at compile time", what);
}

/* ---- shapes ---- */

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

const char *dim_text(struct emitter *e, dim d)
{
	struct buf b = {0};
	dim_print_apart(e->b->dims, d, &b);
	const char *s = arena_strndup(e->f->arena, b.at, b.len);
	buf_free(&b);
	return s;
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

static void report_rule(struct emitter *e, struct builtin_call *c, enum diag_code code, span at, const char *fmt, va_list ap)
{
	char text[512];
	vsnprintf(text, sizeof text, fmt, ap);
	report_error(e, code, at, "`%s`: %s", c->sig->name, text);
}

struct value rule_error(struct emitter *e, struct builtin_call *c, enum diag_code code, span at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	report_rule(e, c, code, at, fmt, ap);
	va_end(ap);
	return VALUE_POISON;
}

bool rule_reject(struct emitter *e, struct builtin_call *c, enum diag_code code, span at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	report_rule(e, c, code, at, fmt, ap);
	va_end(ap);
	return false;
}

/* ---- nodes ---- */

struct hir_arg arg_float(double f) { return (struct hir_arg){.kind = ARG_FLOAT, .u.f = f}; }

struct hir_arg plain_arg(struct value v)
{
	switch (v.kind) {
	case V_INT: return arg_int(v.u.i);
	case V_FLOAT: return arg_float(v.u.f);
	case V_BOOL: return (struct hir_arg){.kind = ARG_BOOL, .u.i = v.u.b};
	case V_STR: return (struct hir_arg){.kind = ARG_STR, .u.s = v.u.s};
	case V_DIM: return arg_dim(v.u.d);
	default: return arg_none();
	}
}

struct hir_arg arg_sizes(struct emitter *e, const struct hir_type *t)
{
	struct hir_arg sizes[HIR_MAX_RANK];
	for (uint32_t k = 0; k < t->rank; k++)
		sizes[k] = arg_dim(t->dims[k]);
	return arg_list(e, sizes, t->rank);
}

struct value emit_call(struct emitter *e, enum builtin bi, const struct hir_type *t, const struct hir_arg *args, size_t n, span at)
{
	return value_tensor(emit_builtin(e, bi, t, args, (uint32_t)n, at));
}

struct value emit_plain(struct emitter *e, struct builtin_call *c, const struct hir_type *t, hir_ref x)
{
	struct hir_arg a[BUILTIN_MAX_PARAMS] = {arg_tensor(x)};
	for (uint32_t i = 1; i < c->sig->n; i++)
		a[i] = plain_arg(c->v[i]);
	return value_tensor(emit_builtin(e, c->bi, t, a, c->sig->n, c->at));
}

struct value emit_reshape(struct emitter *e, hir_ref x, const struct hir_type *t, span at)
{
	return EMIT_AT(at, BI_RESHAPE, t, arg_tensor(x), arg_sizes(e, t));
}

struct value emit_permute(struct emitter *e, hir_ref x, const uint32_t *order, span at)
{
	struct hir_type t = *type_of(e, x), out = t;
	struct hir_arg items[HIR_MAX_RANK];
	for (uint32_t i = 0; i < t.rank; i++) {
		out.dims[i] = t.dims[order[i]];
		items[i] = arg_int(order[i]);
	}
	return EMIT_AT(at, BI_PERMUTE, &out, arg_tensor(x), arg_list(e, items, t.rank));
}

struct value emit_two_results(struct emitter *e, hir_ref node, const struct hir_type *first, const struct hir_type *second, span at)
{
	return TUPLE(value_tensor(emit_result(e, node, 0, first, at)), value_tensor(emit_result(e, node, 1, second, at)));
}

struct value as_elem(struct emitter *e, struct value v, dtype t, span at)
{
	return v.kind == V_TENSOR ? value_tensor(emit_cast(e, v.u.t, t, at)) : v;
}

/* ---- values, calls of other builtins ---- */

static struct value seq_of(struct emitter *e, enum value_kind kind, const struct value *v, size_t n)
{
	struct value seq = value_seq(e->f->arena, kind, (uint32_t)n);
	memcpy(seq.u.seq->at, v, n * sizeof *v);
	return seq;
}

struct value list_of(struct emitter *e, const struct value *v, size_t n) { return seq_of(e, V_LIST, v, n); }
struct value tuple_of(struct emitter *e, const struct value *v, size_t n) { return seq_of(e, V_TUPLE, v, n); }

struct value list_of_sizes(struct emitter *e, const struct hir_type *t)
{
	struct value v[HIR_MAX_RANK];
	for (uint32_t k = 0; k < t->rank; k++)
		v[k] = value_dim(e->b->dims, t->dims[k]);
	return list_of(e, v, t->rank);
}

struct value compose(struct emitter *e, enum builtin bi, const struct value *v, size_t n, span at)
{
	struct arg given[BUILTIN_MAX_PARAMS];
	for (size_t k = 0; k < n; k++)
		given[k] = (struct arg){.v = v[k], .at = at};
	struct args args = {(uint32_t)n, given};
	return call_builtin(e, bi, &args, at);
}

struct value composed_floats(struct emitter *e, struct builtin_call *c, uint32_t i)
{
	hir_ref x = need_float(e, c, i);
	return x == HIR_NONE ? VALUE_POISON : value_tensor(x);
}

struct value compose_pair(struct emitter *e, struct builtin_call *c, enum builtin bi, struct value a, struct value b)
{
	struct arg given[] = {{.v = a, .at = c->ats[0]}, {.v = b, .at = c->ats[1]}};
	struct args args = {2, given};
	return call_builtin(e, bi, &args, c->at);
}
