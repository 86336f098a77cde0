/* Runs models on an OpenCL device. */
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/engine.h"
#include "backend/runtime/profile/origins.h"
#include "gpu/runtime/opening.h"
#include "gpu/runtime/queue.h"
#include "gpu/runtime/report.h"
#include "gpu/runtime/steps.h"

struct opencl_engine {
	struct tri_model model;
	struct tri_cl_device device;
	struct tri_state_space space;
	struct tri_cl_prepared *entries; /* desc->n_entries */
};

static struct opencl_engine *engine_of(struct tri_model *m) { return (struct opencl_engine *)m; }

static bool opencl_engine_is_lost(tri_error *err)
{
	return tri_error_set(err, TRI_ERR_DEVICE, "the device stopped in an earlier run: open the model again") == TRI_OK;
}

/* ---- states ---- */

static void *state_allocate(void *device, size_t bytes, const char *what, tri_error *err)
{
	return tri_cl_buffer(device, bytes, NULL, what, err);
}

static void state_release(void *device, void *handle)
{
	const struct tri_cl_device *d = device;
	if (!d->hangs)
		d->cl.clReleaseMemObject(handle);
}

static bool state_write(void *device, void *handle, const void *from, size_t bytes, tri_error *err)
{
	struct tri_cl_device *d = device;
	const char *call = from ? "clEnqueueWriteBuffer" : "clEnqueueFillBuffer";
	const cl_char zero = 0;
	if (d->lost)
		return opencl_engine_is_lost(err);
	tri_cl_begin(d);
	cl_int status = from ? tri_cl_write(d, handle, from, bytes, true, NULL)
			     : d->cl.clEnqueueFillBuffer(d->queue, handle, &zero, sizeof zero, 0, bytes, 0, NULL, NULL);
	return status == CL_SUCCESS || tri_cl_error_in(d, err, call, status, 0);
}

static bool state_read(void *device, void *handle, void *to, size_t bytes, tri_error *err)
{
	struct tri_cl_device *d = device;
	if (d->lost)
		return opencl_engine_is_lost(err);
	tri_cl_begin(d);
	cl_int status = tri_cl_read(d, handle, 0, to, bytes, true, NULL);
	return status == CL_SUCCESS || tri_cl_error_in(d, err, "clEnqueueReadBuffer", status, 0);
}

/* ---- open and close ---- */

static bool open_entries(struct opencl_engine *m, tri_error *err)
{
	m->entries = calloc((size_t)m->model.desc->n_entries + 1, sizeof *m->entries);
	bool ok = m->entries != NULL;
	for (uint32_t i = 0; ok && i < m->model.desc->n_entries; i++) {
		tri_entry_desc e = tri_states_entry(&m->model.desc->entries[i]);
		ok = tri_cl_prepared_init(&m->entries[i], m->device.variant, &e);
	}
	if (!ok)
		tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
	return ok;
}

static struct tri_model *opencl_engine_allocate(const tri_model_desc *desc)
{
	(void)desc;
	return calloc(1, sizeof(struct opencl_engine));
}

static int opencl_engine_open(struct tri_model *model, const tri_options *opt, tri_error *err)
{
	struct opencl_engine *m = engine_of(model);
	m->device.desc = model->desc;
	m->device.measures = model->collector != NULL;
	m->device.no_print = TRI_OPTION(opt, no_print);
	m->space = (struct tri_state_space){&m->device, state_allocate, state_release, state_write, state_read};
	model->space = &m->space;
	model->threads = 1;
	if (!tri_cl_open(&m->device, opt, err)) {
		model->is_unsuitable = !m->device.hangs && m->device.is_unsuitable;
		return err->code;
	}
	model->device.name = m->device.name;
	return open_entries(m, err) ? TRI_OK : err->code;
}

static void opencl_engine_close(struct tri_model *model)
{
	struct opencl_engine *m = engine_of(model);
	struct tri_cl_device *d = &m->device;
	if (d->hangs)
		return;
	for (uint32_t i = 0; m->entries && i < model->desc->n_entries; i++) {
		tri_entry_desc e = tri_states_entry(&model->desc->entries[i]);
		tri_cl_prepared_end(&m->entries[i], d, &e);
	}
	tri_cl_close(d);
	free(m->entries);
	free(m);
}

/* ---- runs ---- */

static bool write_inputs(struct opencl_engine *m, const tri_entry_desc *e, const struct tri_cl_prepared *p, const tri_tensor *io,
			 tri_error *err)
{
	struct tri_cl_device *d = &m->device;
	cl_int status = CL_SUCCESS;
	for (int32_t i = 0; i < e->n_inputs - e->n_states_in && status == CL_SUCCESS; i++)
		if (p->io_bytes[i])
			status = tri_cl_write(d, p->io[i], io[i].data, p->io_bytes[i], false, d->measures ? &p->copied[i] : NULL);
	return status == CL_SUCCESS || tri_cl_error_in(d, err, "clEnqueueWriteBuffer", status, 0);
}

/* Waits until all has run: the caller owns the tensors, so no command may use them after the return. */
static bool opencl_engine_read_outputs(struct opencl_engine *m, const tri_entry_desc *e, const struct tri_cl_prepared *p,
				       const tri_tensor *io, cl_long failed[4], tri_error *err)
{
	struct tri_cl_device *d = &m->device;
	int32_t end = e->n_inputs + e->n_outputs - e->n_states_out, last = end;
	cl_int status = CL_SUCCESS;
	while (last > e->n_inputs && !p->io_bytes[last - 1])
		last--;
	bool waits = last > e->n_inputs;
	if (p->may_fail || !waits)
		status = tri_cl_read(d, d->failed, 0, failed, 4 * sizeof *failed, !waits, NULL);
	for (int32_t i = e->n_inputs; i < last && status == CL_SUCCESS; i++)
		if (p->io_bytes[i])
			status = tri_cl_read(d, p->io[i], 0, io[i].data, p->io_bytes[i], i == last - 1, d->measures ? &p->copied[i] : NULL);
	return status == CL_SUCCESS || tri_cl_error_in(d, err, "clEnqueueReadBuffer", status, 0);
}

static int run_prepared(struct opencl_engine *m, struct tri_cl_prepared *p, const tri_entry_desc *e, const tri_tensor *io, tri_error *err)
{
	struct tri_cl_device *d = &m->device;
	cl_long failed[4] = {0};
	if (!write_inputs(m, e, p, io, err))
		return TRI_ERR_DEVICE;
	int status = tri_cl_steps(d, p, e, err);
	if (status != TRI_OK)
		return status;
	return opencl_engine_read_outputs(m, e, p, io, failed, err) ? tri_cl_failed(d, failed, err) : TRI_ERR_DEVICE;
}

static int opencl_engine_run(struct tri_model *model, uint32_t number, const tri_entry_desc *e, const tri_tensor *io, tri_error *err)
{
	struct opencl_engine *m = engine_of(model);
	struct tri_cl_prepared *p = &m->entries[number];
	if (m->device.lost) {
		opencl_engine_is_lost(err);
		return TRI_ERR_DEVICE;
	}
	tri_cl_begin(&m->device);
	int status = tri_cl_prepare(p, &m->device, e, model->dims, io, err);
	model->scratch_bytes = p->scratch_bytes;
	if (status != TRI_OK)
		return status;
	p->began_ns = tri_clock_ns();
	status = run_prepared(m, p, e, io, err);
	if (m->device.hangs)
		return status;
	if (status != TRI_OK)
		tri_cl_finish(&m->device);
	else if (m->device.measures)
		tri_cl_report(
			&(struct tri_cl_measured){&m->device, model->desc, e, p, model->dims, model->desc->profiling, model->collector});
	tri_cl_release_events(p, &m->device, e);
	return status;
}

const struct tri_engine tri_opencl = {opencl_engine_allocate, opencl_engine_open, opencl_engine_run, opencl_engine_close};
