/* einsum: read as torch.einsum reads its equation, then taken apart into diagonals, sums, products and one matrix product for each further
 * operand, from left to right. */
#include <ctype.h>
#include <string.h>
#include "frontend/builtin.h"

enum { LETTERS = 52, ELLIPSIS = LETTERS, LABELS = LETTERS + CORE_MAX_RANK, MAX_OPERANDS = 16 };

/* A tensor whose dimension k is called label[k]. */
struct term {
	core_ref r;
	uint32_t n;
	uint8_t label[CORE_MAX_RANK * 2];
};
struct einsum {
	struct elab *e;
	struct bcall *c;
	const char *text;
	struct term in[MAX_OPERANDS], out;
	uint32_t n;
	dim size[LABELS];
	uint32_t uses[LABELS]; /* by operands */
	uint32_t ellipsis;     /* dimensions that `...` stands for */
};

static bool fails(struct einsum *s, uint32_t arg, enum diag_code code, const char *text)
{
	shape_error(s->e, s->c, code, s->c->ats[arg], "%s", text);
	return false;
}

/* ---- reading ---- */

static uint8_t label_of(char ch) { return (uint8_t)(islower((unsigned char)ch) ? ch - 'a' : ch - 'A' + 26); }

/* How many letters a subscript has; *dots: has it an ellipsis? False: it is not one. */
static bool measure(struct einsum *s, const char *p, const char *end, uint32_t *letters, bool *dots)
{
	*letters = 0;
	*dots = false;
	for (; p < end; p++) {
		if (*p == ' ')
			continue;
		if (isalpha((unsigned char)*p)) {
			++*letters;
		} else if (end - p >= 3 && !strncmp(p, "...", 3) && !*dots) {
			*dots = true;
			p += 2;
		} else {
			return fails(s, 0, DIAG_ARG_VALUE, "a subscript is made of letters and at most one `...`, as in \"bij,bjk->bik\"");
		}
	}
	return true;
}

static bool read_term(struct einsum *s, const char *p, const char *end, uint32_t dots_rank, struct term *t)
{
	for (; p < end; p++) {
		uint32_t n = *p == '.' ? dots_rank : *p != ' ';
		if (t->n + n > CORE_MAX_RANK)
			return fails(s, 0, DIAG_RANK, "a tensor has at most 8 dimensions");
		if (isalpha((unsigned char)*p))
			t->label[t->n++] = label_of(*p);
		if (*p != '.')
			continue;
		for (uint32_t k = 0; k < dots_rank; k++) /* aligned at the right */
			t->label[t->n++] = (uint8_t)(ELLIPSIS + CORE_MAX_RANK - dots_rank + k);
		p += 2;
	}
	return true;
}

static bool read_operand(struct einsum *s, const char *p, const char *end, uint32_t i)
{
	uint32_t letters;
	bool dots;
	s->in[i].r = s->c->v[1].u.seq->at[i].u.t;
	uint32_t rank = type_of(s->e, s->in[i].r)->rank;
	if (!measure(s, p, end, &letters, &dots))
		return false;
	if (letters > rank || (!dots && letters < rank)) {
		shape_error(s->e, s->c, DIAG_RANK, s->c->ats[0], "subscript %u names %u dimensions, but the operand is %s", i + 1, letters,
			    elab_type_text(s->e, s->in[i].r));
		return false;
	}
	if (dots && rank - letters > s->ellipsis)
		s->ellipsis = rank - letters;
	return read_term(s, p, end, rank - letters, &s->in[i]);
}

/* Without `->`: the dimensions of `...`, then every letter that occurs once, in alphabetical order (capitals first). */
static void implicit_output(struct einsum *s)
{
	uint32_t count[LABELS] = {0};
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < s->in[i].n; k++)
			count[s->in[i].label[k]]++;
	for (uint32_t k = 0; k < s->ellipsis; k++)
		s->out.label[s->out.n++] = (uint8_t)(LABELS - s->ellipsis + k);
	for (uint32_t k = 0; k < LETTERS && s->out.n < CORE_MAX_RANK; k++) {
		uint8_t label = (uint8_t)((k + 26) % LETTERS);
		if (count[label] == 1)
			s->out.label[s->out.n++] = label;
	}
}

static bool read_output(struct einsum *s, const char *p)
{
	uint32_t letters, seen[LABELS] = {0};
	bool dots;
	const char *end = p + strlen(p);
	if (!measure(s, p, end, &letters, &dots) || !read_term(s, p, end, s->ellipsis, &s->out))
		return false;
	for (uint32_t k = 0; k < s->out.n; k++) {
		if (!s->uses[s->out.label[k]])
			return fails(s, 0, DIAG_ARG_VALUE, "the result has a letter that no operand has");
		if (seen[s->out.label[k]]++)
			return fails(s, 0, DIAG_ARG_VALUE, "the result has a letter twice");
	}
	return true;
}

/* Sizes of one label agree, or are 1. */
static bool join_sizes(struct einsum *s, uint32_t i)
{
	struct elab *e = s->e;
	struct core_type t = *type_of(e, s->in[i].r);
	for (uint32_t k = 0; k < t.rank; k++) {
		uint8_t label = s->in[i].label[k];
		struct core_type have = {.rank = 1, .dims = {s->size[label]}}, more = {.rank = 1, .dims = {t.dims[k]}};
		if (!s->uses[label]++) {
			s->size[label] = t.dims[k];
		} else if (broadcast_dims(e, &have, &more)) {
			s->size[label] = have.dims[0];
		} else {
			char name[2] = {(char)(label < 26 ? 'a' + label : 'A' + label - 26), 0};
			shape_error(e, s->c, DIAG_SHAPE, s->c->ats[1], "`%s` is %s in operand %u, %s, but %s before",
				    label < LETTERS ? name : "...", elab_shape_text(e, &more), i + 1, elab_type_text(e, s->in[i].r),
				    elab_shape_text(e, &have));
			return false;
		}
	}
	return true;
}

static bool read_equation(struct einsum *s)
{
	const char *p = s->text, *arrow = strstr(p, "->"), *end = arrow ? arrow : p + strlen(p);
	uint32_t n = 1;
	for (const char *q = p; q < end; q++)
		n += *q == ',';
	if (n != s->n) {
		shape_error(s->e, s->c, DIAG_ARG_COUNT, s->c->at, "the equation has %u operand%s, the call %u", n, n == 1 ? "" : "s", s->n);
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		const char *stop = memchr(p, ',', (size_t)(end - p));
		stop = stop ? stop : end;
		if (!read_operand(s, p, stop, i) || !join_sizes(s, i))
			return false;
		p = stop + 1;
	}
	if (!arrow)
		implicit_output(s);
	return !arrow || read_output(s, arrow + 2);
}

/* ---- taking apart ---- */

static core_ref apply(struct einsum *s, enum builtin bi, const struct value *v, uint32_t n)
{
	struct arg items[5];
	for (uint32_t i = 0; i < n; i++)
		items[i] = (struct arg){.v = v[i], .at = s->c->at};
	struct args args = {n, items};
	struct value out = call_builtin(s->e, bi, &args, s->c->at);
	return out.kind == V_TENSOR ? out.u.t : CORE_NONE;
}

static core_ref apply_list(struct einsum *s, enum builtin bi, core_ref x, const struct value *items, uint32_t n)
{
	struct value v[2] = {value_tensor(x), value_seq(s->e->f->arena, V_LIST, n)};
	for (uint32_t i = 0; i < n; i++)
		v[1].u.seq->at[i] = items[i];
	return apply(s, bi, v, 2);
}

static int find(const struct term *t, uint8_t label)
{
	for (uint32_t k = 0; k < t->n; k++)
		if (t->label[k] == label)
			return (int)k;
	return -1;
}

static void drop(struct term *t, uint32_t k)
{
	memmove(t->label + k, t->label + k + 1, t->n - k - 1);
	t->n--;
}

/* Puts the dimensions in the order of `want`, a permutation of the term's labels. */
static bool arrange(struct einsum *s, struct term *t, const uint8_t *want)
{
	struct value order[CORE_MAX_RANK];
	bool same = true;
	for (uint32_t k = 0; k < t->n; k++) {
		order[k] = value_int(find(t, want[k]));
		same = same && t->label[k] == want[k];
	}
	memcpy(t->label, want, t->n);
	if (!same)
		t->r = apply_list(s, BI_PERMUTE, t->r, order, t->n);
	return t->r != CORE_NONE;
}

static bool shape_to(struct einsum *s, core_ref *r, const dim *d, uint32_t n)
{
	struct value sizes[CORE_MAX_RANK * 3];
	if (n > CORE_MAX_RANK)
		return fails(s, 0, DIAG_RANK, "a product of more than 8 dimensions arises on the way");
	for (uint32_t k = 0; k < n; k++)
		sizes[k] = value_dim(s->e->b->dims, d[k]);
	*r = apply_list(s, BI_RESHAPE, *r, sizes, n);
	return *r != CORE_NONE;
}

/* Dimensions of size 1 as their label is elsewhere. */
static bool stretch(struct einsum *s, struct term *t)
{
	struct core_type have = *type_of(s->e, t->r);
	struct value sizes[CORE_MAX_RANK];
	bool same = true;
	for (uint32_t k = 0; k < t->n; k++) {
		same = same && dims_agree(s->e, have.dims[k], s->size[t->label[k]]);
		sizes[k] = value_dim(s->e->b->dims, s->size[t->label[k]]);
	}
	if (!same)
		t->r = apply_list(s, BI_EXPAND, t->r, sizes, t->n);
	return t->r != CORE_NONE;
}

/* A label that stands twice in an operand: both dimensions last, as one of n*n elements of which every n+1st is wanted. */
static bool diagonal(struct einsum *s, struct term *t, uint32_t a, uint32_t b)
{
	struct dims *d = s->e->b->dims;
	struct core_type have = *type_of(s->e, t->r);
	struct value order[CORE_MAX_RANK];
	uint8_t label[CORE_MAX_RANK];
	dim sizes[CORE_MAX_RANK];
	uint32_t n = 0;
	int64_t size;
	if (!dim_is_const(d, have.dims[a], &size) || !dims_agree(s->e, have.dims[a], have.dims[b]))
		return fails(s, 1, DIAG_SHAPE, "a letter that stands twice in a subscript needs two equal sizes known at compile time");
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
	if (t->r == CORE_NONE || !shape_to(s, &t->r, sizes, t->n))
		return false;
	struct value part[5] = {value_tensor(t->r), value_int(n), value_int(0), value_int(size * size), value_int(size + 1)};
	t->r = apply(s, BI_SLICE, part, 5);
	return t->r != CORE_NONE;
}

static bool distinct(struct einsum *s, struct term *t)
{
	for (uint32_t a = 0; a < t->n; a++)
		for (uint32_t b = a + 1; b < t->n; b++)
			if (t->label[a] == t->label[b])
				return diagonal(s, t, a, b) && distinct(s, t);
	return true;
}

/* Is the label of use after operand `i` has been taken in? */
static bool wanted(const struct einsum *s, uint8_t label, uint32_t i)
{
	bool yes = find(&s->out, label) >= 0;
	for (uint32_t k = i + 1; k < s->n; k++)
		yes = yes || find(&s->in[k], label) >= 0;
	return yes;
}

/* Sums over what neither `other` (if any) nor anything after operand `i` has. */
static bool sum_out(struct einsum *s, struct term *t, const struct term *other, uint32_t i)
{
	struct value dims[CORE_MAX_RANK];
	uint32_t n = 0;
	for (uint32_t k = t->n; k-- > 0;)
		if (!wanted(s, t->label[k], i) && (!other || find(other, t->label[k]) < 0)) {
			dims[n++] = value_int(k);
			drop(t, k);
		}
	if (n)
		t->r = apply_list(s, BI_SUM, t->r, dims, n);
	return t->r != CORE_NONE;
}

/* The labels of a product: those in both that stay, those in both that are summed over, and those of one side. */
struct roles {
	uint8_t both[CORE_MAX_RANK], inner[CORE_MAX_RANK], left[CORE_MAX_RANK], right[CORE_MAX_RANK];
	uint32_t n_both, n_inner, n_left, n_right;
};

static struct roles roles_of(const struct einsum *s, const struct term *a, const struct term *b, uint32_t i)
{
	struct roles r = {0};
	for (uint32_t k = 0; k < a->n; k++) {
		uint8_t label = a->label[k];
		if (find(b, label) < 0)
			r.left[r.n_left++] = label;
		else if (wanted(s, label, i))
			r.both[r.n_both++] = label;
		else
			r.inner[r.n_inner++] = label;
	}
	for (uint32_t k = 0; k < b->n; k++)
		if (find(a, b->label[k]) < 0)
			r.right[r.n_right++] = b->label[k];
	return r;
}

static uint32_t put_labels(uint8_t *to, uint32_t at, const uint8_t *from, uint32_t n)
{
	memcpy(to + at, from, n);
	return at + n;
}

static dim size_of(struct einsum *s, const uint8_t *label, uint32_t n)
{
	dim d = dim_const(s->e->b->dims, 1);
	for (uint32_t k = 0; k < n; k++)
		d = dim_mul(s->e->b->dims, d, s->size[label[k]]);
	return d;
}

/* Both sides as matrices under the common labels: [both, left, inner] @ [both, inner, right]. */
static bool matrices(struct einsum *s, const struct roles *r, struct term *a, struct term *b)
{
	uint8_t want[CORE_MAX_RANK];
	dim size[CORE_MAX_RANK + 2];
	uint32_t n = r->n_both;
	put_labels(want, put_labels(want, put_labels(want, 0, r->both, n), r->left, r->n_left), r->inner, r->n_inner);
	if (!arrange(s, a, want))
		return false;
	put_labels(want, put_labels(want, put_labels(want, 0, r->both, n), r->inner, r->n_inner), r->right, r->n_right);
	if (!arrange(s, b, want))
		return false;
	for (uint32_t k = 0; k < n; k++)
		size[k] = s->size[r->both[k]];
	size[n] = size_of(s, r->left, r->n_left);
	size[n + 1] = size_of(s, r->inner, r->n_inner);
	if (!shape_to(s, &a->r, size, n + 2))
		return false;
	size[n] = size[n + 1];
	size[n + 1] = size_of(s, r->right, r->n_right);
	return shape_to(s, &b->r, size, n + 2);
}

/* Nothing to sum over: [both, left, 1] * [both, 1, right], element by element. */
static bool spread(struct einsum *s, const struct roles *r, struct term *a, struct term *b)
{
	uint8_t want[CORE_MAX_RANK];
	dim size[CORE_MAX_RANK * 2], one = dim_const(s->e->b->dims, 1);
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

static bool multiply(struct einsum *s, struct term *a, struct term *b, uint32_t i)
{
	if (!sum_out(s, a, b, i) || !sum_out(s, b, a, i) || !stretch(s, a) || !stretch(s, b))
		return false;
	struct roles r = roles_of(s, a, b, i);
	if (!(r.n_inner ? matrices(s, &r, a, b) : spread(s, &r, a, b)))
		return false;
	struct value v[2] = {value_tensor(a->r), value_tensor(b->r)};
	a->r = apply(s, r.n_inner ? BI_MATMUL : BI_MUL, v, 2);
	a->n = r.n_both + r.n_left + r.n_right;
	if (a->n > CORE_MAX_RANK)
		return fails(s, 0, DIAG_RANK, "a product of more than 8 dimensions arises on the way");
	put_labels(a->label, put_labels(a->label, put_labels(a->label, 0, r.both, r.n_both), r.left, r.n_left), r.right, r.n_right);
	dim size[CORE_MAX_RANK];
	for (uint32_t k = 0; k < a->n; k++)
		size[k] = s->size[a->label[k]];
	return a->r != CORE_NONE && shape_to(s, &a->r, size, a->n);
}

struct value rule_einsum(struct elab *e, struct bcall *c)
{
	struct value list = c->v[1];
	if (c->v[0].kind != V_STR)
		return shape_error(e, c, DIAG_TYPE_MISMATCH, c->ats[0],
				   "the equation must be a string known at compile time, as in \"ij,jk->ik\"");
	if (!value_is_seq(list) || !list.u.seq->n || list.u.seq->n > MAX_OPERANDS)
		return shape_error(e, c, DIAG_ARG_COUNT, c->at, "needs one to %d tensors behind the equation", MAX_OPERANDS);
	for (uint32_t i = 0; i < list.u.seq->n; i++)
		if (list.u.seq->at[i].kind != V_TENSOR)
			return shape_error(e, c, DIAG_TYPE_MISMATCH, c->ats[1], "operand %u is %s, not a tensor", i + 1,
					   elab_value_text(e, list.u.seq->at[i]));
	struct einsum state = {.e = e, .c = c, .text = c->v[0].u.s, .n = list.u.seq->n}, *s = &state;
	if (!read_equation(s))
		return VALUE_POISON;
	struct term *t = &s->in[0];
	for (uint32_t i = 0; i < s->n; i++) {
		if (!distinct(s, &s->in[i]) || (i && !multiply(s, t, &s->in[i], i)))
			return VALUE_POISON;
	}
	if (!sum_out(s, t, NULL, s->n) || !stretch(s, t) || !arrange(s, t, s->out.label))
		return VALUE_POISON;
	return value_tensor(t->r);
}
