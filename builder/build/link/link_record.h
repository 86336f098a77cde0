/* What the last link of a model wrote, and from what: in the project's store. */
#ifndef TRIB_BUILDER_BUILD_LINK_LINK_RECORD_H
#define TRIB_BUILDER_BUILD_LINK_LINK_RECORD_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/manifest/manifest.h"

struct disk;
struct model_job;
struct store;
struct triw_entry;

/* True if the outputs were made from link.digest and are unchanged. Sets outputs.weights then. */
bool link_record_is_current(const struct disk *disk, struct store *store, struct model_job *m);
/* The weight file of an output of the last link if it is unchanged; else NULL. */
const char *link_record_weights(const struct disk *disk, struct store *store, const struct model_job *m, enum emit emit);
/* The weights in the library of the last link if it is unchanged; else NULL. */
const struct triw_entry *link_record_library(const struct disk *disk, struct store *store, const struct model_job *m, enum emit emit,
					     uint32_t *n);
void link_record_save(const struct disk *disk, struct store *store, const struct model_job *m);
#endif
