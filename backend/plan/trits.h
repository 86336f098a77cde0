/* Private to this folder: trits in the layouts of the weight table. */
#ifndef TRIB_BACKEND_PLAN_TRITS_H
#define TRIB_BACKEND_PLAN_TRITS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "backend/ir/tensor.h"
#include "backend/plan/plan.h"

/* True if the layout is one of a matrix of trits. */
bool trits_are_matrix(enum layout layout);
size_t trits_packed_size(enum layout layout, const struct tensor *t);
/* Packs t, or the transpose of a matrix t. */
void trits_pack(enum layout layout, const struct tensor *t, bool is_transposed, void *out);

/* In layout.c: copies [A, B, C] to [A, C, B]; `size` bytes for each element. */
void layout_swap(const char *from, int64_t a, int64_t b, int64_t c, size_t size, char *to);
#endif
