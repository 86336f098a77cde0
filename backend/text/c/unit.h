/* A unit as C functions: its kernels, one that runs it, one that returns its scratch size. */
#ifndef TRIB_BACKEND_TEXT_C_UNIT_H
#define TRIB_BACKEND_TEXT_C_UNIT_H

struct buf;
struct loop_fn;

/* Appends the declarations of SYMBOL and SYMBOL_scratch, which are as tri_unit_fn and tri_scratch_fn of backend/runtime/abi/unit.h, with struct tri_run
 * as the context and struct tri_slot in the weight tables. */
void c_unit_declare(const struct loop_fn *f, struct buf *out);
void c_unit_put(const struct loop_fn *f, struct buf *out);
#endif
