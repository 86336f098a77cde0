/* Private to einsum*.c: an equation as it is read. */
#ifndef TRIB_FRONTEND_RULES_EINSUM_H
#define TRIB_FRONTEND_RULES_EINSUM_H
#include "frontend/rules/builtin.h"

/* Labels are letters, a … z A … Z, and behind them the dimensions that `...` stands for, aligned at the last. */
enum { LETTERS = 52, ELLIPSIS = LETTERS, LABELS = LETTERS + HIR_MAX_RANK, MAX_OPERANDS = 16 };

/* A tensor whose dimension k is called label[k]. */
struct term {
	hir_ref r;
	uint32_t n;
	uint8_t label[HIR_MAX_RANK * 2];
};
struct einsum {
	struct emitter *e;
	struct bcall *c;
	const char *text;
	struct term in[MAX_OPERANDS], out;
	uint32_t n;
	dim size[LABELS];
	uint32_t uses[LABELS]; /* by operands */
	uint32_t ellipsis;     /* dimensions that `...` stands for */
};

/* Reports on argument `arg` and returns false. */
bool einsum_fails(struct einsum *s, uint32_t arg, enum diag_code code, const char *text);
/* Fills in, out, size, uses and ellipsis from text and the operands. False: reported. */
bool einsum_read(struct einsum *s);
#endif
