/* trib._native.Entry: a call of one entry. The inputs are bound to their names, shared through DLPack, and checked; the outputs are made by
 * the framework of the inputs; then the library runs without the GIL. */
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/dims.h"
#include "backend/runtime/model.h"
#include "backend/runtime/states.h"
#include "builder/python/module/library.h"
#include "builder/python/module/tensor.h"

enum { MOST_DIMS = 64 };

struct entry {
	PyObject_HEAD struct module_state *state;
	struct library *library;
	uint32_t index;
	tri_entry_desc desc; /* with the states among the inputs and outputs */
	int32_t n_inputs, n_outputs;
	PyObject *names;   /* of the inputs */
	PyObject *shapes;  /* of each output; None: it depends on the inputs */
	PyObject *results; /* a class of tuples that names the outputs, or None: there is one */
	bool fixed;        /* all shapes of outputs */
};

/* ---- making an entry ---- */

static PyObject *fixed_shape(const tri_io_desc *d)
{
	PyObject *shape = PyTuple_New(d->rank);
	for (int32_t k = 0; shape && k < d->rank; k++) {
		int64_t size;
		if (!tri_dim_value(&d->dims[k], NULL, 0, &size)) {
			Py_DECREF(shape);
			Py_RETURN_NONE;
		}
		PyTuple_SetItem(shape, k, PyLong_FromLongLong(size));
	}
	return shape;
}

static bool describe_tensors(struct entry *e)
{
	e->names = PyTuple_New(e->n_inputs);
	e->shapes = PyTuple_New(e->n_outputs);
	e->fixed = true;
	for (int32_t i = 0; e->names && i < e->n_inputs; i++)
		PyTuple_SetItem(e->names, i, PyUnicode_InternFromString(e->desc.inputs[i].name));
	for (int32_t i = 0; e->shapes && i < e->n_outputs; i++) {
		PyObject *shape = fixed_shape(&e->desc.outputs[i]);
		e->fixed = e->fixed && shape != Py_None;
		PyTuple_SetItem(e->shapes, i, shape);
	}
	return !PyErr_Occurred();
}

static PyObject *entry_new(PyTypeObject *type, PyObject *args, PyObject *words)
{
	static char *names[] = {"library", "index", "results", NULL};
	struct module_state *s = module_state();
	PyObject *library, *results;
	unsigned index;
	if (!s || !PyArg_ParseTupleAndKeywords(args, words, "O!IO", names, s->library, &library, &index, &results))
		return NULL;
	struct entry *e = (struct entry *)object_new(type);
	if (!e)
		return NULL;
	Py_INCREF(library);
	Py_INCREF(results);
	const tri_entry_desc *desc = &((struct library *)library)->desc->entries[index];
	e->state = s;
	e->library = (struct library *)library;
	e->index = index;
	e->desc = tri_states_entry(desc);
	e->n_inputs = desc->n_inputs;
	e->n_outputs = desc->n_outputs;
	e->results = results;
	if (describe_tensors(e))
		return (PyObject *)e;
	Py_DECREF(e);
	return NULL;
}

static void entry_dealloc(PyObject *self)
{
	struct entry *e = (struct entry *)self;
	Py_XDECREF(e->library);
	Py_XDECREF(e->names);
	Py_XDECREF(e->shapes);
	Py_XDECREF(e->results);
	object_free(self);
}

/* ---- a call ---- */

/* The tensors are those of the entry with its states: inputs, states, outputs. */
struct call {
	struct entry *e;
	PyObject **given;  /* borrowed: for each input */
	PyObject **owners; /* for each tensor what keeps its memory, or NULL */
	PyObject **made;   /* the outputs */
	tri_tensor *io;
	PyObject *out; /* borrowed: the argument of that name, or NULL */
	int framework; /* of the outputs */
	struct tri_model *model;
	int64_t dims[MOST_DIMS];
};

static tri_tensor *output_of(struct call *c, int32_t i) { return &c->io[c->e->desc.n_inputs + i]; }

static bool call_begin(struct call *c, struct entry *e)
{
	size_t n = (size_t)e->desc.n_inputs + (size_t)e->n_outputs;
	*c = (struct call){.e = e, .framework = FRAMEWORK_NUMPY};
	c->io = PyMem_Calloc(n + 1, sizeof *c->io + 3 * sizeof(PyObject *));
	if (!c->io) {
		PyErr_NoMemory();
		return false;
	}
	c->owners = (PyObject **)(c->io + n + 1);
	c->given = c->owners + n;
	c->made = c->given + e->n_inputs;
	return true;
}

static void call_end(struct call *c)
{
	int32_t n = c->io ? c->e->desc.n_inputs + c->e->n_outputs : 0;
	if (c->model)
		contexts_give(&c->e->library->contexts, c->model);
	for (int32_t i = 0; i < n; i++)
		Py_XDECREF(c->owners[i]);
	for (int32_t i = 0; n && i < c->e->n_outputs; i++)
		Py_XDECREF(c->made[i]);
	PyMem_Free(c->io);
}

static PyObject *none_if_null(PyObject *o) { return o ? o : Py_None; }

static bool wrong_arguments(const struct call *c, PyObject *args, PyObject *words)
{
	raise_by(c->e->state, "argument_error", Py_BuildValue("(NOOO)", text_of(c->e->desc.name), c->e->names, args, none_if_null(words)));
	return false;
}

/* Inputs come in their order, or by name. */
static bool call_bind(struct call *c, PyObject *args, PyObject *words)
{
	Py_ssize_t n_args = PyTuple_Size(args), n_words = words ? PyDict_Size(words) : 0, used = 0;
	if (n_args > c->e->n_inputs)
		return wrong_arguments(c, args, words);
	for (int32_t i = 0; i < c->e->n_inputs; i++) {
		PyObject *word = n_words ? PyDict_GetItemWithError(words, PyTuple_GetItem(c->e->names, i)) : NULL;
		used += word != NULL;
		c->given[i] = i < n_args ? PyTuple_GetItem(args, i) : word;
		if (!c->given[i] || (word && i < n_args))
			return wrong_arguments(c, args, words);
	}
	if (used < n_words && (c->out = PyDict_GetItemWithError(words, c->e->state->out)))
		used++;
	return used == n_words || wrong_arguments(c, args, words);
}

static bool is_trits(const tri_tensor *t)
{
	const int8_t *at = t->data;
	int64_t n = tensor_elements(t);
	unsigned wrong = 0;
	for (int64_t i = 0; i < n; i++)
		wrong |= (uint8_t)(at[i] + 1) > 2;
	return !wrong;
}

static bool entry_read_input(struct call *c, int32_t i)
{
	struct module_state *s = c->e->state;
	const tri_io_desc *d = &c->e->desc.inputs[i];
	int framework = tensor_framework(s, c->given[i]);
	if (framework < FRAMEWORK_NONE)
		return false;
	c->framework = framework > c->framework ? framework : c->framework;
	int shared = tensor_share(s, framework, c->given[i], d->dtype, &c->io[i], &c->owners[i]);
	if (shared == TENSOR_OTHER) {
		PyObject *tensors = module_tensors(s);
		PyObject *memory = tensors ? PyObject_CallMethod(tensors, "memory_of", "Ossi", c->given[i], d->name, dtype_text(d->dtype),
								 (int)d->rank)
					   : NULL;
		shared = tensor_unpack(memory, d->dtype, &c->io[i], &c->owners[i]) ? TENSOR_OK : TENSOR_ERROR;
	}
	if (shared == TENSOR_OK && d->dtype == TRI_TRIT && c->io[i].rank == d->rank && !is_trits(&c->io[i])) {
		raise_by(s, "trit_error", Py_BuildValue("(N)", text_of(d->name)));
		return false;
	}
	return shared == TENSOR_OK;
}

/* The states as the run will find them: only their shapes count. */
static void entry_describe_states(struct call *c)
{
	const tri_model_desc *model = c->e->library->desc;
	const tri_entry_desc *e = &model->entries[c->e->index];
	for (int32_t i = 0; i < e->n_states_in; i++) {
		const tri_state_desc *d = &model->states[e->states_in[i]];
		tri_tensor *t = &c->io[e->n_inputs + i];
		*t = (tri_tensor){.data = t, .rank = d->rank, .dtype = d->dtype};
		memcpy(t->shape, d->shape, sizeof t->shape);
		if (d->axis >= 0)
			t->shape[d->axis] = c->e->library->lengths[d->capacity];
	}
}

/* Finds the sizes that shapes of outputs depend on. */
static bool solve_dims(struct call *c)
{
	tri_entry_desc inputs = c->e->desc;
	tri_error err;
	inputs.n_outputs = 0;
	entry_describe_states(c);
	if (tri_io_check(&inputs, c->io, c->dims, &err) == TRI_OK)
		return true;
	raise_error(c->e->state, &err);
	return false;
}

static PyObject *shape_of_output(struct call *c, int32_t i)
{
	const tri_io_desc *d = &c->e->desc.outputs[i];
	PyObject *shape = PyTuple_GetItem(c->e->shapes, i);
	Py_INCREF(shape);
	if (shape != Py_None)
		return shape;
	Py_DECREF(shape);
	shape = PyTuple_New(d->rank);
	for (int32_t k = 0; shape && k < d->rank; k++) {
		int64_t size;
		tri_error err;
		if (!tri_dim_value(&d->dims[k], c->dims, UINT64_MAX, &size) || size < 0) {
			Py_DECREF(shape);
			tri_error_sizes(&err, "", &c->e->desc, TRI_SIZE_ERROR_EXTENT, c->dims);
			return raise_error(c->e->state, &err);
		}
		PyTuple_SetItem(shape, k, PyLong_FromLongLong(size));
	}
	return shape;
}

static bool make_outputs(struct call *c)
{
	for (int32_t i = 0; i < c->e->n_outputs; i++) {
		PyObject *shape = shape_of_output(c, i), **owner = &c->owners[c->e->desc.n_inputs + i];
		if (shape)
			c->made[i] = tensor_make(c->e->state, c->framework, shape, c->e->desc.outputs[i].dtype, output_of(c, i), owner);
		Py_XDECREF(shape);
		if (!c->made[i])
			return false;
	}
	return true;
}

static bool overlaps(const tri_tensor *a, const tri_tensor *b)
{
	uintptr_t from = (uintptr_t)a->data, to = (uintptr_t)b->data;
	return from < to + (uintptr_t)(tensor_elements(b) * dtype_bytes(b->dtype)) &&
	       to < from + (uintptr_t)(tensor_elements(a) * dtype_bytes(a->dtype));
}

/* Memory of `out` may be no other tensor's of the call: the library reads inputs while it writes outputs. */
static bool check_apart(struct call *c, int32_t i)
{
	const tri_tensor *out = output_of(c, i);
	int32_t other = -1;
	for (int32_t k = 0; k < c->e->n_inputs; k++)
		other = overlaps(&c->io[k], out) ? k : other;
	for (int32_t k = 0; k < i; k++)
		other = overlaps(output_of(c, k), out) ? c->e->desc.n_inputs + k : other;
	if (other < 0)
		return true;
	const tri_io_desc *d = other < c->e->n_inputs ? &c->e->desc.inputs[other] : &c->e->desc.outputs[other - c->e->desc.n_inputs];
	raise_by(c->e->state, "overlap_error", Py_BuildValue("(NN)", text_of(c->e->desc.outputs[i].name), text_of(d->name)));
	return false;
}

/* Output i of the argument `out`: itself, or an item of a tuple or list. Returns a new reference; NULL: none, with an exception or without. */
static PyObject *given_output(const struct call *c, int32_t i)
{
	if (PyTuple_Check(c->out) || PyList_Check(c->out))
		return PySequence_Size(c->out) == c->e->n_outputs ? PySequence_GetItem(c->out, i) : NULL;
	if (c->e->n_outputs != 1)
		return NULL;
	Py_INCREF(c->out);
	return c->out;
}

/* Frameworks share no read-only memory through this form of DLPack, so what they share may be written. */
static int share_outputs(struct call *c)
{
	struct module_state *s = c->e->state;
	int shared = TENSOR_OK;
	for (int32_t i = 0; shared == TENSOR_OK && i < c->e->n_outputs; i++) {
		PyObject *one = c->made[i] = given_output(c, i);
		int framework = one ? tensor_framework(s, one) : FRAMEWORK_NONE;
		shared = TENSOR_OTHER;
		if (framework > FRAMEWORK_NONE)
			shared = tensor_share(s, framework, one, c->e->desc.outputs[i].dtype, output_of(c, i),
					      &c->owners[c->e->desc.n_inputs + i]);
	}
	return PyErr_Occurred() ? TENSOR_ERROR : shared;
}

/* trib.tensors checks the tensors of `out` and returns them and their memory, or raises. */
static bool ask_for_outputs(struct call *c)
{
	struct entry *e = c->e;
	PyObject *tensors = module_tensors(e->state), *names = PyTuple_New(e->n_outputs);
	for (int32_t i = 0; names && i < e->n_outputs; i++)
		PyTuple_SetItem(names, i, Py_BuildValue("(Ns)", text_of(e->desc.outputs[i].name), dtype_text(e->desc.outputs[i].dtype)));
	PyObject *all = tensors && names ? PyObject_CallMethod(tensors, "outputs_of", "OO", c->out, names) : NULL;
	bool ok = all != NULL;
	for (int32_t i = 0; ok && i < e->n_outputs; i++) {
		PyObject *one, *memory, **owner = &c->owners[e->desc.n_inputs + i];
		Py_CLEAR(c->made[i]);
		Py_CLEAR(*owner);
		ok = PyArg_ParseTuple(PyTuple_GetItem(all, i), "OO", &one, &memory);
		if (ok) {
			Py_INCREF(one);
			Py_INCREF(memory);
			c->made[i] = one;
			ok = tensor_unpack(memory, e->desc.outputs[i].dtype, output_of(c, i), owner);
		}
	}
	Py_XDECREF(names);
	Py_XDECREF(all);
	return ok;
}

static bool entry_take_outputs(struct call *c)
{
	int shared = share_outputs(c);
	bool ok = shared == TENSOR_OK || (shared == TENSOR_OTHER && ask_for_outputs(c));
	for (int32_t i = 0; ok && i < c->e->n_outputs; i++)
		ok = check_apart(c, i);
	return ok;
}

/* The lengths that the states have after this run: as the library computes them. */
static void note_lengths(struct call *c)
{
	const tri_model_desc *model = c->e->library->desc;
	const tri_entry_desc *e = &model->entries[c->e->index];
	for (int32_t i = 0; i < e->n_states_out; i++) {
		const tri_state_desc *d = &model->states[e->states_out[i]];
		if (d->axis >= 0)
			tri_dim_value(&e->outputs[e->n_outputs + i].dims[d->axis], c->dims, UINT64_MAX,
				      &c->e->library->lengths[d->capacity]);
	}
}

/* The library's own call has no states among its tensors. */
static bool call_run(struct call *c)
{
	const struct library *l = c->e->library;
	int32_t n_states = c->e->desc.n_inputs - c->e->n_inputs;
	tri_error err;
	int code;
	if (n_states)
		memmove(c->io + c->e->n_inputs, c->io + c->e->desc.n_inputs, (size_t)c->e->n_outputs * sizeof *c->io);
	Py_BEGIN_ALLOW_THREADS;
	code = l->desc->run(c->model, c->e->index, c->io, &err);
	Py_END_ALLOW_THREADS;
	if (code != TRI_OK)
		raise_error(c->e->state, &err);
	else if (l->desc->n_states)
		note_lengths(c);
	return code == TRI_OK;
}

static PyObject *call_result(struct call *c)
{
	if (c->e->n_outputs == 1) {
		PyObject *only = c->made[0];
		c->made[0] = NULL;
		return only;
	}
	PyObject *all = PyTuple_New(c->e->n_outputs), *named = NULL;
	for (int32_t i = 0; all && i < c->e->n_outputs; i++) {
		PyTuple_SetItem(all, i, c->made[i]);
		c->made[i] = NULL;
	}
	if (all)
		named = PyObject_CallFunctionObjArgs(c->e->results, all, NULL);
	Py_XDECREF(all);
	return named;
}

static PyObject *entry_call(PyObject *self, PyObject *args, PyObject *words)
{
	struct entry *e = (struct entry *)self;
	struct call c;
	PyObject *result = NULL;
	bool ok = call_begin(&c, e) && call_bind(&c, args, words);
	for (int32_t i = 0; ok && i < e->n_inputs; i++)
		ok = entry_read_input(&c, i);
	ok = ok && (c.model = library_take(e->library, e->state));
	ok = ok && ((e->fixed && !e->library->desc->n_states) || solve_dims(&c));
	ok = ok && (c.out ? entry_take_outputs(&c) : make_outputs(&c));
	if (ok && call_run(&c))
		result = call_result(&c);
	call_end(&c);
	return result;
}

static PyType_Slot slots[] = {{Py_tp_new, entry_new}, {Py_tp_dealloc, entry_dealloc}, {Py_tp_call, entry_call}, {0}};
PyType_Spec entry_spec = {"trib._native.Entry", sizeof(struct entry), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
