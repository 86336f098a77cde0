/* An opened model, whatever runs it: its claim, its states, its profile. */
#include "backend/runtime/model.h"
#include <string.h>
#include "backend/runtime/async.h"
#include "backend/runtime/engine.h"

static const struct tri_engine *model_engine_of(const tri_model_desc *desc) { return desc->engine; }

static const struct tri_profiling *profiling(const struct tri_model *m) { return m->desc->profiling; }

static void model_release(struct tri_model *m)
{
	tri_async_end(m->async);
	tri_states_close(m->states);
	if (m->collector)
		profiling(m)->close(m->collector);
	model_engine_of(m->desc)->close(m);
}

static bool dims_fit(const tri_model_desc *desc, tri_error *err)
{
	for (uint32_t i = 0; i < desc->n_entries; i++)
		if (desc->entries[i].n_dims > TRI_MAX_DIMS) {
			tri_error_set(err, TRI_ERR_ARGUMENT, "entry %s has more than %d dynamic dimensions", desc->entries[i].name,
				      TRI_MAX_DIMS);
			return false;
		}
	return true;
}

/* Statements report to the collector, if there is one. */
static int open_collector(struct tri_model *m, const tri_options *opt, tri_error *err)
{
	const struct tri_profiling *wanted = tri_wanted_profiling(m->desc, opt);
	m->collector = wanted ? wanted->open(m->desc, opt) : NULL;
	return m->collector || !wanted ? TRI_OK : tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
}

const char *tri_wanted_device(const tri_model_desc *desc, const tri_options *opt)
{
	const char *device = TRI_OPTION(opt, device);
	size_t kind = strlen(desc->backend);
	if (device && strncmp(device, desc->backend, kind) == 0 && (!device[kind] || device[kind] == ':'))
		device += kind + (device[kind] == ':');
	return device && *device ? device : NULL;
}

/* *is_unsuitable: no device here can run the model. */
static struct tri_model *open_described(const tri_model_desc *desc, const tri_options *opt, bool *is_unsuitable, tri_error *err)
{
	if (!dims_fit(desc, err))
		return NULL;
	struct tri_model *m = model_engine_of(desc)->allocate(desc);
	if (!m) {
		tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
		return NULL;
	}
	m->desc = desc;
	m->device = (tri_device){"", "", desc};
	if (open_collector(m, opt, err) == TRI_OK && model_engine_of(desc)->open(m, opt, err) == TRI_OK &&
	    tri_states_open(desc, opt, m->space, &m->states, err) == TRI_OK)
		return m;
	*is_unsuitable = m->is_unsuitable;
	model_release(m);
	return NULL;
}

/* False: its weight file is missing or damaged. It may need another processor than this one. */
static bool fallback_has_weights(const tri_model_desc *fallback, const tri_options *opt, tri_error *err)
{
	bool is_unsuitable;
	struct tri_model *m = open_described(fallback, opt, &is_unsuitable, err);
	if (m)
		model_release(m);
	return m || err->code != TRI_ERR_WEIGHTS;
}

/* A device that is named is not replaced. */
static struct tri_model *open_here(const tri_model_desc *desc, const tri_options *opt, tri_error *err)
{
	const char *device = desc->fallback ? tri_wanted_device(desc, opt) : NULL;
	bool wants_fallback = device && strcmp(device, "cpu") == 0, is_unsuitable = false;
	struct tri_model *m = NULL;
	tri_error why = {.message = "the caller chose it"};
	if (!wants_fallback) {
		if (desc->fallback && TRI_OPTION(opt, verify) && !fallback_has_weights(desc->fallback, opt, err))
			return NULL;
		m = open_described(desc, opt, &is_unsuitable, err);
		wants_fallback = is_unsuitable && desc->fallback && !device;
		why = *err;
	}
	if (!wants_fallback)
		return m;
	m = open_described(desc->fallback, opt, &is_unsuitable, err);
	if (m) {
		m->why = why;
		m->device.why = m->why.message;
	}
	return m;
}

struct tri_model *tri_model_open(const tri_options *opt, tri_error *err, const tri_model_desc *desc)
{
	tri_error own;
	err = err ? err : &own;
	struct tri_model *m = open_here(desc, opt, err);
	if (m)
		memset(err, 0, sizeof *err);
	return m;
}

const tri_device *tri_model_device(struct tri_model *m) { return m ? &m->device : NULL; }

static int no_model(tri_error *err) { return tri_error_set(err, TRI_ERR_ARGUMENT, "the model is NULL"); }

static int run_entry(struct tri_model *m, uint32_t number, const tri_tensor *io, tri_error *err)
{
	const tri_entry_desc *e = &m->desc->entries[number];
	const tri_entry_desc with_states = tri_states_entry(e);
	const tri_tensor *all;
	int status = tri_states_begin(m->states, e, io, m->dims, &all, err);
	if (status == TRI_OK)
		status = model_engine_of(m->desc)->run(m, number, &with_states, all, err);
	if (status == TRI_OK)
		tri_states_commit(m->states, e);
	return status;
}

static int model_end_call(struct tri_model *m, int status, tri_error *err)
{
	if (status == TRI_OK && err)
		err->code = TRI_OK, err->message[0] = 0;
	if (tri_claim_end(&m->claim))
		model_release(m);
	return status;
}

static int model_begin_run(struct tri_model *m, uint32_t entry, tri_error *err)
{
	if (!m)
		return no_model(err);
	if (entry >= m->desc->n_entries)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "there is no entry %u: the model has %u", (unsigned)entry,
				     (unsigned)m->desc->n_entries);
	return tri_claim_begin(&m->claim, err);
}

/* Runs a model that is claimed, and ends the claim. */
static int run_claimed(struct tri_model *m, uint32_t entry, const tri_tensor *io, tri_error *err)
{
	if (m->collector)
		profiling(m)->begin_run(m->collector);
	int status = run_entry(m, entry, io, err);
	if (m->collector)
		profiling(m)->end_run(m->collector, status == TRI_OK, m->scratch_bytes, m->clock);
	return model_end_call(m, status, err);
}

int tri_model_run(struct tri_model *m, uint32_t entry, tri_tensor *io, tri_error *err)
{
	int status = model_begin_run(m, entry, err);
	return status == TRI_OK ? run_claimed(m, entry, io, err) : status;
}

static void model_run_later(const struct tri_async_run *run, tri_error *err) { run_claimed(run->model, run->entry, run->io, err); }

int tri_model_run_async(struct tri_model *m, uint32_t entry, tri_tensor *io, tri_done *done, void *user, tri_error *err)
{
	if (!done)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "`done` is NULL");
	int status = model_begin_run(m, entry, err);
	if (status != TRI_OK)
		return status;
	status = tri_async_start(&m->async, &(struct tri_async_run){m, entry, io, done, user}, model_run_later, err);
	return status == TRI_OK ? TRI_OK : model_end_call(m, status, err);
}

int tri_model_reset(struct tri_model *m, tri_error *err)
{
	int status = m ? tri_claim_begin(&m->claim, err) : no_model(err);
	if (status != TRI_OK)
		return status;
	return model_end_call(m, tri_states_reset(m->states, err), err);
}

int tri_model_state_save(struct tri_model *m, void *to, uint64_t *size, tri_error *err)
{
	int status = m ? tri_claim_begin(&m->claim, err) : no_model(err);
	return status == TRI_OK ? model_end_call(m, tri_states_save(m->states, to, size, err), err) : status;
}

int tri_model_state_load(struct tri_model *m, const void *from, uint64_t size, tri_error *err)
{
	int status = m ? tri_claim_begin(&m->claim, err) : no_model(err);
	return status == TRI_OK ? model_end_call(m, tri_states_load(m->states, from, size, err), err) : status;
}

const tri_profile *tri_model_profile(struct tri_model *m, tri_error *err)
{
	const tri_profile *p = NULL;
	if ((m ? tri_claim_begin(&m->claim, err) : no_model(err)) == TRI_OK)
		model_end_call(m, tri_profile_result(profiling(m), m->collector, m->threads, &p, err), err);
	return p;
}

int tri_model_profile_reset(struct tri_model *m, tri_error *err)
{
	int status = m ? tri_claim_begin(&m->claim, err) : no_model(err);
	return status == TRI_OK ? model_end_call(m, tri_profile_restart(profiling(m), m->collector, err), err) : status;
}

void tri_model_close(struct tri_model *m)
{
	if (m && tri_claim_close(&m->claim))
		model_release(m);
}
