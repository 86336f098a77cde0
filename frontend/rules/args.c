/* Checks of arguments, and errors that name the builtin. */
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

/* Returns false. */
static bool report_kind(struct emitter *e, struct builtin_call *c, uint32_t i, const char *want)
{
	if (report_missing_arguments(e, c->v[i], c->ats[i]))
		return false;
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
	return false;
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

hir_ref need_vector(struct emitter *e, struct builtin_call *c, uint32_t i)
{
	hir_ref x = need_tensor(e, c, i);
	if (x == HIR_NONE || type_of(e, x)->rank)
		return x;
	struct hir_type t = *type_of(e, x);
	t.rank = 1;
	t.dims[0] = dim_const(e->b->dims, 1);
	c->scalar = true;
	c->v[i] = emit_reshape(e, x, &t, c->ats[i]);
	return c->v[i].u.t;
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
	return report_kind(e, c, i, "true or false");
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
	return report_kind(e, c, i, "an element type");
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
	if (*n > HIR_MAX_RANK)
		return report_false(e, DIAG_RANK, c->ats[i], "a tensor has at most %d dimensions", HIR_MAX_RANK);
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
		return report_false(e, DIAG_ARG_VALUE, c->ats[i],
				    minus_one && at[k].u.i == -1 ? "only one size can be -1" : "a size cannot be negative");
	}
	return true;
}

bool need_const_size(struct emitter *e, struct builtin_call *c, span at, dim size, const char *what, int64_t *out)
{
	if (dim_is_const(e->b->dims, size, out))
		return true;
	return e->checking ? false : rule_reject(e, c, DIAG_UNSUPPORTED, at, "%s must be known at compile time", what);
}

/* ---- errors ---- */

const char *dim_text(struct emitter *e, dim d)
{
	struct buf b = {0};
	dim_print_apart(e->b->dims, d, &b);
	return take_text(e, &b);
}

struct diag *rule_report(struct emitter *e, struct builtin_call *c, enum diag_code code, span at, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return report_error(e, code, at, "`%s`: %s", c->sig->name, text);
}
