/* An opened library: trib._native.Library. */
#ifndef TRIB_PYTHON_LIBRARY_H
#define TRIB_PYTHON_LIBRARY_H
#include "builder/python/module/contexts.h"
#include "builder/python/module/python.h"

struct library {
	PyObject_HEAD void *handle;
	const tri_model_desc *desc;
	struct contexts contexts;
	PyObject *device;         /* what runs it, as library_device has it; NULL: not opened */
	PyObject *texts;          /* keeps the texts of contexts.options */
	tri_capacity *capacities; /* of contexts.options */
	int64_t *lengths;         /* of the states with each capacity, after the last run */
};

/* Takes a context for a run; waits if all are running. NULL: an exception is set. */
struct tri_model *library_take(struct library *l, struct module_state *state);
/* The descriptor as tuples, which trib.description turns into objects. */
PyObject *library_describe(PyObject *self, PyObject *none);
/* (name, why, backend) of tri_device. */
PyObject *library_device(PyObject *self, PyObject *none);
/* The profiles of all contexts as a list of tuples. */
PyObject *library_profile(PyObject *self, PyObject *none);
PyObject *library_profile_reset(PyObject *self, PyObject *none);
/* Calls fn with each open context; none may be running. NULL: an exception is set. */
PyObject *library_each(struct library *l, bool (*fn)(struct library *l, struct tri_model *m, void *user, tri_error *err), void *user);
#endif
