/* What the last build read, and what of it the disk says has changed since. */
#ifndef TRIB_BUILDER_WATCH_SCAN_H
#define TRIB_BUILDER_WATCH_SCAN_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/store/inputs.h"

struct build;
struct scan;

struct scan *scan_new(void);
void scan_free(struct scan *s); /* NULL is accepted */
/* What the build read takes the place of what was known before. True: from other places than the last one did. */
bool scan_take(struct scan *s, const struct build *b);
const struct input *scan_inputs(const struct scan *s, uint32_t *n);
/* The inputs that are no longer as they were read, until the next call. */
const struct input *const *scan_changed(struct scan *s, uint32_t *n);
/* Is anything of `read` no longer as it was read? */
bool scan_outdated(const struct inputs *read);
#endif
