/* Reads the tokens of an IR's text: numbers, words, dims, types, texts in quotes, elements. Shared by the readers of the tensor IR and of
 * the loop IR. */
#ifndef TRIB_BACKEND_IR_READ_TOKEN_H
#define TRIB_BACKEND_IR_READ_TOKEN_H
#include "backend/ir/ir.h"

struct ir_reader {
	struct arena *unit;
	const struct source *source;
	const char *at, *end;
	struct diags *diags;
	struct dims *dims; /* whose symbols the text may name */
	uint32_t nesting;
	bool failed;
	struct ir_fn_reader *fn; /* the state of the tensor IR's reader; NULL in others */
};
/* Starts at the beginning of the text. */
struct ir_reader ir_reader_of(struct arena *unit, const struct source *text, struct diags *diags);
/* Reports the first error, "… expected", and skips the rest of the text. */
void ir_read_fail(struct ir_reader *r, const char *what);
/* The functions below skip white space and comments first. ir_read_eat returns false if the text is a different one, or continues a word. */
void ir_read_space(struct ir_reader *r);
bool ir_read_eat(struct ir_reader *r, const char *text);
void ir_read_expect(struct ir_reader *r, const char *text);
/* True if the text is one word of letters, digits and underscores. */
bool ir_is_word(const char *text);
const char *ir_read_word(struct ir_reader *r); /* letters, digits and underscores; "" if there are none */
int64_t ir_read_int(struct ir_reader *r);
uint32_t ir_read_u32(struct ir_reader *r, uint32_t limit); /* 0 … limit */
double ir_read_real(struct ir_reader *r);
dim ir_read_dim(struct ir_reader *r);
/* Read "[…]" and return the number of items: at most `limit` dims, at most HIR_MAX_RANK integers. */
uint32_t ir_read_dims(struct ir_reader *r, dim *out, uint32_t limit);
uint32_t ir_read_ints(struct ir_reader *r, int64_t *out);
dtype ir_read_elem(struct ir_reader *r); /* DT_INT8 after an error */
struct hir_type ir_read_type(struct ir_reader *r);
enum layout ir_read_layout(struct ir_reader *r); /* LAYOUT_PLAIN after an error */
/* Adds the symbols of "(N, N//2, M)" to r->dims, and dims of them in between: the order of terms depends on which came first. */
void ir_read_symbols(struct ir_reader *r);
/* A text in quotes, and what writes it. */
const char *ir_read_text(struct ir_reader *r);
void ir_print_text(const char *text, struct buf *out);
/* "{1, 2}": as many elements as the type has, and what writes them. The dims of the type must be constant. */
const void *ir_read_elements(struct ir_reader *r, const struct hir_type *t);
void ir_print_elements(const struct dims *d, const struct hir_type *t, const void *data, struct buf *out);
void ir_print_real(double v, const char *format, struct buf *out); /* "nan" and "inf" in place of what the format gives */
#endif
