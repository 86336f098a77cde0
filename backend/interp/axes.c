/* The dims that an operation reduces or keeps. */
#include "backend/interp/axes.h"
#include <stdlib.h>
#include "backend/interp/state.h"
#include "base/bug.h"

struct axes axes_of(const struct tensor *x, uint32_t mask, uint32_t want)
{
	struct axes a = {.count = 1, .row = true};
	int64_t stride = 1, strides[8];
	for (uint32_t k = x->rank; k-- > 0;) {
		strides[k] = stride;
		stride *= x->dims[k];
	}
	for (uint32_t k = 0; k < x->rank; k++)
		if ((mask >> k & 1) == want)
			a.at[a.n++] = (struct axis){x->dims[k], strides[k]};
	for (uint32_t k = a.n; k-- > 0; a.count *= a.at[k].size)
		a.row = a.row && a.at[k].stride == a.count;
	return a;
}

int64_t axes_offset(const struct axes *a, int64_t index)
{
	if (a->row)
		return index;
	int64_t offset = 0;
	for (uint32_t k = a->n; k-- > 0;) {
		offset += index % a->at[k].size * a->at[k].stride;
		index /= a->at[k].size;
	}
	return offset;
}

double rounded_to(dtype elem, double v)
{
	double held = 0;
	elem_put_float(elem, &held, 0, v);
	return elem_float(elem, &held, 0);
}

struct tensor broadcast_to(const struct tensor *x, const struct tensor *out)
{
	struct tensor t = *out;
	t.elem = x->elem;
	t.data = malloc((size_t)tensor_bytes(&t) + 1);
	if (!t.data)
		bug_no_memory();
	interp_broadcast(x, &t);
	return t;
}
