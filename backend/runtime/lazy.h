/* Units that are compiled when they are first called: what a lazy library says of itself, and what it asks of libtrib. Both sides of the ABI are here. */
#ifndef TRI_LAZY_H
#define TRI_LAZY_H
#include <stddef.h>
#include <stdint.h>
#include "tri.h"
#include "unit.h"

#define TRI_LAZY_ABI 1
#define TRI_LAZY_ENTRY "trib_lazy"
#define TRI_LAZY_MOST_DIMS 64            /* of a call, and of values that computing one needs at a time */
#define TRI_LAZY_VARIABLE "TRIB_LIBRARY" /* environment: where libtrib.so is */

struct tri_lazy_library;
struct tri_lazy_api;

/* What calls of a unit go through. Both functions lead to the runtime until the unit is compiled; from then on straight to its code. */
struct tri_lazy_slot {
	tri_unit_fn *code;
	tri_scratch_fn *scratch;
	uint32_t state; /* TRI_LAZY_…; set to READY after both functions. Waited on as a futex */
	uint32_t pad;
};
/* From TRI_LAZY_BUSY on: the process that compiles it is this less. */
enum { TRI_LAZY_ABSENT, TRI_LAZY_READY, TRI_LAZY_BUSY };

/* A call that the unit makes: how much scratch it needs is known before anything is compiled. */
struct tri_lazy_call {
	const struct tri_lazy_unit *callee;
	const tri_dim_desc *dims;
	uint64_t n_dims;
};
struct tri_lazy_unit {
	const struct tri_lazy_library *library;
	struct tri_lazy_slot *slot;
	const char *name, *symbol;
	const void *loops; /* backend/loops/serialize.h */
	uint64_t n_loops;
	uint8_t key[16], digest[16]; /* of the fragment; of the bytes of `loops` */
	const tri_dim_desc *scratch; /* one: its own */
	const struct tri_lazy_call *calls;
	uint32_t n_calls;
	uint8_t opt, size, pad[2];
};
/* What code may refer to besides units and the C library. */
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
	const char *libtrib; /* where it was when the library was built */
	const char *cpu, *features;
	uint8_t build[16], generator[16]; /* of trib, of its code generator's file */
};

struct tri_lazy_api {
	uint32_t abi; /* TRI_LAZY_ABI */
	uint32_t pad;
	/* Fills the slot of the unit, and of those that it calls as far as their code is in the user's cache. Thread-safe; another unit may be compiled at the
	 * same time. 0; or `why`, n bytes with a NUL, says what went wrong and nothing has changed. */
	int (*compile)(const struct tri_lazy_unit *unit, char *why, size_t n);
};
typedef const struct tri_lazy_api *tri_lazy_entry_fn(void);

/* Where the stubs lead. */
void tri_lazy_run(struct tri_context *ctx, void *const *bufs, const void *const *weights, const int64_t *dims, char *scratch,
		  const struct tri_lazy_unit *u);
int64_t tri_lazy_scratch(const int64_t *dims, const struct tri_lazy_unit *u);
#endif
