/* Waiting for the next save. Events only say when to look; whether there is anything to do is decided by what the last build recorded. */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/os.h"
#include "builder/watch/watch_state.h"
#include "scheduler/jobserver.h"

enum { POLL_MS = 250 };
#define TICK_NS 10000000   /* time stamps of files are as coarse as this */
#define STEADY_NS 20000000 /* a file that polling finds changed may still be written to */

int watch_poll_ms(const struct watch *w) { return w->o->poll_ms > 0 ? w->o->poll_ms : POLL_MS; }

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* Until there is something to read, a signal, or `until`. Signals come while it waits and at no other time, so that none is missed in between. */
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
	if (w->ending || !os_interrupted())
		ppoll(&fd, 1, until == INT64_MAX ? NULL : &t, &before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void step_command(struct watch *w, struct command *c, const char *name)
{
	struct command_report r;
	while ((r = command_step(c)).news != COMMAND_NOTHING) {
		tell_command(&w->tell, name, &r, c->pid);
		if (!w->command.pid && !w->hook.pid)
			jobserver_restock(w->session.jobserver);
	}
}

static void step_commands(struct watch *w)
{
	step_command(w, &w->command, w->o->n_command ? w->o->command[0] : "");
	step_command(w, &w->hook, w->hook.argv == w->on_failure ? w->o->on_failure : w->o->on_success);
}

/* When the newest of these was written, on the monotonic clock, as far as its time stamp tells; it may have been before it was heard of. */
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

/* Is anything other than the last build read it? */
static bool look(struct watch *w)
{
	uint32_t n;
	const struct input *const *changed = scan_changed(w->scan, &n);
	int64_t heard = w->happened.any ? w->happened.first : os_now_ns();
	w->looked_at = os_now_ns();
	if (!n)
		return false;
	w->saved_at = earlier(heard, written_at(changed, n));
	w->changed.len = 0;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&w->changed, arena_strdup(w->a, changed[i]->path));
	return true;
}

static void tell_mode(struct watch *w, uint32_t n)
{
	bool polling = watch_polls(w);
	if (!w->watching || polling != w->polling)
		tell_watching(&w->tell, n, watcher_folders(w->watcher), watcher_why_polling(w->watcher), polling ? watch_poll_ms(w) : 0);
	w->watching = true;
	w->polling = polling;
}

/* Watches what the last build read, and looks at all of it once: it may have changed before it was watched. */
static bool cover(struct watch *w)
{
	uint32_t n;
	const struct input *inputs = scan_inputs(w->scan, &n);
	watcher_cover(w->watcher, inputs, n);
	tell_mode(w, n);
	if (w->happened.lost)
		tell_rescan(&w->tell);
	w->covered = true;
	w->happened.lost = false;
	return look(w);
}

/* When to look again if nothing is heard. */
static int64_t next_look(const struct watch *w)
{
	if (w->happened.any)
		return debounce_due(&w->debounce, &w->happened);
	return watch_polls(w) ? w->looked_at + (int64_t)watch_poll_ms(w) * 1000000 : INT64_MAX;
}

static bool look_twice(struct watch *w)
{
	if (!look(w))
		return false;
	watch_pause(w, os_now_ns() + STEADY_NS);
	return look(w);
}

static void nothing_heard(struct watch *w) { w->happened = (struct happened){0}; }

/* What the look at everything finds may still be written to, as what is heard of. */
static void cover_and_look(struct watch *w)
{
	bool found = cover(w);
	int64_t now = os_now_ns();
	nothing_heard(w);
	if (found)
		w->happened = (struct happened){.any = true, .first = now, .last = now};
}

/* False: nothing was found, or it is too early to say. */
static bool look_now(struct watch *w)
{
	if (w->happened.lost) {
		cover_and_look(w);
		return false;
	}
	bool found = watch_polls(w) ? look_twice(w) : look(w);
	nothing_heard(w);
	return found;
}

bool watch_wait(struct watch *w)
{
	if (!w->covered)
		cover_and_look(w);
	for (;;) {
		step_commands(w);
		if (os_interrupted())
			return false;
		watcher_hear(w->watcher, &w->happened);
		int64_t due = next_look(w), now = os_now_ns();
		if (due <= now && look_now(w))
			return true;
		if (due > now)
			watch_pause(w, earlier(due, earlier(command_due(&w->command), command_due(&w->hook))));
	}
}

void watch_end_commands(struct watch *w)
{
	w->ending = true;
	command_end(&w->command);
	command_end(&w->hook);
	while (w->command.pid || w->hook.pid) {
		step_commands(w);
		if (w->command.pid || w->hook.pid)
			watch_pause(w, earlier(os_now_ns() + STEADY_NS, earlier(command_due(&w->command), command_due(&w->hook))));
	}
}
