/* The elements of lists, tuples and ranges, and the tensors in them. */
#include "frontend/unit/emit.h"

dtype range_counter_type(struct emitter *e, const struct range *range)
{
	struct value bounds[2] = {range->from, range->to};
	dtype t = DT_COUNT;
	bool large = false;
	for (int i = 0; i < 2; i++) {
		dtype one = bounds[i].kind == V_TENSOR ? type_of(e, bounds[i].u.t)->elem : scalar_type(bounds[i]);
		large = large || bounds[i].kind == V_DIM ||
			(bounds[i].kind == V_INT && (bounds[i].u.i < INT32_MIN || bounds[i].u.i > INT32_MAX));
		if (!value_is_literal(bounds[i]))
			t = t == DT_COUNT ? one : dtype_join(t, one);
	}
	return t != DT_COUNT ? t : large ? DT_INT64 : DT_INT32;
}

/* The elements of a range. False: they depend on a size (then *unknown), or there are too many. */
static bool range_items(struct emitter *e, const struct range *range, span at, struct value *list, bool *unknown)
{
	if (range->from.kind != V_INT || range->to.kind != V_INT) {
		*unknown = true;
		if (!e->checking || range->from.kind == V_TENSOR || range->to.kind == V_TENSOR) {
			struct diag *g = report_error(e, DIAG_RUNTIME_LOOP, at, "the number of elements is not known at compile time");
			diag_note(
				e->report.out, g,
				"a bound of this range is known only at run time: a `for` statement can iterate over it, but it cannot become a list");
		}
		return false;
	}
	int64_t n = 0, from = range->from.u.i, to = range->to.u.i;
	bool up = range->step > 0;
	uint64_t step = up ? (uint64_t)range->step : 0 - (uint64_t)range->step;
	uint64_t distance = up ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
	if (up ? from < to : from > to)
		n = distance / step > 1000000 ? 1000001 : (int64_t)((distance - 1) / step + 1);
	if (n > 1000000)
		return report_false(e, DIAG_ELAB_STEPS, at, "the loop has more than 1000000 iterations");
	*list = value_seq(e->f->arena, V_LIST, (uint32_t)n);
	bool literal = value_is_literal(range->from) && value_is_literal(range->to);
	for (int64_t i = 0; i < n; i++) {
		list->u.seq->at[i] = value_int(from + i * range->step);
		if (!literal)
			list->u.seq->at[i].typed = (uint8_t)(range_counter_type(e, range) + 1);
	}
	return true;
}

bool list_elements(struct emitter *e, struct value v, span at, struct value *list, bool *unknown)
{
	*unknown = false;
	if (v.kind == V_STACKED || (v.kind == V_LIST && value_contains(v, V_COLLECTED))) {
		struct diag *g =
			report_error(e, DIAG_NOT_ITERABLE, at, "a list whose length is known only at run time cannot be iterated over");
		diag_help(e->report.out, g, "make it a tensor, `let ys = stack(xs)`, and iterate over its indices");
		return false;
	}
	if (value_is_seq(v) && !value_is_partial(v)) {
		*list = v;
		return true;
	}
	if (v.kind == V_RANGE)
		return range_items(e, v.u.range, at, list, unknown);
	*unknown = is_poison(v);
	if (is_poison(v))
		return false;
	struct diag *g = report_error(e, DIAG_NOT_ITERABLE, at, "%s cannot be iterated over", value_text(e, v));
	if (v.kind == V_TENSOR)
		diag_help(e->report.out, g, "iterate over the indices: `for i in 0..x.shape[0]`");
	if (v.kind == V_STR)
		diag_help(e->report.out, g, "iterate over the indices: `for i in 0..len(s)`");
	if (v.kind == V_INT || v.kind == V_DIM)
		diag_help(e->report.out, g, "write a range: `0..n`");
	return false;
}

struct value template_with_values(struct emitter *e, const struct text_template *old, struct value values)
{
	struct text_template *text = ARENA_NEW(e->f->arena, struct text_template);
	*text = (struct text_template){old->template, values};
	return (struct value){.kind = V_TEXT, .u.text = text};
}

struct value value_map_tensors(struct emitter *e, struct value v, hir_ref (*fn)(void *ctx, hir_ref r), void *ctx)
{
	if (!value_contains(v, V_TENSOR))
		return v;
	if (v.kind == V_TENSOR || v.kind == V_STACKED)
		return (struct value){.kind = v.kind, .u.t = fn(ctx, v.u.t)};
	if (v.kind == V_RANGE) {
		struct range *r = ARENA_NEW(e->f->arena, struct range);
		*r = (struct range){value_map_tensors(e, v.u.range->from, fn, ctx), value_map_tensors(e, v.u.range->to, fn, ctx),
				    v.u.range->step};
		return (struct value){.kind = V_RANGE, .u.range = r};
	}
	if (v.kind == V_TEXT)
		return template_with_values(e, v.u.text, value_map_tensors(e, v.u.text->values, fn, ctx));
	struct value copy = value_seq(e->f->arena, v.kind, v.u.seq->n);
	e->report.steps += v.u.seq->n;
	for (uint32_t i = 0; i < v.u.seq->n; i++)
		copy.u.seq->at[i] = value_map_tensors(e, v.u.seq->at[i], fn, ctx);
	return copy;
}
