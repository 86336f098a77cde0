/* einsum: composed of diagonals, sums, products and one matrix product for each further operand, from left to right. The equation has
 * torch.einsum's syntax. */
#include <string.h>
#include "frontend/rules/einsum.h"

static hir_ref einsum_apply(struct einsum *s, enum builtin bi, const struct value *v, uint32_t n)
{
	struct value out = compose(s->e, bi, v, n, s->c->at);
	return out.kind == V_TENSOR ? out.u.t : HIR_NONE;
}

static hir_ref apply_list(struct einsum *s, enum builtin bi, hir_ref x, const struct value *items, uint32_t n)
{
	return einsum_apply(s, bi, (struct value[]){value_tensor(x), list_of(s->e, items, n)}, 2);
}

static int find_label(const struct einsum_term *t, uint8_t label)
{
	for (uint32_t k = 0; k < t->n; k++)
		if (t->label[k] == label)
			return (int)k;
	return -1;
}

static void einsum_drop(struct einsum_term *t, uint32_t k)
{
	memmove(t->label + k, t->label + k + 1, t->n - k - 1);
	t->n--;
}

/* Puts the dimensions in the order of `want`, a permutation of the term's labels. */
static bool arrange(struct einsum *s, struct einsum_term *t, const uint8_t *want)
{
	struct value order[HIR_MAX_RANK];
	bool same = true;
	for (uint32_t k = 0; k < t->n; k++) {
		order[k] = value_int(find_label(t, want[k]));
		same = same && t->label[k] == want[k];
	}
	memcpy(t->label, want, t->n);
	if (!same)
		t->r = apply_list(s, BI_PERMUTE, t->r, order, t->n);
	return t->r != HIR_NONE;
}

static bool shape_to(struct einsum *s, hir_ref *r, const dim *d, uint32_t n)
{
	struct value sizes[HIR_MAX_RANK * 3];
	if (n > HIR_MAX_RANK)
		return einsum_reject(s, 0, DIAG_RANK, "an intermediate product has more than 8 dimensions");
	for (uint32_t k = 0; k < n; k++)
		sizes[k] = value_dim(s->e->b->dims, d[k]);
	*r = apply_list(s, BI_RESHAPE, *r, sizes, n);
	return *r != HIR_NONE;
}

/* Expands dimensions of size 1 to the size of their label. */
static bool expand_dims(struct einsum *s, struct einsum_term *t)
{
	struct hir_type have = *type_of(s->e, t->r);
	struct value sizes[HIR_MAX_RANK];
	bool same = true;
	for (uint32_t k = 0; k < t->n; k++) {
		same = same && dims_agree(s->e, have.dims[k], s->size[t->label[k]]);
		sizes[k] = value_dim(s->e->b->dims, s->size[t->label[k]]);
	}
	if (!same)
		t->r = apply_list(s, BI_EXPAND, t->r, sizes, t->n);
	return t->r != HIR_NONE;
}

/* Takes the diagonal of a label that occurs twice in an operand: joins both dimensions to one of n*n elements, and selects every (n+1)-th. */
static bool take_diagonal(struct einsum *s, struct einsum_term *t, uint32_t a, uint32_t b)
{
	struct dims *d = s->e->b->dims;
	struct hir_type have = *type_of(s->e, t->r);
	struct value order[HIR_MAX_RANK];
	uint8_t label[HIR_MAX_RANK];
	dim sizes[HIR_MAX_RANK];
	uint32_t n = 0;
	int64_t size;
	if (!dim_is_const(d, have.dims[a], &size) || !dims_agree(s->e, have.dims[a], have.dims[b]))
		return einsum_reject(s, 1, DIAG_SHAPE,
				     "a letter that occurs twice in a subscript needs two equal sizes known at compile time");
	for (uint32_t k = 0; k < t->n; k++)
		if (k != a && k != b) {
			order[n] = value_int(k);
			sizes[n] = have.dims[k];
			label[n++] = t->label[k];
		}
	label[n] = t->label[a];
	order[n] = value_int(a);
	order[n + 1] = value_int(b);
	sizes[n] = dim_const(d, size * size);
	t->r = apply_list(s, BI_PERMUTE, t->r, order, t->n);
	memcpy(t->label, label, --t->n);
	if (t->r == HIR_NONE || !shape_to(s, &t->r, sizes, t->n))
		return false;
	struct value part[5] = {value_tensor(t->r), value_int(n), value_int(0), value_int(size * size), value_int(size + 1)};
	t->r = einsum_apply(s, BI_SLICE, part, 5);
	return t->r != HIR_NONE;
}

static bool take_diagonals(struct einsum *s, struct einsum_term *t)
{
	for (uint32_t a = 0; a < t->n; a++)
		for (uint32_t b = a + 1; b < t->n; b++)
			if (t->label[a] == t->label[b])
				return take_diagonal(s, t, a, b) && take_diagonals(s, t);
	return true;
}

/* True if the output or an operand after `i` has the label. */
static bool einsum_is_needed(const struct einsum *s, uint8_t label, uint32_t i)
{
	bool yes = find_label(&s->out, label) >= 0;
	for (uint32_t k = i + 1; k < s->n; k++)
		yes = yes || find_label(&s->in[k], label) >= 0;
	return yes;
}

/* Sums over the labels that neither `other` (if any) nor the output nor an operand after `i` has. */
static bool sum_out(struct einsum *s, struct einsum_term *t, const struct einsum_term *other, uint32_t i)
{
	struct value dims[HIR_MAX_RANK];
	uint32_t n = 0;
	for (uint32_t k = t->n; k-- > 0;)
		if (!einsum_is_needed(s, t->label[k], i) && (!other || find_label(other, t->label[k]) < 0)) {
			dims[n++] = value_int(k);
			einsum_drop(t, k);
		}
	if (n)
		t->r = apply_list(s, BI_SUM, t->r, dims, n);
	return t->r != HIR_NONE;
}

/* The labels of a product: common ones that stay, common ones that are summed over, and those of one side. */
struct label_roles {
	uint8_t both[HIR_MAX_RANK], inner[HIR_MAX_RANK], left[HIR_MAX_RANK], right[HIR_MAX_RANK];
	uint32_t n_both, n_inner, n_left, n_right;
};

static struct label_roles roles_of(const struct einsum *s, const struct einsum_term *a, const struct einsum_term *b, uint32_t i)
{
	struct label_roles r = {0};
	for (uint32_t k = 0; k < a->n; k++) {
		uint8_t label = a->label[k];
		if (find_label(b, label) < 0)
			r.left[r.n_left++] = label;
		else if (einsum_is_needed(s, label, i))
			r.both[r.n_both++] = label;
		else
			r.inner[r.n_inner++] = label;
	}
	for (uint32_t k = 0; k < b->n; k++)
		if (find_label(a, b->label[k]) < 0)
			r.right[r.n_right++] = b->label[k];
	return r;
}

static uint32_t put_labels(uint8_t *to, uint32_t at, const uint8_t *from, uint32_t n)
{
	memcpy(to + at, from, n);
	return at + n;
}

static dim einsum_size_of(struct einsum *s, const uint8_t *label, uint32_t n)
{
	dim d = dim_const(s->e->b->dims, 1);
	for (uint32_t k = 0; k < n; k++)
		d = dim_mul(s->e->b->dims, d, s->size[label[k]]);
	return d;
}

/* Reshapes both sides to batches of matrices: [both, left, inner] @ [both, inner, right]. */
static bool reshape_to_matrices(struct einsum *s, const struct label_roles *r, struct einsum_term *a, struct einsum_term *b)
{
	uint8_t want[HIR_MAX_RANK];
	dim size[HIR_MAX_RANK + 2];
	uint32_t n = r->n_both;
	put_labels(want, put_labels(want, put_labels(want, 0, r->both, n), r->left, r->n_left), r->inner, r->n_inner);
	if (!arrange(s, a, want))
		return false;
	put_labels(want, put_labels(want, put_labels(want, 0, r->both, n), r->inner, r->n_inner), r->right, r->n_right);
	if (!arrange(s, b, want))
		return false;
	for (uint32_t k = 0; k < n; k++)
		size[k] = s->size[r->both[k]];
	size[n] = einsum_size_of(s, r->left, r->n_left);
	size[n + 1] = einsum_size_of(s, r->inner, r->n_inner);
	if (!shape_to(s, &a->r, size, n + 2))
		return false;
	size[n] = size[n + 1];
	size[n + 1] = einsum_size_of(s, r->right, r->n_right);
	return shape_to(s, &b->r, size, n + 2);
}

/* Without a sum: reshapes both sides for an element-wise product, [both, left, 1] * [both, 1, right]. */
static bool reshape_to_outer(struct einsum *s, const struct label_roles *r, struct einsum_term *a, struct einsum_term *b)
{
	uint8_t want[HIR_MAX_RANK];
	dim size[HIR_MAX_RANK * 2], one = dim_const(s->e->b->dims, 1);
	put_labels(want, put_labels(want, 0, r->both, r->n_both), r->left, r->n_left);
	if (!arrange(s, a, want))
		return false;
	put_labels(want, put_labels(want, 0, r->both, r->n_both), r->right, r->n_right);
	if (!arrange(s, b, want))
		return false;
	uint32_t n = r->n_both + r->n_left + r->n_right;
	for (uint32_t k = 0; k < n; k++)
		size[k] = k < a->n ? s->size[a->label[k]] : one;
	if (!shape_to(s, &a->r, size, n))
		return false;
	for (uint32_t k = 0; k < n; k++)
		size[k] = k < r->n_both ? s->size[r->both[k]] : k < a->n ? one : s->size[r->right[k - a->n]];
	return shape_to(s, &b->r, size, n);
}

static bool einsum_multiply(struct einsum *s, struct einsum_term *a, struct einsum_term *b, uint32_t i)
{
	if (!sum_out(s, a, b, i) || !sum_out(s, b, a, i) || !expand_dims(s, a) || !expand_dims(s, b))
		return false;
	struct label_roles r = roles_of(s, a, b, i);
	if (!(r.n_inner ? reshape_to_matrices(s, &r, a, b) : reshape_to_outer(s, &r, a, b)))
		return false;
	struct value v[2] = {value_tensor(a->r), value_tensor(b->r)};
	a->r = einsum_apply(s, r.n_inner ? BI_MATMUL : BI_MUL, v, 2);
	a->n = r.n_both + r.n_left + r.n_right;
	if (a->n > HIR_MAX_RANK)
		return einsum_reject(s, 0, DIAG_RANK, "an intermediate product has more than 8 dimensions");
	put_labels(a->label, put_labels(a->label, put_labels(a->label, 0, r.both, r.n_both), r.left, r.n_left), r.right, r.n_right);
	dim size[HIR_MAX_RANK];
	for (uint32_t k = 0; k < a->n; k++)
		size[k] = s->size[a->label[k]];
	return a->r != HIR_NONE && shape_to(s, &a->r, size, a->n);
}

struct value rule_einsum(struct emitter *e, struct builtin_call *c)
{
	if (value_is_seq(c->v[0]) && item_count(c->v[1]) == 1 && item_of(c->v[1], 0).kind == V_STR) { /* the tensors first */
		struct value tensors = c->v[0];
		c->v[0] = item_of(c->v[1], 0);
		c->v[1] = tensors;
	}
	struct value list = c->v[1];
	if (c->v[0].kind != V_STR)
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[0],
				  "the equation must be a string known at compile time, as in \"ij,jk->ik\"");
	if (!value_is_seq(list) || !list.u.seq->n || list.u.seq->n > MAX_OPERANDS)
		return rule_error(e, c, DIAG_ARG_COUNT, c->at, "needs one to %d tensors after the equation", MAX_OPERANDS);
	for (uint32_t i = 0; i < list.u.seq->n; i++)
		if (list.u.seq->at[i].kind != V_TENSOR)
			return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[1], "operand %u is %s, not a tensor", i + 1,
					  value_text(e, list.u.seq->at[i]));
	struct einsum state = {.e = e, .c = c, .text = c->v[0].u.s, .n = list.u.seq->n}, *s = &state;
	if (!einsum_parse(s))
		return VALUE_POISON;
	struct einsum_term *t = &s->in[0];
	for (uint32_t i = 0; i < s->n; i++) {
		if (!take_diagonals(s, &s->in[i]) || (i && !einsum_multiply(s, t, &s->in[i], i)))
			return VALUE_POISON;
	}
	if (!sum_out(s, t, NULL, s->n) || !expand_dims(s, t) || !arrange(s, t, s->out.label))
		return VALUE_POISON;
	return value_tensor(t->r);
}
