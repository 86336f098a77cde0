/* Private to this folder: nests with the same outer loops. */
#ifndef TRIB_BACKEND_LOOPS_BLOCK_H
#define TRIB_BACKEND_LOOPS_BLOCK_H
#include "backend/loops/build.h"

/* The outer loops that nests share. Each iteration is a row. */
struct rows {
	uint32_t n;
	dim extent[LOOP_MAX];
};
/* REFINED: a loop of the rows was split, so the nests before must be aligned again. */
enum aligned { ALIGNED_NOT, ALIGNED, ALIGNED_REFINED };
/* Makes the first loops of the nest those of the rows. It changes the nest's expressions and stores in place. */
enum aligned loops_align(struct dims *d, struct loop_nest *n, struct rows *r);
#endif
