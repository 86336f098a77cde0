/* Floor division and modulus of dimensions. Terms that divide evenly are divided; the rest becomes an opaque atom. */
#include "base/bug.h"
#include "frontend/hir/dim_state.h"

static dim opaque(struct dims *d, enum atom_kind kind, dim a, dim b)
{
	uint32_t size = d->polys[a.idx].size + d->polys[b.idx].size;
	return atom_dim(d, atom_intern(d, (struct atom){.kind = kind, .size = size, .a = a, .b = b}));
}

/* x = c·quot + rest, the coefficients of rest in [0, c). */
void split_by(struct dims *d, dim x, int64_t c, dim *quot, dim *rest)
{
	struct poly p = d->polys[x.idx];
	struct term q[MAX_TERMS], r[MAX_TERMS];
	uint32_t nq = 0, nr = 0;
	for (uint32_t i = 0; i < p.n; i++) {
		int64_t a = floor_div(p.terms[i].coef, c), b = floor_mod(p.terms[i].coef, c);
		if (a)
			q[nq++] = (struct term){p.terms[i].atom, a};
		if (b)
			r[nr++] = (struct term){p.terms[i].atom, b};
	}
	*quot = poly_intern(d, floor_div(p.c0, c), q, nq);
	*rest = poly_intern(d, floor_mod(p.c0, c), r, nr);
}

/* Returns the common divisor of c and the coefficients of x except c0. *reduced: x divided by it, c0 rounded down. */
static int64_t reduce_by_gcd(struct dims *d, dim x, int64_t c, dim *reduced)
{
	struct poly p = d->polys[x.idx];
	int64_t g = c;
	for (uint32_t i = 0; i < p.n; i++)
		g = gcd(g, p.terms[i].coef);
	dim rest;
	split_by(d, x, g, reduced, &rest);
	return g;
}

/* True if monomial `by` divides monomial `atom`; then f has the factors of the quotient. */
static bool monomial_quotient(const struct dims *d, uint32_t atom, uint32_t by, uint32_t *f, uint32_t *n)
{
	uint32_t g[MAX_FACTORS], ng = factors_of(d, by, g), all[MAX_FACTORS], na = factors_of(d, atom, all), j = 0;
	*n = 0;
	for (uint32_t i = 0; i < na; i++) {
		if (j < ng && all[i] == g[j])
			j++;
		else
			f[(*n)++] = all[i];
	}
	return j == ng;
}

/* Divides x by the monomial `by`. False: a term does not contain the monomial. */
static bool cancel_monomial(struct dims *d, dim x, uint32_t by, dim *out)
{
	struct poly p = d->polys[x.idx];
	if (p.c0)
		return false;
	dim sum = dim_const(d, 0);
	for (uint32_t i = 0; i < p.n; i++) {
		uint32_t f[MAX_FACTORS], n;
		if (!monomial_quotient(d, p.terms[i].atom, by, f, &n))
			return false;
		dim t = dim_const(d, p.terms[i].coef);
		for (uint32_t k = 0; k < n; k++)
			t = times_term(d, t, (struct term){f[k], 1});
		sum = dim_add(d, sum, t);
	}
	*out = sum;
	return true;
}

/* Long division by b, which has terms. True if a is b times *q. */
static bool exact_quotient(struct dims *d, dim a, dim b, dim *q)
{
	bool overflow = d->overflow, exact = false;
	struct poly by = d->polys[b.idx];
	struct term lead = by.terms[by.n - 1];
	d->overflow = false;
	*q = dim_const(d, 0);
	for (uint32_t step = 0; step <= MAX_TERMS && !exact && !d->overflow; step++) {
		struct poly p = d->polys[a.idx];
		uint32_t f[MAX_FACTORS], n;
		exact = !p.n && !p.c0;
		if (!p.n || floor_mod(p.terms[p.n - 1].coef, lead.coef) || !monomial_quotient(d, p.terms[p.n - 1].atom, lead.atom, f, &n))
			break;
		dim t = dim_const(d, floor_div(p.terms[p.n - 1].coef, lead.coef));
		for (uint32_t k = 0; k < n; k++)
			t = times_term(d, t, (struct term){f[k], 1});
		*q = dim_add(d, *q, t);
		a = dim_sub(d, a, dim_mul(d, t, b));
	}
	exact = exact && !d->overflow;
	d->overflow = overflow;
	return exact;
}

static dim div_const(struct dims *d, dim a, int64_t c)
{
	if (c < 0) {
		if (c == INT64_MIN)
			return overflowed(d);
		return div_const(d, dim_sub(d, dim_const(d, 0), a), -c);
	}
	dim quot, rest, reduced;
	split_by(d, a, c, &quot, &rest);
	if (!d->polys[rest.idx].n)
		return quot; /* a constant in [0, c) */
	int64_t g = reduce_by_gcd(d, rest, c, &reduced);
	if (c == g)
		return dim_add(d, quot, reduced);
	return dim_add(d, quot, opaque(d, ATOM_DIV, reduced, dim_const(d, c / g)));
}

dim dim_floordiv(struct dims *d, dim a, dim b)
{
	struct poly pb = d->polys[b.idx];
	BUG_ON(!pb.n && !pb.c0);
	if (!pb.n)
		return div_const(d, a, pb.c0);
	if (dim_eq(a, b))
		return dim_const(d, 1);
	if (!d->polys[a.idx].n && !d->polys[a.idx].c0)
		return a;
	dim cancelled;
	if (pb.n == 1 && !pb.c0 && cancel_monomial(d, a, pb.terms[0].atom, &cancelled))
		return div_const(d, cancelled, pb.terms[0].coef);
	dim quotient;
	if (exact_quotient(d, a, b, &quotient))
		return quotient;
	return opaque(d, ATOM_DIV, a, b);
}

dim dim_mod(struct dims *d, dim a, dim b)
{
	struct poly pb = d->polys[b.idx];
	BUG_ON(!pb.n && !pb.c0);
	if (dim_eq(a, b))
		return dim_const(d, 0);
	if (pb.n || pb.c0 < 0) {
		dim quotient;
		if (pb.n && exact_quotient(d, a, b, &quotient))
			return dim_const(d, 0);
		if (!pb.n && !d->polys[a.idx].n)
			return dim_const(d, floor_mod(d->polys[a.idx].c0, pb.c0));
		return opaque(d, ATOM_MOD, a, b);
	}
	dim quot, rest;
	split_by(d, a, pb.c0, &quot, &rest);
	if (!d->polys[rest.idx].n)
		return rest;
	return opaque(d, ATOM_MOD, rest, b);
}
