/* Notices that files may have changed: through inotify, or by polling where inotify does not work. The inputs then decide. */
#ifndef TRIB_BUILDER_WATCH_WATCHER_H
#define TRIB_BUILDER_WATCH_WATCHER_H
#include <stdbool.h>
#include <stdint.h>

struct file_events;
struct input;
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
#endif
