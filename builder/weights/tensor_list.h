/* The tensors of a weights file, of whichever format. */
#ifndef TRIB_BUILDER_WEIGHTS_TENSOR_LIST_H
#define TRIB_BUILDER_WEIGHTS_TENSOR_LIST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "frontend/hir/dtype.h"

/* How elements are stored. GGUF's ternary types: each element is a trit times the scale of its block of 256, or of the tensor. */
enum tensor_encoding { TENSOR_PLAIN, TENSOR_TQ1_0, TENSOR_TQ2_0, TENSOR_I2_S };

struct file_tensor {
	const char *name;
	size_t prefix;    /* length of what was removed before it: `weights.prefix` */
	const char *type; /* as in the file: "F32" */
	dtype elem;       /* DT_COUNT: a type that is not supported */
	enum tensor_encoding encoding;
	uint32_t rank; /* may exceed 8; `dims` holds them all */
	const int64_t *dims;
	const void *data; /* into the file; any alignment */
	size_t bytes;
};
struct tensor_list {
	const struct file_tensor *tensors; /* sorted by name */
	uint32_t n;
};

const struct file_tensor *tensor_list_find(const struct tensor_list *s, const char *name);
/* Sorts tensors by name, for a list. */
void tensor_list_sort(struct file_tensor *list, uint32_t n);
int64_t file_tensor_count(const struct file_tensor *t);

/* Converts elements first … first+n-1, as convert_elements does; *bad counts from the tensor's first element. A ternary tensor has floats, or
 * trits alone for a parameter of trits. */
bool tensor_read(const struct file_tensor *t, int64_t first, size_t n, dtype to, void *out, size_t *bad, double *value);
#endif
