/* How long to wait after a file event before the inputs are compared. A closed or renamed file gets a short pause, because other files may
 * belong to the same save. An open or removed file gets longer. The pause grows while saves supersede builds, and shrinks when none do.
 * Times are nanoseconds of the monotonic clock. */
#ifndef TRIB_BUILDER_WATCH_DEBOUNCE_H
#define TRIB_BUILDER_WATCH_DEBOUNCE_H
#include <stdbool.h>
#include <stdint.h>

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
