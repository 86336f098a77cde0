/* Indexing of lists, tuples and strings; index_tensor.c has that of tensors. */
#include "frontend/elab/expr.h"
#include "frontend/elab/unknown_list.h"
#include <string.h>
#include "frontend/rules/builtin.h"
#include "frontend/unit/text.h"

/* ---- lists, tuples, strings ---- */

static struct value bad_index(struct elab *e, node_id n, struct value v, struct value i)
{
	if (i.kind == V_RANGE)
		return report_bad_index(e, n, i);
	if (!is_poison(i) && !(e->em.checking && i.kind == V_DIM))
		report_error(&e->em, DIAG_NOT_INDEXABLE, elab_span(e, n), "%s cannot be indexed by %s", value_text(&e->em, v),
			     value_text(&e->em, i));
	return VALUE_POISON;
}

/* A bound of a slice, limited to least … most. */
static int64_t clamp_bound(struct value v, int64_t n, int64_t least, int64_t most, int64_t standard)
{
	if (v.kind != V_INT)
		return standard;
	int64_t i = v.u.i < 0 ? v.u.i + n : v.u.i;
	return i < least ? least : i > most ? most : i;
}

static struct value slice_seq(struct elab *e, struct value v, node_id sub)
{
	struct ast_range r = ast_range(elab_tree(e), sub);
	struct value from = eval_bound(e, r.from), to = eval_bound(e, r.to), step = eval_bound(e, r.step);
	int64_t n = v.u.seq->n, s = step.kind == V_INT ? step.u.i : 1;
	bool known = (from.kind == V_INT || from.kind == V_NONE) && (to.kind == V_INT || to.kind == V_NONE) &&
		     (step.kind == V_INT || step.kind == V_NONE);
	if (!known || !s || s == INT64_MIN)
		return bad_index(e, sub, v,
				 from.kind != V_INT && from.kind != V_NONE ? from
				 : to.kind != V_INT && to.kind != V_NONE   ? to
									   : step);
	bool up = s > 0;
	int64_t a = clamp_bound(from, n, up ? 0 : -1, up ? n : n - 1, up ? 0 : n - 1);
	int64_t b = clamp_bound(to, n, up ? 0 : -1, up ? n : n - 1, up ? n : -1);
	int64_t len = up ? (b > a ? (b - a - 1) / s + 1 : 0) : a > b ? (a - b - 1) / -s + 1 : 0;
	struct value out = value_seq(e->em.f->arena, v.kind, (uint32_t)len);
	for (int64_t i = 0; i < len; i++)
		out.u.seq->at[i] = v.u.seq->at[a + i * s];
	return out;
}

static struct value index_seq(struct elab *e, struct value v, node_id n, struct ast_nodes subs)
{
	if (subs.n != 1)
		return report_poison(&e->em, DIAG_NOT_INDEXABLE, elab_span(e, n), "%s takes one index", value_text(&e->em, v));
	if (ast_kind(elab_tree(e), subs.at[0]) == NODE_SLICE)
		return slice_seq(e, v, subs.at[0]);
	struct value i = eval(e, subs.at[0]);
	if (i.kind != V_INT)
		return bad_index(e, subs.at[0], v, i);
	int64_t k = i.u.i < 0 ? i.u.i + v.u.seq->n : i.u.i;
	if (k >= 0 && k < v.u.seq->n)
		return v.u.seq->at[k];
	return report_poison(&e->em, DIAG_INDEX_RANGE, elab_span(e, subs.at[0]), "index %lld is out of range for %s", (long long)i.u.i,
			     value_text(&e->em, v));
}

/* Checking: an element, or the list of unknown length that a slice is. */
static struct value index_unknown_list(struct elab *e, struct value v, node_id sub)
{
	if (ast_kind(elab_tree(e), sub) == NODE_SLICE)
		return v;
	struct value i = eval(e, sub);
	return i.kind == V_INT || i.kind == V_DIM ? unknown_list_item(e, v) : VALUE_POISON;
}

/* ---- strings ---- */

/* The list of a string's characters. */
static struct value index_characters(struct elab *e, const char *s)
{
	size_t len = strlen(s), n = 0;
	struct value v = value_seq(e->em.f->arena, V_LIST, (uint32_t)len);
	for (size_t i = 0, end; i < len; i = end, n++) {
		for (end = i + 1; end < len && ((unsigned char)s[end] & 0xc0) == 0x80;)
			end++;
		v.u.seq->at[n] = value_str(arena_strndup(e->em.f->arena, s + i, end - i));
	}
	v.u.seq->n = (uint32_t)n;
	return v;
}

static struct value index_string(struct elab *e, struct value v, node_id n, struct ast_nodes subs)
{
	e->em.report.steps += strlen(v.u.s);
	struct value part = index_seq(e, index_characters(e, v.u.s), n, subs);
	return part.kind == V_LIST ? values_to_text(&e->em, part.u.seq->at, part.u.seq->n, elab_span(e, n)) : part;
}

static struct value not_indexable(struct elab *e, struct value v, node_id n)
{
	span at = elab_span(e, ast_a(elab_tree(e), n));
	if (report_missing_arguments(&e->em, v, at))
		return VALUE_POISON;
	bool callable = v.kind == V_FN || v.kind == V_BUILTIN || v.kind == V_LAYER_CLASS || v.kind == V_SPECIAL;
	if (!callable && v.kind != V_DTYPE)
		return report_poison(&e->em, DIAG_NOT_INDEXABLE, elab_span(e, n), "%s cannot be indexed", value_text(&e->em, v));
	struct diag *g = report_error(&e->em, DIAG_NOT_INDEXABLE, elab_span(e, n), "%s is %s, which cannot be indexed",
				      source_excerpt(&e->em, at), value_text(&e->em, v));
	diag_help(e->em.report.out, g,
		  callable ? "call it, `f(x)`, and index the result: `f(x)[0]`"
			   : "write a tensor type as `Tensor<float32, [3, 4]>`; make a tensor by `zeros([3, 4])`");
	return VALUE_POISON;
}

struct value eval_index(struct elab *e, node_id n)
{
	struct value v = eval(e, ast_a(elab_tree(e), n)), list;
	struct ast_nodes subs = ast_nodes(elab_tree(e), ast_b(elab_tree(e), n));
	bool unknown;
	if (is_unknown_list(v) && subs.n == 1)
		return index_unknown_list(e, v, subs.at[0]);
	if (is_poison(v))
		return VALUE_POISON;
	if (v.kind == V_STACKED && subs.n == 1 && ast_kind(elab_tree(e), subs.at[0]) != NODE_SLICE)
		v = value_tensor(v.u.t);
	if (v.kind == V_TENSOR)
		return index_tensor(e, v, n, subs);
	if (v.kind == V_STR)
		return index_string(e, v, n, subs);
	if (v.kind == V_RANGE) {
		if (!list_elements(&e->em, v, elab_span(e, n), &list, &unknown))
			return VALUE_POISON;
		v = list;
	}
	if (value_is_seq(v) && !value_is_partial(v))
		return index_seq(e, v, n, subs);
	return not_indexable(e, v, n);
}
