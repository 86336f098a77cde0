/* Layers that PyTorch or trib's package has under the same name. */
#ifndef TRIB_BACKEND_PYTORCH_NATIVE_H
#define TRIB_BACKEND_PYTORCH_NATIVE_H
#include <stdbool.h>

struct hir_layer;
struct hir_value;
struct printer;

/* A row of layers.def. */
struct native {
	const char *name, *python, *args;
};
/* NULL: Python has no such layer. */
const struct native *native_layer(const struct hir_layer *l);
/* True for a layer that takes and gives its two states as a pair. */
bool native_takes_pair(const struct hir_layer *l);
/* Returns the call that makes the layer, with holes. */
const char *native_call(struct printer *p, const struct native *n, const struct hir_layer *l);
/* Returns an argument of a layer as Python: "(3, 3)". */
const char *layer_value_text(struct printer *p, const struct hir_value *v);
#endif
