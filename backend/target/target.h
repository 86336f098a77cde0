/* CPU targets by name: what the code generator is told, and which micro-kernels go in. Needs no LLVM, so that unit keys can be made without it. */
#ifndef TRIB_BACKEND_TARGET_TARGET_H
#define TRIB_BACKEND_TARGET_TARGET_H
#include <stdbool.h>
#include <stdint.h>

/* Levels of the micro-kernels; each includes those before. */
enum cpu_level { CPU_V2, CPU_V3, CPU_V4, CPU_V4_VNNI, CPU_LEVELS };

struct target {
	const char *cpu;       /* for LLVM: "x86-64-v3" */
	char features[256];    /* for LLVM: "+avx512vnni,+f16c", in a fixed order; part of the key */
	uint32_t vector_bytes; /* 16, 32 or 64 */
	enum cpu_level level;
};

/* "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4-vnni", or "native" (also NULL): this machine. False: an unknown name. */
bool target_resolve(const char *name, struct target *out);
/* The known names, NULL-terminated. */
const char *const *target_names(void);
/* Can this machine run it? */
bool target_runs_here(const struct target *t);
#endif
