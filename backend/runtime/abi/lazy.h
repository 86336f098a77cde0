/* The binary interface between a lazy library and libtrib, which compiles units at their first call. */
#ifndef TRI_LAZY_H
#define TRI_LAZY_H
#include <stddef.h>
#include <stdint.h>
#include "backend/runtime/abi/tri.h"
#include "backend/runtime/abi/unit.h"

#define TRI_LAZY_ABI 2
#define TRI_LAZY_ENTRY "trib_lazy"
#define TRI_LAZY_MOST_DIMS 64            /* dims of a call, and stack depth of computing one */
#define TRI_LAZY_VARIABLE "TRIB_LIBRARY" /* environment: the path of libtrib.so */

struct tri_lazy_library;
struct tri_lazy_api;

/* Calls of a unit go through its slot. Both functions are stubs of the runtime until the unit is compiled, then they are its code. */
struct tri_lazy_slot {
	tri_unit_fn *code;
	tri_scratch_fn *scratch;
	uint32_t state; /* TRI_LAZY_…; a futex. It becomes READY after both functions are set */
	uint32_t pad;
};
/* A state of TRI_LAZY_BUSY + PID: that process compiles the unit. */
enum { TRI_LAZY_ABSENT, TRI_LAZY_READY, TRI_LAZY_BUSY };

/* A call that the unit makes: its scratch size must be known before the callee is compiled. */
struct tri_lazy_call {
	const struct tri_lazy_unit *callee;
	const tri_dim_desc *dims;
	uint64_t n_dims;
};
struct tri_lazy_unit {
	const struct tri_lazy_library *library;
	struct tri_lazy_slot *slot;
	const char *name, *symbol;
	const void *loops; /* backend/loops/ir/serialize.h */
	uint64_t n_loops;
	uint8_t key[16], digest[16]; /* of the fragment; of the bytes of `loops` */
	const tri_dim_desc *scratch; /* of the unit without its callees */
	const struct tri_lazy_call *calls;
	uint32_t n_calls;
	uint8_t opt, size, profile_hook, pad;
};
/* A symbol that compiled units may use, besides units and the C library. */
struct tri_lazy_symbol {
	const char *name;
	const void *address;
};
struct tri_lazy_state_of_library {
	const struct tri_lazy_api *api; /* NULL until libtrib is open */
};
struct tri_lazy_library {
	uint32_t abi, n_units, n_symbols, vector_bytes;
	const struct tri_lazy_unit *units;
	const struct tri_lazy_symbol *symbols;
	struct tri_lazy_state_of_library *state;
	const char *libtrib; /* its path when the library was built */
	const char *cpu, *features;
	uint8_t build[16], generator[16]; /* digests of trib and of its code generator's file */
};

struct tri_lazy_api {
	uint32_t abi; /* TRI_LAZY_ABI */
	uint32_t pad;
	/* Compiles the unit and fills its slot, and the slots of callees that the user's cache has. Thread-safe: units may be compiled
	 * at the same time. Returns 0, or another number after writing a message into `why`, which has n bytes. */
	int (*compile)(const struct tri_lazy_unit *unit, char *why, size_t n);
};
typedef const struct tri_lazy_api *tri_lazy_entry_fn(void);

/* The stubs call these. */
void tri_lazy_run(struct tri_context *ctx, void *const *bufs, const void *const *weights, const int64_t *dims, char *scratch,
		  const struct tri_lazy_unit *u);
int64_t tri_lazy_scratch(const int64_t *dims, const struct tri_lazy_unit *u);
#endif
