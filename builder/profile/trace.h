/* A profile in the Chrome trace format, for Perfetto and chrome://tracing. */
#ifndef TRIB_BUILDER_PROFILE_TRACE_H
#define TRIB_BUILDER_PROFILE_TRACE_H
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct profile;

/* Appends the spans and counters in the order of time. `clock_ns`: when the profile began on the system's monotonic clock, so that traces
 * of several processes align. */
void profile_print_trace(const struct profile *p, int64_t clock_ns, struct buf *out);
/* Replaces the file. False: errno says why. */
bool profile_write_trace(const struct profile *p, int64_t clock_ns, const char *path);
#endif
