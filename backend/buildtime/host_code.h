/* Code of this machine for blocks of parameters (backend/buildtime/stream.h): compiled as units are, and loaded into this process. */
#ifndef TRIB_BACKEND_BUILDTIME_HOST_CODE_H
#define TRIB_BACKEND_BUILDTIME_HOST_CODE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct arena;
struct buf;
struct codegen;
struct codegen_api;
struct ir_fn;
struct stream_code;
struct target;

/* Returns the target of code for this process, in `a` or constant; NULL: the code generator cannot make any. */
const struct target *host_code_target(struct arena *a);
enum { HOST_CODE_OPT = 1 }; /* the level of the code */
/* Returns the hash of everything that the object depends on but the compiler. */
hash128 host_code_key(const struct ir_fn *block, const struct target *t);
/* Appends the object of a block function. Returns false with a message in *error. */
bool host_code_emit(struct arena *scratch, const struct ir_fn *block, const struct target *t, const struct codegen_api *api,
		    struct codegen *generator, struct buf *object, struct buf *error);
/* Loads an object, for good; the result is malloc'd. NULL: it cannot be loaded. */
struct stream_code *host_code_load(const void *object, size_t len);
/* As stream_compiler.run. */
void host_code_run(const struct stream_code *code, void *const *bufs, int64_t n);
#endif
