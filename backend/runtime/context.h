/* The state of one opened model that generated code may touch: its threads and its first run-time error. */
#ifndef TRI_CONTEXT_H
#define TRI_CONTEXT_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "unit.h"

/* Threads are started by the first parallel loop. A job is published in fn, arg, n and next, then opened in `state`; whoever comes while it is open
 * takes indices from `next`. Sleeping uses futexes, not condition variables: a library of ours imports symbols without a version, and the unversioned
 * pthread_cond_* of glibc are those of 1999. */
struct tri_context {
	uint32_t threads; /* wanted, the caller included */
	uint32_t started; /* workers running */
	pthread_t *workers;
	pid_t owner; /* process that started them */
	bool busy;   /* inside a parallel loop: an inner one runs inline */

	_Atomic uint32_t jobs; /* counts jobs; workers sleep on it */
	_Atomic uint32_t sleepers;
	_Atomic uint32_t state; /* bit 0: open; the rest: twice the workers inside. The caller sleeps on it */
	_Atomic bool quit;
	_Atomic int64_t next;
	int64_t n;
	void (*fn)(void *arg, int64_t i);
	void *arg;

	_Atomic uint32_t failed; /* 0 none, 1 being written, 2 written */
	int32_t fail_code;
	int64_t fail_value, fail_bound;
	char fail_text[240]; /* of a failed assertion, or a unit that cannot be compiled */
};

/* threads 0: one per CPU of the affinity mask. */
void tri_context_init(struct tri_context *ctx, uint32_t threads);
/* Before each run: forgets the last error, and threads lost by fork. */
void tri_context_begin(struct tri_context *ctx);
/* tri_fail with a text instead of numbers. */
void tri_fail_text(struct tri_context *ctx, int32_t code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Joins the threads. */
void tri_context_end(struct tri_context *ctx);
#endif
