/* A thread that waits for a processor polls an event for a while before it sleeps: to wake it up takes as long as a small model.
 * A wait with a time-out is a callback of an event, which wakes this thread. What a device that hangs may still use is never freed: the host's side of
 * the copy, the opened model, the library. */
#include "gpu/runtime/queue.h"
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/context.h"
#include "backend/runtime/model.h"
#include "backend/runtime/thread.h"

#define NS_PER_S INT64_C(1000000000)
#define POLL_NS INT64_C(200000)
enum { RUNNING, ENDED }; /* of d->ended; else the status of an error */

int64_t tri_cl_deadline(uint32_t timeout_ms) { return timeout_ms ? tri_clock_ns() + timeout_ms * INT64_C(1000000) : 0; }

bool tri_cl_wait(_Atomic uint32_t *at, uint32_t value, int64_t deadline_ns)
{
	while (atomic_load(at) == value) {
		int64_t left = deadline_ns ? deadline_ns - tri_clock_ns() : 0;
		if (deadline_ns && left <= 0)
			return false;
		tri_futex_wait(at, value, deadline_ns ? &(struct timespec){left / NS_PER_S, left % NS_PER_S} : NULL);
	}
	return true;
}

void tri_cl_stay_loaded(const tri_model_desc *desc)
{
	Dl_info at;
	if (dladdr(desc, &at))
		dlopen(at.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

void tri_cl_set_timeout(struct tri_cl_device *d, const tri_options *opt)
{
	d->timeout_ms = TRI_OPTION(opt, timeout_ms);
	if (d->timeout_ms) /* a callback may still return while the model is closed */
		tri_cl_stay_loaded(d->desc);
}

void tri_cl_begin(struct tri_cl_device *d) { d->deadline_ns = tri_cl_deadline(d->timeout_ms); }

static void CL_CALLBACK on_end(cl_event event, cl_int status, void *device)
{
	struct tri_cl_device *d = device;
	(void)event;
	atomic_store(&d->ended, status == CL_COMPLETE ? ENDED : (uint32_t)status);
	tri_futex_wake(&d->ended, 1);
}

/* Waits for the command of `event`, which is the last one. */
static cl_int queue_wait(struct tri_cl_device *d, cl_event event)
{
	atomic_store(&d->ended, RUNNING);
	cl_int status = d->cl.clFlush(d->queue);
	status = status == CL_SUCCESS ? d->cl.clSetEventCallback(event, CL_COMPLETE, on_end, d) : status;
	if (status != CL_SUCCESS) {
		d->cl.clFinish(d->queue);
		return status;
	}
	if (!tri_cl_wait(&d->ended, RUNNING, d->deadline_ns)) {
		d->hangs = d->lost = true;
		return TRI_CL_TIMED_OUT;
	}
	uint32_t ended = atomic_load(&d->ended);
	return ended == ENDED ? CL_SUCCESS : (cl_int)ended;
}

/* Ends a timed copy that was enqueued with this status. */
static cl_int queue_end(struct tri_cl_device *d, cl_int status, cl_event own, cl_event *event)
{
	if (status != CL_SUCCESS)
		return status;
	status = queue_wait(d, own);
	if (event)
		*event = own;
	else if (!d->hangs)
		d->cl.clReleaseEvent(own);
	return status;
}

/* Waits for the command of `event`, which is the last one. In between, threads of the device can have this processor. */
static cl_int queue_poll(struct tri_cl_device *d, cl_event event)
{
	const int64_t end = tri_clock_ns() + POLL_NS;
	cl_int ended = CL_QUEUED, status = d->cl.clFlush(d->queue);
	while (status == CL_SUCCESS && ended > CL_COMPLETE) {
		if (tri_clock_ns() < end)
			sched_yield();
		else
			status = d->cl.clFinish(d->queue);
		if (status == CL_SUCCESS)
			status = d->cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof ended, &ended, NULL);
	}
	if (status != CL_SUCCESS)
		d->cl.clFinish(d->queue);
	return status == CL_SUCCESS ? ended : status;
}

static cl_int read_and_poll(struct tri_cl_device *d, cl_mem from, size_t at, void *to, size_t bytes, cl_event *event)
{
	cl_event own = NULL;
	cl_int status = d->cl.clEnqueueReadBuffer(d->queue, from, CL_FALSE, at, bytes, to, 0, NULL, &own);
	if (status != CL_SUCCESS)
		return status;
	status = queue_poll(d, own);
	if (event)
		*event = own;
	else
		d->cl.clReleaseEvent(own);
	return status;
}

cl_int tri_cl_read(struct tri_cl_device *d, cl_mem from, size_t at, void *to, size_t bytes, bool waits, cl_event *event)
{
	if (!d->timeout_ms && waits && d->variant == TRI_CL_WIDE)
		return read_and_poll(d, from, at, to, bytes, event);
	if (!d->timeout_ms)
		return d->cl.clEnqueueReadBuffer(d->queue, from, waits, at, bytes, to, 0, NULL, event);
	void *copy = malloc(bytes);
	cl_event own = NULL;
	cl_int status = copy ? d->cl.clEnqueueReadBuffer(d->queue, from, CL_FALSE, at, bytes, copy, 0, NULL, &own) : CL_OUT_OF_HOST_MEMORY;
	status = queue_end(d, status, own, event);
	if (d->hangs)
		return status;
	if (status == CL_SUCCESS)
		memcpy(to, copy, bytes);
	free(copy);
	return status;
}

cl_int tri_cl_write(struct tri_cl_device *d, cl_mem to, const void *from, size_t bytes, bool waits, cl_event *event)
{
	if (!d->timeout_ms)
		return d->cl.clEnqueueWriteBuffer(d->queue, to, waits, 0, bytes, from, 0, NULL, event);
	void *copy = malloc(bytes);
	cl_event own = NULL;
	if (copy)
		memcpy(copy, from, bytes);
	cl_int status = copy ? d->cl.clEnqueueWriteBuffer(d->queue, to, CL_FALSE, 0, bytes, copy, 0, NULL, &own) : CL_OUT_OF_HOST_MEMORY;
	status = queue_end(d, status, own, event);
	if (!d->hangs)
		free(copy);
	return status;
}

void tri_cl_finish(struct tri_cl_device *d)
{
	if (!d->timeout_ms)
		d->cl.clFinish(d->queue);
}
