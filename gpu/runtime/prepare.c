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
	int64_t stack[STACK]; /* its first value is the result */
	int top = 0;
	stack[0] = 0;
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

static uint64_t symbols_of_size(const tri_dim_desc *d)
{
	uint64_t symbols = 0;
	for (int32_t i = 0; i < d->n_steps; i++)
		symbols |= d->steps[i].op == TRI_DIM_SYM ? UINT64_C(1) << d->steps[i].value : 0;
	return symbols;
}

static uint64_t symbols_of_step(const struct tri_cl_step *l)
{
	uint64_t symbols = symbols_of_size(&l->items);
	for (int32_t n = 0; n < l->n_args; n++)
		symbols |= symbols_of_size(&l->args[n].offset);
	for (int32_t n = 0; n < l->n_dims; n++)
		symbols |= symbols_of_size(&l->dims[n]);
	return symbols;
}

bool tri_cl_prepared_init(struct tri_cl_prepared *p, enum tri_cl_variant variant, const tri_entry_desc *e)
{
	const struct tri_cl_code *code = p->code = ((const struct tri_cl_entry *)e->code)->of[variant];
	size_t steps = (size_t)code->n_steps, io = (size_t)e->n_inputs + (size_t)e->n_outputs, n_bound = 0;
	for (size_t i = 0; i < steps; i++) {
		p->may_fail |= code->steps[i].fails != 0;
		n_bound += (size_t)code->steps[i].n_args + (size_t)code->steps[i].n_dims;
	}
	p->dims = calloc((size_t)e->n_dims + 1, sizeof *p->dims);
	p->io = calloc(io + 1, sizeof *p->io);
	p->io_bytes = calloc(io + 1, sizeof *p->io_bytes);
	p->io_room = calloc(io + 1, sizeof *p->io_room);
	p->copied = calloc(io + 1, sizeof *p->copied);
	p->kernels = calloc(steps + 1, sizeof *p->kernels);
	p->symbols = calloc(steps + 1, sizeof *p->symbols);
	p->local = calloc(steps + 1, sizeof *p->local);
	p->global = calloc(steps + 1, sizeof *p->global);
	p->shapes = calloc(steps + 1, sizeof *p->shapes);
	p->bound = calloc(steps + 1, sizeof *p->bound);
	p->bounds = calloc(n_bound + 1, sizeof *p->bounds);
	if (!p->dims || !p->io || !p->io_bytes || !p->io_room || !p->copied || !p->kernels || !p->symbols || !p->local || !p->global ||
	    !p->shapes || !p->bound || !p->bounds)
		return false;
	n_bound = 0;
	for (size_t i = 0; i < steps; i++) {
		p->symbols[i] = symbols_of_step(&code->steps[i]);
		p->bound[i] = p->bounds + n_bound;
		n_bound += (size_t)code->steps[i].n_args + (size_t)code->steps[i].n_dims;
	}
	return true;
}

void tri_cl_prepared_end(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e)
{
	for (int32_t i = 0; p->io && i < e->n_inputs + e->n_outputs; i++)
		if (p->io[i] && !tri_cl_is_state(e, i))
			d->cl.clReleaseMemObject(p->io[i]);
	if (p->scratch)
		d->cl.clReleaseMemObject(p->scratch);
	for (int64_t i = 0; p->kernels && i < p->code->n_steps; i++)
		if (p->kernels[i])
			d->cl.clReleaseKernel(p->kernels[i]);
	free(p->dims);
	free(p->io);
	free(p->io_bytes);
	free(p->io_room);
	free(p->copied);
	free(p->kernels);
	free(p->symbols);
	free(p->local);
	free(p->global);
	free(p->shapes);
	free(p->bound);
	free(p->bounds);
	free(p->values);
	free(p->done);
}

/* ---- buffers ---- */

/* A kernel keeps a buffer that was released: all arguments are set again. */
static void forget_arguments(struct tri_cl_prepared *p)
{
	for (int64_t i = 0; i < p->code->n_steps; i++)
		for (int32_t k = 0; k < p->code->steps[i].n_args; k++)
			p->bound[i][k].memory = NULL;
}

/* With room for sizes that grow step by step, if the device has it. */
static bool grow_buffer(struct tri_cl_prepared *p, const struct tri_cl_device *d, cl_mem *m, uint64_t *room, uint64_t bytes,
			const char *what, tri_error *err)
{
	if (*m && bytes <= *room)
		return true;
	forget_arguments(p);
	uint64_t spare = *room / 2 + *room;
	if (*m)
		d->cl.clReleaseMemObject(*m);
	*m = spare > bytes ? tri_cl_buffer(d, spare, NULL, what, NULL) : NULL;
	*room = *m ? spare : bytes;
	if (!*m)
		*m = tri_cl_buffer(d, bytes, NULL, what, err);
	*room = *m ? *room : 0;
	return *m != NULL;
}

static size_t tensor_bytes(const tri_io_desc *t, const int64_t *dims)
{
	size_t n = (size_t)tri_dtype_bytes(t->dtype);
	for (int32_t k = 0; k < t->rank; k++)
		n *= (size_t)tri_cl_size(&t->dims[k], dims);
	return n;
}

static bool grow_buffers(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e, tri_error *err)
{
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++) {
		const tri_io_desc *t = i < e->n_inputs ? &e->inputs[i] : &e->outputs[i - e->n_inputs];
		p->io_bytes[i] = tensor_bytes(t, p->dims);
		if (!tri_cl_is_state(e, i) && !grow_buffer(p, d, &p->io[i], &p->io_room[i], p->io_bytes[i], t->name, err))
			return false;
	}
	int64_t scratch = 0;
	for (int64_t i = 0; i < p->code->n_scratch; i++) {
		int64_t size = tri_cl_size(&p->code->scratch[i], p->dims);
		scratch = size > scratch ? size : scratch;
	}
	return grow_buffer(p, d, &p->scratch, &p->scratch_bytes, (uint64_t)scratch, "the intermediate tensors", err);
}

/* ---- kernels ---- */

static bool no_room_for_group(const struct tri_cl_device *d, const struct tri_cl_step *l, const char *what, uint64_t needs, uint64_t has,
			      tri_error *err)
{
	char line[TRI_LINE];
	tri_error_set(
		err, TRI_ERR_DEVICE,
		"%sa kernel needs %s of %llu, but this device has no more than %llu for it: run the model on another device or on the CPU",
		tri_place_line(d->desc, l->place, line), what, (unsigned long long)needs, (unsigned long long)has);
	return false;
}

/* The size of its work groups is fixed from now on. */
static bool create_kernel(struct tri_cl_prepared *p, const struct tri_cl_device *d, int64_t i, tri_error *err)
{
	const struct tri_cl_step *l = &p->code->steps[i];
	size_t most = 1, fixed[3] = {0};
	cl_ulong local = 0;
	cl_int status;
	cl_kernel k = p->kernels[i] = d->cl.clCreateKernel(d->program, l->kernel, &status);
	if (!k)
		return tri_cl_error(err, "clCreateKernel", status);
	status = d->cl.clGetKernelWorkGroupInfo(k, d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
	if (status == CL_SUCCESS)
		status = d->cl.clGetKernelWorkGroupInfo(k, d->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof fixed, fixed, NULL);
	if (status == CL_SUCCESS)
		status = d->cl.clGetKernelWorkGroupInfo(k, d->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
	if (status != CL_SUCCESS)
		return tri_cl_error(err, "clGetKernelWorkGroupInfo", status);
	if (fixed[0] && most < l->group)
		return no_room_for_group(d, l, "a work group", l->group, most, err);
	if (local > d->local_bytes)
		return no_room_for_group(d, l, "local memory", local, d->local_bytes, err);
	p->local[i] = most < l->group ? (most ? most : 1) : l->group;
	return true;
}

static cl_mem arg_memory(const struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e,
			 const struct tri_cl_arg *at)
{
	switch (at->kind) {
	case TRI_CL_INPUT: return p->io[at->index];
	case TRI_CL_OUTPUT: return p->io[e->n_inputs + at->index];
	case TRI_CL_BLOB: return d->blobs[at->index];
	default: return p->scratch;
	}
}

/* Sets argument `arg`, and notes its value, unless it has it. `memory`: of buffers; else the kernel itself marks that a number is set. */
static cl_int bind_buffer(const struct tri_cl_device *d, cl_kernel k, cl_uint arg, struct tri_cl_bound *b, cl_mem memory, int64_t offset)
{
	cl_int status = CL_SUCCESS;
	if (k && b->memory != memory)
		status = d->cl.clSetKernelArg(k, arg, sizeof memory, &memory);
	if (k && status == CL_SUCCESS && (!b->memory || b->value != offset))
		status = d->cl.clSetKernelArg(k, arg + 1, sizeof offset, &offset);
	*b = (struct tri_cl_bound){status == CL_SUCCESS ? memory : NULL, offset};
	return status;
}

/* `first`: no argument was ever set. */
static cl_int bind_step(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e, int64_t i, bool first)
{
	const struct tri_cl_step *l = &p->code->steps[i];
	struct tri_cl_bound *b = p->bound[i];
	cl_kernel k = p->kernels[i];
	cl_uint arg = 0;
	cl_int status = CL_SUCCESS;
	for (int32_t n = 0; n < l->n_args && status == CL_SUCCESS; n++, b++, arg += 2)
		status = bind_buffer(d, k, arg, b, arg_memory(p, d, e, &l->args[n]), tri_cl_size(&l->args[n].offset, p->dims));
	for (int32_t n = 0; n < l->n_dims && status == CL_SUCCESS; n++, b++, arg++) {
		int64_t v = tri_cl_size(&l->dims[n], p->dims);
		if (k && (first || b->value != v))
			status = d->cl.clSetKernelArg(k, arg, sizeof v, &v);
		b->value = v;
	}
	if (k && l->fails && first && status == CL_SUCCESS)
		status = d->cl.clSetKernelArg(k, arg, sizeof(cl_mem), &d->failed);
	return status;
}

/* Rounds up to complete work groups: devices are slow for other numbers of work items. */
static cl_int set_range(struct tri_cl_prepared *p, const struct tri_cl_device *d, int64_t i)
{
	int64_t items = tri_cl_size(&p->code->steps[i].items, p->dims);
	size_t group = p->local[i];
	p->global[i] = items > 0 ? ((size_t)items + group - 1) / group * group : 0;
	return d->measures ? tri_cl_launch_of(d, p->kernels[i], group, p->global[i], &p->shapes[i]) : CL_SUCCESS;
}

/* After an error the step has no kernel, so that the next attempt sets all of its arguments. */
static bool forget_kernel(struct tri_cl_prepared *p, const struct tri_cl_device *d, int64_t i)
{
	if (p->kernels[i])
		d->cl.clReleaseKernel(p->kernels[i]);
	p->kernels[i] = NULL;
	for (int32_t k = 0; k < p->code->steps[i].n_args; k++)
		p->bound[i][k].memory = NULL;
	return false;
}

/* True if a step that was prepared needs no other arguments after these dims have changed, and with the present buffers. */
static bool is_prepared(const struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e, int64_t i,
			uint64_t changed)
{
	const struct tri_cl_step *l = &p->code->steps[i];
	bool same = !(p->symbols[i] & changed);
	for (int32_t n = 0; n < l->n_args && same; n++)
		same = p->bound[i][n].memory == arg_memory(p, d, e, &l->args[n]);
	return same;
}

static bool prepare_step(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e, int64_t i, tri_error *err)
{
	bool launches = p->code->steps[i].kind == TRI_CL_LAUNCH, first = launches && !p->kernels[i];
	if (first && !create_kernel(p, d, i, err))
		return forget_kernel(p, d, i);
	cl_int status = bind_step(p, d, e, i, first);
	if (status != CL_SUCCESS) {
		tri_cl_error(err, "clSetKernelArg", status);
		return forget_kernel(p, d, i);
	}
	status = launches ? set_range(p, d, i) : CL_SUCCESS;
	return status == CL_SUCCESS || tri_cl_error(err, "clGetKernelWorkGroupInfo", status);
}

/* ---- */

static int prepare_sizes(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e, const int64_t *dims,
			 tri_error *err)
{
	const struct tri_cl_code *code = p->code;
	char line[TRI_LINE];
	for (int64_t i = 0; i < code->n_checks; i++)
		if (tri_cl_size(&code->checks[i], dims) < 0)
			return tri_error_sizes(err, tri_place_line(d->desc, code->check_errors[i].place, line), e,
					       code->check_errors[i].kind, dims);
	bool overflow = false;
	for (int64_t i = 0; i < code->n_scratch && !overflow; i++)
		prepare_checked_size(&code->scratch[i], dims, &overflow);
	if (overflow)
		return tri_error_set(err, TRI_ERR_MEMORY, TRI_HUGE);
	memcpy(p->dims, dims, (size_t)e->n_dims * sizeof *dims);
	p->sized = grow_buffers(p, d, e, err);
	return p->sized ? TRI_OK : err->code;
}

/* True if other memory has a state now than when the entry was prepared. */
static bool take_states(struct tri_cl_prepared *p, const tri_entry_desc *e, const tri_tensor *io)
{
	bool changed = false;
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++)
		if (tri_cl_is_state(e, i) && p->io[i] != (cl_mem)io[i].data) {
			p->io[i] = io[i].data;
			changed = true;
		}
	return changed;
}

/* Returns a bit for each dim that differs. */
static uint64_t changed_dims(const struct tri_cl_prepared *p, const tri_entry_desc *e, const int64_t *dims)
{
	uint64_t changed = 0;
	for (int32_t i = 0; i < e->n_dims; i++)
		changed |= (uint64_t)(p->dims[i] != dims[i]) << i;
	return changed;
}

int tri_cl_prepare(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e, const int64_t *dims,
		   const tri_tensor *io, tri_error *err)
{
	tri_error own;
	err = err ? err : &own;
	uint64_t changed = p->sized ? changed_dims(p, e, dims) : UINT64_MAX;
	bool moved = take_states(p, e, io), were_ready = p->ready;
	if (were_ready && !changed && !moved)
		return TRI_OK;
	p->ready = false;
	p->sized = !changed;
	int status = changed ? prepare_sizes(p, d, e, dims, err) : TRI_OK;
	if (status != TRI_OK)
		return status;
	for (int64_t i = 0; i < p->code->n_steps; i++)
		if (!(were_ready && is_prepared(p, d, e, i, changed)) && !prepare_step(p, d, e, i, err))
			return err->code;
	p->ready = true;
	return TRI_OK;
}
