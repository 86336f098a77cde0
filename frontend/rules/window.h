/* Private to the rules of convolutions and pooling: windows that slide along a dimension. */
#ifndef TRIB_FRONTEND_RULES_WINDOW_H
#define TRIB_FRONTEND_RULES_WINDOW_H
#include "frontend/rules/builtin.h"

struct window {
	dim kernel;
	int64_t stride, dilation, before, after; /* padding in elements */
};

/* A number for all of n dimensions, or a list of n; each at least `least`. False: reported, or checking and not known. */
bool need_numbers(struct emitter *e, struct bcall *c, uint32_t i, uint32_t n, int64_t least, int64_t *out);
/* How many windows fit a dimension of the size. `axis` names it: "height". False: none does (reported). */
bool window_count(struct emitter *e, struct bcall *c, const char *axis, dim size, const struct window *w, bool ceil, dim *out);
const char *dim_text(struct emitter *e, dim d);
/* An error that shows the arguments 0 and 1 with their shapes. */
struct diag *operand_error(struct emitter *e, struct bcall *c, enum diag_code code, const struct hir_type *a, const struct hir_type *b,
			   const char *fmt, ...) __attribute__((format(printf, 6, 7)));
struct hir_arg int_list(struct emitter *e, const int64_t *v, uint32_t n);
/* [C, …] as [1, C, …]: *dropped says that the batch must be dropped from the result. */
hir_ref with_batch(struct emitter *e, struct bcall *c, hir_ref x, uint32_t rank, bool *dropped);
/* The value without its first dimension, or as it is. */
struct value drop_batch(struct emitter *e, struct bcall *c, hir_ref x, bool dropped);
#endif
