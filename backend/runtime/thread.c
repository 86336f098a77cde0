#include "backend/runtime/thread.h"
#include <signal.h>

bool tri_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
	sigset_t all, old;
	sigfillset(&all);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) /* the host's handlers must receive faults of any thread */
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	bool started = pthread_create(thread, NULL, fn, arg) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return started;
}
