/* Threads of opened models, and waits by futex: condition variables of the C library have several versions, which unversioned libraries mix up. */
#ifndef TRI_THREAD_H
#define TRI_THREAD_H
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Waits while *at is `value`, at most `most` of time; NULL: for ever. It may return earlier. */
static inline void tri_futex_wait(_Atomic uint32_t *at, uint32_t value, const struct timespec *most)
{
	syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, value, most, NULL, 0);
}
static inline void tri_futex_wake(_Atomic uint32_t *at, int n) { syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0); }

/* Starts a thread that leaves signals to the program's own threads, but for faults. Returns false if there is none. */
bool tri_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg);
#endif
