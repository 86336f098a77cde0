/* The interface of libtrib-codegen.so, which contains LLVM and is opened only if something must be compiled. Its one exported symbol is
 * CODEGEN_ENTRY. */
#ifndef TRIB_BACKEND_TARGET_CODEGEN_H
#define TRIB_BACKEND_TARGET_CODEGEN_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/target/codegen_stages.h"
#include "backend/target/target.h"

struct buf;
struct loop_fn;
struct codegen; /* the LLVM context and target machine of one thread */

struct codegen_target {
	const char *cpu;       /* "x86-64-v2", "x86-64-v3" or "x86-64-v4" */
	const char *features;  /* LLVM feature string, may be "" */
	uint32_t vector_bytes; /* 16, 32 or 64 */
	uint8_t opt;           /* 0 … 3: chooses LLVM's code generation level and passes */
	bool size;
	bool profile_hook; /* code reports the time of each statement */
};
static inline struct codegen_target codegen_target_for(const struct target *t, uint8_t opt, bool size, bool profile_hook)
{
	return (struct codegen_target){.cpu = t->cpu,
				       .features = t->features,
				       .vector_bytes = t->vector_bytes,
				       .opt = opt,
				       .size = size,
				       .profile_hook = profile_hook};
}
enum codegen_text { CODEGEN_LLVM, CODEGEN_ASM };

#define CODEGEN_ABI 5
#define CODEGEN_ENTRY "trib_codegen"
struct codegen_api {
	uint32_t abi;
	/* Returns the host's cpu name and features, malloc'd. */
	void (*host)(char **cpu, char **features);
	struct codegen *(*open)(const struct codegen_target *target, struct buf *error);
	/* Appends a relocatable object. It defines SYMBOL (tri_unit_fn) and SYMBOL_scratch (tri_scratch_fn). With profile_hook it refers to
	 * SYMBOL_desc, the tri_unit_desc. Returns false with a
	 * message in *error. */
	bool (*compile)(struct codegen *c, const struct loop_fn *f, struct buf *object, struct buf *error);
	/* From now on reports the stages of compilations; NULL: does not. `stages` must outlive them. */
	void (*measure)(struct codegen *c, const struct codegen_stages *stages);
	/* Compiles a small function and discards it. The first use of LLVM makes tables and loads pages, which takes as long as a small
	 * unit. Call it once in a process. */
	void (*warm)(struct codegen *c);
	bool (*dump)(struct codegen *c, const struct loop_fn *f, enum codegen_text what, struct buf *out, struct buf *error);
	void (*close)(struct codegen *c);
};
typedef const struct codegen_api *codegen_entry_fn(void);
#endif
