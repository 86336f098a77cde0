/* Format: the numbers of symbols, atoms and polynomials; all atoms; all polynomials. They are numbered as they are added, an atom after those
 * that it refers to, so there are no cycles. Its size bounds every traversal. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "frontend/hir/dim_state.h"

struct dims_writer {
	const struct dims *d;
	uint32_t *atom_number, *poly_number; /* plus one; 0: not added */
	uint32_t *atoms, *polys;             /* those that were added */
	uint32_t n_atoms, n_polys;
};

static uint32_t add_atom(struct dims_writer *w, uint32_t atom)
{
	const struct atom *x = &w->d->atoms[atom];
	if (w->atom_number[atom])
		return w->atom_number[atom] - 1;
	for (uint32_t i = 0; x->kind == ATOM_PRODUCT && i < x->n; i++)
		add_atom(w, x->factors[i]);
	if (x->kind == ATOM_DIV || x->kind == ATOM_MOD) {
		dims_writer_add(w, x->a);
		dims_writer_add(w, x->b);
	}
	w->atoms[w->n_atoms] = atom;
	w->atom_number[atom] = ++w->n_atoms;
	return w->n_atoms - 1;
}

struct dims_writer *dims_writer_new(struct arena *a, const struct dims *d)
{
	struct dims_writer *w = ARENA_NEW(a, struct dims_writer);
	*w = (struct dims_writer){.d = d};
	w->atom_number = ARENA_ARRAY(a, uint32_t, d->n_atoms + 1);
	w->poly_number = ARENA_ARRAY(a, uint32_t, d->n_polys + 1);
	w->atoms = ARENA_ARRAY(a, uint32_t, d->n_atoms + 1);
	w->polys = ARENA_ARRAY(a, uint32_t, d->n_polys + 1);
	for (uint32_t k = 0; k < d->n_syms; k++)
		add_atom(w, d->sym_atom[k]);
	return w;
}

uint32_t dims_writer_add(struct dims_writer *w, dim x)
{
	const struct poly *p = &w->d->polys[x.idx];
	if (w->poly_number[x.idx])
		return w->poly_number[x.idx] - 1;
	for (uint32_t i = 0; i < p->n; i++)
		add_atom(w, p->terms[i].atom);
	w->polys[w->n_polys] = x.idx;
	w->poly_number[x.idx] = ++w->n_polys;
	return w->n_polys - 1;
}

static void write_atom(const struct dims_writer *w, const struct atom *x, struct buf *out)
{
	varint_put(out, (uint64_t)x->kind);
	switch (x->kind) {
	case ATOM_SYM: varint_put(out, x->sym); return;
	case ATOM_PRODUCT:
		varint_put(out, x->n);
		for (uint32_t i = 0; i < x->n; i++)
			varint_put(out, w->atom_number[x->factors[i]] - 1);
		return;
	default: varint_put(out, w->poly_number[x->a.idx] - 1); varint_put(out, w->poly_number[x->b.idx] - 1);
	}
}

static void write_poly(const struct dims_writer *w, const struct poly *poly, struct buf *out)
{
	varint_put_signed(out, poly->c0);
	varint_put(out, poly->n);
	for (uint32_t i = 0; i < poly->n; i++) {
		varint_put(out, w->atom_number[poly->terms[i].atom] - 1);
		varint_put_signed(out, poly->terms[i].coef);
	}
}

void dims_writer_finish(const struct dims_writer *w, struct buf *out)
{
	varint_put(out, w->d->n_syms);
	varint_put(out, w->n_atoms);
	varint_put(out, w->n_polys);
	for (uint32_t i = 0; i < w->n_atoms; i++)
		write_atom(w, &w->d->atoms[w->atoms[i]], out);
	for (uint32_t i = 0; i < w->n_polys; i++)
		write_poly(w, &w->d->polys[w->polys[i]], out);
}

uint32_t dims_count(const struct dims *d) { return d->n_polys; }

/* Entries that were read and are not checked yet. */
struct unchecked_dims {
	struct dims *d;
	struct varint_in *in;
	struct atom *atoms;
	struct poly *polys;
	uint32_t n_syms, n_atoms, n_polys;
};

static void read_atom(struct unchecked_dims *r, struct atom *x)
{
	x->kind = (enum atom_kind)varint_take_upto(r->in, ATOM_MOD);
	switch (x->kind) {
	case ATOM_SYM: x->sym = varint_take_upto(r->in, r->n_syms ? r->n_syms - 1 : 0); return;
	case ATOM_PRODUCT:
		x->n = (uint16_t)varint_take_upto(r->in, MAX_FACTORS);
		x->factors = ARENA_ARRAY(r->d->arena, uint32_t, x->n + 1);
		for (uint32_t i = 0; i < x->n; i++)
			x->factors[i] = varint_take_upto(r->in, r->n_atoms - 1);
		return;
	default:
		x->a.idx = varint_take_upto(r->in, r->n_polys ? r->n_polys - 1 : 0);
		x->b.idx = varint_take_upto(r->in, r->n_polys ? r->n_polys - 1 : 0);
	}
}

static void read_poly(struct unchecked_dims *r, struct poly *poly)
{
	poly->c0 = varint_take_signed(r->in);
	poly->n = varint_take_upto(r->in, r->n_atoms < MAX_TERMS ? r->n_atoms : MAX_TERMS);
	poly->terms = ARENA_ARRAY(r->d->arena, struct term, poly->n + 1);
	for (uint32_t i = 0; i < poly->n; i++) {
		poly->terms[i].atom = varint_take_upto(r->in, r->n_atoms - 1);
		poly->terms[i].coef = varint_take_signed(r->in);
	}
}

/* The order of two atoms that were checked. */
static int checked_order(const struct unchecked_dims *r, uint32_t a, uint32_t b)
{
	const struct dims d = {.atoms = r->atoms, .polys = r->polys};
	return atom_order(&d, a, b);
}

/* Returns the size of a valid polynomial whose atoms are older than `limit`; 0: it is invalid. */
static uint32_t dim_serialize_checked_size(const struct unchecked_dims *r, dim x, uint32_t limit)
{
	if (x.idx >= r->n_polys)
		return 0;
	const struct poly *p = &r->polys[x.idx];
	uint32_t size = 1;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct term *t = &p->terms[i];
		if (t->atom >= limit || !t->coef || (i && checked_order(r, p->terms[i - 1].atom, t->atom) >= 0))
			return 0;
		size += r->atoms[t->atom].size;
	}
	return size <= MAX_SIZE ? size : 0;
}

static bool check_product(struct unchecked_dims *r, struct atom *x, uint32_t k)
{
	for (uint32_t i = 0; i < x->n; i++) {
		if (x->factors[i] >= k || r->atoms[x->factors[i]].kind == ATOM_PRODUCT ||
		    (i && checked_order(r, x->factors[i - 1], x->factors[i]) > 0))
			return false;
		x->size += r->atoms[x->factors[i]].size;
	}
	return x->n >= 2;
}

static bool check_atom(struct unchecked_dims *r, struct atom *x, uint32_t k)
{
	if (x->kind == ATOM_SYM) {
		x->size = 1;
		return x->sym < r->n_syms;
	}
	if (x->kind == ATOM_PRODUCT)
		return check_product(r, x, k);
	uint32_t a = dim_serialize_checked_size(r, x->a, k), b = dim_serialize_checked_size(r, x->b, k);
	x->size = a + b;
	return a && b && !(r->polys[x->b.idx].n == 0 && r->polys[x->b.idx].c0 == 0);
}

static bool check_and_intern(struct unchecked_dims *r)
{
	struct dims *d = r->d;
	uint32_t syms = 0;
	d->names = ARENA_ARRAY(d->arena, const char *, r->n_syms + 1);
	d->sym_atom = ARENA_ARRAY(d->arena, uint32_t, r->n_syms + 1);
	d->n_syms = d->cap_syms = r->n_syms;
	for (uint32_t i = 0; i < r->n_syms; i++)
		d->names[i] = arena_printf(d->arena, "s%u", i);
	for (uint32_t k = 0; k < r->n_atoms; k++) {
		if (!check_atom(r, &r->atoms[k], k) || atom_intern(d, r->atoms[k]) != k)
			return false;
		if (r->atoms[k].kind == ATOM_SYM)
			d->sym_atom[r->atoms[k].sym] = k, syms++;
	}
	for (uint32_t k = 0; k < r->n_polys; k++)
		if (!dim_serialize_checked_size(r, (dim){k}, r->n_atoms) ||
		    poly_intern(d, r->polys[k].c0, r->polys[k].terms, r->polys[k].n).idx != k)
			return false;
	return syms == r->n_syms;
}

struct dims *dims_read(struct arena *a, struct varint_in *in)
{
	struct unchecked_dims r = {.d = dims_new(a), .in = in};
	r.n_syms = varint_take_count(in);
	r.n_atoms = varint_take_count(in);
	r.n_polys = varint_take_count(in);
	r.atoms = ARENA_ARRAY(a, struct atom, r.n_atoms + 1);
	r.polys = ARENA_ARRAY(a, struct poly, r.n_polys + 1);
	for (uint32_t i = 0; i < r.n_atoms && in->ok; i++)
		read_atom(&r, &r.atoms[i]);
	for (uint32_t i = 0; i < r.n_polys && in->ok; i++)
		read_poly(&r, &r.polys[i]);
	in->ok = in->ok && check_and_intern(&r);
	return in->ok ? r.d : NULL;
}
