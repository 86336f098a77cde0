/* The thread takes one run at a time from a slot, which is free whenever the model is: a starter has claimed it. */
#include "backend/runtime/async.h"
#include <stdlib.h>
#include "backend/runtime/model.h"
#include "backend/runtime/thread.h"

enum async_state { ASYNC_IDLE, ASYNC_RUN, ASYNC_END };

struct tri_async {
	pthread_t thread;
	pid_t owner;
	_Atomic uint32_t state; /* enum async_state */
	tri_async_fn *fn;
	struct tri_async_run run;
};

static void async_wake(struct tri_async *a, enum async_state state)
{
	atomic_store(&a->state, state);
	tri_futex_wake(&a->state, 1);
}

static void *async_work(void *arg)
{
	struct tri_async *a = arg;
	uint32_t state;
	for (;;) {
		while ((state = atomic_load(&a->state)) == ASYNC_IDLE)
			tri_futex_wait(&a->state, ASYNC_IDLE, NULL);
		if (state == ASYNC_END)
			break;
		const struct tri_async_run run = a->run;
		tri_error err;
		atomic_store(&a->state, ASYNC_IDLE);
		a->fn(&run, &err);
		run.done(run.user, &err);
	}
	free(a);
	return NULL;
}

/* A forked child has no thread: it starts another one. */
static bool has_thread(const struct tri_async *a) { return a && a->owner == getpid(); }

int tri_async_start(struct tri_async **a, const struct tri_async_run *run, tri_async_fn *fn, tri_error *err)
{
	if (!has_thread(*a)) {
		free(*a);
		*a = calloc(1, sizeof **a);
		if (!*a)
			return tri_error_set(err, TRI_ERR_MEMORY, "out of memory");
		(*a)->owner = getpid();
		if (!tri_thread_start(&(*a)->thread, async_work, *a)) {
			free(*a);
			*a = NULL;
			return tri_error_set(err, TRI_ERR_MEMORY, "no thread can be started for the run");
		}
	}
	(*a)->run = *run;
	(*a)->fn = fn;
	async_wake(*a, ASYNC_RUN);
	return TRI_OK;
}

void tri_async_end(struct tri_async *a)
{
	if (!has_thread(a)) {
		free(a);
		return;
	}
	pthread_t thread = a->thread; /* which frees a */
	async_wake(a, ASYNC_END);
	if (pthread_equal(thread, pthread_self()))
		pthread_detach(thread);
	else
		pthread_join(thread, NULL);
}
