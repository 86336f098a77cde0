/* Dimensions: integer expressions over the run-time symbols of one unit, in the canonical form c0 + Σ ci·atom. An atom is a symbol, a
 * product, or an opaque floor division or modulus. They are hash-consed: equal handles are equal dimensions. The form depends on the value
 * alone, not on what was made before it. A function that takes a const table adds nothing to it, so threads may share the table. */
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
/* The number of entries at one time. dims_copy_at copies the table as it was then; older handles stay valid in the copy. */
struct dims_mark {
	uint32_t atoms, polys, syms;
};
struct dims_mark dims_mark(const struct dims *d);
struct dims *dims_copy_at(struct arena *a, const struct dims *d, struct dims_mark m);
struct dims *dims_copy(struct arena *a, const struct dims *d);
/* From now on the table cannot grow: a function that could add to it aborts. */
void dims_close(struct dims *d);
/* Returns a new symbol, with a name for messages. Symbols are numbered from 0. */
dim dim_new_sym(struct dims *d, const char *name);
uint32_t dims_syms(const struct dims *d);
const char *dims_sym_name(const struct dims *d, uint32_t sym);
void dims_rename_sym(struct dims *d, uint32_t sym, const char *name);
dim dim_sym(struct dims *d, uint32_t sym);
dim dim_const(struct dims *d, int64_t v);
dim dim_add(struct dims *d, dim a, dim b);
dim dim_sub(struct dims *d, dim a, dim b);
dim dim_mul(struct dims *d, dim a, dim b);
dim dim_product(struct dims *d, const dim *x, uint32_t n); /* of n dims; 1 if there are none */
dim dim_floordiv(struct dims *d, dim a, dim b);            /* b must not be the constant 0 */
dim dim_mod(struct dims *d, dim a, dim b);
static inline bool dim_eq(dim a, dim b) { return a.idx == b.idx; }
/* Returns 1 if equal, -1 if different for all values of the symbols, 0 if it depends on them or is unknown. */
int dim_compare(const struct dims *d, dim a, dim b);
/* Solves coef·x = value for all values of the symbols; coef is not 0. Returns 1 with *x, -1 if there is no solution, 0 if it depends on
 * them. */
int dim_divide_exact(struct dims *d, dim value, int64_t coef, dim *x);
/* Returns the greatest common divisor of all coefficients of x: 4 for 8*N + 4, 0 for the constant 0. */
int64_t dim_common_factor(const struct dims *d, dim x);
/* Splits a into coef·sym + rest, where rest does not depend on `sym`. False: a is not linear in it. */
bool dim_linear_in(struct dims *d, dim a, uint32_t sym, int64_t *coef, dim *rest);
/* True if x is a·sym + b, where a and b depend on other symbols at most: `sym` follows from these and x. */
bool dim_determines(const struct dims *d, dim x, uint32_t sym);
/* True if x depends on symbol `sym`. */
bool dim_depends_on(const struct dims *d, dim x, uint32_t sym);
/* Calls f for each occurrence of a symbol in x. */
void dim_each_sym(const struct dims *d, dim x, void (*f)(void *ctx, uint32_t sym), void *ctx);
/* True if a result overflowed 64 bits or became too large since the last call. Such results are the constant 0. */
bool dims_overflowed(struct dims *d);
/* True for a constant, with its value in *v, which may be NULL. */
bool dim_is_const(const struct dims *d, dim x, int64_t *v);
bool dim_is_sym(const struct dims *d, dim x, uint32_t *sym);
/* Returns the value of x if symbol k is syms[k]. */
int64_t dim_eval(const struct dims *d, dim x, const int64_t *syms);
/* Translates x of `from` to `to`; symbol k becomes map[k]. */
dim dim_translate(struct dims *to, const struct dims *from, dim x, const dim *map);
/* Appends e.g. "2*N + 1". */
void dim_print(const struct dims *d, dim x, struct buf *out);
/* The same for messages: a second symbol of the same name gets a number, `H_2`. */
void dim_print_apart(const struct dims *d, dim x, struct buf *out);

/* Appends the symbols, and the products, quotients and remainders in x, in the order of the table: "N, N//2, M". Who makes them in this order
 * has sums with the same order of terms. */
void dims_print_atoms(const struct dims *d, const dim *x, uint32_t n, struct buf *out);

/* The canonical form as a postfix program of a stack machine, for printers and code generators. */
enum dim_op { DIM_PUSH_CONST, DIM_PUSH_SYM, DIM_OP_ADD, DIM_OP_MUL, DIM_OP_FLOORDIV, DIM_OP_MOD };
struct dim_step {
	enum dim_op op;
	int64_t value; /* constant or symbol number */
};
/* Writes the steps, at most `cap`, and returns their number. */
uint32_t dim_program(const struct dims *d, dim x, struct dim_step *steps, uint32_t cap);

/* Serializes the dims that are added, with all symbols, but without their names. A reader gets the handles that dims_writer_add returns:
 * they depend on what is added, and not on what else is in d. */
struct dims_writer;
struct dims_writer *dims_writer_new(struct arena *a, const struct dims *d);
uint32_t dims_writer_add(struct dims_writer *writer, dim x);
void dims_writer_finish(const struct dims_writer *writer, struct buf *out);
/* Reads and checks what dims_writer_finish wrote. NULL: it is invalid, and in->ok is false. */
struct dims *dims_read(struct arena *a, struct varint_in *in);
/* Handles are 0 … dims_count - 1. */
uint32_t dims_count(const struct dims *d);
#endif
