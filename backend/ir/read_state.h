/* Private to this folder: the state of reading one function. */
#ifndef TRIB_BACKEND_IR_READ_STATE_H
#define TRIB_BACKEND_IR_READ_STATE_H
#include "backend/ir/read_token.h"

enum { NO_EACH = UINT32_MAX };
struct ir_fn_reader {
	struct ir_fn *f;
	uint32_t cap_inputs, cap_weights;
	uint32_t n_operands;  /* of the instruction that is read */
	const char *elements; /* where the elements of its constant begin; NULL: none */
	uint32_t n_each;      /* the length of its attributes that have a value for each dim of the result; NO_EACH: it has none */
};
#endif
