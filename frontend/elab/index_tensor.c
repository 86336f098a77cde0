/* Indexing of tensors, as in NumPy. Slices, `none` and indices known at compile time each become a slice, unsqueeze or select. What is known only at
 * run time is left for one `index` at the end, which broadcasts all index tensors of the bracket. */
#include "frontend/elab/expr.h"
#include "frontend/rules/builtin.h"
#include "frontend/rules/difference.h"
#include "frontend/unit/text.h"

/* The tensor after the first subscripts of a bracket. */
struct bracket {
	struct value x;
	uint32_t axis;                    /* of x, for the next subscript */
	struct value index[HIR_MAX_RANK]; /* of each dimension of x: its index tensor, or none */
	uint32_t n_indices;
	span indices_at; /* from the first index tensor to the last one */
	/* Where the dimensions of the index tensors are in the result. NumPy counts integers as index tensors here: all of them are adjacent, or the
	 * dimensions come first. */
	enum { PLACE_NONE, PLACE_OPEN, PLACE_CLOSED } run;
	uint32_t place;
	span at, tensor_at;
};

struct value eval_bound(struct elab *e, node_id n) { return n ? eval(e, n) : VALUE_NONE; }

struct value report_bad_index(struct elab *e, node_id sub, struct value v)
{
	struct diag *g = report_error(&e->em, DIAG_NOT_INDEXABLE, elab_span(e, sub), "an index is an integer or a slice, not %s",
				      value_text(&e->em, v));
	if (v.kind == V_RANGE && ast_kind(elab_tree(e), sub) == NODE_RANGE) {
		struct ast_range r = ast_range(elab_tree(e), sub);
		diag_help(e->em.report.out, g, "write a slice with `:`; it excludes its end");
		if (token_kind(&elab_tree(e)->tokens, ast_token(elab_tree(e), sub)) == TOK_DOT2 && r.from && r.to)
			diag_edit(e->em.report.out, g, tok_span(e->frame->mod, ast_token(elab_tree(e), sub)), ":");
	}
	return VALUE_POISON;
}

/* Notes whether a subscript is an integer or an index tensor. */
static void note_place(struct bracket *b, bool is_index)
{
	if (!is_index) {
		b->run = b->run == PLACE_OPEN ? PLACE_CLOSED : b->run;
		return;
	}
	if (b->run == PLACE_NONE)
		b->place = b->axis;
	if (b->run == PLACE_CLOSED)
		b->place = 0;
	b->run = b->run == PLACE_NONE ? PLACE_OPEN : b->run;
}

static void index_tensor_apply(struct elab *e, struct bracket *b, enum builtin bi, const struct value *v, uint32_t n, span at)
{
	struct arg items[5];
	struct args args = {n + 2, items};
	items[0] = (struct arg){.v = b->x, .at = b->tensor_at};
	items[1] = (struct arg){.v = value_int(b->axis), .at = at};
	for (uint32_t k = 0; k < n; k++)
		items[2 + k] = (struct arg){.v = v[k], .at = at};
	b->x = call_builtin(&e->em, bi, &args, b->at);
}

/* A slice whose bounds are known only at run time has a known size if their difference has: x[i:i + 4]. */
static bool apply_window(struct elab *e, struct bracket *b, struct value from, struct value to, struct value step, span at)
{
	dim size;
	if ((from.kind != V_TENSOR && to.kind != V_TENSOR) || (step.kind == V_INT && step.u.i < 1) ||
	    !known_difference(&e->em, from, to, &size))
		return false;
	struct value narrow[2] = {from, value_dim(e->em.b->dims, size)}, every[3] = {VALUE_NONE, VALUE_NONE, step};
	index_tensor_apply(e, b, BI_NARROW, narrow, 2, at);
	if (!is_poison(b->x) && step.kind != V_NONE)
		index_tensor_apply(e, b, BI_SLICE, every, 3, at);
	return true;
}

static void apply_slice(struct elab *e, struct bracket *b, node_id sub)
{
	struct ast_range r = ast_range(elab_tree(e), sub);
	struct value v[3] = {eval_bound(e, r.from), eval_bound(e, r.to), eval_bound(e, r.step)};
	span at = elab_span(e, sub);
	if (!apply_window(e, b, v[0], v[1], v[2], at))
		index_tensor_apply(e, b, BI_SLICE, v, 3, at);
	note_place(b, false);
	b->axis++;
}

static void apply_subscript(struct elab *e, struct bracket *b, node_id sub)
{
	if (ast_kind(elab_tree(e), sub) == NODE_SLICE) {
		apply_slice(e, b, sub);
		return;
	}
	span at = elab_span(e, sub);
	struct value v = eval(e, sub);
	note_place(b, v.kind != V_NONE);
	switch (v.kind) {
	case V_NONE:
		index_tensor_apply(e, b, BI_UNSQUEEZE, NULL, 0, at);
		b->axis++;
		return;
	case V_RANGE:
	case V_FLOAT:
	case V_STR: b->x = report_bad_index(e, sub, v); return;
	case V_LIST:
	case V_TENSOR:
		b->index[b->axis++] = v;
		b->indices_at = b->n_indices++ ? (span){at.source, b->indices_at.start, at.end} : at;
		return;
	default: index_tensor_apply(e, b, BI_SELECT, &v, 1, at);
	}
}

static struct value apply_indices(struct elab *e, const struct bracket *b)
{
	if (is_poison(b->x) || !b->n_indices)
		return b->x;
	struct arg items[3] = {{.v = b->x, .at = b->tensor_at},
			       {.v = list_of(&e->em, b->index, rank_of(&e->em, b->x)), .at = b->indices_at},
			       {.v = value_int(b->place), .at = b->at}};
	return call_builtin(&e->em, BI_INDEX, &(struct args){3, items}, b->at);
}

struct value index_tensor(struct elab *e, struct value v, node_id n, struct ast_nodes subs)
{
	uint32_t used = 0, rank = type_of(&e->em, v.u.t)->rank;
	for (uint32_t i = 0; i < subs.n; i++) {
		enum node_kind k = ast_kind(elab_tree(e), subs.at[i]);
		used += k != NODE_ELLIPSIS && k != NODE_NONE;
	}
	if (used > rank) {
		struct diag *g = report_error(&e->em, DIAG_RANK, elab_span(e, n), "%u indices for %s", used, value_text(&e->em, v));
		diag_label_primary(e->em.report.out, g, "it has %u dimension%s", rank, rank == 1 ? "" : "s");
		return VALUE_POISON;
	}
	bool dots = false;
	struct bracket b = {.x = v, .at = elab_span(e, n), .tensor_at = elab_span(e, ast_a(elab_tree(e), n))};
	for (uint32_t k = 0; k < HIR_MAX_RANK; k++)
		b.index[k] = VALUE_NONE;
	for (uint32_t i = 0; i < subs.n && !is_poison(b.x); i++) {
		if (ast_kind(elab_tree(e), subs.at[i]) != NODE_ELLIPSIS) {
			apply_subscript(e, &b, subs.at[i]);
			continue;
		}
		if (dots)
			report_error(&e->em, DIAG_NOT_INDEXABLE, elab_span(e, subs.at[i]), "an index can have only one `...`");
		note_place(&b, false);
		b.axis += dots ? 0 : rank - used;
		dots = true;
	}
	return apply_indices(e, &b);
}
