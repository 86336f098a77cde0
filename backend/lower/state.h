/* Private to this folder: the unit that is lowered. */
#ifndef TRIB_BACKEND_LOWER_STATE_H
#define TRIB_BACKEND_LOWER_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/build.h"

struct diags;
enum { LOWER_RESULTS = 4 };

struct lower {
	struct ir_fn *f;
	struct ir_builder *b; /* emits into f, at the current node */
	const struct hir_unit *u;
	struct diags *diags;
	const dim *syms; /* inlined: the value of each symbol of the unit in the fn. NULL: the fn's dims are a copy of the unit's */
	ir_ref (*values)[LOWER_RESULTS]; /* of each HIR node */
	const struct hir_node *n;        /* the current node */
	const struct lowering *how;
	int64_t streams; /* number of random streams so far */
	bool failed;
};

/* How a builtin is lowered: `fn` emits it and stores the results of the node; `op` is for functions that serve several builtins. */
typedef void lower_fn(struct lower *l, ir_ref *results);
#define LOWER(builtin, function, op) lower_fn lower_bi_##function;
#include "backend/lower/lowerings.def"
#undef LOWER
struct lowering {
	lower_fn *fn;
	enum ir_op op;
};
/* Returns the lowering of builtin b. fn is NULL if the front end composes b of others. */
const struct lowering *lowering_of(enum builtin b);

/* ---- arguments of the node (args.c) ---- */
bool lower_has(const struct lower *l, uint32_t k);
ir_ref lower_tensor(struct lower *l, uint32_t k); /* IR_NONE if absent */
int64_t lower_int(struct lower *l, uint32_t k);   /* ARG_INT, ARG_BOOL, constant ARG_DIM */
double lower_float(struct lower *l, uint32_t k);
dim lower_dim(struct lower *l, uint32_t k);
bool lower_str_is(const struct lower *l, uint32_t k, const char *text);
uint32_t lower_list(const struct lower *l, uint32_t k, const struct hir_arg **items); /* a single argument is a list of one */
/* Returns the reduced dims as a mask. The argument is an int, a list, or absent: all dims. */
uint32_t lower_mask(struct lower *l, uint32_t k, uint32_t rank);
dim lower_translate(struct lower *l, dim x);
struct hir_type lower_type(struct lower *l, const struct hir_type *t);
/* Returns the type of the node. */
struct hir_type lower_node_type(struct lower *l);
void lower_fail(struct lower *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Emits the softmax over the dims of the mask, or its logarithm. */
ir_ref lower_softmax(struct lower *l, ir_ref x, uint32_t mask, bool log);
#endif
