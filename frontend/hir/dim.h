/* Dimensions: integer expressions over the run-time symbols of one unit, hash-consed into a canonical linear form, so that equal handles mean
 * equal dimensions. c0 + Σ ci·atom, an atom being a symbol or an opaque product, floor division or modulus. */
#ifndef TRIB_FRONTEND_HIR_DIM_H
#define TRIB_FRONTEND_HIR_DIM_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct dims;
struct varint_in;
typedef struct {
	uint32_t idx;
} dim;

struct dims *dims_new(struct arena *a);
/* How much was in it at some time; and as it was then, to go on from there: handles of that time mean the same in the copy. */
struct dims_mark {
	uint32_t atoms, polys, syms;
};
struct dims_mark dims_mark(const struct dims *d);
struct dims *dims_copy_at(struct arena *a, const struct dims *d, struct dims_mark m);
/* A fresh symbol with a name for people; symbols are numbered from 0. */
dim dim_new_sym(struct dims *d, const char *name);
uint32_t dims_syms(const struct dims *d);
const char *dims_sym_name(const struct dims *d, uint32_t sym);
dim dim_sym(struct dims *d, uint32_t sym);
dim dim_const(struct dims *d, int64_t v);
dim dim_add(struct dims *d, dim a, dim b);
dim dim_sub(struct dims *d, dim a, dim b);
dim dim_mul(struct dims *d, dim a, dim b);
dim dim_floordiv(struct dims *d, dim a, dim b); /* of a constant zero: BUG, the caller has reported it */
dim dim_mod(struct dims *d, dim a, dim b);
static inline bool dim_eq(dim a, dim b) { return a.idx == b.idx; }
/* -1: different for every value of the symbols; 1: equal; 0: it depends, or this module cannot tell. */
int dim_compare(struct dims *d, dim a, dim b);
/* The x with coef·x = value for every value of the symbols into *x; 0 when it depends, -1 when there is none. coef is not 0. */
int dim_divide_exact(struct dims *d, dim value, int64_t coef, dim *x);
/* The largest constant that divides every coefficient of x: 4 of 8*N + 4. 0 of constant 0. */
int64_t dim_common_factor(const struct dims *d, dim x);
/* a as coef·atom + rest where atom is symbol `sym` and rest does not mention it. False: not linear in it. */
bool dim_linear_in(struct dims *d, dim a, uint32_t sym, int64_t *coef, dim *rest);
/* Does x mention symbol `sym`? Calls f for every symbol of x otherwise. */
bool dim_depends_on(const struct dims *d, dim x, uint32_t sym);
void dim_each_sym(const struct dims *d, dim x, void (*f)(void *ctx, uint32_t sym), void *ctx);
/* Since the last call: did arithmetic overflow 64 bits, or an expression grow beyond all reason? (Such results are constant 0.) */
bool dims_overflowed(struct dims *d);
/* Is it a constant? Then its value into *v. */
bool dim_is_const(const struct dims *d, dim x, int64_t *v);
bool dim_is_sym(const struct dims *d, dim x, uint32_t *sym);
/* Value for the given symbol values (syms[k] is symbol k). */
int64_t dim_eval(const struct dims *d, dim x, const int64_t *syms);
/* x of `from` rewritten in `to`, symbol k becoming map[k]. */
dim dim_translate(struct dims *to, const struct dims *from, dim x, const dim *map);
/* Appends e.g. "2*N + 1". */
void dim_print(const struct dims *d, dim x, struct buf *out);
/* The same for messages: a second symbol of one name gets a number, so that different sizes look different. */
void dim_print_apart(const struct dims *d, dim x, struct buf *out);

/* The canonical form, for printers and code generators. Postfix over a stack machine. */
enum dim_op { DIM_PUSH_CONST, DIM_PUSH_SYM, DIM_OP_ADD, DIM_OP_MUL, DIM_OP_FLOORDIV, DIM_OP_MOD };
struct dim_step {
	enum dim_op op;
	int64_t value; /* constant or symbol number */
};
/* Writes the steps (at most `cap`) and returns how many there are. */
uint32_t dim_program(const struct dims *d, dim x, struct dim_step *steps, uint32_t cap);

/* Appends all that d holds, so that whoever reads it has the same handles for the same dimensions; the names of symbols are left out. */
void dims_write(const struct dims *d, struct buf *out);
/* Takes what dims_write wrote; nothing in it is believed. NULL: it is something else, and in->ok is false. */
struct dims *dims_read(struct arena *a, struct varint_in *in);
/* Handles are 0 … dims_count - 1. */
uint32_t dims_count(const struct dims *d);
#endif
