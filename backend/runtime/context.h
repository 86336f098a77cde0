/* The threads and the first run-time error of an opened model. */
#ifndef TRI_CONTEXT_H
#define TRI_CONTEXT_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include "backend/runtime/abi/tri.h"
#include "backend/runtime/abi/unit.h"

/* Indices of a parallel loop that are one thread's share. */
struct tri_share {
	_Alignas(64) _Atomic int64_t next;
	int64_t end;
};

/* The time of the profile hook, which stands still in the hook itself: callers would otherwise contain the reports of what they call, and
 * statements the reading of the clock. It never shows one time twice, so that times tell callers from what follows. */
struct tri_profile_clock {
	int64_t read_ns;           /* what reading it costs; 0: not measured yet */
	int64_t hook_ns, shown_ns; /* spent in the hook in this run; the latest time that it showed */
	/* Of this run: what the workers worked, less what the caller waited for them. */
	_Atomic int64_t others_ns;
};
static inline int64_t tri_clock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The first parallel loop starts the threads. A loop is published in fn, arg and shares, then opened in `state`. While it is open, each
 * thread takes the indices of its own share, then those that are left in the others: in a chain of loops over the same rows, a thread
 * mostly reads what it wrote. They sleep on futexes and not on condition variables: libraries import symbols without a version, and
 * the unversioned pthread_cond_* of glibc are those of 1999. */
struct tri_context {
	void (*profile)(void *user, const tri_profile_event *event); /* of tri_options. Generated code compares it with NULL */
	void *profile_user;
	struct tri_profile_clock clock;

	bool counts_words; /* tri_counts_words */
	bool no_print;     /* of tri_options */
	uint32_t threads;  /* wanted, the caller included */
	uint32_t started;  /* workers running */
	pthread_t *workers;
	pid_t owner; /* the process that started them */
	bool busy;   /* in a parallel loop: a nested one runs on its caller */

	_Atomic uint32_t jobs; /* number of loops so far; workers sleep on it */
	_Atomic uint32_t sleepers;
	_Atomic uint32_t state; /* bit 0: open; other bits: number of workers in the loop. The caller sleeps on it */
	_Atomic bool quit;
	_Atomic uint32_t numbered; /* workers that have a share */
	bool has_vbmi;             /* of the processor */
	struct tri_share *shares;  /* of each thread; the caller has the first */
	char *space;               /* of the caller, TRI_SPACE bytes */
	char *spaces;              /* of the workers, in the order of `workers` */
	void (*fn)(void *arg, int64_t i);
	void *arg;

	_Atomic uint32_t failed; /* 0: no error, 1: being written, 2: written */
	int32_t fail_code;
	int64_t fail_value, fail_bound;
	uint64_t fail_place; /* as in tri_fail_at; 0: not known */
	char fail_text[240]; /* if an assertion failed or a unit cannot be compiled */
};

/* `threads` 0: one for each CPU of the affinity mask. False: out of memory. */
bool tri_context_init(struct tri_context *ctx, uint32_t threads);
/* Starts a run: clears the last error, and threads that a fork lost. */
void tri_context_begin(struct tri_context *ctx);
/* As tri_fail, with a message in place of numbers. */
void tri_fail_text(struct tri_context *ctx, int32_t code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Joins the threads. */
void tri_context_end(struct tri_context *ctx);
#endif
