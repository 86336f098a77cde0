/* Runs models on an OpenCL device. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "backend/runtime/engine.h"
#include "backend/runtime/profile/origins.h"
#include "gpu/runtime/report.h"

struct opencl_engine {
	struct tri_model model;
	struct tri_cl_device device;
	struct tri_cl_prepared *entries; /* desc->n_entries */
};

static struct opencl_engine *engine_of(struct tri_model *m) { return (struct opencl_engine *)m; }

static const struct tri_cl_program *program_of(const tri_model_desc *desc, enum tri_cl_variant variant)
{
	return ((const struct tri_cl_entry *)desc->entries[0].code)->of[variant]->program;
}

static const char *wanted_device(const tri_options *opt)
{
	return opt && opt->size >= offsetof(tri_options, device) + sizeof opt->device ? opt->device : NULL;
}

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

static bool open_device(struct opencl_engine *m, const tri_options *opt, tri_error *err)
{
	struct tri_cl_device *d = &m->device;
	d->measures = m->model.collector != NULL;
	if (!tri_cl_device(wanted_device(opt), &d->id, err) || !open_queue(d, err))
		return false;
	d->variant = tri_cl_variant_of(d->id);
	const struct tri_cl_program *p = program_of(m->model.desc, d->variant);
	d->program = tri_cl_build(d->context, d->id, p, err);
	return d->program && upload(d, p, err);
}

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

struct tri_model *tri_engine_new(const tri_model_desc *desc)
{
	(void)desc;
	return calloc(1, sizeof(struct opencl_engine));
}

int tri_engine_open(struct tri_model *model, const tri_options *opt, tri_error *err)
{
	struct opencl_engine *m = engine_of(model);
	tri_error own;
	err = err ? err : &own;
	m->device.desc = model->desc;
	model->threads = 1;
	return open_device(m, opt, err) && open_entries(m, err) ? TRI_OK : err->code;
}

void tri_engine_close(struct tri_model *model)
{
	struct opencl_engine *m = engine_of(model);
	struct tri_cl_device *d = &m->device;
	for (uint32_t i = 0; m->entries && i < model->desc->n_entries; i++) {
		tri_entry_desc e = tri_states_entry(&model->desc->entries[i]);
		tri_cl_prepared_end(&m->entries[i], &e);
	}
	for (int32_t i = 0; d->blobs && i < program_of(model->desc, d->variant)->n_blobs; i++)
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
	free(d->blobs);
	free(m->entries);
	free(m);
}

static bool write_inputs(struct opencl_engine *m, const tri_entry_desc *e, const struct tri_cl_prepared *p, const tri_tensor *io,
			 tri_error *err)
{
	static const cl_long none[4];
	cl_command_queue q = m->device.queue;
	cl_int status = CL_SUCCESS;
	for (int32_t i = 0; i < e->n_inputs && status == CL_SUCCESS; i++)
		if (p->io_bytes[i])
			status = clEnqueueWriteBuffer(q, p->io[i], CL_FALSE, 0, p->io_bytes[i], io[i].data, 0, NULL,
						      m->model.collector ? &p->copied[i] : NULL);
	if (p->may_fail && status == CL_SUCCESS)
		status = clEnqueueWriteBuffer(q, m->device.failed, CL_FALSE, 0, sizeof none, none, 0, NULL, NULL);
	return status == CL_SUCCESS ? true : tri_cl_error(err, "clEnqueueWriteBuffer", status);
}

static bool launch_one(struct opencl_engine *m, const struct tri_cl_launch *l, const struct tri_cl_prepared *p, int64_t i, tri_error *err)
{
	bool measured = m->model.collector && l->unit != TRI_NONE;
	if (!p->global[i])
		return true;
	cl_int status = clEnqueueNDRangeKernel(m->device.queue, p->kernels[i], 1, NULL, &p->global[i], &p->local[i], 0, NULL,
					       measured ? &p->launched[i] : NULL);
	return status == CL_SUCCESS ? true : tri_cl_error(err, "clEnqueueNDRangeKernel", status);
}

static bool opencl_engine_launch(struct opencl_engine *m, const struct tri_cl_prepared *p, tri_error *err)
{
	for (int64_t i = 0; i < p->code->n_launches; i++)
		if (!launch_one(m, &p->code->launches[i], p, i, err))
			return false;
	return true;
}

static bool opencl_engine_read_outputs(struct opencl_engine *m, const tri_entry_desc *e, const struct tri_cl_prepared *p,
				       const tri_tensor *io, cl_long *failed, tri_error *err)
{
	cl_command_queue q = m->device.queue;
	cl_int status = CL_SUCCESS;
	for (int32_t i = e->n_inputs; i < e->n_inputs + e->n_outputs && status == CL_SUCCESS; i++)
		if (p->io_bytes[i])
			status = clEnqueueReadBuffer(q, p->io[i], CL_FALSE, 0, p->io_bytes[i], io[i].data, 0, NULL,
						     m->model.collector ? &p->copied[i] : NULL);
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

int tri_engine_run(struct tri_model *model, uint32_t number, const tri_entry_desc *e, const tri_tensor *io, tri_error *err)
{
	struct opencl_engine *m = engine_of(model);
	struct tri_cl_prepared *p = &m->entries[number];
	cl_long failed[4] = {0};
	int prepared = tri_cl_prepare(p, &m->device, e, model->dims, err);
	model->scratch_bytes = p->scratch_bytes;
	if (prepared != TRI_OK)
		return prepared;
	p->began_ns = now_ns();
	bool ok = write_inputs(m, e, p, io, err) && opencl_engine_launch(m, p, err) && opencl_engine_read_outputs(m, e, p, io, failed, err);
	cl_int status = clFinish(m->device.queue); /* the caller owns the tensors: no command may use them after the return */
	if (m->model.collector && ok && status == CL_SUCCESS)
		tri_cl_report(&(struct tri_cl_measured){model->desc, e, p, model->dims, model->desc->profiling, model->collector});
	tri_cl_release_events(p, e);
	if (!ok)
		return TRI_ERR_DEVICE;
	if (status != CL_SUCCESS) {
		tri_cl_error(err, "clFinish", status);
		return TRI_ERR_DEVICE;
	}
	return failed[0] ? tri_error_index(err, model->desc, failed[1], failed[2], (uint64_t)failed[3]) : TRI_OK;
}
