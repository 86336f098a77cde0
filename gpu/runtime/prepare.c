#include "gpu/runtime/prepare.h"
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/model.h"
#include "backend/runtime/profile/origins.h"
#include "gpu/runtime/occupancy.h"

enum { STACK = 64 };

/* Returns the value of a dimension whose symbols are known; 0 if it has no steps. Sets *overflow if 64 bits cannot hold it. */
static int64_t prepare_checked_size(const tri_dim_desc *d, const int64_t *dims, bool *overflow)
{
	int64_t stack[STACK] = {0};
	int top = 0;
	for (int32_t i = 0; i < d->n_steps && top < STACK; i++) {
		const tri_dim_step *s = &d->steps[i];
		if (s->op == TRI_DIM_CONST || s->op == TRI_DIM_SYM) {
			stack[top++] = s->op == TRI_DIM_CONST ? s->value : dims[s->value];
			continue;
		}
		int64_t b = stack[--top], a = stack[top - 1], r = 0;
		if (s->op == TRI_DIM_ADD)
			*overflow |= __builtin_add_overflow(a, b, &r);
		else if (s->op == TRI_DIM_MUL)
			*overflow |= __builtin_mul_overflow(a, b, &r);
		else if (b > 0 || b < -1) {
			int64_t q = a / b - (a % b != 0 && (a < 0) != (b < 0));
			r = s->op == TRI_DIM_FLOORDIV ? q : a - q * b;
		}
		stack[top - 1] = r;
	}
	return stack[0];
}

int64_t tri_cl_size(const tri_dim_desc *d, const int64_t *dims)
{
	bool overflow = false;
	int64_t size = prepare_checked_size(d, dims, &overflow);
	return overflow ? 0 : size;
}

bool tri_cl_prepared_init(struct tri_cl_prepared *p, enum tri_cl_variant variant, const tri_entry_desc *e)
{
	const struct tri_cl_code *code = p->code = ((const struct tri_cl_entry *)e->code)->of[variant];
	size_t launches = (size_t)code->n_launches, io = (size_t)e->n_inputs + (size_t)e->n_outputs;
	p->dims = calloc((size_t)e->n_dims + 1, sizeof *p->dims);
	p->io = calloc(io + 1, sizeof *p->io);
	p->io_bytes = calloc(io + 1, sizeof *p->io_bytes);
	p->kernels = calloc(launches + 1, sizeof *p->kernels);
	p->local = calloc(launches + 1, sizeof *p->local);
	p->shapes = calloc(launches + 1, sizeof *p->shapes);
	p->times = calloc(launches + 1, sizeof *p->times);
	p->launched = calloc(launches + 1, sizeof *p->launched);
	p->copied = calloc(io + 1, sizeof *p->copied);
	p->global = calloc(launches + 1, sizeof *p->global);
	for (int64_t i = 0; i < code->n_launches; i++)
		p->may_fail |= code->launches[i].fails != 0;
	return p->dims && p->io && p->io_bytes && p->kernels && p->local && p->global && p->shapes && p->times && p->launched && p->copied;
}

/* Releases the buffers and kernels that depend on the dims. */
static void prepare_release(struct tri_cl_prepared *p, const tri_entry_desc *e)
{
	const struct tri_cl_code *code = p->code;
	p->ready = false;
	for (int32_t i = 0; p->io && i < e->n_inputs + e->n_outputs; i++)
		if (p->io[i])
			clReleaseMemObject(p->io[i]), p->io[i] = NULL;
	if (p->scratch)
		clReleaseMemObject(p->scratch), p->scratch = NULL;
	for (int64_t i = 0; p->kernels && i < code->n_launches; i++)
		if (p->kernels[i])
			clReleaseKernel(p->kernels[i]), p->kernels[i] = NULL;
}

void tri_cl_prepared_end(struct tri_cl_prepared *p, const tri_entry_desc *e)
{
	prepare_release(p, e);
	free(p->dims);
	free(p->io);
	free(p->io_bytes);
	free(p->kernels);
	free(p->local);
	free(p->shapes);
	free(p->times);
	free(p->launched);
	free(p->copied);
	free(p->global);
}

static bool new_buffer(const struct tri_cl_device *d, size_t size, cl_mem *out, tri_error *err)
{
	cl_int status;
	*out = clCreateBuffer(d->context, CL_MEM_READ_WRITE, size ? size : 1, NULL, &status);
	return *out ? true : tri_cl_error(err, "clCreateBuffer", status);
}

static size_t tensor_bytes(const tri_io_desc *t, const int64_t *dims)
{
	size_t n = (size_t)tri_dtype_bytes(t->dtype);
	for (int32_t k = 0; k < t->rank; k++)
		n *= (size_t)tri_cl_size(&t->dims[k], dims);
	return n;
}

static bool new_buffers(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e, tri_error *err)
{
	const struct tri_cl_code *code = p->code;
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++) {
		p->io_bytes[i] = tensor_bytes(i < e->n_inputs ? &e->inputs[i] : &e->outputs[i - e->n_inputs], p->dims);
		if (!new_buffer(d, p->io_bytes[i], &p->io[i], err))
			return false;
	}
	int64_t scratch = 0;
	for (int64_t i = 0; i < code->n_scratch; i++) {
		int64_t size = tri_cl_size(&code->scratch[i], p->dims);
		scratch = size > scratch ? size : scratch;
	}
	p->scratch_bytes = (uint64_t)scratch;
	return new_buffer(d, (size_t)scratch, &p->scratch, err);
}

static const cl_mem *arg_memory(const struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e,
				const struct tri_cl_arg *at)
{
	switch (at->kind) {
	case TRI_CL_INPUT: return &p->io[at->index];
	case TRI_CL_OUTPUT: return &p->io[e->n_inputs + at->index];
	case TRI_CL_BLOB: return &d->blobs[at->index];
	default: return &p->scratch;
	}
}

static cl_int set_arguments(const struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e,
			    const struct tri_cl_launch *l, cl_kernel k)
{
	cl_uint arg = 0;
	cl_int status = CL_SUCCESS;
	for (int32_t i = 0; i < l->n_args && status == CL_SUCCESS; i++) {
		cl_ulong offset = (cl_ulong)tri_cl_size(&l->args[i].offset, p->dims);
		status = clSetKernelArg(k, arg++, sizeof(cl_mem), arg_memory(p, d, e, &l->args[i]));
		if (status == CL_SUCCESS)
			status = clSetKernelArg(k, arg++, sizeof offset, &offset);
	}
	for (int32_t i = 0; i < l->n_dims && status == CL_SUCCESS; i++) {
		cl_long v = tri_cl_size(&l->dims[i], p->dims);
		status = clSetKernelArg(k, arg++, sizeof v, &v);
	}
	if (l->fails && status == CL_SUCCESS)
		status = clSetKernelArg(k, arg++, sizeof(cl_mem), &d->failed);
	return status;
}

/* Rounds up to complete work groups: devices are slow for other numbers of work items. */
static cl_int set_range(struct tri_cl_prepared *p, const struct tri_cl_device *d, const struct tri_cl_launch *l, int64_t i)
{
	size_t most = 1;
	cl_int status = clGetKernelWorkGroupInfo(p->kernels[i], d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
	int64_t items = tri_cl_size(&l->items, p->dims);
	size_t group = most < l->group ? (most ? most : 1) : l->group;
	p->local[i] = group;
	p->global[i] = items > 0 ? ((size_t)items + group - 1) / group * group : 0;
	if (status == CL_SUCCESS && d->measures)
		status = tri_cl_launch_of(p->kernels[i], d->id, group, p->global[i], &p->shapes[i]);
	return status;
}

static bool prepare_launch(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e, int64_t i, tri_error *err)
{
	const struct tri_cl_launch *l = &p->code->launches[i];
	cl_int status;
	if (!l->kernel)
		return true;
	p->kernels[i] = clCreateKernel(d->program, l->kernel, &status);
	if (!p->kernels[i])
		return tri_cl_error(err, "clCreateKernel", status);
	status = set_arguments(p, d, e, l, p->kernels[i]);
	if (status != CL_SUCCESS)
		return tri_cl_error(err, "clSetKernelArg", status);
	status = set_range(p, d, l, i);
	return status == CL_SUCCESS ? true : tri_cl_error(err, "clGetKernelWorkGroupInfo", status);
}

int tri_cl_prepare(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e, const int64_t *dims, tri_error *err)
{
	const struct tri_cl_code *code = p->code;
	char line[TRI_LINE];
	size_t bytes = (size_t)e->n_dims * sizeof *dims;
	if (p->ready && memcmp(p->dims, dims, bytes) == 0)
		return TRI_OK;
	for (int64_t i = 0; i < code->n_checks; i++)
		if (tri_cl_size(&code->checks[i], dims) < 0)
			return tri_error_sizes(err, tri_place_line(d->desc, code->check_errors[i].place, line), e,
					       code->check_errors[i].kind, dims);
	bool overflow = false;
	for (int64_t i = 0; i < code->n_scratch && !overflow; i++)
		prepare_checked_size(&code->scratch[i], dims, &overflow);
	if (overflow)
		return tri_error_set(err, TRI_ERR_MEMORY, TRI_HUGE);
	prepare_release(p, e);
	memcpy(p->dims, dims, bytes);
	bool ok = new_buffers(p, d, e, err);
	for (int64_t i = 0; ok && i < code->n_launches; i++)
		ok = prepare_launch(p, d, e, i, err);
	if (!ok)
		prepare_release(p, e);
	p->ready = ok;
	return ok ? TRI_OK : TRI_ERR_DEVICE;
}
