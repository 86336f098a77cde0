/* The canonical form of dimensions, shared by dim*.c. */
#ifndef TRIB_FRONTEND_HIR_DIM_STATE_H
#define TRIB_FRONTEND_HIR_DIM_STATE_H
#include "frontend/hir/dim.h"

enum { MAX_TERMS = 48, MAX_FACTORS = 8, MAX_SIZE = 400, SMALL_CONSTS = 16 };
enum atom_kind { ATOM_SYM, ATOM_PRODUCT, ATOM_DIV, ATOM_MOD };

struct atom {
	enum atom_kind kind;
	uint32_t size; /* symbols and operations in its expansion: bounds every traversal */
	uint16_t n;    /* ATOM_PRODUCT: factors */
	uint32_t sym;  /* ATOM_SYM */
	uint32_t next; /* index of the next in its bucket, plus one */
	uint32_t hash;
	dim a, b;          /* ATOM_DIV, ATOM_MOD. ATOM_SYM: a is the polynomial of the symbol, or 0 if a table was read without it */
	uint32_t *factors; /* ATOM_PRODUCT: atoms in order, no products */
};
struct term {
	uint32_t atom;
	int64_t coef;
};
struct poly {
	int64_t c0;
	uint32_t n, next, hash;
	uint32_t size; /* as in struct atom */
	struct term *terms;
};
struct dims {
	struct arena *arena;
	struct atom *atoms;
	struct poly *polys;
	const char **names;
	uint32_t *sym_atom;
	uint32_t n_atoms, cap_atoms, n_polys, cap_polys, n_syms, cap_syms;
	uint32_t *atom_bucket, *poly_bucket; /* index plus one of the first */
	uint32_t atom_buckets, poly_buckets; /* number of buckets, a power of two */
	uint32_t small[SMALL_CONSTS];        /* polynomials of the first constants: index plus one */
	bool overflow;
	bool closed; /* nothing may be added */
};

/* dim.c. Terms are in atom order, with coefficients other than 0. A result that is too large becomes the constant 0 and sets d->overflow. */
dim poly_intern(struct dims *d, int64_t c0, const struct term *t, uint32_t n);
uint32_t atom_intern(struct dims *d, struct atom x); /* copies the factors */
/* The order of atoms in a polynomial: symbols by number, then other atoms by size and structure; a larger
 * coefficient comes first. */
int atom_order(const struct dims *d, uint32_t a, uint32_t b);
dim atom_dim(struct dims *d, uint32_t atom);
dim times_term(struct dims *d, dim a, struct term t);                    /* a · (coef·atom) */
uint32_t factors_of(const struct dims *d, uint32_t atom, uint32_t *out); /* at most MAX_FACTORS */
dim overflowed(struct dims *d);
/* dim_divide.c: x = c·quot + rest, the coefficients of rest in [0, c). */
void split_by(struct dims *d, dim x, int64_t c, dim *quot, dim *rest);

static inline int64_t floor_div(int64_t a, int64_t b)
{
	if (b == -1)
		return (int64_t)(0 - (uint64_t)a);
	int64_t q = a / b;
	return q - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t floor_mod(int64_t a, int64_t b) { return b == -1 ? 0 : a - floor_div(a, b) * b; }

static inline int64_t gcd(int64_t a, int64_t b)
{
	uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
	while (y) {
		uint64_t t = x % y;
		x = y;
		y = t;
	}
	return (int64_t)x;
}
#endif
