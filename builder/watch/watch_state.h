/* One running `trib watch`. Private to watch.c, wait.c and outcome.c. */
#ifndef TRIB_BUILDER_WATCH_STATE_H
#define TRIB_BUILDER_WATCH_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/vec.h"
#include "builder/build/build.h"
#include "builder/build/session/session.h"
#include "builder/manifest/options.h"
#include "builder/store/inputs.h"
#include "builder/watch/edit.h"
#include "builder/watch/watcher.h"

struct build;
struct disk;

/* ---- command.c: A command of the user that runs in a process group of its own. It is restarted after builds, and ended with SIGTERM, later with SIGKILL. ---- */
#define COMMAND_GRACE_NS 2000000000

struct command {
	const char *const *argv; /* of the running or the next process; NULL before the first */
	bool quiet_stdout;       /* its output goes to standard error */
	pid_t pid;               /* 0 if it does not run */
	bool ending;             /* SIGTERM was sent */
	bool start_next;         /* start argv when nothing runs */
	int64_t kill_at;
};
enum command_event { COMMAND_NO_CHANGE, COMMAND_STARTED, COMMAND_FAILED_TO_START, COMMAND_EXITED, COMMAND_SIGNALLED };
struct command_change {
	enum command_event event;
	int value;      /* exit code, signal, or errno */
	bool requested; /* after command_end or a restart */
};

/* Starts argv when the running process has ended. argv must stay valid. */
void command_start(struct command *c, const char *const *argv);
/* Sends SIGTERM to the running process. */
void command_end(struct command *c);
/* Takes the next step. Call it until it returns COMMAND_NO_CHANGE, and again after SIGCHLD and at command_next_step_at. */
struct command_change command_step(struct command *c);
/* INT64_MAX: only after SIGCHLD. */
int64_t command_next_step_at(const struct command *c);

/* ---- tracked_inputs.c: The inputs of the last build, and which of them have changed on the disk since. ---- */
struct tracked_inputs { /* zero-initialised */
	struct arena *a;
	const struct disk *disk; /* where the build read them */
	VEC(struct input) inputs;
	VEC(const struct input *) changed;
	hash128 digest; /* of kinds and paths */
};
void tracked_inputs_free(struct tracked_inputs *s);
/* Replaces the inputs with those of a build. True if their paths differ from before. */
bool tracked_inputs_replace(struct tracked_inputs *s, const struct build *b);
const struct input *tracked_inputs_all(const struct tracked_inputs *s, uint32_t *n);
/* Returns the changed inputs, valid until the next call. */
const struct input *const *tracked_inputs_changed(struct tracked_inputs *s, uint32_t *n);
/* True if an input read so far has changed. */
bool inputs_are_outdated(const struct inputs *read);

/* ---- report.c: The output of `trib watch`: a line for each save, or JSON events. ---- */
struct reporter {
	FILE *out, *err;
	bool json, quiet;
};
/* A save and its build. */
struct save_report {
	const struct edit *edits;
	uint32_t n_edits;
	enum status status;
	uint32_t compiled, linked, errors;
	int64_t latency_ns, build_ns; /* from the save, or the start, to the published library or to the errors */
	const char *const *outputs;   /* of the last good build */
	uint32_t n_outputs, behind;   /* behind: saves since the last good build */
	int64_t good_at;              /* when it ended, in seconds since 1970 */
	uint64_t generation;          /* number of good builds */
};

void report_watching(const struct reporter *r, uint32_t files, uint32_t folders, const char *why_polling, int poll_ms);
void report_save(const struct reporter *r, const struct save_report *s);
/* A newer save cancelled the build. */
void report_superseded(const struct reporter *r);
/* All inputs are compared, because events were lost or folders moved. */
void report_rescan(const struct reporter *r);
void report_command(const struct reporter *r, const char *name, const struct command_change *change, int64_t pid);
void report_end(const struct reporter *r);

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
	struct tracked_inputs inputs;
	struct saved_texts texts;
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
void watch_report(struct watch *w, const struct build *b);
#endif
