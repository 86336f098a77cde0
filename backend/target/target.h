/* CPU targets by name: options of the code generator and the level of the micro-kernels. Needs no LLVM, so unit keys are made without it. */
#ifndef TRIB_BACKEND_TARGET_TARGET_H
#define TRIB_BACKEND_TARGET_TARGET_H
#include <stdbool.h>
#include <stdint.h>

/* Levels of the micro-kernels. Each includes the ones before. */
enum cpu_level { CPU_V2, CPU_V3, CPU_V4, CPU_V4_VNNI, CPU_LEVELS };

struct target {
	const char *cpu;       /* for LLVM: "x86-64-v3" */
	char features[256];    /* for LLVM: "+avx512vnni,+f16c", in a fixed order; part of the key */
	uint32_t vector_bytes; /* 16, 32 or 64 */
	enum cpu_level level;
};

/* Finds a target by its name, see target_names. NULL and "native" mean this machine. Returns false if the name is unknown. */
bool target_resolve(const char *name, struct target *out);
/* Returns the names of the targets, NULL-terminated. */
const char *const *target_names(void);
/* True if this machine can run code for the target. */
bool target_runs_here(const struct target *t);
#endif
