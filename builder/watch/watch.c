/* The loop: build, wait until an input of the build has changed, build again. */
#include "builder/watch/watch.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"
#include "builder/build/session/fragments.h"
#include "builder/build/session/session.h"
#include "builder/build/session/status.h"
#include "builder/build/session/warm.h"
#include "builder/build/started_build.h"
#include "builder/watch/watch_state.h"

enum { MAX_SUPERSEDED = 5, MAX_SUPERSEDED_FAILURES = 100 };
#define MORE_WRITES_NS 10000000

/* Many programs empty a file before they write it, and events may come late. So errors are reported only if no write follows. */
static void await_more_writes(struct watch *w)
{
	if (!w->events.incomplete_until)
		watch_pause(w, os_now_ns() + MORE_WRITES_NS);
	watcher_read_events(w->watcher, &w->events);
}

/* True if a newer save makes this build useless. After MAX_SUPERSEDED such builds in a row, one runs to its end. Builds with errors may be
 * superseded more often, because a half-written file has errors. */
static bool superseded(void *ctx, const struct inputs *read, bool failed)
{
	struct watch *w = ctx;
	int64_t last_event = w->events.last, now = os_now_ns();
	if (w->save.n_superseded >= (failed ? MAX_SUPERSEDED_FAILURES : MAX_SUPERSEDED))
		return false;
	watcher_read_events(w->watcher, &w->events);
	if (failed)
		await_more_writes(w);
	if (w->events.incomplete_until) /* the build may have read a half-written file */
		return true;
	bool poll = watch_polls(w) && now - w->save.compared_at > (int64_t)watch_poll_ms(w) * 1000000;
	if (!failed && !poll && (!w->events.any || w->events.last == last_event))
		return false;
	w->save.compared_at = now;
	return inputs_are_outdated(read);
}

static enum status watch_build(struct watch *w)
{
	uint32_t n_superseded = w->save.n_superseded;
	w->save.compared_at = os_now_ns();
	struct build *b = build_start(&w->session, w->options);
	enum status s = b->status;
	watch_report(w, b);
	build_end(b);
	if (w->save.n_superseded > n_superseded) {
		debounce_superseded(&w->debounce);
		w->events.first = w->events.last;
	} else {
		debounce_completed(&w->debounce);
	}
	return s;
}

/* The handler does nothing; the signal ends ppoll. */
static void on_child(int sig) { (void)sig; }

static void watch_begin(struct watch *w, const struct options *o, FILE *out, FILE *err)
{
	struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
	sigaction(SIGCHLD, &child, NULL);
	signal(SIGPIPE, SIG_IGN); /* when the reader of the output has ended, the commands are ended, too */
	*w = (struct watch){.options = o, .reporter = {out, err, o->json > 0, o->quiet}};
	w->save.arena = arena_new(0);
	w->watcher = watcher_new(o->watch.poll_ms > 0);
	w->session.fragments = fragments_new();
	w->session.warm = warm_new();
	w->session.superseded = superseded;
	w->session.ctx = w;
	w->session.runs_commands = o->n_command || o->watch.on_success || o->watch.on_failure;
	w->commands.main.quiet_stdout = w->commands.hook.quiet_stdout = w->reporter.json;
	debounce_init(&w->debounce);
	const char **shells[] = {w->commands.on_success, w->commands.on_failure}, *const lines[] = {o->watch.on_success,
												    o->watch.on_failure};
	for (int i = 0; i < 2; i++) {
		shells[i][0] = "/bin/sh";
		shells[i][1] = "-c";
		shells[i][2] = lines[i];
	}
}

static void watch_end(struct watch *w)
{
	session_free(&w->session);
	watcher_free(w->watcher);
	tracked_inputs_free(&w->inputs);
	saved_texts_free(&w->texts);
	for (uint32_t i = 0; i < w->good.outputs.len; i++)
		free(w->good.outputs.at[i]);
	vec_free(&w->good.outputs);
	vec_free(&w->save.changed);
	arena_free(w->save.arena);
}

enum status watch_run(const struct options *o, FILE *out, FILE *err)
{
	struct watch w;
	watch_begin(&w, o, out, err);
	enum status s = watch_build(&w);
	bool can_watch = s != STATUS_USAGE && s != STATUS_INTERRUPTED && access("tri.build", F_OK) == 0;
	while (can_watch && !ferror(out) && !ferror(err) && watch_wait(&w)) {
		arena_mark_t m = arena_mark(w.save.arena);
		watch_build(&w);
		arena_release(w.save.arena, m);
	}
	if (can_watch || s == STATUS_INTERRUPTED) {
		watch_end_commands(&w);
		report_end(&w.reporter);
		s = STATUS_INTERRUPTED;
	}
	watch_end(&w);
	return s;
}
