/* The few instructions that tie NAME_open, NAME_run and NAME_close to the runtime's functions, which serve every model (System V calling convention). */
#ifndef TRIB_BACKEND_LINK_THUNK_X86_64_H
#define TRIB_BACKEND_LINK_THUNK_X86_64_H
#include <stdint.h>

struct object;
/* Each defines the global function `name` in o and returns its symbol; `target` and `desc` are symbols of o. */
/* name(opt, err) → target(opt, err, desc) */
uint32_t thunk_open(struct object *o, const char *name, uint32_t target, uint32_t desc);
/* name(model, io, err) → target(model, entry, io, err) */
uint32_t thunk_run(struct object *o, const char *name, uint32_t target, uint32_t entry);
/* name(…) → target(…) */
uint32_t thunk_jump(struct object *o, const char *name, uint32_t target);
#endif
