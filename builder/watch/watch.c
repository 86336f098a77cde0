/* The loop: build, wait until something that the build read is no longer so, build again. */
#include "builder/watch/watch.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"
#include "builder/build/fragments.h"
#include "builder/build/build_steps.h"
#include "builder/build/warm.h"
#include "builder/watch/watch_state.h"

enum { MOST_OVERTAKEN = 5, MOST_OVERTAKEN_FAILURES = 100 };
#define DOUBT_NS 10000000

/* Many programs save by emptying the file first, and the kernel may tell of that later than it does it: an error is believed when nothing follows. */
static void doubt(struct watch *w)
{
	if (!w->happened.whole_at)
		watch_pause(w, os_now_ns() + DOUBT_NS);
	watcher_hear(w->watcher, &w->happened);
}

/* Saves without a pause must not keep builds from ever ending: after some that were overtaken, one runs to its end. What is wrong with a file that is just
 * being written is of less interest. */
static bool superseded(void *ctx, const struct inputs *read, bool failed)
{
	struct watch *w = ctx;
	int64_t heard = w->happened.last, now = os_now_ns();
	if (w->overtaken >= (failed ? MOST_OVERTAKEN_FAILURES : MOST_OVERTAKEN))
		return false;
	watcher_hear(w->watcher, &w->happened);
	if (failed)
		doubt(w);
	if (w->happened.whole_at) /* what was read may be a part of a file */
		return true;
	bool poll = watch_polls(w) && now - w->looked_at > (int64_t)watch_poll_ms(w) * 1000000;
	if (!failed && !poll && (!w->happened.any || w->happened.last == heard))
		return false;
	w->looked_at = now;
	return scan_outdated(read);
}

static enum status build(struct watch *w)
{
	uint32_t overtaken = w->overtaken;
	w->looked_at = os_now_ns();
	struct build *b = build_start(&w->session, w->o);
	enum status s = b->status;
	watch_report(w, b);
	build_end(b);
	if (w->overtaken > overtaken) {
		debounce_overtaken(&w->debounce);
		w->happened.first = w->happened.last;
	} else {
		debounce_undisturbed(&w->debounce);
	}
	return s;
}

/* Nothing to do but to be there: it ends the waiting. */
static void on_child(int sig) { (void)sig; }

static void begin(struct watch *w, const struct options *o, FILE *out, FILE *err)
{
	struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
	sigaction(SIGCHLD, &child, NULL);
	signal(SIGPIPE, SIG_IGN); /* when nobody listens any more the command is to end, too */
	*w = (struct watch){.o = o, .tell = {out, err, o->json > 0, o->quiet}};
	w->a = arena_new(0);
	w->scan = scan_new();
	w->texts = texts_new();
	w->watcher = watcher_new(o->poll_ms > 0);
	w->session.fragments = fragments_new();
	w->session.warm = warm_new();
	w->session.superseded = superseded;
	w->session.ctx = w;
	w->session.commands = o->n_command || o->on_success || o->on_failure;
	w->command.quiet_stdout = w->hook.quiet_stdout = w->tell.json;
	debounce_init(&w->debounce);
	const char **shells[] = {w->on_success, w->on_failure}, *const lines[] = {o->on_success, o->on_failure};
	for (int i = 0; i < 2; i++) {
		shells[i][0] = "/bin/sh";
		shells[i][1] = "-c";
		shells[i][2] = lines[i];
	}
}

static void end(struct watch *w)
{
	session_free(&w->session);
	watcher_free(w->watcher);
	scan_free(w->scan);
	texts_free(w->texts);
	for (uint32_t i = 0; i < w->outputs.len; i++)
		free(w->outputs.at[i]);
	vec_free(&w->outputs);
	vec_free(&w->changed);
	arena_free(w->a);
}

enum status watch_run(const struct options *o, FILE *out, FILE *err)
{
	struct watch w;
	begin(&w, o, out, err);
	enum status s = build(&w);
	bool worth = s != STATUS_USAGE && s != STATUS_INTERRUPTED && access("tri.build", F_OK) == 0;
	while (worth && !ferror(out) && !ferror(err) && watch_wait(&w)) {
		arena_mark_t m = arena_mark(w.a);
		build(&w);
		arena_release(w.a, m);
	}
	if (worth || s == STATUS_INTERRUPTED) {
		watch_end_commands(&w);
		tell_end(&w.tell);
		s = STATUS_INTERRUPTED;
	}
	end(&w);
	return s;
}
