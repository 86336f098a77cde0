/* Waiting for the next save. Events only decide when to compare; the recorded inputs of the last build decide if there is work. */
#include <poll.h>
#include <signal.h>
#include <time.h>
#include "base/arena.h"
#include "base/os.h"
#include "builder/watch/watch_state.h"
#include "scheduler/jobserver.h"

enum { POLL_MS = 250 };
#define TICK_NS 10000000   /* resolution of file time stamps */
#define STEADY_NS 20000000 /* polling compares twice, because a changed file may still be written to */

int watch_poll_ms(const struct watch *w) { return w->options->watch.poll_ms > 0 ? w->options->watch.poll_ms : POLL_MS; }

static int64_t wait_earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* Signals are delivered only inside ppoll, so that none is missed between the check and the wait. */
void watch_pause(struct watch *w, int64_t until)
{
	struct pollfd fd = {.fd = watcher_fd(w->watcher), .events = POLLIN};
	int64_t now = os_now_ns(), left = until > now ? until - now : 0;
	struct timespec t = {left / 1000000000, left % 1000000000};
	sigset_t waited, before;
	sigemptyset(&waited);
	sigaddset(&waited, SIGINT);
	sigaddset(&waited, SIGTERM);
	sigaddset(&waited, SIGHUP);
	sigaddset(&waited, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &waited, &before);
	if (w->commands.ending || !os_interrupted())
		ppoll(&fd, 1, until == INT64_MAX ? NULL : &t, &before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void step_command(struct watch *w, struct command *command, const char *name)
{
	struct command_change r;
	while ((r = command_step(command)).event != COMMAND_NO_CHANGE) {
		report_command(&w->reporter, name, &r, command->pid);
		if (!w->commands.main.pid && !w->commands.hook.pid)
			jobserver_restock(w->session.jobserver);
	}
}

static void step_commands(struct watch *w)
{
	step_command(w, &w->commands.main, w->options->n_command ? w->options->command[0] : "");
	step_command(w, &w->commands.hook,
		     w->commands.hook.argv == w->commands.on_failure ? w->options->watch.on_failure : w->options->watch.on_success);
}

static int64_t next_command_step_at(const struct watch *w)
{
	return wait_earlier(command_next_step_at(&w->commands.main), command_next_step_at(&w->commands.hook));
}

/* When the newest of these files was written, on the monotonic clock, by its time stamp. INT64_MAX if that is not plausible. */
static int64_t written_at(const struct input *const *list, uint32_t n)
{
	struct timespec t;
	struct file_stamp stamp;
	uint64_t newest = 0;
	for (uint32_t i = 0; i < n; i++)
		if (os_stamp(list[i]->path, &stamp) && stamp.ctime_ns > newest)
			newest = stamp.ctime_ns;
	clock_gettime(CLOCK_REALTIME, &t);
	int64_t ago = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec - (int64_t)newest;
	return newest && ago > TICK_NS && ago < (int64_t)3600 * 1000000000 ? os_now_ns() - ago : INT64_MAX;
}

/* True if an input differs from what the last build read. Collects the changed paths. */
static bool find_changes(struct watch *w)
{
	uint32_t n;
	const struct input *const *changed = tracked_inputs_changed(&w->inputs, &n);
	int64_t noticed = w->events.any ? w->events.first : os_now_ns();
	w->save.compared_at = os_now_ns();
	if (!n)
		return false;
	w->save.saved_at = wait_earlier(noticed, written_at(changed, n));
	w->save.changed.len = 0;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&w->save.changed, arena_strdup(w->save.arena, changed[i]->path));
	return true;
}

static void report_mode(struct watch *w, uint32_t n)
{
	bool polling = watch_polls(w);
	if (!w->reported_watching || polling != w->reported_polling)
		report_watching(&w->reporter, n, watcher_n_folders(w->watcher), watcher_polling_reason(w->watcher),
				polling ? watch_poll_ms(w) : 0);
	w->reported_watching = true;
	w->reported_polling = polling;
}

/* Watches the inputs of the last build. Then compares them once, because they may have changed before. */
static bool watch_inputs(struct watch *w)
{
	uint32_t n;
	const struct input *inputs = tracked_inputs_all(&w->inputs, &n);
	watcher_watch(w->watcher, inputs, n);
	report_mode(w, n);
	if (w->events.needs_rescan)
		report_rescan(&w->reporter);
	w->watches_inputs = true;
	w->events.needs_rescan = false;
	return find_changes(w);
}

/* When to compare the inputs if no other event comes. */
static int64_t next_comparison_at(const struct watch *w)
{
	if (w->events.any)
		return debounce_end(&w->debounce, &w->events);
	return watch_polls(w) ? w->save.compared_at + (int64_t)watch_poll_ms(w) * 1000000 : INT64_MAX;
}

static bool find_steady_changes(struct watch *w)
{
	if (!find_changes(w))
		return false;
	watch_pause(w, os_now_ns() + STEADY_NS);
	return find_changes(w);
}

static void clear_events(struct watch *w) { w->events = (struct file_events){0}; }

/* A change found this way counts as an event now, because the file may still be written to. */
static void watch_and_compare(struct watch *w)
{
	bool found = watch_inputs(w);
	int64_t now = os_now_ns();
	clear_events(w);
	if (found)
		w->events = (struct file_events){.any = true, .first = now, .last = now};
}

/* False if nothing changed, or if the comparison must be repeated later. */
static bool compare_now(struct watch *w)
{
	if (w->events.needs_rescan) {
		watch_and_compare(w);
		return false;
	}
	bool found = watch_polls(w) ? find_steady_changes(w) : find_changes(w);
	clear_events(w);
	return found;
}

bool watch_wait(struct watch *w)
{
	if (!w->watches_inputs)
		watch_and_compare(w);
	for (;;) {
		step_commands(w);
		if (os_interrupted())
			return false;
		watcher_read_events(w->watcher, &w->events);
		int64_t due = next_comparison_at(w), now = os_now_ns();
		if (due <= now && compare_now(w))
			return true;
		if (due > now)
			watch_pause(w, wait_earlier(due, next_command_step_at(w)));
	}
}

void watch_end_commands(struct watch *w)
{
	w->commands.ending = true;
	command_end(&w->commands.main);
	command_end(&w->commands.hook);
	while (w->commands.main.pid || w->commands.hook.pid) {
		step_commands(w);
		if (w->commands.main.pid || w->commands.hook.pid)
			watch_pause(w, wait_earlier(os_now_ns() + STEADY_NS, next_command_step_at(w)));
	}
}
