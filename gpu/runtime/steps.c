#include "gpu/runtime/steps.h"
#include <stdlib.h>
#include "backend/runtime/effects.h"
#include "backend/runtime/model.h"
#include "backend/runtime/profile/origins.h"
#include "gpu/runtime/queue.h"

enum { MOST_VALUES = 64 };

struct steps_run {
	struct tri_cl_device *d;
	struct tri_cl_prepared *p;
	const tri_entry_desc *e;
	tri_error *err;
	int status;
	int64_t open; /* in p->done: the innermost statement that has not ended, or -1 */
};

static bool steps_fail(struct steps_run *r, const char *call, cl_int status, const struct tri_cl_step *l)
{
	tri_cl_error_in(r->d, r->err, call, status, l->place);
	r->status = TRI_ERR_DEVICE;
	return false;
}

int tri_cl_failed(struct tri_cl_device *d, const cl_long failed[4], tri_error *err)
{
	static const cl_long none[4];
	if (!failed[0])
		return TRI_OK;
	cl_int status = tri_cl_write(d, d->failed, none, sizeof none, true, NULL);
	d->lost |= status != CL_SUCCESS; /* it would fail again */
	return tri_error_index(err, d->desc, failed[1], failed[2], (uint64_t)failed[3]);
}

/* Appends a step to the list of a measured run. Returns where its event goes, or NULL. */
static struct tri_cl_done *record(struct steps_run *r, int64_t step)
{
	struct tri_cl_prepared *p = r->p;
	if (p->n_done == p->done_room) {
		int64_t room = p->done_room ? 2 * p->done_room : 256;
		struct tri_cl_done *more = realloc(p->done, (size_t)room * sizeof *more);
		if (!more) {
			r->status = tri_error_set(r->err, TRI_ERR_MEMORY, "out of memory");
			return NULL;
		}
		p->done = more;
		p->done_room = room;
	}
	p->done[p->n_done] = (struct tri_cl_done){.step = step, .began = -1};
	return &p->done[p->n_done++];
}

static bool begin_statement(struct steps_run *r, int64_t step)
{
	struct tri_cl_done *x = r->d->measures ? record(r, step) : NULL;
	if (!x)
		return !r->d->measures;
	x->began = r->open;
	r->open = r->p->n_done - 1;
	return true;
}

static bool steps_end_statement(struct steps_run *r, int64_t step)
{
	struct tri_cl_done *x = r->d->measures ? record(r, step) : NULL;
	if (!x)
		return !r->d->measures;
	x->began = r->open;
	r->open = r->p->done[r->open].began;
	return true;
}

static bool steps_launch(struct steps_run *r, int64_t i)
{
	struct tri_cl_prepared *p = r->p;
	const struct tri_cl_step *l = &p->code->steps[i];
	struct tri_cl_done *x = NULL;
	if (!p->global[i])
		return true;
	if (r->d->measures && l->unit != TRI_NONE && !(x = record(r, i)))
		return false;
	cl_int status = r->d->cl.clEnqueueNDRangeKernel(r->d->queue, p->kernels[i], 1, NULL, &p->global[i], &p->local[i], 0, NULL,
							x ? &x->event : NULL);
	return status == CL_SUCCESS || steps_fail(r, "clEnqueueNDRangeKernel", status, l);
}

static bool steps_copy(struct steps_run *r, int64_t i)
{
	const struct tri_cl_bound *b = r->p->bound[i];
	if (b[2].value <= 0)
		return true;
	cl_int status = r->d->cl.clEnqueueCopyBuffer(r->d->queue, b[1].memory, b[0].memory, (size_t)b[1].value, (size_t)b[0].value,
						     (size_t)b[2].value, 0, NULL, NULL);
	return status == CL_SUCCESS || steps_fail(r, "clEnqueueCopyBuffer", status, &r->p->code->steps[i]);
}

/* Waits until the kernels so far have ended, and reads bytes of an argument, maybe none. False: one of them failed. */
static bool steps_read(struct steps_run *r, int64_t i, int32_t arg, void *to, size_t bytes)
{
	cl_long failed[4] = {0};
	cl_int status = CL_SUCCESS;
	if (r->p->may_fail)
		status = tri_cl_read(r->d, r->d->failed, 0, failed, sizeof failed, !bytes, NULL);
	if (bytes && status == CL_SUCCESS) {
		const struct tri_cl_bound *b = &r->p->bound[i][arg];
		status = tri_cl_read(r->d, b->memory, (size_t)b->value, to, bytes, true, NULL);
	}
	if (status != CL_SUCCESS) {
		tri_cl_finish(r->d); /* `failed` must not be written later */
		return steps_fail(r, "clEnqueueReadBuffer", status, &r->p->code->steps[i]);
	}
	r->status = tri_cl_failed(r->d, failed, r->err);
	return r->status == TRI_OK;
}

/* ---- print and assert ---- */

static size_t value_bytes(uint8_t kind, const int64_t *dims)
{
	size_t n = (size_t)tri_dtype_bytes(kind >> 4);
	for (uint8_t k = 0; k < (kind & 15u); k++)
		n *= (size_t)dims[k];
	return n;
}

/* The sizes of all values. NULL: out of memory. */
static int64_t *steps_value_sizes(const struct tri_cl_step *l, const struct tri_cl_bound *b)
{
	int64_t *dims = malloc(((size_t)l->n_dims + 1) * sizeof *dims);
	for (int32_t k = 0; dims && k < l->n_dims; k++)
		dims[k] = b[l->n_args + k].value;
	return dims;
}

static bool steps_room(struct steps_run *r, size_t bytes)
{
	if (bytes <= r->p->values_room)
		return true;
	free(r->p->values);
	r->p->values = malloc(bytes);
	r->p->values_room = r->p->values ? bytes : 0;
	if (!r->p->values)
		r->status = tri_error_set(r->err, TRI_ERR_MEMORY, "out of memory");
	return r->p->values != NULL;
}

/* Reads the values behind each other; each begins at a multiple of 8. */
static bool steps_read_values(struct steps_run *r, int64_t i, const int64_t *dims, void **at)
{
	const struct tri_cl_step *l = &r->p->code->steps[i];
	size_t need = 0;
	const int64_t *sizes = dims;
	for (int32_t k = 0; k < l->n_args; sizes += l->effect->kinds[k++] & 15u)
		need += (value_bytes(l->effect->kinds[k], sizes) + 7) / 8 * 8;
	if (!steps_room(r, need + 8) || !steps_read(r, i, 0, NULL, 0))
		return false;
	char *next = r->p->values;
	for (int32_t k = 0; k < l->n_args; dims += l->effect->kinds[k++] & 15u) {
		size_t bytes = value_bytes(l->effect->kinds[k], dims);
		at[k] = next;
		if (bytes && !steps_read(r, i, k, next, bytes))
			return false;
		next += (bytes + 7) / 8 * 8;
	}
	return true;
}

static bool steps_effect(struct steps_run *r, int64_t i)
{
	const struct tri_cl_step *l = &r->p->code->steps[i];
	const struct tri_cl_effect *x = l->effect;
	void *at[MOST_VALUES];
	char said[sizeof r->err->message];
	if (!x->where && r->d->no_print)
		return true;
	int64_t *dims = steps_value_sizes(l, r->p->bound[i]);
	bool ok = dims != NULL;
	if (!ok)
		r->status = tri_error_set(r->err, TRI_ERR_MEMORY, "out of memory");
	else if (l->n_args <= MOST_VALUES)
		ok = steps_read_values(r, i, dims, at);
	const struct tri_effect_values values = {x->kinds, at, dims, (uint32_t)l->n_args};
	if (ok && !x->where) {
		tri_effect_print(x->text, &values);
	} else if (ok && !tri_effect_holds(x->text, x->where, &values, said, sizeof said)) {
		r->status = tri_error_set(r->err, TRI_ERR_ASSERT, "%s", said);
		ok = false;
	}
	free(dims);
	return ok;
}

/* ---- steps ---- */

static bool steps_check(struct steps_run *r, int64_t i)
{
	const struct tri_cl_code *code = r->p->code;
	const struct tri_cl_check *c = &code->check_errors[code->steps[i].to];
	char line[TRI_LINE];
	if (tri_cl_size(&code->checks[code->steps[i].to], r->p->dims) >= 0)
		return true;
	if (!steps_read(r, i, 0, NULL, 0))
		return false;
	r->status = tri_error_sizes(r->err, tri_place_line(r->d->desc, c->place, line), r->e, c->kind, r->p->dims);
	return false;
}

/* Executes a step and moves *next to the one that follows it. */
static bool steps_execute(struct steps_run *r, int64_t *next)
{
	int64_t i = (*next)++;
	const struct tri_cl_step *l = &r->p->code->steps[i];
	uint8_t holds = 0;
	switch ((enum tri_cl_step_kind)l->kind) {
	case TRI_CL_LAUNCH: return steps_launch(r, i);
	case TRI_CL_COPY: return steps_copy(r, i);
	case TRI_CL_EFFECT: return steps_effect(r, i);
	case TRI_CL_CHECK: return steps_check(r, i);
	case TRI_CL_BEGIN: return begin_statement(r, i);
	case TRI_CL_END: return steps_end_statement(r, i);
	case TRI_CL_JUMP: *next = l->to; return true;
	case TRI_CL_JUMP_IF_FALSE:
	case TRI_CL_JUMP_IF_TRUE:
		if (!steps_read(r, i, 0, &holds, 1))
			return false;
		if ((holds != 0) == (l->kind == TRI_CL_JUMP_IF_TRUE))
			*next = l->to;
		return true;
	}
	return false;
}

int tri_cl_steps(struct tri_cl_device *d, struct tri_cl_prepared *p, const tri_entry_desc *e, tri_error *err)
{
	struct steps_run r = {d, p, e, err, TRI_OK, -1};
	int64_t next = 0;
	p->n_done = 0;
	while (next < p->code->n_steps && steps_execute(&r, &next))
		continue;
	return r.status;
}
