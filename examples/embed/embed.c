/* Builds the project of a folder, shows what the build does, and writes its profile. Ctrl-C cancels. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include "tri_build.h"

static void on_progress(void *user, const tri_build_progress *p)
{
	(void)user;
	if (p->event == TRI_BUILD_PHASE)
		printf("%s\n", p->name);
	else if (p->event == TRI_BUILD_TASK_END)
		printf("[%u/%u] %s, %.1f ms\n", p->done, p->total, p->name, (double)p->wall_ns / 1e6);
	fflush(stdout);
}

static void on_diagnostic(void *user, const tri_build_diagnostic *d)
{
	(void)user;
	printf("%s:%u:%u: %s %s: %s\n", d->file, d->line, d->column, d->severity == TRI_BUILD_ERROR ? "error" : "warning", d->code,
	       d->message);
}

/* Waits for Ctrl-C on a thread of its own, because a signal handler may not call the library. */
static void *wait_for_interrupt(void *builder)
{
	sigset_t interrupt;
	int number;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	while (sigwait(&interrupt, &number) == 0)
		tri_builder_cancel(builder);
	return NULL;
}

static void watch_interrupts(tri_builder *b)
{
	sigset_t interrupt;
	pthread_t thread;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	pthread_sigmask(SIG_BLOCK, &interrupt, NULL);
	if (pthread_create(&thread, NULL, wait_for_interrupt, b) == 0)
		pthread_detach(thread);
}

static void print_summary(const tri_build_summary *s)
{
	for (uint32_t i = 0; i < s->n_outputs; i++)
		printf("%s\n", s->outputs[i]);
	printf("%u units: %u compiled, %u reused; %.2f s with %u workers, busy for %.0f %%\n", s->units, s->compiled, s->reused,
	       (double)s->wall_ns / 1e9, s->jobs, s->efficiency * 100);
}

int main(int argc, char **argv)
{
	tri_error error;
	tri_build_options options = {.size = sizeof options, .on_progress = on_progress, .on_diagnostic = on_diagnostic};
	tri_build_summary summary = {.size = sizeof summary};
	tri_builder *b = tri_builder_open(argc > 1 ? argv[1] : ".", &error);
	if (!b) {
		printf("%s\n", error.message);
		return 1;
	}
	watch_interrupts(b);
	options.profile_file = "profile.json";
	int code = tri_builder_run(b, &options, &summary);
	if (code == TRI_BUILD_OK)
		print_summary(&summary);
	else
		printf("%s\n", summary.message);
	tri_builder_close(b);
	return code;
}
