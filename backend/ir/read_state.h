/* What the files that read the text of the tensor IR share: a cursor in it. */
#ifndef TRIB_BACKEND_IR_READ_STATE_H
#define TRIB_BACKEND_IR_READ_STATE_H
#include "backend/ir/ir.h"

struct reader {
	struct arena *unit;
	const struct source *source;
	const char *at, *end;
	struct diags *diags;
	struct ir_fn *f;
	uint32_t nesting;
	uint32_t cap_inputs, cap_weights;
	bool failed;
};
/* Reports the first error, "… expected", and goes to the end, so that whoever reads on finds nothing. */
void read_fail(struct reader *r, const char *what);
/* All below skip white space and comments first. */
void read_skip(struct reader *r);
bool read_eat(struct reader *r, const char *text); /* false: something else stands here */
void read_expect(struct reader *r, const char *text);
bool read_eat_word(struct reader *r, const char *text);
void read_expect_word(struct reader *r, const char *text);
const char *read_word(struct reader *r); /* letters, digits and underscores; "" if there are none */
int64_t read_number(struct reader *r);
uint32_t read_small_number(struct reader *r, uint32_t limit); /* 0 … limit */
double read_real(struct reader *r);
dim read_dim(struct reader *r);
/* "[…]": how many; at most `limit`, or HIR_MAX_RANK. */
uint32_t read_dims(struct reader *r, dim *out, uint32_t limit);
uint32_t read_ints(struct reader *r, int64_t *out);
struct hir_type read_type(struct reader *r);
#endif
