/* Packing of weights into the layouts of layouts.def. */
#include <string.h>
#include "backend/interp.h"
#include "backend/plan.h"
#include "backend/runtime/trit2.h"
#include "base/bug.h"

size_t layout_packed_size(enum layout layout, const struct tensor *t)
{
	if (layout == LAYOUT_PLAIN)
		return (size_t)tensor_bytes(t);
	BUG_ON(layout != LAYOUT_TRIT2 || t->elem != DT_TRIT || t->rank != 2);
	return tri_trit2_packed_size(t->dims[0], t->dims[1]);
}

void layout_pack(enum layout layout, const struct tensor *t, void *out)
{
	if (layout == LAYOUT_TRIT2)
		tri_trit2_pack(t->data, t->dims[0], t->dims[1], out);
	else if (tensor_bytes(t))
		memcpy(out, t->data, (size_t)tensor_bytes(t));
}

const char *layout_text(enum layout layout)
{
	static const char *const texts[] = {
#define LAYOUT(id, text) text,
#include "backend/layouts.def"
#undef LAYOUT
	};
	BUG_ON((uint32_t)layout >= LAYOUT_COUNT);
	return texts[layout];
}
