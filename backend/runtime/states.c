/* A run reads the old value of a state. Rows that it appends are written behind it; another new value is written into a second buffer. If the run
 * succeeds, the length is that of the new value, or the two buffers change places; so a run that fails leaves all states as they were. */
#include "backend/runtime/states_memory.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "backend/runtime/dims.h"
#include "backend/runtime/model.h"

enum { ALIGN = 64, MAPPED = 1 << 21, STATE_TEXT = 200 };

/* ---- memory ---- */

/* Returns the bytes of a state that is filled up to `length`; false: more than an address space has. */
static bool states_state_bytes(const tri_state_desc *d, int64_t length, size_t *out)
{
	int64_t bytes = tri_dtype_bytes(d->dtype);
	for (int32_t k = 0; k < d->rank; k++)
		if (__builtin_mul_overflow(bytes, k == d->axis ? length : d->shape[k], &bytes) || bytes > INT64_MAX / 2)
			return false;
	*out = (size_t)bytes;
	return true;
}

size_t tri_state_bytes(const struct tri_states *s, uint32_t i, const int64_t *lengths)
{
	const tri_state_desc *d = &s->desc->states[i];
	size_t bytes = 0;
	states_state_bytes(d, d->axis < 0 ? 0 : lengths[d->capacity], &bytes);
	return bytes;
}

/* Large memory is mapped: pages that a state never fills take no room. */
static void *allocate_here(size_t bytes)
{
	if (bytes < MAPPED)
		return aligned_alloc(ALIGN, (bytes + ALIGN) / ALIGN * ALIGN);
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	madvise(at, bytes, MADV_HUGEPAGE);
	return at;
}

/* Returns memory of a state, which `what` describes; NULL with the error. */
static void *states_allocate(const struct tri_states *s, size_t bytes, const char *what, tri_error *err)
{
	if (s->space)
		return s->space->allocate(s->space->device, bytes, what, err);
	void *at = allocate_here(bytes);
	if (!at)
		tri_error_set(err, TRI_ERR_MEMORY, "out of memory for %s", what);
	return at;
}

static void deallocate(const struct tri_states *s, void *at, size_t bytes)
{
	if (s->space && at)
		s->space->release(s->space->device, at);
	else if (bytes < MAPPED)
		free(at);
	else if (at)
		munmap(at, bytes);
}

int tri_state_write(const struct tri_states *s, void *to, const void *from, size_t bytes, tri_error *err)
{
	if (s->space)
		return !bytes || s->space->write(s->space->device, to, from, bytes, err) ? TRI_OK : TRI_ERR_DEVICE;
	if (from)
		memcpy(to, from, bytes);
	else
		memset(to, 0, bytes);
	return TRI_OK;
}

int tri_state_read(const struct tri_states *s, void *from, void *to, size_t bytes, tri_error *err)
{
	if (s->space)
		return !bytes || s->space->read(s->space->device, from, to, bytes, err) ? TRI_OK : TRI_ERR_DEVICE;
	memcpy(to, from, bytes);
	return TRI_OK;
}

/* True if the code of the entry writes new value k behind the old one. */
static bool grows(const tri_entry_desc *e, int32_t k) { return e->states_grow && e->states_grow[k]; }

static bool is_replaced(const tri_model_desc *d, uint32_t state)
{
	for (uint32_t i = 0; i < d->n_entries; i++)
		for (int32_t k = 0; k < d->entries[i].n_states_out; k++)
			if (d->entries[i].states_out[k] == state && !grows(&d->entries[i], k))
				return true;
	return false;
}

static int allocate_state(struct tri_states *s, uint32_t i, tri_error *err)
{
	const tri_state_desc *d = &s->desc->states[i];
	struct tri_state_memory *m = &s->memory[i];
	const int64_t most = d->axis < 0 ? 0 : s->most[d->capacity];
	char what[STATE_TEXT];
	if (d->axis < 0)
		snprintf(what, sizeof what, "state %.150s", d->name);
	else
		snprintf(what, sizeof what, "state %.100s with capacity %.60s = %lld", d->name, s->desc->capacities[d->capacity].name,
			 (long long)most);
	if (!states_state_bytes(d, most, &m->bytes))
		return tri_error_set(err, TRI_ERR_MEMORY, "out of memory for %s", what);
	m->now = states_allocate(s, m->bytes, what, err);
	if (m->now && is_replaced(s->desc, i))
		m->next = states_allocate(s, m->bytes, what, err);
	return m->now && (m->next || !is_replaced(s->desc, i)) ? TRI_OK : err->code;
}

/* ---- capacities ---- */

static int set_capacity(struct tri_states *s, const tri_capacity *given, tri_error *err)
{
	bool found = false;
	if (!given->name)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "a capacity of tri_options.capacities has no name");
	if (given->most < 1)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "the capacity %.150s must be at least 1", given->name);
	for (uint32_t i = 0; i < s->desc->n_capacities; i++)
		if (strcmp(s->desc->capacities[i].name, given->name) == 0) {
			s->most[i] = given->most;
			found = true;
		}
	return found ? TRI_OK : tri_error_set(err, TRI_ERR_ARGUMENT, "the model has no capacity %.150s", given->name);
}

static int set_capacities(struct tri_states *s, const tri_options *opt, tri_error *err)
{
	uint32_t n = TRI_OPTION(opt, n_capacities);
	for (uint32_t i = 0; i < s->desc->n_capacities; i++)
		s->most[i] = s->desc->capacities[i].most;
	if (n && !opt->capacities)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "tri_options.capacities is NULL, but n_capacities is %u", n);
	for (uint32_t i = 0; i < n; i++) {
		int status = set_capacity(s, &opt->capacities[i], err);
		if (status != TRI_OK)
			return status;
	}
	for (uint32_t i = 0; i < s->desc->n_capacities; i++)
		if (s->most[i] < 1)
			return tri_error_set(
				err, TRI_ERR_ARGUMENT,
				"the capacity %.60s is not set: add `state.%.60s = 4096` to the manifest, or set tri_options.capacities",
				s->desc->capacities[i].name, s->desc->capacities[i].name);
	return TRI_OK;
}

/* ---- open and close ---- */

void tri_states_close(struct tri_states *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->desc->n_states; i++) {
		deallocate(s, s->memory[i].now, s->memory[i].bytes);
		deallocate(s, s->memory[i].next, s->memory[i].bytes);
	}
	free(s);
}

int tri_states_reset(struct tri_states *s, tri_error *err)
{
	int status = TRI_OK;
	for (uint32_t i = 0; s && i < s->desc->n_capacities; i++)
		s->length[i] = 0;
	for (uint32_t i = 0; s && i < s->desc->n_states && status == TRI_OK; i++)
		if (s->desc->states[i].axis < 0)
			status = tri_state_write(s, s->memory[i].now, s->desc->states[i].initial, s->memory[i].bytes, err);
	return status;
}

static size_t most_tensors(const tri_model_desc *desc)
{
	size_t most = 0;
	for (uint32_t i = 0; i < desc->n_entries; i++) {
		tri_entry_desc e = tri_states_entry(&desc->entries[i]);
		size_t n = (size_t)e.n_inputs + (size_t)e.n_outputs;
		most = n > most ? n : most;
	}
	return most;
}

int tri_states_open(const tri_model_desc *desc, const tri_options *opt, const struct tri_state_space *space, struct tri_states **out,
		    tri_error *err)
{
	size_t n_tensors = most_tensors(desc);
	tri_error own;
	err = err ? err : &own;
	*out = NULL;
	if (!desc->n_states)
		return TRI_OK;
	struct tri_states *s = calloc(1, sizeof *s + n_tensors * sizeof *s->all + desc->n_states * sizeof *s->memory +
						 3 * desc->n_capacities * sizeof *s->most);
	if (!s)
		return tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
	s->desc = desc;
	s->space = space;
	s->all = (tri_tensor *)(s + 1);
	s->memory = (struct tri_state_memory *)(s->all + n_tensors);
	s->most = (int64_t *)(s->memory + desc->n_states);
	s->length = s->most + desc->n_capacities;
	s->after = s->length + desc->n_capacities;
	int status = set_capacities(s, opt, err);
	for (uint32_t i = 0; i < desc->n_states && status == TRI_OK; i++)
		status = allocate_state(s, i, err);
	if (status == TRI_OK)
		status = tri_states_reset(s, err);
	if (status == TRI_OK)
		*out = s;
	else
		tri_states_close(s);
	return status;
}

/* ---- runs ---- */

static tri_tensor state_tensor(const struct tri_states *s, uint32_t state)
{
	const tri_state_desc *d = &s->desc->states[state];
	tri_tensor t = {.data = s->memory[state].now, .rank = d->rank, .dtype = d->dtype};
	memcpy(t.shape, d->shape, sizeof t.shape);
	if (d->axis >= 0)
		t.shape[d->axis] = s->length[d->capacity];
	return t;
}

/* Describes new value k of a state, and notes its length. */
static int states_new_value(struct tri_states *s, const tri_entry_desc *e, int32_t k, const int64_t *dims, tri_tensor *out, tri_error *err)
{
	uint32_t state = e->states_out[k];
	const tri_state_desc *d = &s->desc->states[state];
	*out = state_tensor(s, state);
	out->data = grows(e, k) ? s->memory[state].now : s->memory[state].next;
	if (d->axis < 0)
		return TRI_OK;
	int64_t *length = &out->shape[d->axis];
	const tri_capacity *c = &s->desc->capacities[d->capacity];
	if (!tri_dim_value(&e->outputs[e->n_outputs + k].dims[d->axis], dims, UINT64_MAX, length) || *length < 0)
		return tri_error_sizes(err, "", e, TRI_SIZE_ERROR_EXTENT, dims);
	if (*length > s->most[d->capacity])
		return tri_error_set(err, TRI_ERR_CAPACITY,
				     "state %.80s is full: this run needs %.40s = %lld, but its capacity is %lld; it has %lld now", d->name,
				     c->name, (long long)*length, (long long)s->most[d->capacity], (long long)s->length[d->capacity]);
	s->after[d->capacity] = *length;
	return TRI_OK;
}

int tri_states_begin(struct tri_states *s, const tri_entry_desc *e, const tri_tensor *io, int64_t *dims, const tri_tensor **all,
		     tri_error *err)
{
	*all = io;
	if (!s)
		return tri_io_check(e, io, dims, err);
	tri_entry_desc with = tri_states_entry(e);
	if (!io && e->n_inputs + e->n_outputs)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "io is NULL");
	memcpy(s->after, s->length, s->desc->n_capacities * sizeof *s->after);
	for (int32_t i = 0; i < e->n_inputs; i++)
		s->all[i] = io[i];
	for (int32_t i = 0; i < e->n_states_in; i++)
		s->all[e->n_inputs + i] = state_tensor(s, e->states_in[i]);
	for (int32_t i = 0; i < e->n_outputs; i++)
		s->all[with.n_inputs + i] = io[e->n_inputs + i];
	with.n_outputs = e->n_outputs;
	int status = tri_io_check(&with, s->all, dims, err);
	for (int32_t i = 0; i < e->n_states_out && status == TRI_OK; i++)
		status = states_new_value(s, e, i, dims, &s->all[with.n_inputs + e->n_outputs + i], err);
	*all = s->all;
	return status;
}

void tri_states_commit(struct tri_states *s, const tri_entry_desc *e)
{
	if (!s)
		return;
	memcpy(s->length, s->after, s->desc->n_capacities * sizeof *s->after);
	for (int32_t i = 0; i < e->n_states_out; i++) {
		struct tri_state_memory *m = &s->memory[e->states_out[i]];
		void *old = m->now;
		if (grows(e, i))
			continue;
		m->now = m->next;
		m->next = old;
	}
}
