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
/* Appends the source of one form of a micro-kernel. Before the source, the printer defines TRI_NAME (the kernel's name), TRI_BUFFERS and TRI_DIMS (parameters
 * after the operands and after the sizes, each with its comma), and TRI_STORE(batch, row, column, value), which the source calls once for each element of
 * the result. For several products of one row that a launch computes beside each other it also defines TRI_BESIDE: TRI_NEXT(i) for i = 1, 2 …, which sets
 * the source's variables `which`, `group`, pw, ow and N to those of product i, if the work group has a part of it or of one behind it. If groups repeat the block
 * before them, it defines TRI_ROW, which declares local memory and computes the operand there, TRI_X, its address, and TRI_X_SPACE, its address space. */
typedef void text_source_fn(const void *ctx, const struct loop_fn *f, const struct loop_kernel *k, uint32_t form, struct buf *out);
/* The forms of a micro-kernel: it has a kernel of its own for those from `first` to n - 1. If first is not 0, form first - 1 computes all products of its
 * launch, in groups of so many work items. */
struct text_forms {
	uint32_t first, n, group;
};
typedef struct text_forms text_forms_fn(const void *ctx, const struct loop_fn *f, uint32_t stmt);
/* Appends where a statement comes from, for a comment. */
typedef void text_note_fn(const void *ctx, const struct loop_fn *f, uint32_t stmt, struct buf *out);
/* What the back end adds to the text. */
struct text_hooks {
	text_source_fn *source;
	text_forms_fn *forms; /* NULL: there is one */
	text_note_fn *note;   /* NULL: there are no comments */
	const void *ctx;
};
/* Appends the kernels of one unit: SYMBOL_kSTATEMENT for each nest, each block, and each micro-kernel with an epilogue, of which
 * further forms have the names SYMBOL_kSTATEMENT_FORM. Nests beside each other have the kernel of the first one, and products also SYMBOL_kSTATEMENT_all. */
void text_kernels(const struct dialect *d, const struct text_hooks *hooks, const struct loop_fn *f, struct buf *out);
#endif
