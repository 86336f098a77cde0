/* Recordings of the definitions that a check, a constant or a unit reads. They are made only after frontend_enable_refresh; those of
 * checks also after frontend_record_reads. Otherwise these functions do nothing. */
#ifndef TRIB_FRONTEND_UNIT_READS_H
#define TRIB_FRONTEND_UNIT_READS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"
#include "frontend/names/module.h"

struct emitter;
struct item;

/* A recording, on the stack of the function that makes it. It does not contain what nested recordings contain, such as those of called
 * units. */
struct reads {
	struct reads *outer;
	uint32_t serial;
	VEC(struct item_read) found;
};

void reads_open(struct emitter *e, struct reads *r);
/* Ends the innermost recording; the list lives as long as the front end. */
struct item_reads reads_close(struct emitter *e);
/* Adds a read to the innermost recording, if there is one. */
void reads_note(struct emitter *e, struct item *it, enum read_depth of);
/* True if the part that was read of a definition in the list has changed. */
bool reads_changed(const struct item_reads *reads);
#endif
