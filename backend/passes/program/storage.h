/* In which element types float32 parameters are stored. A weights file may hold them as 16-bit floats; then the library does, too, and code widens what
 * it reads. It is decided for a whole program before plans are made: a unit takes an argument as 16-bit floats if all its callers pass such a parameter
 * unchanged. A table that is looked up in one place, and multiplied by in another, as an embedding with a tied head, is marked: both can read one copy.
 * So another type in the file changes the plans of the units that read the parameter, and no others. */
#ifndef TRIB_BACKEND_PASSES_PROGRAM_STORAGE_H
#define TRIB_BACKEND_PASSES_PROGRAM_STORAGE_H
#include "base/map.h"
#include "frontend/hir/dtype.h"

struct arena;
struct hir_program;
struct hir_unit;
struct ir_fn;

/* All zero: every parameter is stored as it is declared. */
struct storage {
	struct map units;  /* hir_unit.identity → address of a dtype for each input, in an arena; never iterated */
	struct map shared; /* the same → address of a bool for each input: a table that lookups and products with its transpose read */
};

/* Decides the storage of p. `types`: for each parameter the type of its tensor in the file, which is then that in which it is stored. s is zero; its
 * arrays are in `a`. */
void storage_decide(struct storage *s, struct arena *a, const struct hir_program *p, dtype *types);
void storage_free(struct storage *s);
/* Returns the type in which u takes its input; that of its declaration if `s` is NULL or does not have the unit. */
dtype storage_of(const struct storage *s, const struct hir_unit *u, uint32_t input);
/* Returns for each build-time input of u whether it is such a table, in `a`; NULL: none is. */
const bool *storage_shared(const struct storage *s, struct arena *a, const struct hir_unit *u);
/* Returns a number for the types and the sharing of the inputs, 0 if there is nothing to say. */
uint64_t storage_code(const struct storage *s, const struct hir_unit *u);
/* Lets f, the function of u as it was lowered, read its weights as they are stored, and widen them. */
void storage_narrow(const struct storage *s, const struct hir_unit *u, struct ir_fn *f);
#endif
