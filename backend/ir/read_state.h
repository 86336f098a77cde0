/* Private to this folder: reads the tokens of the IR's text. */
#ifndef TRIB_BACKEND_IR_READ_STATE_H
#define TRIB_BACKEND_IR_READ_STATE_H
#include "backend/ir/ir.h"

struct ir_reader {
	struct arena *unit;
	const struct source *source;
	const char *at, *end;
	struct diags *diags;
	struct ir_fn *f;
	uint32_t nesting;
	uint32_t cap_inputs, cap_weights;
	uint32_t n_operands;  /* of the instruction that is read */
	const char *elements; /* where the elements of its constant begin; NULL: none */
	bool failed;
};
/* Reports the first error, "… expected", and skips the rest of the text. */
void ir_read_fail(struct ir_reader *r, const char *what);
/* The functions below skip white space and comments first. ir_read_eat returns false if the text is a different one, or continues a word. */
void ir_read_space(struct ir_reader *r);
bool ir_read_eat(struct ir_reader *r, const char *text);
void ir_read_expect(struct ir_reader *r, const char *text);
const char *ir_read_word(struct ir_reader *r); /* letters, digits and underscores; "" if there are none */
int64_t ir_read_int(struct ir_reader *r);
uint32_t ir_read_u32(struct ir_reader *r, uint32_t limit); /* 0 … limit */
double ir_read_real(struct ir_reader *r);
dim ir_read_dim(struct ir_reader *r);
/* Read "[…]" and return the number of items: at most `limit` dims, at most HIR_MAX_RANK integers. */
uint32_t ir_read_dims(struct ir_reader *r, dim *out, uint32_t limit);
uint32_t ir_read_ints(struct ir_reader *r, int64_t *out);
struct hir_type ir_read_type(struct ir_reader *r);
#endif
