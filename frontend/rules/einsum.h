/* Private to einsum*.c: a parsed equation. */
#ifndef TRIB_FRONTEND_RULES_EINSUM_H
#define TRIB_FRONTEND_RULES_EINSUM_H
#include "frontend/rules/builtin.h"

/* Labels are the letters a … z A … Z, then the dimensions of `...`, aligned at the last one. */
enum { LETTERS = 52, ELLIPSIS = LETTERS, LABELS = LETTERS + HIR_MAX_RANK, MAX_OPERANDS = 16 };

/* A tensor whose dimension k has the label label[k]. */
struct einsum_term {
	hir_ref r;
	uint32_t n;
	uint8_t label[HIR_MAX_RANK * 2];
};
struct einsum {
	struct emitter *e;
	struct builtin_call *c;
	const char *text;
	struct einsum_term in[MAX_OPERANDS], out;
	uint32_t n;
	dim size[LABELS];
	uint32_t uses[LABELS]; /* number of operands with the label */
	uint32_t ellipsis;     /* number of dimensions of `...` */
};

/* Reports on argument `arg` and returns false. */
bool einsum_reject(struct einsum *s, uint32_t arg, enum diag_code code, const char *text);
/* Parses `text`: fills in, out, size, uses and ellipsis. False: reported. */
bool einsum_parse(struct einsum *s);
#endif
