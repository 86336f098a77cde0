/* A thread of its own calls the driver, which has two uses. The caller leaves it behind if the driver hangs, be it in its compiler or anywhere else. And it
 * leaves signals to the program's own threads, as do the threads and processes that the driver starts meanwhile: an interrupt from the terminal would
 * end the linker that PoCL runs, and PoCL would abort. */
#include "gpu/runtime/opening.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backend/runtime/engine.h"
#include "backend/runtime/model.h"
#include "backend/runtime/thread.h"
#include "gpu/runtime/queue.h"

enum { OPENING, ENDED };

struct opening {
	struct tri_cl_device *d;
	_Atomic uint32_t state;
	bool ok;
	tri_error err;
	char which[]; /* the device that is wanted */
};

static const struct tri_cl_program *program_of(const struct tri_cl_device *d)
{
	return ((const struct tri_cl_entry *)d->desc->entries[0].code)->of[d->variant]->program;
}

static bool open_queue(struct tri_cl_device *d, tri_error *err)
{
	static const cl_long none[4];
	cl_int status;
	d->context = d->cl.clCreateContext(NULL, 1, &d->id, NULL, NULL, &status);
	if (!d->context)
		return tri_cl_error(err, "clCreateContext", status);
	d->queue = d->cl.clCreateCommandQueue(d->context, d->id, d->measures ? CL_QUEUE_PROFILING_ENABLE : 0, &status);
	if (!d->queue)
		return tri_cl_error(err, "clCreateCommandQueue", status);
	d->failed = tri_cl_buffer(d, sizeof none, NULL, "run-time errors", err);
	if (!d->failed)
		return false;
	status = tri_cl_write(d, d->failed, none, sizeof none, true, NULL);
	return status == CL_SUCCESS || tri_cl_error(err, "clEnqueueWriteBuffer", status);
}

static bool upload(struct tri_cl_device *d, const struct tri_cl_program *p, tri_error *err)
{
	static const char nothing[16];
	d->blobs = calloc((size_t)p->n_blobs + 1, sizeof *d->blobs);
	if (!d->blobs)
		return tri_error_set(err, TRI_ERR_MEMORY, "out of memory") == TRI_OK;
	for (int32_t i = 0; i < p->n_blobs; i++) {
		const struct tri_cl_blob *b = &p->blobs[i];
		d->blobs[i] = tri_cl_buffer(d, b->size, b->size ? b->bytes : nothing, "the weights", err);
		if (!d->blobs[i])
			return false;
	}
	return true;
}

/* Finds the device, which must be able to run the model. */
static bool find_device(struct tri_cl_device *d, const char *which, tri_error *err)
{
	if (strcmp(which, "cpu") == 0)
		return tri_error_set(err, TRI_ERR_DEVICE,
				     "this library has no code for the CPU: `fallback = cpu` in its manifest adds it") == TRI_OK;
	bool found = tri_cl_load(&d->cl, err) && tri_cl_device(d, which, err) && tri_cl_supports(d, program_of(d), err);
	d->is_unsuitable = !found && err->code == TRI_ERR_DEVICE;
	return found;
}

/* One thread after the other: PoCL fails if a second one looks for devices while the first, which may have been left behind, still makes them ready.
 * A forked child does not wait for a thread of its parent. */
static bool find_alone(struct tri_cl_device *d, const char *which, tri_error *err)
{
	static _Atomic uint32_t finding; /* the process that has a thread in find_device; 0: none; the driver is one of the process, too */
	const uint32_t own = (uint32_t)getpid();
	for (uint32_t held = 0; !atomic_compare_exchange_strong(&finding, &held, own);)
		if (held == own) {
			tri_cl_wait(&finding, own, tri_cl_deadline(0));
			held = 0;
		}
	bool found = find_device(d, which, err);
	atomic_store(&finding, 0);
	tri_futex_wake(&finding, 1);
	return found;
}

static bool open_device(struct tri_cl_device *d, const char *which, tri_error *err)
{
	if (!find_alone(d, which, err) || !open_queue(d, err))
		return false;
	d->program = tri_cl_build(d, program_of(d), err);
	return d->program && upload(d, program_of(d), err);
}

static void *opening_work(void *arg)
{
	struct opening *o = arg;
	o->ok = open_device(o->d, o->which, &o->err);
	atomic_store(&o->state, ENDED);
	tri_futex_wake(&o->state, 1);
	return NULL;
}

/* NULL: out of memory. */
static struct opening *opening_new(struct tri_cl_device *d, const tri_options *opt)
{
	const char *which = tri_wanted_device(d->desc, opt);
	size_t n = which ? strlen(which) : 0;
	struct opening *o = calloc(1, sizeof *o + n + 1);
	if (o && n)
		memcpy(o->which, which, n);
	if (o)
		o->d = d;
	return o;
}

static bool opened_late(const struct tri_cl_device *d, uint32_t timeout_ms, tri_error *err)
{
	const char *remedy = "allow more time (open_timeout_ms, --timeout)";
	if (atomic_load(&d->has_name))
		tri_error_set(err, TRI_ERR_DEVICE,
			      "the driver of `%.60s` did not open it within %u ms: it hangs, or compiles the model for the first time; %s",
			      d->name, (unsigned)timeout_ms, remedy);
	else
		tri_error_set(err, TRI_ERR_DEVICE, "no OpenCL device was found within %u ms: a driver hangs; remove it, or %s",
			      (unsigned)timeout_ms, remedy);
	return false;
}

bool tri_cl_open(struct tri_cl_device *d, const tri_options *opt, tri_error *err)
{
	pthread_t thread;
	uint32_t timeout_ms = TRI_OPTION(opt, open_timeout_ms);
	struct opening *o = opening_new(d, opt);
	if (timeout_ms)
		tri_cl_stay_loaded(d->desc);
	if (!o || !tri_thread_start(&thread, opening_work, o)) {
		tri_error_set(err, TRI_ERR_MEMORY, o ? "no thread can be started for the driver" : "out of memory");
		free(o);
		return false;
	}
	if (!tri_cl_wait(&o->state, OPENING, tri_cl_deadline(timeout_ms))) {
		pthread_detach(thread);
		d->hangs = true;
		return opened_late(d, timeout_ms, err);
	}
	pthread_join(thread, NULL);
	bool ok = o->ok;
	if (!ok && err)
		*err = o->err;
	free(o);
	tri_cl_set_timeout(d, opt);
	return ok;
}

void tri_cl_close(struct tri_cl_device *d)
{
	const struct tri_cl_api *cl = &d->cl;
	for (int32_t i = 0; d->blobs && i < program_of(d)->n_blobs; i++)
		if (d->blobs[i])
			cl->clReleaseMemObject(d->blobs[i]);
	if (d->failed)
		cl->clReleaseMemObject(d->failed);
	if (d->program)
		cl->clReleaseProgram(d->program);
	if (d->queue)
		cl->clReleaseCommandQueue(d->queue);
	if (d->context)
		cl->clReleaseContext(d->context);
	free(d->blobs);
}
