/* For programs that call built libraries: the sizes of tensors, and memory between inaccessible pages. */
#ifndef TRIB_TESTS_DIFF_GUARDED_H
#define TRIB_TESTS_DIFF_GUARDED_H
#include <stdlib.h>
#include <sys/mman.h>
#include "backend/runtime/abi/tri.h"

enum { PAGE = 4096, MAX_TENSORS = 16, MAX_SIZES = 64, MAX_LINE = 4096 };

struct guarded {
	char *pages, *data;
	size_t all, size;
};

/* Memory whose last byte is the last of a page, between pages that cannot be read. Aborts if there is none. */
static inline struct guarded guarded_new(size_t size)
{
	size_t inside = (size + PAGE - 1) / PAGE * PAGE;
	struct guarded g = {.all = inside + 2 * PAGE, .size = size};
	g.pages = mmap(NULL, g.all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (g.pages == MAP_FAILED || (inside && mprotect(g.pages + PAGE, inside, PROT_READ | PROT_WRITE) != 0))
		abort();
	g.data = g.pages + PAGE + inside - size;
	return g;
}

/* The value of a dimension, wrapped. */
static inline int64_t dim_of(const tri_dim_desc *d, const int64_t *sizes)
{
	int64_t stack[64];
	int top = 0;
	for (int32_t i = 0; i < d->n_steps; i++) {
		const tri_dim_step *s = &d->steps[i];
		if (s->op == TRI_DIM_CONST || s->op == TRI_DIM_SYM) {
			stack[top++] = s->op == TRI_DIM_CONST ? s->value : sizes[s->value];
			continue;
		}
		int64_t b = stack[--top], *a = &stack[top - 1], q = b && b != -1 ? *a / b - (*a % b != 0 && (*a < 0) != (b < 0)) : 0;
		if (s->op == TRI_DIM_ADD)
			*a = (int64_t)((uint64_t)*a + (uint64_t)b);
		else if (s->op == TRI_DIM_MUL)
			*a = (int64_t)((uint64_t)*a * (uint64_t)b);
		else
			*a = s->op == TRI_DIM_FLOORDIV ? q : (int64_t)((uint64_t)*a - (uint64_t)q * (uint64_t)b);
	}
	return stack[0];
}

static inline size_t bytes_of(int32_t dtype)
{
	static const uint8_t bytes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 1};
	return dtype < 0 || dtype > TRI_UINT8 ? 1 : bytes[dtype];
}
#endif
