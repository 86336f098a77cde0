/* Python's limited API, and what all files of the module share. */
#ifndef TRIB_PYTHON_H
#define TRIB_PYTHON_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "backend/runtime/abi/tri.h"

enum {
#define DTYPE(id, name, code, bits) DTYPE_##id,
#include "builder/python/module/dtypes.def"
#undef DTYPE
	N_DTYPES
};

/* How outputs of one framework are made: empty(shape, **options[dtype]), then .view(views[dtype]) if that is no None. `exporter` makes a
 * capsule of a tensor; None: its method __dlpack__ does. `tracing` is a function that is true while calls are recorded, or None. */
struct framework {
	PyObject *empty, *options, *views, *exporter, *tracing;
};

enum framework_index { FRAMEWORK_NONE = -1, FRAMEWORK_NUMPY, FRAMEWORK_TORCH, N_FRAMEWORKS };
enum { MOST_TYPES = 8 };

/* A type of tensors that was seen, so that its framework is found by comparing a pointer. */
struct seen_type {
	PyTypeObject *type;
	int framework;
};

struct module_state {
	PyTypeObject *library, *entry, *builder;
	PyObject *errors;                              /* the module trib.errors */
	PyObject *tensors;                             /* trib.tensors, or NULL: not imported yet */
	PyObject *dlpack, *requires_grad, *view, *out; /* names */
	struct framework frameworks[N_FRAMEWORKS];     /* `empty` NULL: not seen yet */
	struct seen_type seen[MOST_TYPES];
	int n_seen;
};

/* The state of the module trib._native, which must have been imported. NULL: an exception is set. */
struct module_state *module_state(void);
/* trib.tensors; borrowed. NULL: an exception is set. */
PyObject *module_tensors(struct module_state *s);

/* Sets the exception that errors.NAME(...) returns. `args` is consumed; NULL: an exception is already set. Returns NULL. */
PyObject *raise_by(struct module_state *s, const char *name, PyObject *args);
/* Sets the exception of a failed call of a library. Returns NULL. */
PyObject *raise_error(struct module_state *s, const tri_error *err);
/* Text of a library as a str; bytes that are no UTF-8 are replaced. */
PyObject *text_of(const char *text);

/* Frees an instance of a heap type. */
void object_free(PyObject *self);
/* Creates an instance whose members are zero. */
PyObject *object_new(PyTypeObject *type);
/* Creates a type and adds it to the module. */
PyTypeObject *type_add(PyObject *module, PyType_Spec *spec);

extern PyType_Spec library_spec, entry_spec, builder_spec;
#endif
