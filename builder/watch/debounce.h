/* When to look at what happened. A file that was closed or renamed into place is whole: a short pause, because more files may belong to the same save. One
 * that is still open, or has just gone, gets longer to become whole. The pause grows while newer saves overtake builds, and shrinks when none do.
 * Times: nanoseconds of the monotonic clock. */
#ifndef TRIB_BUILDER_WATCH_DEBOUNCE_H
#define TRIB_BUILDER_WATCH_DEBOUNCE_H
#include <stdbool.h>
#include <stdint.h>

#define DEBOUNCE_WRITING_NS 100000000 /* for a file that is written to, until it is closed */
#define DEBOUNCE_GONE_NS 20000000     /* for a file that went away, until it is back */

/* What was heard since the last look. */
struct happened {
	bool any;  /* anything that may matter */
	bool lost; /* events were lost, or folders moved: only a look at everything tells what changed */
	int64_t first, last;
	int64_t whole_at; /* until then a file may be a part of what it is to be; 0: all are whole */
};
struct debounce {
	int64_t pause;
};

void debounce_init(struct debounce *d);
/* When to look; only if anything happened. */
int64_t debounce_due(const struct debounce *d, const struct happened *h);
/* After a build that a newer save overtook; after one that ran to its end. */
void debounce_overtaken(struct debounce *d);
void debounce_undisturbed(struct debounce *d);
#endif
