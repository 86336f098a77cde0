#include "builder/run/drivers.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/module.h"
#include "builder/run/run.h"
#include "builder/store/crash_guard.h"
#include "gpu/module.h"

/* Zeros that a child shares. */
static void *drivers_share(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	BUG_ON(at == MAP_FAILED);
	return at;
}

/* Returns 0 in the child, which dies with this process. -1: errno. */
static pid_t start_child(void)
{
	pid_t parent = getpid(), child;
	fflush(NULL);
	child = fork();
	if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
		_exit(3);
	return child;
}

/* Returns the status of waitpid. Passes an interrupt on. */
static int drivers_wait_for(pid_t child)
{
	int status = 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		if (os_interrupted())
			kill(child, SIGINT);
	return status;
}

static const char *signal_name(int status)
{
	const char *name = sigabbrev_np(WTERMSIG(status));
	return name ? name : "?";
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
enum { CRASHES = sizeof crashes / sizeof *crashes };

/* The process that waits says what happened. */
static void die_silently(void)
{
	for (uint32_t i = 0; i < CRASHES; i++)
		signal(crashes[i], SIG_DFL);
}

static bool is_crash(int sig)
{
	uint32_t i = 0;
	while (i < CRASHES && crashes[i] != sig)
		i++;
	return i < CRASHES;
}

/* Without another core file. */
_Noreturn static void die_of(int sig)
{
	prctl(PR_SET_DUMPABLE, 0);
	signal(sig, SIG_DFL);
	raise(sig);
	_exit(3);
}

int drivers_run(int (*work)(void *ctx), void *ctx, const char **died)
{
	static _Thread_local char name[32];
	pid_t child = start_child();
	*died = NULL;
	if (child < 0) /* without a process to spare, the work is still done */
		return work(ctx);
	if (child == 0) {
		die_silently();
		int code = work(ctx);
		fflush(NULL);
		_exit(code);
	}
	int status = drivers_wait_for(child);
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	if (!is_crash(WTERMSIG(status)) && WTERMSIG(status) != SIGKILL) /* the reader of its output has gone, or a user ended it */
		die_of(WTERMSIG(status));
	snprintf(name, sizeof name, "SIG%s", signal_name(status));
	*died = name;
	return -1;
}

/* ---- devices ---- */

static int run_drivers_ask(void *ctx)
{
	struct gpu_answer *out = ctx;
	struct arena *a = arena_new(0);
	const char *error = "";
	const struct gpu_api *api = module_open(a, "gpu", GPU_ENTRY, GPU_ABI, &error);
	os_end_at_interrupt(RUN_INTERRUPTED);
	if (api)
		api->devices(out);
	else
		snprintf(out->why, sizeof out->why, "%s", error);
	return 0;
}

const struct gpu_answer *drivers_ask(struct arena *a, const char **died)
{
	struct gpu_answer *shared = drivers_share(sizeof *shared), *answer = ARENA_NEW(a, struct gpu_answer);
	const char *by;
	drivers_run(run_drivers_ask, shared, &by);
	*answer = *shared;
	munmap(shared, sizeof *shared);
	*died = !by              ? NULL
		: *answer->asked ? arena_printf(a, "the OpenCL driver of `%s` crashed (%s)", answer->asked, by)
				 : arena_printf(a, GPU_DRIVERS " crashed while it was loaded (%s)", by);
	return answer;
}

/* ---- whole commands ---- */

static volatile pid_t supervised;

/* The terminal sends its signals to the child, too. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0)
		kill(supervised, sig);
}

static void pass_signals_on(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};
	struct sigaction sa = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART}, old;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* started by nohup */
			sigaction(signals[i], &sa, NULL);
}

/* What the drivers themselves say was said before. */
static void name_driver(void)
{
	struct arena *a = arena_new(0);
	const char *died;
	int errors = dup(STDERR_FILENO), nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dup2(nothing, STDERR_FILENO);
	drivers_ask(a, &died);
	dup2(errors, STDERR_FILENO);
	print(stderr, "trib: error: %s\n", died ? died : "the model, or " GPU_DRIVERS ", crashed");
	arena_free(a);
}

void drivers_supervise(const char *device)
{
	if (!device || !strstr(device, "opencl"))
		return;
	volatile bool *named = drivers_share(sizeof *named);
	pid_t child = start_child();
	if (child == 0)
		crash_guard_share(named);
	if (child <= 0) /* without a process to spare, the command is still done */
		return;
	supervised = child;
	pass_signals_on();
	int status = drivers_wait_for(child);
	if (!WIFSIGNALED(status))
		_exit(WEXITSTATUS(status));
	if (is_crash(WTERMSIG(status)) && !*named)
		name_driver();
	die_of(WTERMSIG(status));
}
