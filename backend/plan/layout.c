/* Host tensors in the layouts of the weight table. */
#include <string.h>
#include "backend/ir/tensor.h"
#include "backend/plan/plan.h"
#include "backend/runtime/trit2.h"
#include "base/bug.h"

size_t layout_packed_size(enum layout layout, const struct tensor *t)
{
	if (layout == LAYOUT_PLAIN)
		return (size_t)tensor_bytes(t);
	BUG_ON(layout != LAYOUT_TRIT2 || t->rank != 2 || t->elem != DT_TRIT);
	return tri_trit2_packed_size(t->dims[0], t->dims[1]);
}

void layout_pack(enum layout layout, const struct tensor *t, void *out)
{
	size_t bytes = layout_packed_size(layout, t);
	if (layout == LAYOUT_TRIT2)
		tri_trit2_pack(t->data, t->dims[0], t->dims[1], out);
	else if (bytes)
		memcpy(out, t->data, bytes);
}
