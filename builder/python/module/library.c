#include "builder/python/module/library.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/states_memory.h"

/* ---- open ---- */

/* The words of a call of Library(). `path` is unique for this version of the file, because the loader takes equal paths for the same library. */
struct request {
	PyObject *path, *weights, *device, *capacities;
	unsigned threads, contexts, timeout_ms, open_timeout_ms;
	int verify, no_profile;
};

static bool read_request(PyObject *args, PyObject *words, struct request *r)
{
	static char *names[] = {"path",   "weights",    "device",     "capacities",      "threads", "contexts",
				"verify", "no_profile", "timeout_ms", "open_timeout_ms", NULL};
	return PyArg_ParseTupleAndKeywords(args, words, "SOOO!IIppII", names, &r->path, &r->weights, &r->device, &PyDict_Type,
					   &r->capacities, &r->threads, &r->contexts, &r->verify, &r->no_profile, &r->timeout_ms,
					   &r->open_timeout_ms);
}

static bool fail_load(struct module_state *state, const char *path, const char *why)
{
	raise_by(state, "load_error", Py_BuildValue("(NN)", text_of(path), text_of(why)));
	return false;
}

static bool library_open_library(struct library *l, struct module_state *state, const char *path)
{
	Py_BEGIN_ALLOW_THREADS;
	l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	Py_END_ALLOW_THREADS;
	if (!l->handle)
		return fail_load(state, path, dlerror());
	l->desc = dlsym(l->handle, TRI_DESC_SYMBOL);
	if (!l->desc)
		return fail_load(state, path, "it has no `" TRI_DESC_SYMBOL "`: trib did not build it");
	return l->desc->abi == TRI_ABI || fail_load(state, path, "another version of trib built it: build it again");
}

/* Keeps the object, and returns its bytes; NULL for None. */
static const char *keep_text(struct library *l, PyObject *bytes)
{
	if (bytes == Py_None || PyList_Append(l->texts, bytes) < 0)
		return NULL;
	return PyBytes_AsString(bytes);
}

/* Keys are bytes. */
static bool library_read_capacities(struct library *l, PyObject *given, tri_options *o)
{
	PyObject *name, *most;
	Py_ssize_t at = 0;
	l->capacities = calloc((size_t)PyDict_Size(given) + 1, sizeof *l->capacities);
	o->capacities = l->capacities;
	while (l->capacities && PyDict_Next(given, &at, &name, &most)) {
		l->capacities[o->n_capacities].name = keep_text(l, name);
		l->capacities[o->n_capacities++].most = PyLong_AsLongLong(most);
	}
	return l->capacities && !PyErr_Occurred();
}

static bool open_contexts(struct library *l, struct module_state *state, const struct request *r)
{
	tri_options o = {.size = sizeof o,
			 .threads = r->threads,
			 .verify = (uint32_t)r->verify,
			 .no_profile = (uint32_t)r->no_profile,
			 .timeout_ms = r->timeout_ms,
			 .open_timeout_ms = r->open_timeout_ms};
	o.weights = keep_text(l, r->weights);
	o.device = keep_text(l, r->device);
	if (!library_read_capacities(l, r->capacities, &o))
		return false;
	l->lengths = calloc(l->desc->n_capacities + 1, sizeof *l->lengths);
	if (!l->lengths || !contexts_init(&l->contexts, l->desc, &o, r->contexts)) {
		PyErr_NoMemory();
		return false;
	}
	struct tri_model *first = library_take(l, state);
	if (!first)
		return false;
	const tri_device *d = l->desc->device(first);
	l->device = Py_BuildValue("(NNN)", text_of(d->name), text_of(d->why), text_of(d->desc->backend));
	l->contexts.code = d->desc;
	contexts_give(&l->contexts, first);
	return l->device != NULL;
}

static PyObject *library_new(PyTypeObject *type, PyObject *args, PyObject *words)
{
	struct request r;
	struct module_state *s = module_state();
	struct library *l = s && read_request(args, words, &r) ? (struct library *)object_new(type) : NULL;
	if (!l)
		return NULL;
	l->texts = PyList_New(0);
	if (l->texts && library_open_library(l, s, PyBytes_AsString(r.path)) && open_contexts(l, s, &r))
		return (PyObject *)l;
	Py_DECREF(l);
	return NULL;
}

static void library_dealloc(PyObject *self)
{
	struct library *l = (struct library *)self;
	Py_BEGIN_ALLOW_THREADS; /* ends threads and waits for them */
	contexts_end(&l->contexts);
	if (l->handle)
		dlclose(l->handle);
	Py_END_ALLOW_THREADS;
	free(l->capacities);
	free(l->lengths);
	Py_XDECREF(l->device);
	Py_XDECREF(l->texts);
	object_free(self);
}

PyObject *library_device(PyObject *self, PyObject *none)
{
	(void)none;
	PyObject *device = ((struct library *)self)->device;
	Py_INCREF(device);
	return device;
}

/* ---- contexts ---- */

static void *library_refuse(struct library *l, struct module_state *state, enum take got, const tri_error *err)
{
	static const char *const names[] = {[TAKE_CLOSED] = "closed_error", [TAKE_BUSY] = "busy_error", [TAKE_LOST] = "fork_error"};
	if (got == TAKE_FAILED)
		return raise_error(state, err);
	return raise_by(state, names[got], Py_BuildValue("(N)", text_of(l->desc->name)));
}

struct tri_model *library_take(struct library *l, struct module_state *state)
{
	struct tri_model *m = NULL;
	tri_error err;
	enum take got = contexts_try(&l->contexts, &m);
	if (got == TAKE_NONE) {
		Py_BEGIN_ALLOW_THREADS;
		got = contexts_wait(&l->contexts, &m, &err);
		Py_END_ALLOW_THREADS;
	}
	return got == TAKE_OK ? m : library_refuse(l, state, got, &err);
}

PyObject *library_each(struct library *l, bool (*fn)(struct library *l, struct tri_model *m, void *user, tri_error *err), void *user)
{
	struct module_state *s = module_state();
	struct tri_model **all = s ? calloc(l->contexts.limit, sizeof *all) : NULL;
	tri_error err = {0};
	uint32_t n;
	if (!all)
		return s ? PyErr_NoMemory() : NULL;
	enum take got = contexts_take_all(&l->contexts, all, &n);
	bool ok = got == TAKE_OK;
	for (uint32_t i = 0; i < n; i++) {
		ok = ok && fn(l, all[i], user, &err);
		contexts_give(&l->contexts, all[i]);
	}
	free(all);
	if (ok)
		Py_RETURN_NONE;
	if (!PyErr_Occurred())
		library_refuse(l, s, got == TAKE_OK ? TAKE_FAILED : got, &err);
	return NULL;
}

static PyObject *library_close(PyObject *self, PyObject *none)
{
	(void)none;
	struct library *l = (struct library *)self;
	Py_BEGIN_ALLOW_THREADS;
	contexts_close(&l->contexts);
	Py_END_ALLOW_THREADS;
	Py_RETURN_NONE;
}

/* ---- states ---- */

static void set_lengths(struct library *l, const char *saved)
{
	size_t bytes = l->desc->n_capacities * sizeof *l->lengths;
	if (saved)
		memcpy(l->lengths, saved + sizeof(struct tri_saved_header), bytes);
	else
		memset(l->lengths, 0, bytes);
}

/* False: an exception is set. */
static bool has_states(PyObject *self)
{
	const tri_error none = {TRI_ERR_ARGUMENT, "the model has no states: only models with states reset, save and load them"};
	bool has = ((struct library *)self)->desc->n_states;
	if (!has)
		raise_error(module_state(), &none);
	return has;
}

static bool module_library_reset(struct library *l, struct tri_model *model, void *user, tri_error *err)
{
	(void)user;
	bool ok = l->desc->reset(model, err) == TRI_OK;
	if (ok)
		set_lengths(l, NULL);
	return ok;
}

static PyObject *library_reset(PyObject *self, PyObject *none)
{
	(void)none;
	return has_states(self) ? library_each((struct library *)self, module_library_reset, NULL) : NULL;
}

static bool library_save(struct library *l, struct tri_model *model, void *user, tri_error *err)
{
	PyObject **bytes = user;
	uint64_t size = 0;
	if (l->desc->state_save(model, NULL, &size, err) != TRI_OK)
		return false;
	*bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
	return *bytes && l->desc->state_save(model, PyBytes_AsString(*bytes), &size, err) == TRI_OK;
}

static PyObject *library_state_save(PyObject *self, PyObject *none)
{
	(void)none;
	PyObject *bytes = NULL, *done = has_states(self) ? library_each((struct library *)self, library_save, &bytes) : NULL;
	if (!done)
		Py_CLEAR(bytes);
	Py_XDECREF(done);
	return bytes;
}

struct saved {
	char *at;
	Py_ssize_t size;
};

static bool library_load(struct library *l, struct tri_model *model, void *user, tri_error *err)
{
	const struct saved *from = user;
	bool ok = l->desc->state_load(model, from->at, (uint64_t)from->size, err) == TRI_OK;
	if (ok)
		set_lengths(l, from->at);
	return ok;
}

static PyObject *library_state_load(PyObject *self, PyObject *bytes)
{
	struct saved from;
	if (!has_states(self) || PyBytes_AsStringAndSize(bytes, &from.at, &from.size) < 0)
		return NULL;
	return library_each((struct library *)self, library_load, &from);
}

static PyMethodDef methods[] = {
	{"close", library_close, METH_NOARGS, NULL},
	{"reset", library_reset, METH_NOARGS, NULL},
	{"state_save", library_state_save, METH_NOARGS, NULL},
	{"state_load", library_state_load, METH_O, NULL},
	{"describe", library_describe, METH_NOARGS, NULL},
	{"device", library_device, METH_NOARGS, NULL},
	{"profile", library_profile, METH_NOARGS, NULL},
	{"profile_reset", library_profile_reset, METH_NOARGS, NULL},
	{0},
};
static PyType_Slot slots[] = {{Py_tp_new, library_new}, {Py_tp_dealloc, library_dealloc}, {Py_tp_methods, methods}, {0}};
PyType_Spec library_spec = {"trib._native.Library", sizeof(struct library), 0, Py_TPFLAGS_DEFAULT, slots};
