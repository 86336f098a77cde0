/* The thread of an opened model that does its asynchronous runs; the first of them starts it. */
#ifndef TRI_ASYNC_H
#define TRI_ASYNC_H
#include "backend/runtime/abi/tri.h"

struct tri_async;

/* A run whose model is claimed. */
struct tri_async_run {
	struct tri_model *model;
	uint32_t entry;
	tri_tensor *io;
	tri_done *done;
	void *user;
};
/* Does the run, ends the claim, and fills *err. The model may be freed then. */
typedef void tri_async_fn(const struct tri_async_run *run, tri_error *err);

/* Has the thread call `fn`, then run->done. *a: NULL, or of earlier runs. Returns TRI_OK or the error. */
int tri_async_start(struct tri_async **a, const struct tri_async_run *run, tri_async_fn *fn, tri_error *err);
/* Ends the thread, after run->done has returned, unless this is the thread itself. NULL is accepted. */
void tri_async_end(struct tri_async *a);
#endif
