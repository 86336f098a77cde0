/* One running `trib watch`. Private to watch.c, wait.c and outcome.c. */
#ifndef TRIB_BUILDER_WATCH_STATE_H
#define TRIB_BUILDER_WATCH_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"
#include "builder/build/session.h"
#include "builder/manifest/options.h"
#include "builder/watch/command.h"
#include "builder/watch/debounce.h"
#include "builder/watch/report.h"
#include "builder/watch/saved_texts.h"
#include "builder/watch/tracked_inputs.h"
#include "builder/watch/watcher.h"

/* The commands of the user. */
struct watch_commands {
	struct command main, hook;                 /* hook: --on-success or --on-failure */
	const char *on_success[4], *on_failure[4]; /* their words, for the shell */
	bool ending;
};
/* The save that is waited for, or being built. */
struct current_save {
	struct arena *arena;
	VEC(const char *) changed; /* paths and patterns */
	int64_t saved_at, compared_at;
	uint32_t n_superseded; /* builds in a row that a newer save cancelled */
};
struct last_good_build {
	VEC(char *) outputs;
	uint32_t behind;     /* saves since then */
	int64_t ended_at;    /* seconds since 1970 */
	uint64_t generation; /* libraries that were published; 0: none yet */
};
struct watch {
	const struct options *options;
	struct session session;
	struct reporter reporter;
	struct tracked_inputs *inputs;
	struct saved_texts *texts;
	struct watcher *watcher;
	bool watches_inputs; /* the watcher watches what the last build read */
	struct debounce debounce;
	struct file_events events;
	bool reported_watching, reported_polling; /* the last reported mode */
	struct watch_commands commands;
	struct current_save save;
	struct last_good_build good;
};

/* wait.c: waits until an input of the last build has changed. False: interrupted. */
bool watch_wait(struct watch *w);
/* Waits for a file event, a signal, or that time. */
void watch_pause(struct watch *w, int64_t until);
/* Ends the commands and waits for them. */
void watch_end_commands(struct watch *w);
static inline bool watch_polls(const struct watch *w) { return watcher_fd(w->watcher) < 0; }
int watch_poll_ms(const struct watch *w);
/* outcome.c: prints what came of the build, and starts the commands. */
struct build;
void watch_report(struct watch *w, const struct build *b);
#endif
