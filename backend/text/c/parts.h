/* The parts that the C text of a model may use: helpers, and micro-kernels as plain loops (sources/). */
#ifndef TRIB_BACKEND_TEXT_C_PARTS_H
#define TRIB_BACKEND_TEXT_C_PARTS_H
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct loop_fn;
struct loop_kernel;

/* The source of a micro-kernel with an epilogue, a text_source_fn. */
void c_source(const void *ctx, const struct loop_fn *f, const struct loop_kernel *k, uint32_t form, struct buf *out);
/* Appends all parts that `text` names, and those that they name, each before its users. `own`: parts as in sources/, which are preferred; NULL: none. */
void c_parts_put(const char *text, const char *own, struct buf *out);
#endif
