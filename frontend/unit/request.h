/* What a model asks the elaborator for: the entries, inputs and weights of its manifest. Part of frontend/frontend.h. */
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
	const char *unusable, *remedy; /* of a tensor in the weights file: why it cannot be used, and what to do; NULL: it can */
};
struct elab_request {
	const char *const *entries; /* "DigitsNet", or "Net.prefill" */
	uint32_t n_entries;
	const struct elab_input *inputs;
	uint32_t n_inputs;
	const char *const *weight_names; /* tensors in the weights file: arguments of a function with these names are parameters */
	uint32_t n_weight_names;
	const struct elab_input *weights; /* optional: the types of those tensors, for dimensions that the declarations leave open */
	uint32_t n_weights;
	const char *main; /* optional: the file whose main blocks become the entry "main", without inputs or outputs */
	span at;          /* the manifest's line, for errors about the entry itself */
};
#endif
