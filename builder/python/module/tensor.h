/* Tensors of Python as tensors of a library: DLPack, without a copy. */
#ifndef TRIB_PYTHON_TENSOR_H
#define TRIB_PYTHON_TENSOR_H
#include <stdbool.h>
#include "builder/python/module/python.h"

enum { TENSOR_ERROR = -1, TENSOR_OTHER, TENSOR_OK };

/* Finds the framework of an object by its type: an enum framework_index, FRAMEWORK_NONE for another type, or -2 with an exception. */
int tensor_framework(struct module_state *state, PyObject *object);
/* Describes memory that the object shares through DLPack, and stores in *owner what keeps it; the caller releases it. TENSOR_OTHER: the object has
 * no such memory, or it is of another element type, not dense and aligned, on another device, or may need a gradient. */
int tensor_share(struct module_state *state, int framework, PyObject *object, int32_t dtype, tri_tensor *out, PyObject **owner);
/* The same for an address, a shape and an owner: the tuple that trib.tensors returns. `memory` is consumed. False: an exception is set. */
bool tensor_unpack(PyObject *memory, int32_t dtype, tri_tensor *out, PyObject **owner);
/* Makes an uninitialised tensor. `shape` is a tuple. NULL: an exception is set. */
PyObject *tensor_make(struct module_state *s, int framework, PyObject *shape, int32_t dtype, tri_tensor *out, PyObject **owner);
int64_t tensor_elements(const tri_tensor *t);
int64_t dtype_bytes(int32_t dtype);
const char *dtype_text(int32_t dtype);
#endif
