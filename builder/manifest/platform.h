/* What code is generated for: the platform and the CPU, as the manifest and flags name them. */
#ifndef TRIB_BUILDER_MANIFEST_PLATFORM_H
#define TRIB_BUILDER_MANIFEST_PLATFORM_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/target/codegen.h"
#include "base/hash.h"

struct arena;
struct platform {
	const char *text; /* "x86_64-linux x86-64-v3", for people and the descriptor */
	const char *name; /* the cpu as written: "native", "x86-64-v3", … */
	const char *cpu, *features;
	uint32_t vector_bytes;
	uint32_t level; /* of the micro-kernels: runtime_objects.h */
	hash128 id;     /* what decides the code */
};

/* False: *error says what is not supported, *near (may be NULL) what was probably meant. */
bool platform_resolve(struct arena *a, const char *target, const char *cpu, struct platform *out, const char **error, const char **near);
struct platform platform_copy(struct arena *a, const struct platform *p); /* its texts in `a` */
/* The code generator's view. */
struct codegen_target platform_codegen(const struct platform *p, uint8_t opt, bool size);
#endif
