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
#include "builder/watch/scan.h"
#include "builder/watch/tell.h"
#include "builder/watch/texts.h"
#include "builder/watch/watcher.h"

struct watch {
	const struct options *o;
	struct tell tell;
	struct session session;
	struct scan *scan;
	struct watcher *watcher;
	struct texts *texts;
	struct debounce debounce;
	struct happened happened;
	bool covered;           /* the watcher watches what the last build read */
	bool watching, polling; /* as people were told */
	struct command command, hook;
	const char *on_success[4], *on_failure[4]; /* for the shell */
	bool ending;
	/* the save that is to be built, or is being built */
	struct arena *a;
	VEC(const char *) changed; /* paths and patterns */
	int64_t saved_at, looked_at;
	uint32_t overtaken; /* builds in a row that newer saves ended */
	/* the last good build */
	VEC(char *) outputs;
	uint32_t behind;     /* saves since then */
	int64_t good_at;     /* seconds since 1970 */
	uint64_t generation; /* libraries that were published; 0: none yet */
};

/* wait.c: waits until something that the last build read is no longer so. False: an interrupt. */
bool watch_wait(struct watch *w);
/* Until there is something to hear, a signal, or that time. */
void watch_pause(struct watch *w, int64_t until);
/* Ends the commands and waits until they have. */
void watch_end_commands(struct watch *w);
static inline bool watch_polls(const struct watch *w) { return watcher_fd(w->watcher) < 0; }
int watch_poll_ms(const struct watch *w);
/* outcome.c: prints what came of the build, and starts the commands. */
struct build;
void watch_report(struct watch *w, const struct build *b);
#endif
