/* The inputs of the last build, and which of them have changed on the disk since. */
#ifndef TRIB_BUILDER_WATCH_TRACKED_INPUTS_H
#define TRIB_BUILDER_WATCH_TRACKED_INPUTS_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/store/inputs.h"

struct build;
struct tracked_inputs;

struct tracked_inputs *tracked_inputs_new(void);
void tracked_inputs_free(struct tracked_inputs *s); /* NULL is accepted */
/* Replaces the inputs with those of a build. True if their paths differ from before. */
bool tracked_inputs_replace(struct tracked_inputs *s, const struct build *b);
const struct input *tracked_inputs_all(const struct tracked_inputs *s, uint32_t *n);
/* Returns the changed inputs, valid until the next call. */
const struct input *const *tracked_inputs_changed(struct tracked_inputs *s, uint32_t *n);
/* True if an input read so far has changed. */
bool inputs_are_outdated(const struct inputs *read);
#endif
