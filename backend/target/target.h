/* What code is made for, as constant values from targets.def. Plans, passes and loops read it. Needs no LLVM, so keys are made without
 * it. */
#ifndef TRIB_BACKEND_TARGET_TARGET_H
#define TRIB_BACKEND_TARGET_TARGET_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"

struct arena;

enum target_arch { ARCH_X86_64, ARCH_OPENCL, ARCH_C };
/* Levels of the micro-kernels of x86-64. Each includes the ones before. */
enum cpu_level { CPU_V2, CPU_V3, CPU_V4, CPU_V4_VNNI, CPU_LEVELS };
/* How elementary functions of float32 are computed: by the C library or the device, by polynomials, or also with tables in registers. */
enum target_functions { FUNCTIONS_LIBRARY, FUNCTIONS_POLYNOMIAL, FUNCTIONS_LOOKUP };
enum target_id {
#define TARGET(id, ...) TARGET_##id,
#include "backend/target/targets.def"
#undef TARGET
	TARGET_COUNT,
	TARGET_NONE = TARGET_COUNT
};

struct target {
	const char *name; /* of targets.def */
	enum target_arch arch;
	const char *cpu;      /* for LLVM: "x86-64-v3" */
	const char *features; /* for LLVM: "+avx512vnni,+gfni", in a fixed order */
	enum cpu_level level;
	uint32_t vector_bytes, n_vector_registers;
	uint32_t l1_bytes, l2_bytes, l3_bytes;
	uint32_t group_size; /* work items that share local memory; 0: no work groups */
	uint32_t max_unroll;
	enum target_functions functions;
	bool calls_hook;     /* code can report each statement to a profile hook */
	enum target_id also; /* loops are made for this target, too; or TARGET_NONE */
	bool dense_trits;    /* matrices of trits are packed as TRIT1_6; a choice of the build, see target_dense */
};

/* Returns a row of targets.def. */
const struct target *target_get(enum target_id id);
/* Finds the target of a processor by its name, see target_cpu_names. "native" means this machine: the highest level that cpuid reports, with
 * the extensions that code and kernels can use; the result may be in `a`. Returns NULL if the name is unknown. */
const struct target *target_find_cpu(struct arena *a, const char *name);
/* Returns t, or a copy in `a`, with matrices of trits packed as TRIT1_6 or as TRIT2. */
const struct target *target_dense(struct arena *a, const struct target *t, bool dense);
/* Returns the names of the processors, NULL-terminated. */
const char *const *target_cpu_names(void);
/* Returns the hash of everything that plans and code depend on. */
hash128 target_hash(const struct target *t);
/* True if this machine can run code for the target. */
bool target_runs_here(const struct target *t);
#endif
