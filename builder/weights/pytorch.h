/* Files of torch.save since PyTorch 1.6: a zip archive with a pickle of the tensors' names and shapes, and an entry for the data of each storage.
 * The pickle is not executed (pickle.h). Parsed in place: the data is not read. */
#ifndef TRIB_BUILDER_WEIGHTS_PYTORCH_H
#define TRIB_BUILDER_WEIGHTS_PYTORCH_H
#include "builder/weights/tensor_list.h"

struct arena;

/* Tensors of nested dictionaries have names such as "state_dict.fc.weight". Memory in `a`; the tensors' data points into `bytes`. NULL: *error
 * (in `a`) says why. */
const struct tensor_list *pytorch_parse(struct arena *a, const void *bytes, size_t len, const char **error);
#endif
