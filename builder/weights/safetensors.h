/* Safetensors files: a JSON header over one block of data, https://github.com/huggingface/safetensors. Parsed in place: the data is not
 * read. */
#ifndef TRIB_BUILDER_WEIGHTS_SAFETENSORS_H
#define TRIB_BUILDER_WEIGHTS_SAFETENSORS_H
#include "builder/weights/tensor_list.h"

struct arena;

/* Memory in `a`; the tensors' data points into `bytes`. NULL: *error (in `a`) says why. */
const struct tensor_list *safetensors_parse(struct arena *a, const void *bytes, size_t len, const char **error);
#endif
