/* GGUF files, as llama.cpp and bitnet.cpp write them (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). Parsed in place: the data is
 * not read. Supported element types: F32, F16, BF16, F64, I8 … I64, and the ternary TQ1_0, TQ2_0 and I2_S. */
#ifndef TRIB_BUILDER_WEIGHTS_GGUF_H
#define TRIB_BUILDER_WEIGHTS_GGUF_H
#include "builder/weights/tensor_list.h"

struct arena;

/* Memory in `a`; the tensors' data points into `bytes`. NULL: *error (in `a`) says why. */
const struct tensor_list *gguf_parse(struct arena *a, const void *bytes, size_t len, const char **error);
#endif
