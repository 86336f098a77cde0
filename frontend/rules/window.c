/* Shared by the rules of convolutions and pooling. */
#include <stdio.h>
#include "frontend/rules/window.h"

static bool check_number(struct emitter *e, struct builtin_call *c, uint32_t i, struct value v, int64_t least, int64_t *out)
{
	if (v.kind == V_DIM && e->checking)
		return false;
	if (v.kind != V_INT)
		return report_false(e, DIAG_TYPE_MISMATCH, c->ats[i], "`%s` of `%s` must be an integer known at compile time, not %s",
				    arg_name(e, c, i), c->sig->name, value_text(e, v));
	*out = v.u.i;
	if (*out >= least && *out <= INT32_MAX)
		return true;
	return report_false(e, DIAG_ARG_VALUE, c->ats[i], "`%s` of `%s` is %lld, but must be %s %lld", arg_name(e, c, i), c->sig->name,
			    (long long)*out, *out < least ? "at least" : "at most", (long long)(*out < least ? least : INT32_MAX));
}

bool need_numbers(struct emitter *e, struct builtin_call *c, uint32_t i, uint32_t n, int64_t least, int64_t *out)
{
	struct value v = c->v[i];
	if (value_is_seq(v) && v.u.seq->n != n)
		return report_false(e, DIAG_ARG_VALUE, c->ats[i], "`%s` of `%s` must be a number or %s, not %u numbers", arg_name(e, c, i),
				    c->sig->name,
				    n == 1   ? "a list of one"
				    : n == 2 ? "a pair"
					     : "a list of three",
				    v.u.seq->n);
	for (uint32_t k = 0; k < n; k++)
		if (!check_number(e, c, i, item_of(v, k), least, &out[k]))
			return false;
	return true;
}

/* With `ceil` the last window may extend past the end, but must begin in the input or the padding before it. */
bool window_count(struct emitter *e, struct builtin_call *c, const char *axis, dim size, const struct window *w, bool ceil, dim *out)
{
	struct dims *d = e->b->dims;
	dim one = dim_const(d, 1), stride = dim_const(d, w->stride);
	dim reach = dim_add(d, dim_mul(d, dim_sub(d, w->kernel, one), dim_const(d, w->dilation)), one);
	dim begins = dim_add(d, size, dim_const(d, w->before)), padded = dim_add(d, begins, dim_const(d, w->after));
	dim room = dim_sub(d, padded, reach);
	int64_t n, past;
	if (dim_is_const(d, room, &n) && n < 0) {
		struct diag *g = report_error(e, DIAG_SHAPE, c->at, "`%s`: a window of size %s does not fit the padded %s of %s",
					      c->sig->name, dim_text(e, reach), axis, dim_text(e, padded));
		diag_secondary(e->report.out, g, c->ats[0], "its %s is %s, padded by %lld and %lld", axis, dim_text(e, size),
			       (long long)w->before, (long long)w->after);
		if (w->dilation > 1)
			diag_note(e->report.out, g, "the kernel has size %s and dilation %lld", dim_text(e, w->kernel),
				  (long long)w->dilation);
		return false;
	}
	if (ceil) {
		dim up = dim_add(d, room, dim_const(d, w->stride - 1)), last = dim_sub(d, begins, one);
		room = dim_is_const(d, dim_sub(d, up, last), &past) && past > 0 ? last : up;
	}
	*out = dim_add(d, dim_floordiv(d, room, stride), one);
	return true;
}

struct diag *operand_error(struct emitter *e, struct builtin_call *c, enum diag_code code, const struct hir_type *a,
			   const struct hir_type *b, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	struct diag *g = report_error(e, code, c->at, "`%s`: %s", c->sig->name, text);
	diag_secondary(e->report.out, g, c->ats[0], "%s has shape %s", source_excerpt(e, c->ats[0]), shape_text(e, a));
	diag_secondary(e->report.out, g, c->ats[1], "%s has shape %s", source_excerpt(e, c->ats[1]), shape_text(e, b));
	return g;
}

struct hir_arg int_list(struct emitter *e, const int64_t *v, uint32_t n)
{
	struct hir_arg items[HIR_MAX_RANK];
	for (uint32_t k = 0; k < n; k++)
		items[k] = arg_int(v[k]);
	return arg_list(e, items, n);
}

hir_ref with_batch(struct emitter *e, struct builtin_call *c, hir_ref x, uint32_t rank, bool *dropped)
{
	struct hir_type t = *type_of(e, x), out = {.elem = t.elem};
	*dropped = t.rank + 1u == rank;
	if (t.rank == rank)
		return x;
	if (!*dropped) {
		rule_report(e, c, DIAG_RANK, c->ats[0], "needs an input %s with or without the batch N, not %s",
			    rank == 4 ? "[N, C, H, W]" : "[N, C, L]", type_text(e, x));
		return HIR_NONE;
	}
	out.dims[out.rank++] = dim_const(e->b->dims, 1);
	for (uint32_t k = 0; k < t.rank; k++)
		out.dims[out.rank++] = t.dims[k];
	return emit_reshape(e, x, &out, c->at).u.t;
}

struct value drop_batch(struct emitter *e, struct builtin_call *c, hir_ref x, bool dropped)
{
	struct hir_type t = *type_of(e, x);
	if (!dropped)
		return value_tensor(x);
	for (uint32_t k = 1; k < t.rank; k++)
		t.dims[k - 1] = t.dims[k];
	t.rank--;
	return emit_reshape(e, x, &t, c->at);
}
