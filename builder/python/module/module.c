/* trib._native: runs models of libraries that trib built. It includes no code of Python's version, NumPy or PyTorch: tensors come as DLPack. */
#include <string.h>
#include "builder/python/module/python.h"
#include "builder/python/module/tensor.h"

struct module_state *module_state(void)
{
	PyObject *module = PyImport_ImportModule("trib._native");
	struct module_state *s = module ? PyModule_GetState(module) : NULL;
	Py_XDECREF(module); /* sys.modules keeps it */
	return s;
}

PyObject *module_tensors(struct module_state *s)
{
	if (!s->tensors)
		s->tensors = PyImport_ImportModule("trib.tensors");
	return s->tensors;
}

PyObject *text_of(const char *text) { return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"); }

PyObject *raise_by(struct module_state *s, const char *name, PyObject *args)
{
	PyObject *make = args ? PyObject_GetAttrString(s->errors, name) : NULL;
	PyObject *error = make ? PyObject_CallObject(make, args) : NULL;
	if (error)
		PyErr_SetObject((PyObject *)Py_TYPE(error), error);
	Py_XDECREF(error);
	Py_XDECREF(make);
	Py_XDECREF(args);
	return NULL;
}

PyObject *raise_error(struct module_state *s, const tri_error *err)
{
	return raise_by(s, "of_code", Py_BuildValue("(iN)", (int)err->code, text_of(err->message)));
}

void object_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
	release(self);
	Py_DECREF(type);
}

PyObject *object_new(PyTypeObject *type)
{
	allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
	return allocate(type, 0);
}

PyTypeObject *type_add(PyObject *module, PyType_Spec *spec)
{
	PyObject *type = PyType_FromSpec(spec);
	if (!type)
		return NULL;
	Py_INCREF(type);
	if (PyModule_AddObject(module, strrchr(spec->name, '.') + 1, type) == 0)
		return (PyTypeObject *)type;
	Py_DECREF(type);
	Py_DECREF(type);
	return NULL;
}

static PyObject *dtype_names(void)
{
	PyObject *names = PyTuple_New(N_DTYPES);
	for (int32_t i = 0; names && i < N_DTYPES; i++)
		PyTuple_SetItem(names, i, PyUnicode_FromString(dtype_text(i)));
	return names;
}

static int module_start(PyObject *module)
{
	struct module_state *s = PyModule_GetState(module);
	s->errors = PyImport_ImportModule("trib.errors");
	s->dlpack = PyUnicode_InternFromString("__dlpack__");
	s->requires_grad = PyUnicode_InternFromString("requires_grad");
	s->view = PyUnicode_InternFromString("view");
	s->out = PyUnicode_InternFromString("out");
	s->library = type_add(module, &library_spec);
	s->entry = type_add(module, &entry_spec);
	s->builder = type_add(module, &builder_spec);
	if (!s->errors || !s->dlpack || !s->requires_grad || !s->view || !s->out || !s->library || !s->entry || !s->builder)
		return -1;
	return PyModule_AddObject(module, "DTYPES", dtype_names());
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_start}, {0}};
static PyModuleDef module_def = {PyModuleDef_HEAD_INIT, .m_name = "trib._native", .m_size = sizeof(struct module_state), .m_slots = slots};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&module_def); }
