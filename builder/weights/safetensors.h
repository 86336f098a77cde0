/* Safetensors files: a JSON header over one block of data, https://github.com/huggingface/safetensors. Parsed in place: the data is not
 * read. */
#ifndef TRIB_BUILDER_WEIGHTS_SAFETENSORS_H
#define TRIB_BUILDER_WEIGHTS_SAFETENSORS_H
#include <stddef.h>
#include <stdint.h>
#include "frontend/hir/dtype.h"

struct arena;

struct st_tensor {
	const char *name;
	const char *type; /* as in the file: "F32" */
	dtype elem;       /* DT_COUNT: a type that is not supported */
	uint32_t rank;    /* may exceed 8; `dims` holds them all */
	const int64_t *dims;
	const void *data; /* into the file; any alignment */
	size_t bytes;
};
struct safetensors {
	const struct st_tensor *tensors; /* sorted by name */
	uint32_t n;
};

/* Memory in `a`; the tensors' data points into `bytes`. NULL: *error (in `a`) says why. */
const struct safetensors *safetensors_parse(struct arena *a, const void *bytes, size_t len, const char **error);
const struct st_tensor *safetensors_find(const struct safetensors *s, const char *name);
#endif
