/* Hears that files may have changed: through inotify where it works, else by looking again and again. What it says are hints: the disk decides. */
#ifndef TRIB_BUILDER_WATCH_WATCHER_H
#define TRIB_BUILDER_WATCH_WATCHER_H
#include <stdbool.h>
#include <stdint.h>

struct happened;
struct input;
struct watcher;

struct watcher *watcher_new(bool poll);
void watcher_free(struct watcher *w); /* NULL is accepted */
/* Watches where these inputs come from, in place of what it watched before. What changed until it returns may not be heard. */
void watcher_cover(struct watcher *w, const struct input *inputs, uint32_t n);
uint32_t watcher_folders(const struct watcher *w);
/* Becomes readable when there is something to hear; -1: polling. */
int watcher_fd(const struct watcher *w);
/* Why it polls; NULL: it does not, or was asked to. */
const char *watcher_why_polling(const struct watcher *w);
/* Adds what was heard since the last call; does not wait. */
void watcher_hear(struct watcher *w, struct happened *h);
#endif
