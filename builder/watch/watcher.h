/* Notices that files may have changed: through inotify, or by polling where inotify does not work. The inputs then decide. */
#ifndef TRIB_BUILDER_WATCH_WATCHER_H
#define TRIB_BUILDER_WATCH_WATCHER_H
#include <stdbool.h>
#include <stdint.h>

struct file_events;
struct input;
struct watched_folders;
struct watcher;

struct watcher *watcher_new(bool poll);
void watcher_free(struct watcher *w); /* NULL is accepted */
/* Watches the folders of these inputs instead of those before. A change during the call may be missed. */
void watcher_watch(struct watcher *w, const struct input *inputs, uint32_t n);
uint32_t watcher_n_folders(const struct watcher *w);
/* Readable when there are events; -1: polling. */
int watcher_fd(const struct watcher *w);
/* Why it polls. NULL if it does not, or if polling was requested. */
const char *watcher_polling_reason(const struct watcher *w);
/* Adds the events since the last call. Does not wait. */
void watcher_read_events(struct watcher *w, struct file_events *e);

/* ---- watched_folders.c: The folders to watch, and which of their entries matter: inputs, folders on the path to an input, and names that may match a pattern.
 * Swap files and backups of editors are not among them. ---- */

/* Finds the folders of these inputs on the disk. */
struct watched_folders *watched_folders_new(const struct input *inputs, uint32_t n);
void watched_folders_free(struct watched_folders *folders); /* NULL is accepted */
uint32_t watched_folders_count(const struct watched_folders *folders);
const char *watched_folder_path(const struct watched_folders *folders, uint32_t i);
/* Says whether a change of the entry may change an input. */
enum folder_entry { ENTRY_NONE, ENTRY_FILE, ENTRY_FOLDER };
enum folder_entry watched_folder_entry(const struct watched_folders *folders, uint32_t folder, const char *name, bool is_folder);

/* ---- debounce.c: How long to wait after a file event before the inputs are compared. A closed or renamed file gets a short pause, because other files may
 * belong to the same save. An open or removed file gets longer. The pause grows while saves supersede builds, and shrinks when none do.
 * Times are nanoseconds of the monotonic clock. ---- */
#define DEBOUNCE_WRITING_NS 100000000 /* for a file that is being written, until it is closed */
#define DEBOUNCE_GONE_NS 20000000     /* for a removed file, until it is back */

/* The file events since the inputs were last compared. */
struct file_events {
	bool any;          /* at least one that may matter */
	bool needs_rescan; /* events were lost, or folders moved: all inputs must be compared */
	int64_t first, last;
	int64_t incomplete_until; /* until then a file may be half-written; 0: all are complete */
};
struct debounce {
	int64_t pause;
};

void debounce_init(struct debounce *d);
/* Returns when to compare the inputs. Call it only if there were events. */
int64_t debounce_end(const struct debounce *d, const struct file_events *e);
/* After a build that a newer save superseded; after one that ran to its end. */
void debounce_superseded(struct debounce *d);
void debounce_completed(struct debounce *d);
#endif
