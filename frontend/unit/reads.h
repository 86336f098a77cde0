/* Which definitions the elaborator looked at, and for what: the recorded inputs of a check, of a constant and of a unit. Only in a front end that is kept,
 * and of checks in one that is traced (frontend_enable_refresh, frontend_record_reads); else all of this does nothing. */
#ifndef TRIB_FRONTEND_UNIT_READS_H
#define TRIB_FRONTEND_UNIT_READS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"
#include "frontend/names/module.h"

struct emitter;
struct item;

/* A recording, on the stack of who makes it. What is elaborated in its course and recorded elsewhere, such as the units that are called, is not in it. */
struct reads {
	struct reads *outer;
	uint32_t serial;
	VEC(struct item_read) found;
};

void reads_open(struct emitter *e, struct reads *r);
/* Ends the recording that was opened last; the list lives as long as the front end. */
struct item_reads reads_close(struct emitter *e);
/* In the recording that is open, if one is. */
void reads_note(struct emitter *e, struct item *it, enum read_depth of);
/* Has something in the list changed, as far as it was read? */
bool reads_changed(const struct item_reads *l);
#endif
