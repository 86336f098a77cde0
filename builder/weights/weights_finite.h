/* Parameters that are quantized at build time must be finite: the trits of NaN and infinity have no meaning. */
#ifndef TRIB_BUILDER_WEIGHTS_WEIGHTS_FINITE_H
#define TRIB_BUILDER_WEIGHTS_WEIGHTS_FINITE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/source.h"
#include "frontend/hir/dtype.h"

struct arena;
struct hir_program;

/* For each parameter of the program, the quantizer that its value reaches at build time; SPAN_NONE: none. In `a`. */
const span *weights_quantizers(struct arena *a, const struct hir_program *p);
/* True if every element is finite; else *at is the first that is not. `data` may have any alignment. */
bool weights_finite(dtype elem, const void *data, size_t n, size_t *at);
#endif
