/* Prints loop IR as text of a C-like language. */
#ifndef TRIB_BACKEND_TEXT_TEXT_H
#define TRIB_BACKEND_TEXT_TEXT_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/kernels/kernel.h"

struct buf;
struct dialect;
struct loop_fn;
struct loop_kernel;

/* Defines TRI_FIELDS for the source of a micro-kernel: the fields of its record as parameters, and, if it may fail, the one for run-time errors. */
void text_fields(const struct dialect *d, enum kernel k, struct buf *out);
/* Appends the source of one form of a micro-kernel that has an epilogue. Returns true if there is a further form. Before the source, the printer defines
 * TRI_NAME (the kernel's name), TRI_BUFFERS and TRI_DIMS (parameters after the operands and after the sizes, each with its comma), and
 * TRI_STORE(batch, row, column, value), which the source calls once for each element of the result. */
typedef bool text_source_fn(const void *ctx, const struct loop_fn *f, const struct loop_kernel *k, uint32_t form, struct buf *out);
/* Appends where a statement comes from, for a comment. */
typedef void text_note_fn(const void *ctx, const struct loop_fn *f, uint32_t stmt, struct buf *out);
/* What the back end adds to the text. */
struct text_hooks {
	text_source_fn *source;
	text_note_fn *note; /* NULL: there are no comments */
	const void *ctx;
};
/* Appends the kernels of one unit: SYMBOL_kSTATEMENT for each nest, each block, and each micro-kernel with an epilogue, of which
 * further forms have the names SYMBOL_kSTATEMENT_FORM. */
void text_kernels(const struct dialect *d, const struct text_hooks *hooks, const struct loop_fn *f, struct buf *out);
#endif
