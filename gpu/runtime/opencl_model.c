/* Opens, runs and closes a model on an OpenCL device. Replaces backend/runtime/model.c in OpenCL libraries; backend/runtime/model_io.c
 * checks shapes in both. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "backend/runtime/claim.h"
#include "backend/runtime/collect.h"
#include "backend/runtime/model.h"
#include "backend/runtime/origins.h"
#include "backend/runtime/states.h"
#include "gpu/runtime/report.h"

enum { MAX_DIMS = 64 };

struct tri_model {
	tri_claim claim;
	const tri_model_desc *desc;
	struct tri_collector *collector; /* NULL: built without `profile = true`, nothing is measured */
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

static const struct tri_profiling *profiling(const tri_model_desc *desc) { return desc->profiling; }

static bool open_queue(struct tri_cl_device *d, tri_error *err)
{
	cl_int status;
	d->context = clCreateContext(NULL, 1, &d->id, NULL, NULL, &status);
	if (!d->context)
		return tri_cl_error(err, "clCreateContext", status);
	d->queue = clCreateCommandQueue(d->context, d->id, d->measures ? CL_QUEUE_PROFILING_ENABLE : 0, &status);
	if (!d->queue)
		return tri_cl_error(err, "clCreateCommandQueue", status);
	d->failed = clCreateBuffer(d->context, CL_MEM_READ_WRITE, 4 * sizeof(cl_long), NULL, &status);
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
	d->measures = m->collector != NULL;
	if (!tri_cl_device(wanted_device(opt), &d->id, err) || !open_queue(d, err))
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
	if (m->collector)
		profiling(m->desc)->close(m->collector);
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
	m->desc = m->device.desc = desc;
	if (tri_wanted_profiling(desc, opt) && !(m->collector = profiling(desc)->open(desc, opt))) {
		tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
		release(m);
		return NULL;
	}
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
	static const cl_long none[4];
	cl_command_queue q = m->device.queue;
	cl_int status = CL_SUCCESS;
	for (int32_t i = 0; i < e->n_inputs && status == CL_SUCCESS; i++)
		if (p->io_bytes[i])
			status = clEnqueueWriteBuffer(q, p->io[i], CL_FALSE, 0, p->io_bytes[i], io[i].data, 0, NULL,
						      m->collector ? &p->copied[i] : NULL);
	if (p->may_fail && status == CL_SUCCESS)
		status = clEnqueueWriteBuffer(q, m->device.failed, CL_FALSE, 0, sizeof none, none, 0, NULL, NULL);
	return status == CL_SUCCESS ? true : tri_cl_error(err, "clEnqueueWriteBuffer", status);
}

static bool launch_one(struct tri_model *m, const struct tri_cl_launch *l, const struct tri_cl_prepared *p, int64_t i, tri_error *err)
{
	bool measured = m->collector && l->unit != TRI_NONE;
	if (!p->global[i])
		return true;
	cl_int status = clEnqueueNDRangeKernel(m->device.queue, p->kernels[i], 1, NULL, &p->global[i], &p->local[i], 0, NULL,
					       measured ? &p->launched[i] : NULL);
	return status == CL_SUCCESS ? true : tri_cl_error(err, "clEnqueueNDRangeKernel", status);
}

static bool launch(struct tri_model *m, const tri_entry_desc *e, const struct tri_cl_prepared *p, tri_error *err)
{
	const struct tri_cl_entry *code = e->code;
	for (int64_t i = 0; i < code->n_launches; i++)
		if (!launch_one(m, &code->launches[i], p, i, err))
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
			status = clEnqueueReadBuffer(q, p->io[i], CL_FALSE, 0, p->io_bytes[i], io[i].data, 0, NULL,
						     m->collector ? &p->copied[i] : NULL);
	if (p->may_fail && status == CL_SUCCESS)
		status = clEnqueueReadBuffer(q, m->device.failed, CL_FALSE, 0, 4 * sizeof *failed, failed, 0, NULL, NULL);
	return status == CL_SUCCESS ? true : tri_cl_error(err, "clEnqueueReadBuffer", status);
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int run(struct tri_model *m, const tri_entry_desc *e, struct tri_cl_prepared *p, const tri_tensor *io, tri_error *err)
{
	cl_long failed[4] = {0};
	int prepared = tri_cl_prepare(p, &m->device, e, m->dims, err);
	if (prepared != TRI_OK)
		return prepared;
	p->began_ns = now_ns();
	bool ok = write_inputs(m, e, p, io, err) && launch(m, e, p, err) && read_outputs(m, e, p, io, failed, err);
	cl_int status = clFinish(m->device.queue); /* the caller owns the tensors: no command may use them after the return */
	if (m->collector && ok && status == CL_SUCCESS)
		tri_cl_report(&(struct tri_cl_measured){m->desc, e, p, m->dims, profiling(m->desc), m->collector});
	tri_cl_release_events(p, e);
	if (!ok)
		return TRI_ERR_DEVICE;
	if (status != CL_SUCCESS) {
		tri_cl_error(err, "clFinish", status);
		return TRI_ERR_DEVICE;
	}
	if (failed[0])
		return tri_error_index(err, m->desc, failed[1], failed[2], (uint64_t)failed[3]);
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
	if (m->collector)
		profiling(m->desc)->begin_run(m->collector);
	status = tri_states_begin(m->states, e, io, m->dims, &tensors, err);
	if (status == TRI_OK)
		status = run(m, &with, &m->entries[entry], tensors, err);
	if (status == TRI_OK)
		tri_states_commit(m->states, e);
	if (m->collector)
		profiling(m->desc)->end_run(m->collector, status == TRI_OK, m->entries[entry].scratch_bytes, NULL);
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

const tri_profile *tri_model_profile(struct tri_model *m, tri_error *err)
{
	const tri_profile *p = NULL;
	if ((m ? tri_claim_begin(&m->claim, err) : no_model(err)) == TRI_OK)
		end_call(m, tri_profile_result(profiling(m->desc), m->collector, 1, &p, err), err);
	return p;
}

int tri_model_profile_reset(struct tri_model *m, tri_error *err)
{
	int status = m ? tri_claim_begin(&m->claim, err) : no_model(err);
	return status == TRI_OK ? end_call(m, tri_profile_restart(profiling(m->desc), m->collector, err), err) : status;
}

void tri_model_close(struct tri_model *m)
{
	if (m && tri_claim_close(&m->claim))
		release(m);
}
