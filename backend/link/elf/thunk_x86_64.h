/* The instructions of small functions that add an argument and jump to a function of the runtime (System V calling convention): NAME_open, NAME_run,
 * NAME_close, SYMBOL_profile, and the stubs of lazy libraries. */
#ifndef TRIB_BACKEND_LINK_ELF_THUNK_X86_64_H
#define TRIB_BACKEND_LINK_ELF_THUNK_X86_64_H
#include <stdbool.h>
#include <stdint.h>

struct object;
/* Each function defines the global function `name` in o and returns its symbol. `target`, `desc`, `slots` and `units` are symbols of o. */
/* name(opt, err) → target(opt, err, desc) */
uint32_t thunk_open(struct object *o, const char *name, uint32_t target, uint32_t desc);
/* name(model, …) → target(model, entry, …), with at most four further arguments */
uint32_t thunk_run(struct object *o, const char *name, uint32_t target, uint32_t entry);
/* name(…) → target(…) */
uint32_t thunk_jump(struct object *o, const char *name, uint32_t target);
/* name(ctx, statement, cost) → target(…, &units[offset]) */
uint32_t thunk_profile(struct object *o, const char *name, uint32_t target, uint32_t units, uint64_t offset);

/* A stub of a lazy library: jumps to the address at slots + offset. */
uint32_t thunk_slot(struct object *o, const char *name, uint32_t slots, uint64_t offset);
/* name(ctx, bufs, weights, dims, scratch) → target(…, &units[offset]) */
uint32_t thunk_first_run(struct object *o, const char *name, uint32_t target, uint32_t units, uint64_t offset);
/* name(dims) → target(dims, &units[offset]) */
uint32_t thunk_first_scratch(struct object *o, const char *name, uint32_t target, uint32_t units, uint64_t offset);
/* For code that is loaded into this process: jumps to `address`, or if `through`, to the address that is stored there. */
uint32_t thunk_far(struct object *o, const char *name, const void *address, bool through);
#endif
