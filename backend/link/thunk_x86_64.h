/* The few instructions that tie NAME_open, NAME_run and NAME_close to the runtime's functions, which serve every model (System V calling convention). */
#ifndef TRIB_BACKEND_LINK_THUNK_X86_64_H
#define TRIB_BACKEND_LINK_THUNK_X86_64_H
#include <stdbool.h>
#include <stdint.h>

struct object;
/* Each defines the global function `name` in o and returns its symbol; `target` and `desc` are symbols of o. */
/* name(opt, err) → target(opt, err, desc) */
uint32_t thunk_open(struct object *o, const char *name, uint32_t target, uint32_t desc);
/* name(model, io, err) → target(model, entry, io, err) */
uint32_t thunk_run(struct object *o, const char *name, uint32_t target, uint32_t entry);
/* name(…) → target(…) */
uint32_t thunk_jump(struct object *o, const char *name, uint32_t target);

/* Stubs of a lazy library: to the address that is `offset` bytes into `slots` */
uint32_t thunk_slot(struct object *o, const char *name, uint32_t slots, uint64_t offset);
/* name(ctx, bufs, weights, dims, scratch) → target(…, &units[offset]) */
uint32_t thunk_first_run(struct object *o, const char *name, uint32_t target, uint32_t units, uint64_t offset);
/* name(dims) → target(dims, &units[offset]) */
uint32_t thunk_first_scratch(struct object *o, const char *name, uint32_t target, uint32_t units, uint64_t offset);
/* In code that is loaded into this process: to `address`, or to what stands there. */
uint32_t thunk_far(struct object *o, const char *name, const void *address, bool through);
#endif
