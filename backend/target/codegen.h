/* The code generator's module: a shared object with LLVM inside, opened only when there is something to compile. Found through one exported
 * symbol, CODEGEN_ENTRY. */
#ifndef TRIB_BACKEND_TARGET_CODEGEN_H
#define TRIB_BACKEND_TARGET_CODEGEN_H
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct loop_fn;
struct codegen; /* one worker's LLVM context and target machine; never shared between threads */

struct codegen_target {
	const char *cpu;       /* "x86-64-v2", "x86-64-v3", "x86-64-v4", or "native" resolved by target.c to an LLVM cpu name */
	const char *features;  /* LLVM feature string, may be "" */
	uint32_t vector_bytes; /* 16, 32 or 64 */
	uint8_t opt;           /* 0 … 3: LLVM's code generation level and pass list follow it */
	bool size;
};
enum codegen_text { CODEGEN_LLVM, CODEGEN_ASM };

#define CODEGEN_ABI 2
#define CODEGEN_ENTRY "trib_codegen"
struct codegen_api {
	uint32_t abi;
	const char *version; /* "LLVM 19.1.7" */
	/* Host cpu name and features, malloc'd; for cpu = native. */
	void (*host)(char **cpu, char **features);
	struct codegen *(*open)(const struct codegen_target *target, struct buf *error);
	/* Appends a relocatable object. Defines `symbol` (tri_unit_fn) and `symbol`_scratch (tri_scratch_fn); refers to callees' and kernels'
	 * symbols. False: *error says why. */
	bool (*compile)(struct codegen *c, const struct loop_fn *f, struct buf *object, struct buf *error);
	/* Compiles something small and throws it away: LLVM makes its tables and touches its pages at the first use, which costs as much as a small unit
	 * does. Once in a process is enough. */
	void (*warm)(struct codegen *c);
	bool (*dump)(struct codegen *c, const struct loop_fn *f, enum codegen_text what, struct buf *out, struct buf *error);
	void (*close)(struct codegen *c);
};
typedef const struct codegen_api *codegen_entry_fn(void);
#endif
