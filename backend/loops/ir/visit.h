/* All fields of a loop function, one after the other. Tests change them. */
#ifndef TRIB_BACKEND_LOOPS_IR_VISIT_H
#define TRIB_BACKEND_LOOPS_IR_VISIT_H
#include "backend/loops/ir/loops.h"

enum loop_field_kind {
	FIELD_NUMBER,  /* uint32_t, 0 … most */
	FIELD_WORD,    /* an enumerator 0 … most, in *(uint32_t *)at, from where it is stored */
	FIELD_INTEGER, /* int64_t */
	FIELD_REAL,    /* double */
	FIELD_DIM,     /* dim */
	FIELD_COUNT    /* uint32_t, the length of a list: may become smaller */
};
struct loop_field {
	enum loop_field_kind kind;
	void *at;
	uint32_t most;
};
typedef void loop_field_fn(void *ctx, const struct loop_field *field);
void loops_visit(struct loop_fn *f, loop_field_fn *fn, void *ctx);
#endif
