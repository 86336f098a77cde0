/* Windows that slide along a dimension, for the rules of convolutions and pooling. */
#ifndef TRIB_FRONTEND_RULES_WINDOW_H
#define TRIB_FRONTEND_RULES_WINDOW_H
#include "frontend/rules/builtin.h"

struct window {
	dim kernel;
	int64_t stride, dilation, before, after; /* padding in elements */
};

/* Reads one number for n dimensions, or a list of n; each is at least `least`. False: reported, or unknown while checking. */
bool need_numbers(struct emitter *e, struct builtin_call *c, uint32_t i, uint32_t n, int64_t least, int64_t *out);
/* Counts the windows in a dimension of that size. `axis` names it: "height". False: no window fits (reported). */
bool window_count(struct emitter *e, struct builtin_call *c, const char *axis, dim size, const struct window *w, bool ceil, dim *out);
/* Reports an error with labels for the shapes of arguments 0 and 1. */
struct diag *operand_error(struct emitter *e, struct builtin_call *c, enum diag_code code, const struct hir_type *a,
			   const struct hir_type *b, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
struct hir_arg int_list(struct emitter *e, const int64_t *v, uint32_t n);
/* Reshapes [C, …] to [1, C, …]. *dropped: drop_batch must remove the batch from the result. */
hir_ref with_batch(struct emitter *e, struct builtin_call *c, hir_ref x, uint32_t rank, bool *dropped);
/* Removes the first dimension of x if `dropped`. */
struct value drop_batch(struct emitter *e, struct builtin_call *c, hir_ref x, bool dropped);
#endif
