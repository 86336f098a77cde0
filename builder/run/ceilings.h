/* The most that this machine's processor does: measured, not looked up. */
#ifndef TRIB_BUILDER_RUN_CEILINGS_H
#define TRIB_BUILDER_RUN_CEILINGS_H
#include <stdint.h>

/* Of some threads together, in units a second. */
struct ceilings {
	double read_bytes; /* reading memory beyond the caches */
	double copy_bytes; /* copying it: bytes read and written */
	double float_ops;  /* float32 multiplications and additions, fused, in registers */
	double int8_ops;   /* the same of int8, as dot products */
};
/* Takes about half a second. */
struct ceilings ceilings_measure(uint32_t threads);
#endif
