#include "builder/python/module/tensor.h"
#include <string.h>
#include "builder/python/module/dlpack.h"

static const struct {
	const char *name;
	uint8_t code, bits;
} dtypes[] = {
#define DTYPE(id, name, code, bits) {name, code, bits},
#include "builder/python/module/dtypes.def"
#undef DTYPE
};
#define DTYPE(id, name, code, bits) _Static_assert((int)DTYPE_##id == (int)TRI_##id, "in the order of enum tri_dtype");
#include "builder/python/module/dtypes.def"
#undef DTYPE

int64_t dtype_bytes(int32_t dtype) { return dtypes[dtype].bits / 8; }
const char *dtype_text(int32_t dtype) { return dtypes[dtype].name; }

int64_t tensor_elements(const tri_tensor *t)
{
	int64_t n = 1;
	for (int32_t k = 0; k < t->rank; k++)
		n *= t->shape[k];
	return n;
}

/* ---- frameworks ---- */

static bool fill_framework(struct framework *framework, PyObject *described)
{
	struct framework made;
	if (!PyArg_ParseTuple(described, "OOOOO", &made.empty, &made.options, &made.views, &made.exporter, &made.tracing))
		return false;
	Py_INCREF(made.empty);
	Py_INCREF(made.options);
	Py_INCREF(made.views);
	Py_INCREF(made.exporter);
	Py_INCREF(made.tracing);
	*framework = made;
	return true;
}

static bool open_framework(struct module_state *state, int index)
{
	if (state->frameworks[index].empty)
		return true;
	PyObject *tensors = module_tensors(state);
	PyObject *described = tensors ? PyObject_CallMethod(tensors, "describe_framework", "i", index) : NULL;
	bool ok = described && fill_framework(&state->frameworks[index], described);
	Py_XDECREF(described);
	return ok;
}

int tensor_framework(struct module_state *state, PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);
	for (int i = 0; i < state->n_seen; i++)
		if (state->seen[i].type == type)
			return state->seen[i].framework;
	PyObject *tensors = module_tensors(state);
	PyObject *found = tensors ? PyObject_CallMethod(tensors, "framework_of", "O", type) : NULL;
	long index = found ? PyLong_AsLong(found) : -2;
	Py_XDECREF(found);
	if (PyErr_Occurred() || (index > FRAMEWORK_NONE && !open_framework(state, (int)index)))
		return -2;
	if (state->n_seen < MOST_TYPES) {
		Py_INCREF(type);
		state->seen[state->n_seen++] = (struct seen_type){type, (int)index};
	}
	return (int)index;
}

/* ---- memory of others ---- */

/* Sizes of 1 and empty tensors have any strides. */
static bool tensor_is_dense(const DLTensor *t)
{
	int64_t step = 1;
	bool dense = true;
	for (int32_t k = t->rank; k-- > 0;) {
		if (t->shape[k] == 0)
			return true;
		dense = dense && (!t->strides || t->shape[k] == 1 || t->strides[k] == step);
		step *= t->shape[k];
	}
	return dense;
}

static bool tensor_is_empty(const DLTensor *t)
{
	for (int32_t k = 0; k < t->rank; k++)
		if (t->shape[k] == 0)
			return true;
	return false;
}

/* Tensors of a trace have no data. */
static int tensor_describe(const DLTensor *from, int32_t dtype, tri_tensor *to)
{
	bool fits = (from->data || tensor_is_empty(from)) && (from->device.type == DL_CPU || from->device.type == DL_CUDA_HOST) &&
		    from->dtype.code == dtypes[dtype].code && from->dtype.bits == dtypes[dtype].bits && from->dtype.lanes == 1 &&
		    from->rank <= TRI_MAX_RANK && tensor_is_dense(from);
	to->data = (char *)from->data + from->byte_offset;
	if (!fits || (uintptr_t)to->data % (uintptr_t)dtype_bytes(dtype) != 0)
		return TENSOR_OTHER;
	to->rank = from->rank;
	to->dtype = dtype;
	for (int32_t k = 0; k < from->rank; k++)
		to->shape[k] = from->shape[k];
	return TENSOR_OK;
}

/* True if the framework's exporter would share memory of a tensor that needs a gradient. Exceptions count as such. */
static bool may_need_gradient(struct module_state *state, PyObject *object)
{
	PyObject *needs = PyObject_GetAttr(object, state->requires_grad);
	bool may = needs != Py_False;
	Py_XDECREF(needs);
	return may;
}

static PyObject *make_capsule(struct module_state *state, int framework, PyObject *object)
{
	PyObject *exporter = framework >= 0 ? state->frameworks[framework].exporter : Py_None;
	if (PyCapsule_CheckExact(object)) {
		Py_INCREF(object);
		return object;
	}
	if (exporter == Py_None)
		return PyObject_CallMethodObjArgs(object, state->dlpack, NULL);
	return may_need_gradient(state, object) ? NULL : PyObject_CallFunctionObjArgs(exporter, object, NULL);
}

/* True while the framework records calls: the library's would be missing. Exceptions count as such. */
static bool is_tracing(struct module_state *state, int framework)
{
	PyObject *tracing = framework >= 0 ? state->frameworks[framework].tracing : Py_None;
	PyObject *now = tracing == Py_None ? NULL : PyObject_CallNoArgs(tracing);
	bool is = tracing != Py_None && now != Py_False;
	Py_XDECREF(now);
	return is;
}

int tensor_share(struct module_state *state, int framework, PyObject *object, int32_t dtype, tri_tensor *out, PyObject **owner)
{
	PyObject *capsule = is_tracing(state, framework) ? NULL : make_capsule(state, framework, object);
	DLManagedTensor *shared = capsule && PyCapsule_IsValid(capsule, DL_CAPSULE) ? PyCapsule_GetPointer(capsule, DL_CAPSULE) : NULL;
	int result = shared ? tensor_describe(&shared->tensor, dtype, out) : TENSOR_OTHER;
	if (PyErr_Occurred()) {
		if (!PyErr_ExceptionMatches(PyExc_Exception))
			result = TENSOR_ERROR; /* an interrupt */
		else
			PyErr_Clear();
	}
	if (result == TENSOR_OK)
		*owner = capsule;
	else
		Py_XDECREF(capsule);
	return result;
}

bool tensor_unpack(PyObject *memory, int32_t dtype, tri_tensor *out, PyObject **owner)
{
	PyObject *address, *shape, *kept;
	bool ok = memory && PyArg_ParseTuple(memory, "OOO", &address, &shape, &kept);
	if (ok) {
		*out = (tri_tensor){.data = PyLong_AsVoidPtr(address), .rank = (int32_t)PyTuple_Size(shape), .dtype = dtype};
		for (int32_t k = 0; k < out->rank && k < TRI_MAX_RANK; k++)
			out->shape[k] = PyLong_AsLongLong(PyTuple_GetItem(shape, k));
		ok = !PyErr_Occurred();
	}
	if (ok) {
		Py_INCREF(kept);
		*owner = kept;
	}
	Py_XDECREF(memory);
	return ok;
}

/* ---- memory of outputs ---- */

/* trib.tensors says why. */
static PyObject *no_such_dtype(struct module_state *state, int framework, int32_t dtype)
{
	PyObject *tensors = module_tensors(state);
	PyObject *none = tensors ? PyObject_CallMethod(tensors, "refuse_output", "is", framework, dtype_text(dtype)) : NULL;
	Py_XDECREF(none);
	return NULL;
}

PyObject *tensor_make(struct module_state *s, int framework, PyObject *shape, int32_t dtype, tri_tensor *out, PyObject **owner)
{
	const struct framework *f = &s->frameworks[framework];
	if (!open_framework(s, framework))
		return NULL;
	PyObject *options = PyTuple_GetItem(f->options, dtype), *view = PyTuple_GetItem(f->views, dtype);
	if (!options || options == Py_None)
		return no_such_dtype(s, framework, dtype);
	PyObject *args = PyTuple_Pack(1, shape);
	PyObject *made = args ? PyObject_Call(f->empty, args, options) : NULL;
	Py_XDECREF(args);
	/* What is viewed is made as unsigned or signed integers of the same size. */
	PyObject *capsule = made ? make_capsule(s, framework, made) : NULL;
	DLManagedTensor *shared = capsule ? PyCapsule_GetPointer(capsule, DL_CAPSULE) : NULL;
	if (!shared) {
		Py_XDECREF(capsule);
		Py_XDECREF(made);
		return NULL;
	}
	*out = (tri_tensor){.data = (char *)shared->tensor.data + shared->tensor.byte_offset, .rank = shared->tensor.rank, .dtype = dtype};
	for (int32_t k = 0; k < out->rank; k++)
		out->shape[k] = shared->tensor.shape[k];
	*owner = capsule;
	if (view == Py_None)
		return made;
	PyObject *viewed = PyObject_CallMethodObjArgs(made, s->view, view, NULL);
	Py_DECREF(made);
	return viewed;
}
