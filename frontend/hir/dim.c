/* Dimensions as hash-consed polynomials c0 + Σ ci·ai, in ascending order of atoms, which does not depend on the history of
 * the table. All memory is in the arena. */
#include "frontend/hir/dim_state.h"
#include <stddef.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/hash.h"

enum { FIRST_BUCKETS = 8 };

struct dims *dims_new(struct arena *a)
{
	struct dims *d = ARENA_NEW(a, struct dims);
	d->arena = a;
	return d;
}

struct dims_mark dims_mark(const struct dims *d) { return (struct dims_mark){d->n_atoms, d->n_polys, d->n_syms}; }

/* ---- interning ---- */

static uint32_t fold(uint64_t h) { return (uint32_t)((h * 0x9E3779B97F4A7C15ull) >> 32); }

static bool atom_same(const struct atom *x, const struct atom *y)
{
	if (x->kind != y->kind)
		return false;
	if (x->kind == ATOM_SYM)
		return x->sym == y->sym;
	if (x->kind == ATOM_PRODUCT)
		return x->n == y->n && !memcmp(x->factors, y->factors, x->n * sizeof *x->factors);
	return dim_eq(x->a, y->a) && dim_eq(x->b, y->b);
}

static uint32_t atom_hash(const struct atom *x)
{
	if (x->kind == ATOM_PRODUCT)
		return fold(hash64_bytes(x->factors, x->n * sizeof *x->factors));
	uint32_t key[4] = {x->kind, x->kind == ATOM_SYM ? x->sym : 0, x->a.idx, x->b.idx};
	return fold(hash64_bytes(key, sizeof key));
}

static void atoms_rehash(struct dims *d)
{
	d->atom_buckets = d->atom_buckets ? 2 * d->atom_buckets : FIRST_BUCKETS;
	d->atom_bucket = ARENA_ARRAY(d->arena, uint32_t, d->atom_buckets);
	for (uint32_t i = 0; i < d->n_atoms; i++) {
		uint32_t *b = &d->atom_bucket[d->atoms[i].hash & (d->atom_buckets - 1)];
		d->atoms[i].next = *b;
		*b = i + 1;
	}
}

static void polys_rehash(struct dims *d)
{
	d->poly_buckets = d->poly_buckets ? 2 * d->poly_buckets : FIRST_BUCKETS;
	d->poly_bucket = ARENA_ARRAY(d->arena, uint32_t, d->poly_buckets);
	for (uint32_t i = 0; i < d->n_polys; i++) {
		uint32_t *b = &d->poly_bucket[d->polys[i].hash & (d->poly_buckets - 1)];
		d->polys[i].next = *b;
		*b = i + 1;
	}
}

static void *dim_copied(struct arena *a, const void *from, uint32_t n, size_t size)
{
	void *to = n ? arena_alloc(a, n * size, _Alignof(max_align_t)) : NULL;
	return n ? memcpy(to, from, n * size) : NULL;
}

struct dims *dims_copy_at(struct arena *a, const struct dims *d, struct dims_mark m)
{
	struct dims *out = dims_new(a);
	out->n_atoms = out->cap_atoms = m.atoms;
	out->n_polys = out->cap_polys = m.polys;
	out->n_syms = out->cap_syms = m.syms;
	out->atoms = dim_copied(a, d->atoms, m.atoms, sizeof *d->atoms);
	out->polys = dim_copied(a, d->polys, m.polys, sizeof *d->polys);
	out->names = dim_copied(a, d->names, m.syms, sizeof *d->names);
	out->sym_atom = dim_copied(a, d->sym_atom, m.syms, sizeof *d->sym_atom);
	for (out->atom_buckets = FIRST_BUCKETS / 2; out->atom_buckets * 2 <= m.atoms;)
		out->atom_buckets *= 2;
	for (out->poly_buckets = FIRST_BUCKETS / 2; out->poly_buckets * 2 <= m.polys;)
		out->poly_buckets *= 2;
	atoms_rehash(out);
	polys_rehash(out);
	return out;
}

struct dims *dims_copy(struct arena *a, const struct dims *d) { return dims_copy_at(a, d, dims_mark(d)); }

void dims_close(struct dims *d) { d->closed = true; }

uint32_t atom_intern(struct dims *d, struct atom x)
{
	BUG_ON(d->closed);
	if (d->n_atoms >= 2 * d->atom_buckets) /* before chains get longer than two */
		atoms_rehash(d);
	x.hash = atom_hash(&x);
	uint32_t *b = &d->atom_bucket[x.hash & (d->atom_buckets - 1)];
	for (uint32_t i = *b; i; i = d->atoms[i - 1].next)
		if (atom_same(&d->atoms[i - 1], &x))
			return i - 1;
	d->atoms = arena_grow(d->arena, d->atoms, d->n_atoms, &d->cap_atoms, d->n_atoms + 1, sizeof *d->atoms);
	if (x.kind == ATOM_PRODUCT) {
		uint32_t *copy = ARENA_ARRAY(d->arena, uint32_t, x.n);
		memcpy(copy, x.factors, x.n * sizeof *copy);
		x.factors = copy;
	}
	x.next = *b;
	d->atoms[d->n_atoms] = x;
	*b = d->n_atoms + 1;
	return d->n_atoms++;
}

static bool poly_same(const struct poly *poly, int64_t c0, const struct term *term, uint32_t n)
{
	if (poly->c0 != c0 || poly->n != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (poly->terms[i].atom != term[i].atom || poly->terms[i].coef != term[i].coef)
			return false;
	return true;
}

/* Terms in atom order, coefficients not zero. */
dim poly_intern(struct dims *d, int64_t c0, const struct term *term, uint32_t n)
{
	BUG_ON(d->closed);
	uint64_t h = (uint64_t)c0 * 0x9E3779B97F4A7C15ull;
	uint32_t size = 1;
	for (uint32_t i = 0; i < n; i++) {
		h = (h ^ term[i].atom) * 0xff51afd7ed558ccdull + (uint64_t)term[i].coef;
		size += d->atoms[term[i].atom].size;
	}
	if (size > MAX_SIZE)
		return overflowed(d);
	if (d->n_polys >= 2 * d->poly_buckets)
		polys_rehash(d);
	uint32_t hash = fold(h), *b = &d->poly_bucket[hash & (d->poly_buckets - 1)];
	for (uint32_t i = *b; i; i = d->polys[i - 1].next)
		if (poly_same(&d->polys[i - 1], c0, term, n))
			return (dim){i - 1};
	d->polys = arena_grow(d->arena, d->polys, d->n_polys, &d->cap_polys, d->n_polys + 1, sizeof *d->polys);
	struct term *copy = n ? ARENA_ARRAY(d->arena, struct term, n) : NULL;
	if (n)
		memcpy(copy, term, n * sizeof *term);
	d->polys[d->n_polys] = (struct poly){c0, n, *b, hash, size, copy};
	*b = d->n_polys + 1;
	return (dim){d->n_polys++};
}

static int number_order(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

static int poly_order(const struct dims *d, dim a, dim b)
{
	const struct poly *x = &d->polys[a.idx], *y = &d->polys[b.idx];
	int order = dim_eq(a, b) ? 0 : number_order(x->n, y->n);
	for (uint32_t i = 0; !order && i < x->n; i++) {
		order = atom_order(d, x->terms[i].atom, y->terms[i].atom);
		order = order ? order : number_order(y->terms[i].coef, x->terms[i].coef);
	}
	return order ? order : number_order(x->c0, y->c0);
}

int atom_order(const struct dims *d, uint32_t a, uint32_t b)
{
	const struct atom *x = &d->atoms[a], *y = &d->atoms[b];
	if (a == b)
		return 0;
	if (x->kind != y->kind && (x->kind == ATOM_SYM || y->kind == ATOM_SYM))
		return x->kind == ATOM_SYM ? -1 : 1;
	if (x->kind == ATOM_SYM)
		return number_order(x->sym, y->sym);
	int order = number_order(x->size, y->size);
	order = order ? order : number_order(x->kind, y->kind);
	if (order || x->kind != ATOM_PRODUCT) {
		order = order ? order : poly_order(d, x->a, y->a);
		return order ? order : poly_order(d, x->b, y->b);
	}
	order = number_order(x->n, y->n);
	for (uint32_t i = 0; !order && i < x->n; i++)
		order = atom_order(d, x->factors[i], y->factors[i]);
	return order;
}

dim overflowed(struct dims *d)
{
	d->overflow = true;
	return dim_const(d, 0);
}

bool dims_overflowed(struct dims *d)
{
	bool was = d->overflow;
	d->overflow = false;
	return was;
}

/* ---- construction ---- */

dim dim_const(struct dims *d, int64_t v)
{
	BUG_ON(d->closed);
	if (v < 0 || v >= SMALL_CONSTS)
		return poly_intern(d, v, NULL, 0);
	if (!d->small[v])
		d->small[v] = poly_intern(d, v, NULL, 0).idx + 1;
	return (dim){d->small[v] - 1};
}

dim atom_dim(struct dims *d, uint32_t atom)
{
	struct term t = {atom, 1};
	return poly_intern(d, 0, &t, 1);
}

dim dim_new_sym(struct dims *d, const char *name)
{
	uint32_t cap = d->cap_syms;
	d->names = arena_grow(d->arena, d->names, d->n_syms, &cap, d->n_syms + 1, sizeof *d->names);
	d->sym_atom = arena_grow(d->arena, d->sym_atom, d->n_syms, &d->cap_syms, d->n_syms + 1, sizeof *d->sym_atom);
	d->names[d->n_syms] = arena_strdup(d->arena, name);
	uint32_t atom = atom_intern(d, (struct atom){.kind = ATOM_SYM, .size = 1, .sym = d->n_syms});
	d->sym_atom[d->n_syms++] = atom;
	dim x = atom_dim(d, atom);
	d->atoms[atom].a = x;
	return x;
}

uint32_t dims_syms(const struct dims *d) { return d->n_syms; }
const char *dims_sym_name(const struct dims *d, uint32_t sym) { return d->names[sym]; }

void dims_rename_sym(struct dims *d, uint32_t sym, const char *name)
{
	BUG_ON(d->closed);
	d->names[sym] = arena_strdup(d->arena, name);
}

dim dim_sym(struct dims *d, uint32_t sym)
{
	BUG_ON(d->closed || sym >= d->n_syms);
	dim known = d->atoms[d->sym_atom[sym]].a;
	return known.idx ? known : atom_dim(d, d->sym_atom[sym]);
}

/* A polynomial that is not interned. */
struct sum {
	int64_t c0;
	uint32_t n;
	struct term terms[2 * MAX_TERMS];
};

/* ka·a + kb·b. False: a coefficient overflows. */
static bool add_up(const struct dims *d, dim a, int64_t ka, dim b, int64_t kb, struct sum *out)
{
	const struct poly pa = d->polys[a.idx], pb = d->polys[b.idx];
	uint32_t n = 0, i = 0, j = 0;
	int64_t x, y;
	if (__builtin_mul_overflow(pa.c0, ka, &x) || __builtin_mul_overflow(pb.c0, kb, &y) || __builtin_add_overflow(x, y, &out->c0))
		return false;
	while (i < pa.n || j < pb.n) {
		int order = i >= pa.n ? 1 : j >= pb.n ? -1 : atom_order(d, pa.terms[i].atom, pb.terms[j].atom);
		int64_t c = 0, e = 0;
		uint32_t atom = order <= 0 ? pa.terms[i].atom : pb.terms[j].atom;
		if (order <= 0 && __builtin_mul_overflow(pa.terms[i++].coef, ka, &c))
			return false;
		if (order >= 0 && __builtin_mul_overflow(pb.terms[j++].coef, kb, &e))
			return false;
		if (__builtin_add_overflow(c, e, &c))
			return false;
		if (c)
			out->terms[n++] = (struct term){atom, c};
	}
	out->n = n;
	return true;
}

/* ka·a + kb·b */
static dim dim_combine(struct dims *d, dim a, int64_t ka, dim b, int64_t kb)
{
	struct sum s;
	if (!add_up(d, a, ka, b, kb, &s) || s.n > MAX_TERMS)
		return overflowed(d);
	return poly_intern(d, s.c0, s.terms, s.n);
}

dim dim_add(struct dims *d, dim a, dim b) { return dim_combine(d, a, 1, b, 1); }
dim dim_sub(struct dims *d, dim a, dim b) { return dim_combine(d, a, 1, b, -1); }

uint32_t factors_of(const struct dims *d, uint32_t atom, uint32_t *out)
{
	const struct atom *x = &d->atoms[atom];
	if (x->kind != ATOM_PRODUCT)
		return out[0] = atom, 1;
	memcpy(out, x->factors, x->n * sizeof *out);
	return x->n;
}

/* Multiplies two atoms. False: too many factors. */
static bool atom_product(struct dims *d, uint32_t a, uint32_t b, uint32_t *out)
{
	uint32_t f[2 * MAX_FACTORS], n = factors_of(d, a, f);
	n += factors_of(d, b, f + n);
	if (n > MAX_FACTORS)
		return false;
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t j = i; j && atom_order(d, f[j], f[j - 1]) < 0; j--) {
			uint32_t t = f[j];
			f[j] = f[j - 1];
			f[j - 1] = t;
		}
	uint32_t size = 0;
	for (uint32_t i = 0; i < n; i++)
		size += d->atoms[f[i]].size;
	*out = atom_intern(d, (struct atom){.kind = ATOM_PRODUCT, .size = size, .n = (uint16_t)n, .factors = f});
	return true;
}

/* a · (coef·atom) */
dim times_term(struct dims *d, dim a, struct term t)
{
	struct poly p = d->polys[a.idx];
	dim sum = dim_const(d, 0);
	for (uint32_t i = 0; i < p.n; i++) {
		uint32_t atom;
		if (!atom_product(d, p.terms[i].atom, t.atom, &atom))
			return overflowed(d);
		int64_t c;
		if (__builtin_mul_overflow(p.terms[i].coef, t.coef, &c))
			return overflowed(d);
		struct term one = {atom, c};
		sum = dim_add(d, sum, poly_intern(d, 0, &one, 1));
	}
	int64_t c;
	if (__builtin_mul_overflow(p.c0, t.coef, &c))
		return overflowed(d);
	struct term one = {t.atom, c};
	return c ? dim_add(d, sum, poly_intern(d, 0, &one, 1)) : sum;
}

dim dim_mul(struct dims *d, dim a, dim b)
{
	struct poly p = d->polys[b.idx];
	dim sum = dim_combine(d, a, p.c0, dim_const(d, 0), 0);
	for (uint32_t i = 0; i < p.n; i++)
		sum = dim_add(d, sum, times_term(d, a, p.terms[i]));
	return sum;
}

dim dim_product(struct dims *d, const dim *x, uint32_t n)
{
	dim product = dim_const(d, 1);
	for (uint32_t k = 0; k < n; k++)
		product = dim_mul(d, product, x[k]);
	return product;
}

/* ---- properties ---- */

bool dim_is_const(const struct dims *d, dim x, int64_t *v)
{
	const struct poly *p = &d->polys[x.idx];
	if (p->n)
		return false;
	if (v)
		*v = p->c0;
	return true;
}

bool dim_is_sym(const struct dims *d, dim x, uint32_t *sym)
{
	const struct poly *p = &d->polys[x.idx];
	if (p->n != 1 || p->c0 || p->terms[0].coef != 1 || d->atoms[p->terms[0].atom].kind != ATOM_SYM)
		return false;
	if (sym)
		*sym = d->atoms[p->terms[0].atom].sym;
	return true;
}

int dim_compare(const struct dims *d, dim a, dim b)
{
	struct sum difference;
	if (dim_eq(a, b))
		return 1;
	if (!add_up(d, a, 1, b, -1, &difference))
		return 0;
	if (!difference.n)
		return -1;
	int64_t g = 0;
	for (uint32_t i = 0; i < difference.n; i++)
		g = gcd(g, difference.terms[i].coef);
	return g && g != INT64_MIN && difference.c0 % g ? -1 : 0;
}

int dim_divide_exact(struct dims *d, dim value, int64_t coef, dim *x)
{
	if (coef == INT64_MIN)
		return 0;
	if (coef < 0)
		return dim_divide_exact(d, dim_sub(d, dim_const(d, 0), value), -coef, x);
	dim rest;
	split_by(d, value, coef, x, &rest);
	int64_t r;
	if (dim_is_const(d, rest, &r))
		return r ? -1 : 1;
	return dim_compare(d, rest, dim_const(d, 0)) < 0 ? -1 : 0;
}

int64_t dim_common_factor(const struct dims *d, dim x)
{
	const struct poly *p = &d->polys[x.idx];
	int64_t g = gcd(p->c0, 0);
	for (uint32_t i = 0; i < p->n; i++)
		g = gcd(g, p->terms[i].coef);
	return g == INT64_MIN ? 1 : g;
}

static bool atom_mentions(const struct dims *d, uint32_t atom, uint32_t sym);

bool dim_depends_on(const struct dims *d, dim x, uint32_t sym)
{
	const struct poly *p = &d->polys[x.idx];
	for (uint32_t i = 0; i < p->n; i++)
		if (atom_mentions(d, p->terms[i].atom, sym))
			return true;
	return false;
}

static bool atom_mentions(const struct dims *d, uint32_t atom, uint32_t sym)
{
	const struct atom *x = &d->atoms[atom];
	if (x->kind == ATOM_SYM)
		return x->sym == sym;
	if (x->kind != ATOM_PRODUCT)
		return dim_depends_on(d, x->a, sym) || dim_depends_on(d, x->b, sym);
	for (uint32_t i = 0; i < x->n; i++)
		if (atom_mentions(d, x->factors[i], sym))
			return true;
	return false;
}

static void atom_each_sym(const struct dims *d, uint32_t atom, void (*f)(void *, uint32_t), void *ctx)
{
	const struct atom *x = &d->atoms[atom];
	if (x->kind == ATOM_SYM) {
		f(ctx, x->sym);
	} else if (x->kind == ATOM_PRODUCT) {
		for (uint32_t i = 0; i < x->n; i++)
			atom_each_sym(d, x->factors[i], f, ctx);
	} else {
		dim_each_sym(d, x->a, f, ctx);
		dim_each_sym(d, x->b, f, ctx);
	}
}

void dim_each_sym(const struct dims *d, dim x, void (*f)(void *ctx, uint32_t sym), void *ctx)
{
	const struct poly *p = &d->polys[x.idx];
	for (uint32_t i = 0; i < p->n; i++)
		atom_each_sym(d, p->terms[i].atom, f, ctx);
}

bool dim_linear_in(struct dims *d, dim a, uint32_t sym, int64_t *coef, dim *rest)
{
	struct poly p = d->polys[a.idx];
	struct term others[MAX_TERMS];
	uint32_t n = 0;
	*coef = 0;
	for (uint32_t i = 0; i < p.n; i++) {
		if (p.terms[i].atom == d->sym_atom[sym])
			*coef = p.terms[i].coef;
		else if (atom_mentions(d, p.terms[i].atom, sym))
			return false;
		else
			others[n++] = p.terms[i];
	}
	*rest = poly_intern(d, p.c0, others, n);
	return *coef != 0;
}

/* The degree in `sym`; of a quotient or remainder 2. */
static uint32_t atom_degree(const struct dims *d, uint32_t atom, uint32_t sym)
{
	const struct atom *x = &d->atoms[atom];
	uint32_t degree = 0;
	if (x->kind != ATOM_PRODUCT)
		return !atom_mentions(d, atom, sym) ? 0 : x->kind == ATOM_SYM ? 1 : 2;
	for (uint32_t i = 0; i < x->n; i++)
		degree += atom_degree(d, x->factors[i], sym);
	return degree;
}

bool dim_determines(const struct dims *d, dim x, uint32_t sym)
{
	const struct poly *p = &d->polys[x.idx];
	uint32_t most = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t degree = atom_degree(d, p->terms[i].atom, sym);
		most = degree > most ? degree : most;
	}
	return most == 1;
}

/* ---- evaluation and translation ---- */

static int64_t atom_eval(const struct dims *d, uint32_t atom, const int64_t *syms)
{
	const struct atom *x = &d->atoms[atom];
	if (x->kind == ATOM_SYM)
		return syms[x->sym];
	if (x->kind == ATOM_PRODUCT) {
		uint64_t v = 1;
		for (uint32_t i = 0; i < x->n; i++)
			v *= (uint64_t)atom_eval(d, x->factors[i], syms);
		return (int64_t)v;
	}
	int64_t a = dim_eval(d, x->a, syms), b = dim_eval(d, x->b, syms);
	if (!b)
		return 0;
	return x->kind == ATOM_DIV ? floor_div(a, b) : floor_mod(a, b);
}

int64_t dim_eval(const struct dims *d, dim x, const int64_t *syms)
{
	const struct poly *p = &d->polys[x.idx];
	uint64_t v = (uint64_t)p->c0;
	for (uint32_t i = 0; i < p->n; i++)
		v += (uint64_t)p->terms[i].coef * (uint64_t)atom_eval(d, p->terms[i].atom, syms);
	return (int64_t)v;
}

static dim atom_translate(struct dims *to, const struct dims *from, uint32_t atom, const dim *map)
{
	const struct atom x = from->atoms[atom];
	if (x.kind == ATOM_SYM)
		return map[x.sym];
	if (x.kind == ATOM_PRODUCT) {
		dim v = dim_const(to, 1);
		for (uint32_t i = 0; i < x.n; i++)
			v = dim_mul(to, v, atom_translate(to, from, x.factors[i], map));
		return v;
	}
	dim a = dim_translate(to, from, x.a, map), b = dim_translate(to, from, x.b, map);
	int64_t v;
	if (dim_is_const(to, b, &v) && !v)
		return overflowed(to);
	return x.kind == ATOM_DIV ? dim_floordiv(to, a, b) : dim_mod(to, a, b);
}

dim dim_translate(struct dims *to, const struct dims *from, dim x, const dim *map)
{
	const struct poly p = from->polys[x.idx];
	dim v = dim_const(to, p.c0);
	for (uint32_t i = 0; i < p.n; i++) {
		dim c = dim_const(to, p.terms[i].coef);
		v = dim_add(to, v, dim_mul(to, atom_translate(to, from, p.terms[i].atom, map), c));
	}
	return v;
}
