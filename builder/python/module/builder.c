/* trib._native.Builder: builds of a project through libtrib.so, which is opened when the first builder is made. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "builder/lib/tri_build.h"
#include "builder/python/module/python.h"

/* The functions of libtrib.so. */
struct functions {
	tri_builder *(*open)(const char *folder, tri_error *err);
	int32_t (*run)(tri_builder *b, const tri_build_options *opt, tri_build_summary *out);
	void (*cancel)(tri_builder *b);
	void (*close)(tri_builder *b);
};

struct builder {
	PyObject_HEAD struct functions lib;
	tri_builder *open;
	bool running;
};

static bool builder_find(void *handle, const char *name, void *function)
{
	void *symbol = dlsym(handle, name);
	memcpy(function, &symbol, sizeof symbol);
	return symbol != NULL;
}

/* The library stays open: it has threads of its own. */
static bool builder_open_library(struct module_state *state, const char *path, struct functions *f)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle && builder_find(handle, "tri_builder_open", &f->open) && builder_find(handle, "tri_builder_run", &f->run) &&
	    builder_find(handle, "tri_builder_cancel", &f->cancel) && builder_find(handle, "tri_builder_close", &f->close))
		return true;
	raise_by(state, "load_error", Py_BuildValue("(NN)", text_of(path), text_of(dlerror())));
	return false;
}

static PyObject *builder_new(PyTypeObject *type, PyObject *args, PyObject *words)
{
	static char *names[] = {"library", "folder", NULL};
	struct module_state *s = module_state();
	const char *library, *folder;
	tri_error err = {0};
	if (!s || !PyArg_ParseTupleAndKeywords(args, words, "yy", names, &library, &folder))
		return NULL;
	struct builder *b = (struct builder *)object_new(type);
	if (!b || !builder_open_library(s, library, &b->lib)) {
		Py_XDECREF(b);
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS;
	b->open = b->lib.open(folder, &err);
	Py_END_ALLOW_THREADS;
	if (b->open)
		return (PyObject *)b;
	Py_DECREF(b);
	return raise_by(s, "build_error", Py_BuildValue("(N)", text_of(err.message)));
}

static PyObject *builder_close(PyObject *self, PyObject *none)
{
	(void)none;
	struct builder *b = (struct builder *)self;
	tri_builder *open = b->running ? NULL : b->open;
	if (b->running)
		return raise_by(module_state(), "build_busy", PyTuple_New(0));
	b->open = NULL;
	Py_BEGIN_ALLOW_THREADS;
	if (open)
		b->lib.close(open);
	Py_END_ALLOW_THREADS;
	Py_RETURN_NONE;
}

static void builder_dealloc(PyObject *self)
{
	struct builder *b = (struct builder *)self;
	Py_BEGIN_ALLOW_THREADS;
	if (b->open)
		b->lib.close(b->open);
	Py_END_ALLOW_THREADS;
	object_free(self);
}

static PyObject *builder_cancel(PyObject *self, PyObject *none)
{
	(void)none;
	struct builder *b = (struct builder *)self;
	if (b->open)
		b->lib.cancel(b->open);
	Py_RETURN_NONE;
}

/* ---- a build ---- */

/* Callbacks come on the thread that builds. The first exception of one cancels the build, and is raised at its end. */
struct run {
	struct builder *b;
	PyObject *on_progress, *on_diagnostic; /* borrowed; None: none */
	PyThreadState *thread;
	PyObject *error[3]; /* as PyErr_Fetch has it */
};

/* `args` is made with the GIL held: so it comes as a function. */
static void call_back(struct run *r, PyObject *callback, PyObject *(*describe)(const void *event), const void *event)
{
	PyEval_RestoreThread(r->thread);
	PyObject *args = callback != Py_None && !r->error[0] ? describe(event) : NULL;
	PyObject *done = args ? PyObject_CallObject(callback, args) : NULL;
	if (!r->error[0] && (PyErr_Occurred() || PyErr_CheckSignals() < 0)) {
		PyErr_Fetch(&r->error[0], &r->error[1], &r->error[2]);
		r->b->lib.cancel(r->b->open);
	}
	Py_XDECREF(args);
	Py_XDECREF(done);
	r->thread = PyEval_SaveThread();
}

static PyObject *describe_progress(const void *event)
{
	const tri_build_progress *p = event;
	return Py_BuildValue("(iNNNIIINL)", (int)p->event, text_of(p->name), text_of(p->kind), text_of(p->reason), p->worker, p->done,
			     p->total, PyBool_FromLong(p->ok), (long long)p->wall_ns);
}

static PyObject *describe_diagnostic(const void *event)
{
	const tri_build_diagnostic *d = event;
	return Py_BuildValue("(iNNNNNIIII)", (int)d->severity, text_of(d->code), text_of(d->message), text_of(d->label), text_of(d->help),
			     text_of(d->file), d->line, d->column, d->end_line, d->end_column);
}

static void on_progress(void *user, const tri_build_progress *p)
{
	struct run *r = user;
	call_back(r, r->on_progress, describe_progress, p);
}

static void on_diagnostic(void *user, const tri_build_diagnostic *d)
{
	struct run *r = user;
	call_back(r, r->on_diagnostic, describe_diagnostic, d);
}

/* The names are borrowed from a tuple of bytes. NULL: an exception is set. */
static const char **read_models(PyObject *tuple, tri_build_options *o)
{
	Py_ssize_t n = PyTuple_Size(tuple);
	const char **models = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof *models);
	for (Py_ssize_t i = 0; models && i < n; i++)
		models[i] = PyBytes_AsString(PyTuple_GetItem(tuple, i));
	o->models = models;
	o->n_models = models ? (uint32_t)n : 0;
	if (!PyErr_Occurred())
		return models;
	PyMem_Free(models);
	return NULL;
}

static const char **builder_read_options(PyObject *args, PyObject *words, struct run *r, tri_build_options *o)
{
	static char *names[] = {"models",        "jobs",     "level",        "target",      "cpu",           "out",
				"cache_dir",     "settings", "messages",     "no_cache",    "locked",        "offline",
				"deny_warnings", "profile",  "profile_file", "on_progress", "on_diagnostic", NULL};
	PyObject *models;
	*o = (tri_build_options){.size = sizeof *o, .on_progress = on_progress, .on_diagnostic = on_diagnostic, .user = r};
	if (!PyArg_ParseTupleAndKeywords(args, words, "O!Iizzzzzipppppz|OO", names, &PyTuple_Type, &models, &o->jobs, &o->level, &o->target,
					 &o->cpu, &o->out, &o->cache_dir, &o->manifest_profile, &o->messages, &o->no_cache, &o->locked,
					 &o->offline, &o->deny_warnings, &o->profile, &o->profile_file, &r->on_progress, &r->on_diagnostic))
		return NULL;
	return read_models(models, o);
}

static PyObject *describe_summary(const tri_build_summary *s)
{
	PyObject *phases = PyTuple_New(s->n_phases), *outputs = PyTuple_New(s->n_outputs);
	for (uint32_t i = 0; phases && i < s->n_phases; i++)
		PyTuple_SetItem(phases, i, Py_BuildValue("(NL)", text_of(s->phases[i].name), (long long)s->phases[i].ns));
	for (uint32_t i = 0; outputs && i < s->n_outputs; i++)
		PyTuple_SetItem(outputs, i, text_of(s->outputs[i]));
	return Py_BuildValue("(iNIIIIIIIIINNLKds#)", (int)s->code, text_of(s->message), s->errors, s->warnings, s->units, s->compiled,
			     s->reused, s->failed, s->cache_hits, s->cache_misses, s->jobs, phases, outputs, (long long)s->wall_ns,
			     (unsigned long long)s->peak_bytes, s->efficiency, s->profile, (Py_ssize_t)s->profile_bytes);
}

static PyObject *builder_run(PyObject *self, PyObject *args, PyObject *words)
{
	struct builder *b = (struct builder *)self;
	struct run r = {.b = b, .on_progress = Py_None, .on_diagnostic = Py_None};
	tri_build_options o;
	tri_build_summary s = {.size = sizeof s};
	if (b->running || !b->open)
		return raise_by(module_state(), b->running ? "build_busy" : "builder_closed", PyTuple_New(0));
	const char **models = builder_read_options(args, words, &r, &o);
	if (!models)
		return NULL;
	b->running = true;
	r.thread = PyEval_SaveThread();
	b->lib.run(b->open, &o, &s);
	PyEval_RestoreThread(r.thread);
	b->running = false;
	PyMem_Free(models);
	if (!r.error[0])
		return describe_summary(&s);
	PyErr_Restore(r.error[0], r.error[1], r.error[2]);
	return NULL;
}

static PyMethodDef methods[] = {
	{"run", (PyCFunction)(void (*)(void))builder_run, METH_VARARGS | METH_KEYWORDS, NULL},
	{"cancel", builder_cancel, METH_NOARGS, NULL},
	{"close", builder_close, METH_NOARGS, NULL},
	{0},
};
static PyType_Slot slots[] = {{Py_tp_new, builder_new}, {Py_tp_dealloc, builder_dealloc}, {Py_tp_methods, methods}, {0}};
PyType_Spec builder_spec = {"trib._native.Builder", sizeof(struct builder), 0, Py_TPFLAGS_DEFAULT, slots};
