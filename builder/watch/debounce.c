#include "builder/watch/watcher.h"

#define MIN_PAUSE_NS 200000
#define MAX_PAUSE_NS 50000000
#define MAX_WAIT_NS 500000000 /* also while events go on */

void debounce_init(struct debounce *d) { d->pause = MIN_PAUSE_NS; }

int64_t debounce_end(const struct debounce *d, const struct file_events *events)
{
	int64_t due = events->last + d->pause, limit = events->first + MAX_WAIT_NS;
	due = events->incomplete_until > due ? events->incomplete_until : due;
	return due < limit ? due : limit;
}

void debounce_superseded(struct debounce *d) { d->pause = d->pause * 2 < MAX_PAUSE_NS ? d->pause * 2 : MAX_PAUSE_NS; }

void debounce_completed(struct debounce *d) { d->pause = d->pause / 2 > MIN_PAUSE_NS ? d->pause / 2 : MIN_PAUSE_NS; }
