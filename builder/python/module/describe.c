/* The descriptor and the profile of a library as tuples. trib.description names their members. */
#include "builder/python/module/library.h"
#include "builder/python/module/tensor.h"

/* A tuple of n items that `make` returns; NULL: an exception is set. */
static PyObject *describe_tuple_of(int64_t n, PyObject *(*make)(const void *at, int64_t i), const void *at)
{
	PyObject *all = PyTuple_New((Py_ssize_t)n);
	for (int64_t i = 0; all && i < n; i++) {
		PyObject *item = make(at, i);
		if (!item || PyTuple_SetItem(all, (Py_ssize_t)i, item) < 0)
			Py_CLEAR(all);
	}
	return all;
}

static PyObject *describe_number_at(const void *at, int64_t i) { return PyLong_FromLongLong(((const int64_t *)at)[i]); }
static PyObject *index_at(const void *at, int64_t i) { return PyLong_FromUnsignedLong(((const uint32_t *)at)[i]); }
static PyObject *describe_text_at(const void *at, int64_t i) { return text_of(((const char *const *)at)[i]); }

static PyObject *step_at(const void *at, int64_t i)
{
	const tri_dim_step *s = (const tri_dim_step *)at + i;
	return Py_BuildValue("(iL)", (int)s->op, (long long)s->value);
}

static PyObject *dim_at(const void *at, int64_t i)
{
	const tri_dim_desc *d = (const tri_dim_desc *)at + i;
	return describe_tuple_of(d->n_steps, step_at, d->steps);
}

static PyObject *io_at(const void *at, int64_t i)
{
	const tri_io_desc *d = (const tri_io_desc *)at + i;
	return Py_BuildValue("(NsN)", text_of(d->name), dtype_text(d->dtype), describe_tuple_of(d->rank, dim_at, d->dims));
}

static PyObject *entry_at(const void *at, int64_t i)
{
	const tri_entry_desc *e = (const tri_entry_desc *)at + i;
	return Py_BuildValue(
		"(NNNNNN)", text_of(e->name), describe_tuple_of(e->n_inputs, io_at, e->inputs),
		describe_tuple_of(e->n_outputs, io_at, e->outputs), describe_tuple_of(e->n_dims, describe_text_at, e->dim_names),
		describe_tuple_of(e->n_states_in, index_at, e->states_in), describe_tuple_of(e->n_states_out, index_at, e->states_out));
}

static PyObject *state_at(const void *at, int64_t i)
{
	const tri_state_desc *d = (const tri_state_desc *)at + i;
	return Py_BuildValue("(NsNii)", text_of(d->name), dtype_text(d->dtype), describe_tuple_of(d->rank, describe_number_at, d->shape),
			     (int)d->axis, (int)d->capacity);
}

static PyObject *capacity_at(const void *at, int64_t i)
{
	const tri_capacity *c = (const tri_capacity *)at + i;
	return Py_BuildValue("(NL)", text_of(c->name), (long long)c->most);
}

static PyObject *weight_at(const void *at, int64_t i)
{
	const tri_weight_desc *w = (const tri_weight_desc *)at + i;
	return Py_BuildValue("(NNNNKK)", text_of(w->name), text_of(w->layout), text_of(w->form),
			     describe_tuple_of(w->rank, describe_number_at, w->shape), (unsigned long long)w->bytes,
			     (unsigned long long)w->zeros);
}

PyObject *library_describe(PyObject *self, PyObject *none)
{
	(void)none;
	const tri_model_desc *d = ((struct library *)self)->desc;
	return Py_BuildValue("(NNNNNNONNNN)", text_of(d->name), text_of(d->version), text_of(d->compiler), text_of(d->target),
			     text_of(d->backend), text_of(d->commit), d->dirty ? Py_True : Py_False,
			     describe_tuple_of(d->n_entries, entry_at, d->entries), describe_tuple_of(d->n_states, state_at, d->states),
			     describe_tuple_of(d->n_capacities, capacity_at, d->capacities),
			     describe_tuple_of(d->n_weights, weight_at, d->weights));
}

/* ---- profiles ---- */

static PyObject *profile_entry_at(const void *at, int64_t i)
{
	const tri_profile_entry *e = (const tri_profile_entry *)at + i;
	return Py_BuildValue("(NNNNIiIKLLLLL)", text_of(e->code), text_of(e->operation), text_of(e->layer), text_of(e->file), e->line,
			     e->parent == TRI_NONE ? -1 : (int)e->parent, e->statement, (unsigned long long)e->calls, (long long)e->wall_ns,
			     (long long)e->cpu_ns, (long long)e->bytes, (long long)e->operations, (long long)e->memory);
}

static bool add_profile(struct library *library, struct tri_model *model, void *user, tri_error *err)
{
	const tri_profile *p = library->desc->profile ? library->desc->profile(model, err) : NULL;
	if (!library->desc->profile) {
		err->code = TRI_ERR_ARGUMENT;
		PyOS_snprintf(err->message, sizeof err->message,
			      "%s was built without `profile = true`: add it to the model's block of tri.build, and build again",
			      library->desc->name);
	}
	if (!p)
		return false;
	PyObject *one = Py_BuildValue("(KLLKIN)", (unsigned long long)p->runs, (long long)p->wall_ns, (long long)p->cpu_ns,
				      (unsigned long long)p->memory_bytes, p->threads,
				      describe_tuple_of(p->n_entries, profile_entry_at, p->entries));
	bool ok = one && PyList_Append(user, one) == 0;
	Py_XDECREF(one);
	return ok;
}

PyObject *library_profile(PyObject *self, PyObject *none)
{
	(void)none;
	PyObject *all = PyList_New(0), *done = all ? library_each((struct library *)self, add_profile, all) : NULL;
	if (!done)
		Py_CLEAR(all);
	Py_XDECREF(done);
	return all;
}

static bool restart_profile(struct library *library, struct tri_model *model, void *user, tri_error *err)
{
	(void)user;
	return !library->desc->profile_reset || library->desc->profile_reset(model, err) == TRI_OK;
}

PyObject *library_profile_reset(PyObject *self, PyObject *none)
{
	(void)none;
	return library_each((struct library *)self, restart_profile, NULL);
}
