/* A unit as C functions: its kernels, one that runs it, one that returns its scratch size. */
#ifndef TRIB_BACKEND_TEXT_C_UNIT_H
#define TRIB_BACKEND_TEXT_C_UNIT_H
#include <stdint.h>

struct arena;
struct buf;
struct loop_effect;
struct loop_fn;

/* Appends the declarations of SYMBOL and SYMBOL_scratch, which are as tri_unit_fn and tri_scratch_fn of backend/runtime/abi/unit.h, with struct tri_run
 * as the context and struct tri_slot in the weight tables. */
void c_unit_declare(const struct loop_fn *f, struct buf *out);
void c_unit_put(const struct loop_fn *f, struct buf *out);
/* Returns an array of characters' initializer: the text of a print, or what an assertion that fails says. In `a`. */
const char *c_effect_text(struct arena *a, const struct loop_effect *x);
/* Returns a literal: what a size check of this kind (enum tri_size_error) says. In `a`. */
const char *c_size_error(struct arena *a, uint32_t kind);
#endif
