/* What code is generated for: the platform and the CPU. */
#ifndef TRIB_BUILDER_TARGET_H
#define TRIB_BUILDER_TARGET_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/codegen.h"
#include "base/hash.h"

struct arena;
struct target {
	const char *text;  /* "x86_64-linux x86-64-v3", for people and the descriptor */
	const char *cpu;   /* as written: "native", "x86-64-v3", … */
	bool native;
	uint32_t vector_bytes;
	hash128 id;        /* what decides the code: for native, this machine's features */
};

/* False: *error says what is not supported, *near (may be NULL) what was probably meant. */
bool target_resolve(struct arena *a, const char *target, const char *cpu, struct target *out, const char **error, const char **near);
/* The code generator's view; for native it asks the module about the host. Strings in `a`. */
struct codegen_target target_codegen(struct arena *a, const struct target *t, const struct codegen_api *api, uint8_t opt, bool size);
/* Digest of this machine's CPU features. */
hash128 target_host_id(void);
#endif
