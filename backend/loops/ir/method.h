/* How an operation is computed, with the error that this allows. */
#ifndef TRIB_BACKEND_LOOPS_IR_METHOD_H
#define TRIB_BACKEND_LOOPS_IR_METHOD_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/ir.h"

enum loop_method {
	METHOD_PLAIN, /* as the library of the target does, or correctly rounded */
#define METHOD(id, word) METHOD_##id,
#include "backend/loops/ir/methods.def"
#undef METHOD
	METHOD_COUNT
};
const char *method_text(enum loop_method m);
/* If the method computes the operation, returns true and its greatest error, as approximations.def says. */
bool method_error(enum loop_method m, enum ir_op op, double *error);
#endif
