/* A unit's loop IR as bytes: what a lazy library carries of a unit instead of its code (BUILD.md, Lazy compilation). Equal units have equal bytes, and what is
 * read compiles to the same code. */
#ifndef TRIB_BACKEND_LOOPS_SERIALIZE_H
#define TRIB_BACKEND_LOOPS_SERIALIZE_H
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct loop_fn;

void loops_write(const struct loop_fn *f, struct buf *out);
/* Everything in `unit`, but for constants, which stay where they are in `bytes`. Nothing in them is believed: NULL, and *error (in `unit`) says why. Callees are
 * known by their symbols alone. */
struct loop_fn *loops_read(struct arena *unit, const void *bytes, size_t len, const char **error);
#endif
