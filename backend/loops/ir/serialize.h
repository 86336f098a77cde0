/* A unit's loop IR as bytes, which a lazy library carries in place of code (backend/link/lazy/LAZY.md). Equal units have equal bytes. A unit
 * that was read compiles to the same code. */
#ifndef TRIB_BACKEND_LOOPS_IR_SERIALIZE_H
#define TRIB_BACKEND_LOOPS_IR_SERIALIZE_H
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct loop_fn;

void loops_serialize(const struct loop_fn *f, struct buf *out);
/* Reads and verifies bytes that are not trusted. Constants and texts remain in `bytes`, all else is in `unit`. A callee has a symbol only.
 * Returns NULL on an error, with a message in *error (in `unit`). */
struct loop_fn *loops_deserialize(struct arena *unit, const void *bytes, size_t len, const char **error);
#endif
