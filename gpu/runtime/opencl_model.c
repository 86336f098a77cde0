/* Opens, runs and closes a model on an OpenCL device. Replaces backend/runtime/model.c in OpenCL libraries; backend/runtime/model_io.c
 * checks shapes in both. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "backend/runtime/claim.h"
#include "backend/runtime/model.h"
#include "backend/runtime/states.h"
#include "gpu/runtime/prepare.h"

enum { MAX_DIMS = 64 };

struct tri_model {
	tri_claim claim;
	const tri_model_desc *desc;
	void (*profile)(void *user, const tri_profile_event *event); /* of tri_options; NULL: nothing is measured */
	void *profile_user;
	struct tri_cl_device device;
	struct tri_cl_prepared *entries; /* desc->n_entries */
	int64_t dims[MAX_DIMS];
	struct tri_states *states; /* in the memory of the host; NULL: none */
};

static const struct tri_cl_program *program_of(const tri_model_desc *desc)
{
	return ((const struct tri_cl_entry *)desc->entries[0].code)->program;
}

static const char *wanted_device(const tri_options *opt)
{
	return opt && opt->size >= offsetof(tri_options, device) + sizeof opt->device ? opt->device : NULL;
}

static void set_profile(struct tri_model *m, const tri_options *opt)
{
	if (!opt || opt->size < offsetof(tri_options, profile_user) + sizeof opt->profile_user)
		return;
	m->profile = opt->profile;
	m->profile_user = opt->profile_user;
}

static bool open_queue(struct tri_cl_device *d, bool profile, tri_error *err)
{
	cl_int status;
	d->context = clCreateContext(NULL, 1, &d->id, NULL, NULL, &status);
	if (!d->context)
		return tri_cl_error(err, "clCreateContext", status);
	d->queue = clCreateCommandQueue(d->context, d->id, profile ? CL_QUEUE_PROFILING_ENABLE : 0, &status);
	if (!d->queue)
		return tri_cl_error(err, "clCreateCommandQueue", status);
	d->failed = clCreateBuffer(d->context, CL_MEM_READ_WRITE, 3 * sizeof(cl_long), NULL, &status);
	return d->failed ? true : tri_cl_error(err, "clCreateBuffer", status);
}

static bool upload(struct tri_cl_device *d, const struct tri_cl_program *p, tri_error *err)
{
	static const char nothing[16];
	d->blobs = calloc((size_t)p->n_blobs + 1, sizeof *d->blobs);
	if (!d->blobs)
		return tri_error_set(err, TRI_ERR_MEMORY, "out of memory") == TRI_OK;
	for (int32_t i = 0; i < p->n_blobs; i++) {
		const struct tri_cl_blob *b = &p->blobs[i];
		const void *bytes = b->size ? b->bytes : nothing;
		cl_int status;
		d->blobs[i] =
			clCreateBuffer(d->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, b->size ? b->size : 1, (void *)bytes, &status);
		if (!d->blobs[i])
			return tri_cl_error(err, "clCreateBuffer", status);
	}
	return true;
}

static bool open_device(struct tri_model *m, const tri_options *opt, tri_error *err)
{
	struct tri_cl_device *d = &m->device;
	const struct tri_cl_program *p = program_of(m->desc);
	if (!tri_cl_device(wanted_device(opt), &d->id, err) || !open_queue(d, m->profile != NULL, err))
		return false;
	d->program = tri_cl_build(d->context, d->id, p, err);
	return d->program && upload(d, p, err);
}

static bool open_entries(struct tri_model *m, tri_error *err)
{
	m->entries = calloc((size_t)m->desc->n_entries + 1, sizeof *m->entries);
	bool ok = m->entries != NULL;
	for (uint32_t i = 0; ok && i < m->desc->n_entries; i++) {
		tri_entry_desc e = tri_states_entry(&m->desc->entries[i]);
		ok = tri_cl_prepared_init(&m->entries[i], &e);
	}
	if (!ok)
		tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
	return ok;
}

static bool dims_fit(const tri_model_desc *desc, tri_error *err)
{
	for (uint32_t i = 0; i < desc->n_entries; i++)
		if (desc->entries[i].n_dims > MAX_DIMS) {
			tri_error_set(err, TRI_ERR_ARGUMENT, "entry %s has more than %d dynamic dimensions", desc->entries[i].name,
				      MAX_DIMS);
			return false;
		}
	return true;
}

static void release(struct tri_model *m)
{
	struct tri_cl_device *d = &m->device;
	for (uint32_t i = 0; m->entries && i < m->desc->n_entries; i++) {
		tri_entry_desc e = tri_states_entry(&m->desc->entries[i]);
		tri_cl_prepared_end(&m->entries[i], &e);
	}
	for (int32_t i = 0; d->blobs && i < program_of(m->desc)->n_blobs; i++)
		if (d->blobs[i])
			clReleaseMemObject(d->blobs[i]);
	if (d->failed)
		clReleaseMemObject(d->failed);
	if (d->program)
		clReleaseProgram(d->program);
	if (d->queue)
		clReleaseCommandQueue(d->queue);
	if (d->context)
		clReleaseContext(d->context);
	tri_states_close(m->states);
	free(d->blobs);
	free(m->entries);
	free(m);
}

struct tri_model *tri_model_open(const tri_options *opt, tri_error *err, const tri_model_desc *desc)
{
	if (!dims_fit(desc, err))
		return NULL;
	struct tri_model *m = calloc(1, sizeof *m);
	if (!m) {
		tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
		return NULL;
	}
	m->desc = desc;
	set_profile(m, opt);
	if (!open_device(m, opt, err) || !open_entries(m, err) || tri_states_open(desc, opt, &m->states, err) != TRI_OK) {
		release(m);
		return NULL;
	}
	if (err)
		memset(err, 0, sizeof *err);
	return m;
}

static bool write_inputs(struct tri_model *m, const tri_entry_desc *e, const struct tri_cl_prepared *p, const tri_tensor *io,
			 tri_error *err)
{
	static const cl_long none[3];
	cl_command_queue q = m->device.queue;
	cl_int status = CL_SUCCESS;
	for (int32_t i = 0; i < e->n_inputs && status == CL_SUCCESS; i++)
		if (p->io_bytes[i])
			status = clEnqueueWriteBuffer(q, p->io[i], CL_FALSE, 0, p->io_bytes[i], io[i].data, 0, NULL, NULL);
	if (p->may_fail && status == CL_SUCCESS)
		status = clEnqueueWriteBuffer(q, m->device.failed, CL_FALSE, 0, sizeof none, none, 0, NULL, NULL);
	return status == CL_SUCCESS ? true : tri_cl_error(err, "clEnqueueWriteBuffer", status);
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Waits for the launch and reports how long the device took. */
static bool report(struct tri_model *m, const struct tri_cl_launch *l, int64_t start, cl_event done, tri_error *err)
{
	cl_ulong began, ended;
	const tri_unit_desc *u = &m->desc->units[l->unit];
	cl_int status = clWaitForEvents(1, &done);
	if (status == CL_SUCCESS)
		status = clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, sizeof began, &began, NULL);
	if (status == CL_SUCCESS)
		status = clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, sizeof ended, &ended, NULL);
	if (status != CL_SUCCESS)
		return tri_cl_error(err, "clGetEventProfilingInfo", status);
	tri_profile_event event = {.size = sizeof event, .statement = u->first_statement + l->statement, .unit = u, .start_ns = start};
	event.ns = (int64_t)(ended - began);
	event.bytes = tri_cl_size(&l->bytes, m->dims);
	event.operations = tri_cl_size(&l->operations, m->dims);
	m->profile(m->profile_user, &event);
	return true;
}

static bool launch_one(struct tri_model *m, const struct tri_cl_launch *l, const struct tri_cl_prepared *p, int64_t i, tri_error *err)
{
	bool measured = m->profile && l->unit != TRI_NONE;
	int64_t start = measured ? now_ns() : 0;
	cl_event done;
	cl_int status = clEnqueueNDRangeKernel(m->device.queue, p->kernels[i], 1, NULL, &p->global[i], &p->local[i], 0, NULL,
					       measured ? &done : NULL);
	if (status != CL_SUCCESS)
		return tri_cl_error(err, "clEnqueueNDRangeKernel", status);
	if (!measured)
		return true;
	bool ok = report(m, l, start, done, err);
	clReleaseEvent(done);
	return ok;
}

static bool launch(struct tri_model *m, const tri_entry_desc *e, const struct tri_cl_prepared *p, tri_error *err)
{
	const struct tri_cl_entry *code = e->code;
	for (int64_t i = 0; i < code->n_launches; i++)
		if (p->global[i] && !launch_one(m, &code->launches[i], p, i, err))
			return false;
	return true;
}

static bool read_outputs(struct tri_model *m, const tri_entry_desc *e, const struct tri_cl_prepared *p, const tri_tensor *io,
			 cl_long *failed, tri_error *err)
{
	cl_command_queue q = m->device.queue;
	cl_int status = CL_SUCCESS;
	for (int32_t i = e->n_inputs; i < e->n_inputs + e->n_outputs && status == CL_SUCCESS; i++)
		if (p->io_bytes[i])
			status = clEnqueueReadBuffer(q, p->io[i], CL_TRUE, 0, p->io_bytes[i], io[i].data, 0, NULL, NULL);
	if (p->may_fail && status == CL_SUCCESS)
		status = clEnqueueReadBuffer(q, m->device.failed, CL_TRUE, 0, 3 * sizeof *failed, failed, 0, NULL, NULL);
	return status == CL_SUCCESS ? true : tri_cl_error(err, "clEnqueueReadBuffer", status);
}

static int run(struct tri_model *m, const tri_entry_desc *e, struct tri_cl_prepared *p, const tri_tensor *io, tri_error *err)
{
	cl_long failed[3] = {0};
	int prepared = tri_cl_prepare(p, &m->device, e, m->dims, err);
	if (prepared != TRI_OK)
		return prepared;
	bool ok = write_inputs(m, e, p, io, err) && launch(m, e, p, err) && read_outputs(m, e, p, io, failed, err);
	cl_int status = clFinish(m->device.queue); /* the caller owns the inputs: no command may use them after the return */
	if (!ok)
		return TRI_ERR_DEVICE;
	if (status != CL_SUCCESS) {
		tri_cl_error(err, "clFinish", status);
		return TRI_ERR_DEVICE;
	}
	if (failed[0])
		return tri_error_set(err, TRI_ERR_RANGE, "index %lld is out of range: it must be at least 0 and less than %lld",
				     (long long)failed[1], (long long)failed[2]);
	if (err)
		err->code = TRI_OK, err->message[0] = 0;
	return TRI_OK;
}

static int no_model(tri_error *err) { return tri_error_set(err, TRI_ERR_ARGUMENT, "the model is NULL"); }

int tri_model_run(struct tri_model *m, uint32_t entry, tri_tensor *io, tri_error *err)
{
	if (!m)
		return no_model(err);
	if (entry >= m->desc->n_entries)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "there is no entry %u: the model has %u", (unsigned)entry,
				     (unsigned)m->desc->n_entries);
	const tri_entry_desc *e = &m->desc->entries[entry];
	int status = tri_claim_begin(&m->claim, err);
	if (status != TRI_OK)
		return status;
	const tri_tensor *tensors;
	tri_entry_desc with = tri_states_entry(e);
	status = tri_states_begin(m->states, e, io, m->dims, &tensors, err);
	if (status == TRI_OK)
		status = run(m, &with, &m->entries[entry], tensors, err);
	if (status == TRI_OK)
		tri_states_commit(m->states, e);
	if (tri_claim_end(&m->claim))
		release(m);
	return status;
}

static int end_call(struct tri_model *m, int status, tri_error *err)
{
	if (status == TRI_OK && err)
		err->code = TRI_OK, err->message[0] = 0;
	if (tri_claim_end(&m->claim))
		release(m);
	return status;
}

int tri_model_reset(struct tri_model *m, tri_error *err)
{
	int status = m ? tri_claim_begin(&m->claim, err) : no_model(err);
	if (status != TRI_OK)
		return status;
	tri_states_reset(m->states);
	return end_call(m, TRI_OK, err);
}

int tri_model_state_save(struct tri_model *m, void *to, uint64_t *size, tri_error *err)
{
	int status = m ? tri_claim_begin(&m->claim, err) : no_model(err);
	return status == TRI_OK ? end_call(m, tri_states_save(m->states, to, size, err), err) : status;
}

int tri_model_state_load(struct tri_model *m, const void *from, uint64_t size, tri_error *err)
{
	int status = m ? tri_claim_begin(&m->claim, err) : no_model(err);
	return status == TRI_OK ? end_call(m, tri_states_load(m->states, from, size, err), err) : status;
}

void tri_model_close(struct tri_model *m)
{
	if (m && tri_claim_close(&m->claim))
		release(m);
}
