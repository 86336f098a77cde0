/* What a model asks the elaborator for: entries, inputs and weights of the manifest. Part of frontend/frontend.h. */
#ifndef TRIB_FRONTEND_UNIT_REQUEST_H
#define TRIB_FRONTEND_UNIT_REQUEST_H
#include <stdint.h>
#include "base/source.h"
#include "frontend/hir/dtype.h"

#define DIM_DYNAMIC (-1)
struct elab_input {
	const char *name;
	dtype elem;
	uint8_t rank;
	int64_t dims[8];               /* DIM_DYNAMIC for `?` */
	span at;                       /* its line in the manifest */
	const char *unusable, *remedy; /* of a tensor in the weights file: why the language cannot take it, and what to do; NULL: it can */
};
struct elab_request {
	const char *const *entries; /* "DigitsNet", or "Net.prefill" */
	uint32_t n_entries;
	const struct elab_input *inputs;
	uint32_t n_inputs;
	const char *const *weight_names; /* tensors in the weights file: in the functional form these arguments are parameters */
	uint32_t n_weight_names;
	const struct elab_input *weights; /* optional: types of those tensors, which solve dimensions that the declarations leave open */
	uint32_t n_weights;
	const char *main; /* optional: the file whose main blocks are elaborated, as the entry "main" without inputs or outputs */
	span at;          /* where the request stands in the manifest, for errors about the entry itself */
};
#endif
