/* The handler calls only async-signal-safe functions: strlen, memcpy, write, rename, pthread_sigmask, execve, and the function of
 * os_set_death_handler. The state is file-scope because a handler has no argument. */
#include "builder/store/crash_guard.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/os.h"

#define NO_CACHE "TRIB_CACHE=off"
enum { MOST_VARIABLES = 1000, LONGEST = 4096 };

/* A copy outside the heap, which a damaged store may overwrite. Empty: not inside a store. */
static _Thread_local char inside[LONGEST];
static _Thread_local timer_t limit; /* of the processor time inside, if `limited` */
static _Thread_local bool limited;
static const char *volatile foreign;
static volatile bool *named;
static char **volatile arguments;
static char *without_cache[MOST_VARIABLES + 2]; /* the environment with NO_CACHE */
static volatile bool end_only;
static bool cacheless; /* the environment already has NO_CACHE */

static void crash_guard_say(const char *text)
{
	ssize_t n = write(2, text, strlen(text));
	(void)n;
}

static void start_again(char **environment)
{
	sigset_t none; /* the new process must not inherit a worker's mask */
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	execve("/proc/self/exe", arguments, environment);
	_exit(3);
}

static void crash_guard_on_fault(int sig)
{
	const char *dir = inside;
	bool guarded = *dir;
	os_run_death_handler();
	if (!guarded && foreign) {
		crash_guard_say("trib: error: ");
		crash_guard_say(foreign);
		if (named)
			*named = true;
		crash_guard_say(sig == SIGBUS ? " crashed, or a file was truncated while it read it\n" : " crashed\n");
	} else if (sig == SIGBUS && !guarded) {
		crash_guard_say("trib: error: a file was truncated while it was read, or the disk failed; try again\n");
		_exit(3);
	}
	if (!guarded || !arguments || end_only) { /* not our fault to handle: die of the signal */
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	char away[LONGEST];
	size_t n = strlen(dir);
	if (n + sizeof ".damaged-0000000000z" > sizeof away)
		_exit(3);
	memcpy(away, dir, n);
	memcpy(away + n, ".damaged-", 10);
	unsigned pid = (unsigned)getpid();
	for (n += 9; pid; pid /= 10)
		away[n++] = (char)('0' + pid % 10);
	away[n] = 0;
	away[n + 1] = 0;
	int moved = rename(dir, away);
	for (char c = 'a'; moved && (errno == ENOTEMPTY || errno == EEXIST) && c <= 'z';
	     c++) { /* an earlier restart of this process used the name */
		away[n] = c;
		moved = rename(dir, away);
	}
	if (moved && errno != ENOENT && !cacheless) { /* a cache that cannot be moved: go on without it */
		crash_guard_say("trib: warning: the cache is damaged and cannot be moved away; the build goes on without it\n");
		start_again(without_cache);
	}
	if (moved && errno != ENOENT) {
		crash_guard_say("trib: a store is damaged and cannot be moved away: ");
		crash_guard_say(dir);
		crash_guard_say("\n");
		_exit(3);
	}
	crash_guard_say("trib: warning: the store in ");
	crash_guard_say(dir);
	crash_guard_say(" was damaged; a new one was created\n");
	start_again(environ);
}

static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};

/* Prepares the environment for the handler, which cannot allocate. */
static void prepare_environment(void)
{
	uint32_t n = 0;
	for (char **e = environ; *e && n < MOST_VARIABLES; e++) {
		cacheless |= strcmp(*e, NO_CACHE) == 0;
		if (strncmp(*e, NO_CACHE, sizeof NO_CACHE - 4) != 0)
			without_cache[n++] = *e;
	}
	without_cache[n] = (char *)(uintptr_t)NO_CACHE;
}

void crash_guard_install(char **argv)
{
	prepare_environment();
	struct sigaction sa = {.sa_handler = crash_guard_on_fault, .sa_flags = SA_NODEFER};
	sigset_t set;
	arguments = argv;
	sigemptyset(&sa.sa_mask);
	sigemptyset(&set); /* a process that the handler starts must not inherit a blocked signal */
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		sigaction(signals[i], &sa, NULL);
		sigaddset(&set, signals[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void crash_guard_exit_on_fault(void) { end_only = true; }

/* Each thread has its own clock and takes its own signal. A system without such timers sets no limit. */
static void start_limit(unsigned seconds)
{
	struct sigevent to = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM, ._sigev_un._tid = gettid()};
	limited = timer_create(CLOCK_THREAD_CPUTIME_ID, &to, &limit) == 0;
	if (limited)
		timer_settime(limit, 0, &(struct itimerspec){.it_value.tv_sec = seconds}, NULL);
}

/* A store whose path is too long could not be moved away, and is not guarded. */
void crash_guard_enter(const char *dir, unsigned seconds)
{
	size_t n = strlen(dir);
	if (n < sizeof inside)
		memcpy(inside, dir, n + 1);
	atomic_signal_fence(memory_order_seq_cst);
	if (seconds && arguments)
		start_limit(seconds);
}

void crash_guard_leave(void)
{
	if (limited)
		timer_delete(limit);
	limited = false;
	atomic_signal_fence(memory_order_seq_cst);
	inside[0] = 0;
	atomic_signal_fence(memory_order_seq_cst);
}

const char *crash_guard_set_foreign(const char *whose)
{
	if (!arguments) /* no handler: another program has this code, and may call it from several threads */
		return NULL;
	const char *before = foreign;
	foreign = whose;
	return before;
}

void crash_guard_share(volatile bool *to) { named = to; }

void crash_guard_report_damage(void)
{
	if (*inside)
		crash_guard_on_fault(SIGABRT);
}
