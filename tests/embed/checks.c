/* The interface of tri_build.h. `checks NAME FOLDER…` prints nothing if all is right. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tri_build.h"

#define CHECK(cond)                                                                \
	do {                                                                       \
		if (!(cond)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			exit(1);                                                   \
		}                                                                  \
	} while (0)

/* What the callbacks of one build have seen. */
struct seen {
	tri_builder *builder;
	uint32_t calls, cancel_at; /* cancels at this call; 0: never */
	uint32_t phases, reasons, starts, ends, units, done, total;
	uint32_t errors, warnings;
	char first[300], order[300];
	int32_t busy; /* the result of a run inside a callback */
	pthread_t thread;
};

static void count_call(struct seen *s)
{
	CHECK(pthread_equal(s->thread, pthread_self()));
	if (++s->calls == s->cancel_at)
		tri_builder_cancel(s->builder);
}

static void on_progress(void *user, const tri_build_progress *p)
{
	struct seen *s = user;
	count_call(s);
	CHECK(p->size == sizeof *p && p->name && p->kind && p->reason);
	switch (p->event) {
	case TRI_BUILD_PHASE:
		s->phases++;
		strcat(strcat(s->order, p->name), " ");
		break;
	case TRI_BUILD_REASON:
		s->reasons++;
		CHECK(*p->reason);
		break;
	case TRI_BUILD_TASK_START:
		s->starts++;
		CHECK(s->total == 0 || s->total == p->total);
		s->total = p->total;
		break;
	case TRI_BUILD_TASK_END:
		s->ends++;
		s->units += strcmp(p->kind, "unit") == 0;
		CHECK(p->done == s->done + 1 && p->total == s->total && s->ends <= s->starts && p->wall_ns >= 0);
		s->done = p->done;
		break;
	default: CHECK(!"an unknown event");
	}
	if (s->builder && s->busy < 0)
		s->busy = tri_builder_run(s->builder, NULL, NULL);
}

static void on_diagnostic(void *user, const tri_build_diagnostic *d)
{
	struct seen *s = user;
	count_call(s);
	CHECK(d->size == sizeof *d && *d->code && *d->message && d->file && d->label && d->help);
	if (!s->errors && d->severity == TRI_BUILD_ERROR)
		snprintf(s->first, sizeof s->first, "%s:%u:%u:%u:%s", d->file, d->line, d->column, d->end_column, d->code);
	s->errors += d->severity == TRI_BUILD_ERROR;
	s->warnings += d->severity == TRI_BUILD_WARNING;
}

static tri_builder *open_project(const char *folder)
{
	tri_error e = {0};
	tri_builder *b = tri_builder_open(folder, &e);
	if (!b)
		fprintf(stderr, "%s\n", e.message);
	CHECK(b);
	return b;
}

static tri_build_options options_for(struct seen *s, tri_builder *b)
{
	*s = (struct seen){.builder = b, .thread = pthread_self()};
	return (tri_build_options){
		.size = sizeof(tri_build_options), .jobs = 2, .on_progress = on_progress, .on_diagnostic = on_diagnostic, .user = s};
}

static int32_t build(tri_builder *b, const tri_build_options *o, tri_build_summary *s)
{
	*s = (tri_build_summary){.size = sizeof *s};
	int32_t code = tri_builder_run(b, o, s);
	CHECK(code == s->code && s->message && !*s->message == (code == TRI_BUILD_OK));
	return code;
}

/* The one process that this program has started. */
static pid_t child(void)
{
	char path[64];
	int pid = 0;
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	FILE *f = fopen(path, "r");
	CHECK(f && fscanf(f, "%d", &pid) == 1);
	fclose(f);
	return pid;
}

/* ---- the checks ---- */

/* Builds all, then nothing. */
static void all(char **folder)
{
	struct seen seen;
	struct sigaction before[NSIG] = {0}, after;
	char here[4096], there[4096];
	tri_build_summary s;
	for (int i = 1; i < NSIG; i++)
		sigaction(i, NULL, &before[i]);
	CHECK(getcwd(here, sizeof here));
	tri_builder *b = open_project(folder[0]);
	tri_build_options o = options_for(&seen, b);
	o.messages = TRI_BUILD_EXPLAIN;
	o.profile = 1;
	seen.busy = -1;
	CHECK(build(b, &o, &s) == TRI_BUILD_OK);
	CHECK(strcmp(seen.order, "load typecheck elaborate opt cache codegen publish ") == 0);
	CHECK(seen.starts == seen.total && seen.ends == seen.total && seen.units == s.compiled && seen.reasons == s.compiled);
	CHECK(seen.busy == TRI_BUILD_BUSY && seen.errors == 0 && s.errors == 0);
	CHECK(s.units > 1 && s.compiled + s.reused == s.units && s.failed == 0 && s.cache_hits + s.cache_misses > 0 && s.jobs == 2);
	CHECK(s.efficiency > 0 && s.efficiency <= 1 && s.wall_ns > 0 && s.peak_bytes > 1 << 20);
	CHECK(s.n_outputs >= 2 && s.n_phases > 5 && strcmp(s.phases[0].name, "setup") == 0);
	CHECK(s.profile && strlen(s.profile) == s.profile_bytes && access(s.outputs[0], F_OK) != 0 &&
	      strncmp(s.outputs[0], "build/", 6) == 0);
	pid_t pid = child();

	o = options_for(&seen, b);
	o.profile_file = "profile.json";
	CHECK(build(b, &o, &s) == TRI_BUILD_OK);
	CHECK(s.compiled == 0 && seen.starts == 0 && s.n_outputs >= 2 && !s.profile);
	CHECK(child() == pid); /* what is open stays open */
	o.level = '0';
	o.no_cache = 1;
	CHECK(build(b, &o, &s) == TRI_BUILD_OK && s.compiled > 0 && child() == pid);
	tri_builder_close(b);
	for (int i = 1; i < NSIG; i++) {
		CHECK(sigaction(i, NULL, &after) != 0 || after.sa_handler == before[i].sa_handler);
	}
	CHECK(getcwd(there, sizeof there) && strcmp(here, there) == 0);
}

/* The sources have folder[2] errors, the first at folder[1], as "file:line:column:end column:code". */
static void error(char **folder)
{
	struct seen seen;
	tri_build_summary s;
	tri_builder *b = open_project(folder[0]);
	tri_build_options o = options_for(&seen, b);
	CHECK(build(b, &o, &s) == TRI_BUILD_FAILED);
	CHECK(seen.errors == s.errors && s.errors > 0 && s.n_outputs == 0);
	if (strcmp(seen.first, folder[1]) != 0)
		fprintf(stderr, "%s\n", seen.first);
	CHECK(strcmp(seen.first, folder[1]) == 0);
	CHECK(seen.errors == (uint32_t)atoi(folder[2]));
	CHECK(strncmp(s.message, folder[1], strcspn(folder[1], ":")) == 0);
	tri_builder_close(b);
}

static void usage(char **folder)
{
	struct seen seen;
	tri_build_summary s;
	tri_error e;
	const char *models[] = {"nothing", NULL, "src/net.tri"};
	CHECK(!tri_builder_open("/nowhere", &e) && e.code == TRI_ERR_ARGUMENT && strstr(e.message, "/nowhere"));
	CHECK(!tri_builder_open("/", NULL));
	tri_builder *b = open_project(folder[0]);
	tri_build_options o = options_for(&seen, b);
	o.models = models;
	o.n_models = 1;
	CHECK(build(b, &o, &s) == TRI_BUILD_USAGE && strstr(s.message, "nothing"));
	o.n_models = 2;
	CHECK(build(b, &o, &s) == TRI_BUILD_USAGE);
	o.models = models + 2;
	o.n_models = 1;
	CHECK(build(b, &o, &s) == TRI_BUILD_USAGE && strstr(s.message, "net.tri"));
	o.n_models = 0;
	o.level = 'x';
	CHECK(build(b, &o, &s) == TRI_BUILD_USAGE && strstr(s.message, "level"));
	o.level = 0;
	o.cpu = "z80";
	CHECK(build(b, &o, &s) == TRI_BUILD_USAGE && strstr(s.message, "z80"));
	o.cpu = NULL;
	o.size = 0;
	CHECK(build(b, &o, &s) == TRI_BUILD_USAGE && strstr(s.message, "size"));

	struct {
		uint32_t size;
		int32_t code;
		uint64_t untouched;
	} old = {.size = 8, .untouched = 7}; /* of a program with an older header */
	o.size = 8;                          /* no callbacks */
	CHECK(tri_builder_run(b, &o, (tri_build_summary *)(void *)&old) == TRI_BUILD_OK && old.code == TRI_BUILD_OK && old.untouched == 7);
	CHECK(seen.starts == 0);
	tri_builder_cancel(b); /* nothing runs */
	CHECK(tri_builder_run(b, NULL, NULL) == TRI_BUILD_OK);
	tri_builder_close(b);
	tri_builder_close(NULL);
}

/* Cancels at call folder[1], and then builds to the end. Returns the number of calls by its exit status: 0 while it was cancelled. */
static int cancel(char **folder)
{
	struct seen seen;
	tri_build_summary s;
	tri_builder *b = open_project(folder[0]);
	tri_build_options o = options_for(&seen, b);
	o.no_cache = 1;
	o.out = folder[2];
	seen.cancel_at = (uint32_t)atoi(folder[1]);
	int32_t code = build(b, &o, &s);
	CHECK(code == TRI_BUILD_CANCELLED || code == TRI_BUILD_OK);
	int is_last = seen.calls < seen.cancel_at;
	o = options_for(&seen, b);
	o.no_cache = 1;
	o.out = folder[2];
	CHECK(build(b, &o, &s) == TRI_BUILD_OK);
	tri_builder_close(b);
	return is_last ? 9 : code == TRI_BUILD_CANCELLED ? 0 : 8;
}

static void *cancel_soon(void *builder)
{
	for (int i = 0; i < 1000; i++) {
		usleep(1000);
		tri_builder_cancel(builder);
	}
	return NULL;
}

/* Cancels from another thread, each millisecond: before, while and after it builds. */
static void cancel_by_thread(char **folder)
{
	tri_build_summary s;
	pthread_t thread;
	tri_builder *b = open_project(folder[0]);
	tri_build_options o = {.size = sizeof o, .no_cache = 1};
	CHECK(pthread_create(&thread, NULL, cancel_soon, b) == 0);
	CHECK(build(b, &o, &s) == TRI_BUILD_CANCELLED);
	pthread_join(thread, NULL);
	CHECK(build(b, &o, &s) == TRI_BUILD_OK);
	tri_builder_close(b);
}

/* Another process has the project's lock. */
static void locked(char **folder)
{
	tri_build_summary s;
	pthread_t thread;
	tri_builder *b = open_project(folder[0]);
	tri_build_options o = {.size = sizeof o, .level = '0'};
	CHECK(pthread_create(&thread, NULL, cancel_soon, b) == 0);
	CHECK(build(b, &o, &s) == TRI_BUILD_CANCELLED);
	pthread_join(thread, NULL);
	tri_builder_close(b);
}

static void *build_often(void *folder)
{
	struct seen seen;
	tri_build_summary s;
	tri_builder *b = open_project(folder);
	for (int i = 0; i < 3; i++) {
		tri_build_options o = options_for(&seen, b);
		o.no_cache = 1;
		o.level = "012"[i];
		CHECK(build(b, &o, &s) == TRI_BUILD_OK && s.units > 0);
	}
	tri_builder_close(b);
	return NULL;
}

/* A thread for each folder. */
static void threads(char **folder)
{
	pthread_t list[8];
	int n = 0;
	for (; folder[n]; n++)
		CHECK(n < 8 && pthread_create(&list[n], NULL, build_often, folder[n]) == 0);
	for (int i = 0; i < n; i++)
		pthread_join(list[i], NULL);
}

/* The process is killed: between builds, and in one. */
static void on_first(void *user, const tri_build_progress *p)
{
	(void)p;
	if (!(*(int *)user)++)
		kill(child(), SIGKILL);
}

/* Until its files are closed. */
static void kill_and_wait(pid_t pid)
{
	siginfo_t how;
	kill(pid, SIGKILL);
	CHECK(waitid(P_PID, (id_t)pid, &how, WEXITED | WNOWAIT) == 0);
}

static void killed(char **folder)
{
	tri_build_summary s;
	int calls = 0;
	tri_builder *b = open_project(folder[0]);
	tri_build_options o = {.size = sizeof o, .no_cache = 1, .on_progress = on_first, .user = &calls};
	CHECK(build(b, &o, &s) == TRI_BUILD_ENVIRONMENT && strstr(s.message, "has ended"));
	CHECK(build(b, &o, &s) == TRI_BUILD_OK && s.compiled > 0);
	kill_and_wait(child());
	CHECK(build(b, &o, &s) == TRI_BUILD_OK);
	kill(child(), SIGKILL);
	tri_builder_close(b);
}

/* Builds, runs the command folder[1], and builds again in the same process. */
static void after_command(char **folder)
{
	tri_build_summary s;
	tri_builder *b = open_project(folder[0]);
	tri_build_options o = {.size = sizeof o};
	CHECK(build(b, &o, &s) == TRI_BUILD_OK);
	CHECK(system(folder[1]) == 0);
	CHECK(build(b, &o, &s) == TRI_BUILD_OK && s.n_outputs > 0);
	tri_builder_close(b);
}

static void on_interrupt(int number) { (void)number; }

/* Builds, builds again after Ctrl-C, and stays until it is killed. */
static void stay(char **folder)
{
	tri_build_summary s;
	sigset_t interrupt, before;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	signal(SIGINT, on_interrupt);
	tri_builder *b = open_project(folder[0]);
	pid_t pid = child();
	for (;;) {
		CHECK(build(b, NULL, &s) == TRI_BUILD_OK && child() == pid);
		pthread_sigmask(SIG_BLOCK, &interrupt, &before); /* else Ctrl-C could come before the wait, which would then be forever */
		puts("built");
		fflush(stdout);
		sigsuspend(&before);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(char **folder);
	} list[] = {{"all", all},         {"error", error},   {"usage", usage},   {"cancel_by_thread", cancel_by_thread},
		    {"threads", threads}, {"locked", locked}, {"killed", killed}, {"after_command", after_command},
		    {"stay", stay}};
	CHECK(argc > 2);
	if (strcmp(argv[1], "cancel") == 0)
		return cancel(argv + 2);
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (strcmp(list[i].name, argv[1]) == 0) {
			list[i].run(argv + 2);
			return 0;
		}
	CHECK(!"such a check");
}
