/* An integer is a sum of a known number and of multiples of values known only at run time, as far as its nodes are sums and products. The
 * difference is known if all multiples cancel. */
#include "frontend/rules/difference.h"
#include "frontend/rules/builtin.h"

enum { MOST_TERMS = 16, DEPTH = 16 };
struct sum {
	struct {
		hir_ref value;
		dim times;
	} terms[MOST_TERMS];
	uint32_t n;
	dim known;
	bool failed;
};

/* True if two nodes compute the same value from the same operands. */
static bool same_value(struct emitter *e, hir_ref a, hir_ref b, uint32_t depth);

static bool same_arg(struct emitter *e, const struct hir_arg *a, const struct hir_arg *b, uint32_t depth)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case ARG_NONE: return true;
	case ARG_TENSOR: return same_value(e, a->u.tensor, b->u.tensor, depth);
	case ARG_INT:
	case ARG_BOOL: return a->u.i == b->u.i;
	case ARG_DIM: return dim_eq(a->u.d, b->u.d);
	case ARG_LIST:
		for (uint32_t k = 0; k < a->u.list.n && a->u.list.n == b->u.list.n; k++)
			if (!same_arg(e, &e->b->args.at[a->u.list.start + k], &e->b->args.at[b->u.list.start + k], depth))
				return false;
		return a->u.list.n == b->u.list.n;
	default: return false;
	}
}

static bool same_value(struct emitter *e, hir_ref a, hir_ref b, uint32_t depth)
{
	const struct hir_node *x = node_at(e, a), *y = node_at(e, b);
	if (a == b)
		return true;
	if (!depth || x->kind != HIR_BUILTIN || y->kind != HIR_BUILTIN || x->builtin != y->builtin || x->type.elem != y->type.elem ||
	    x->n_args != y->n_args)
		return false;
	for (uint32_t k = 0; k < x->n_args; k++)
		if (!same_arg(e, &e->b->args.at[x->args + k], &e->b->args.at[y->args + k], depth - 1))
			return false;
	return true;
}

static void difference_add_term(struct emitter *e, struct sum *s, hir_ref value, dim times)
{
	uint32_t k = 0;
	while (k < s->n && !same_value(e, s->terms[k].value, value, DEPTH))
		k++;
	s->failed |= k == MOST_TERMS;
	if (s->failed)
		return;
	s->terms[k].times = k == s->n ? times : dim_add(e->b->dims, s->terms[k].times, times);
	s->terms[k].value = value;
	s->n += k == s->n;
}

/* A constant, or a size that casts have not narrowed. */
static bool known_node(struct emitter *e, hir_ref r, dim *out)
{
	const struct hir_node *n = node_at(e, r);
	if (n->kind == HIR_CONST && n->data && !n->type.rank)
		*out = dim_const(e->b->dims, dtype_int(n->type.elem, n->data, 0));
	else if (n->kind == HIR_DIM)
		*out = n->extent;
	else
		return n->kind == HIR_BUILTIN && n->builtin == BI_CAST && known_node(e, e->b->args.at[n->args].u.tensor, out);
	return true;
}

static void difference_add_node(struct emitter *e, struct sum *s, hir_ref r, dim times, uint32_t depth);

/* Operand k of a sum or difference, or of a product with a known number. */
static void difference_add_operand(struct emitter *e, struct sum *s, const struct hir_node *n, uint32_t k, dim times, uint32_t depth)
{
	difference_add_node(e, s, e->b->args.at[n->args + k].u.tensor, times, depth - 1);
}

static void difference_add_node(struct emitter *e, struct sum *s, hir_ref r, dim times, uint32_t depth)
{
	const struct hir_node n = *node_at(e, r);
	struct dims *d = e->b->dims;
	dim known;
	if (dtype_class(n.type.elem) != DTC_INT || n.type.rank) {
		s->failed = true;
		return;
	}
	if (known_node(e, r, &known)) {
		s->known = dim_add(d, s->known, dim_mul(d, known, times));
		return;
	}
	enum builtin bi = n.kind == HIR_BUILTIN && depth ? n.builtin : BI_COUNT;
	bool sums = bi == BI_ADD || bi == BI_SUB || bi == BI_NEG;
	if (bi == BI_CAST && dtype_class(type_of(e, e->b->args.at[n.args].u.tensor)->elem) == DTC_INT) {
		difference_add_operand(e, s, &n, 0, times, depth);
	} else if (sums) {
		difference_add_operand(e, s, &n, 0, bi == BI_NEG ? dim_sub(d, dim_const(d, 0), times) : times, depth);
		if (bi != BI_NEG)
			difference_add_operand(e, s, &n, 1, bi == BI_SUB ? dim_sub(d, dim_const(d, 0), times) : times, depth);
	} else if (bi == BI_MUL && known_node(e, e->b->args.at[n.args + 1].u.tensor, &known)) {
		difference_add_operand(e, s, &n, 0, dim_mul(d, times, known), depth);
	} else if (bi == BI_MUL && known_node(e, e->b->args.at[n.args].u.tensor, &known)) {
		difference_add_operand(e, s, &n, 1, dim_mul(d, times, known), depth);
	} else {
		difference_add_term(e, s, r, times);
	}
}

static void difference_add_value(struct emitter *e, struct sum *s, struct value v, dim times)
{
	dim known;
	if (size_value(e, v, &known))
		s->known = dim_add(e->b->dims, s->known, dim_mul(e->b->dims, known, times));
	else if (v.kind == V_TENSOR)
		difference_add_node(e, s, v.u.t, times, DEPTH);
	else
		s->failed = true;
}

bool known_difference(struct emitter *e, struct value from, struct value to, dim *difference)
{
	struct sum s = {.known = dim_const(e->b->dims, 0)};
	dim zero = s.known;
	difference_add_value(e, &s, to, dim_const(e->b->dims, 1));
	difference_add_value(e, &s, from, dim_const(e->b->dims, -1));
	for (uint32_t k = 0; k < s.n; k++)
		s.failed |= !dim_eq(s.terms[k].times, zero);
	*difference = s.known;
	return !s.failed;
}
