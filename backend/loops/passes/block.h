/* Private to this folder: nests with the same outer loops. */
#ifndef TRIB_BACKEND_LOOPS_PASSES_BLOCK_H
#define TRIB_BACKEND_LOOPS_PASSES_BLOCK_H
#include "backend/loops/build/build.h"

/* The outer loops that nests share. Each iteration is a row. */
struct rows {
	uint32_t n;
	dim extent[LOOP_MAX];
};
/* REFINED: a loop of the rows was split, so the nests before must be aligned again. */
enum aligned { ALIGNED_NOT, ALIGNED, ALIGNED_REFINED };
/* Makes the first loops of the nest those of the rows. It changes the nest's expressions and stores in place. */
enum aligned loops_align(struct dims *d, struct loop_nest *n, struct rows *r);

/* Nests that may become a block. */
struct joiner {
	struct loop_fn *f;
	struct dims *dims;
	const struct plan_options *options;
	uint32_t *uses;    /* of each buffer by all statements */
	uint32_t *inside;  /* of each buffer by those of the candidate */
	uint32_t *touched; /* the buffers that the candidate uses; time must not grow with those of the unit */
	uint32_t n_touched;
	int64_t *row;            /* of each buffer that the candidate writes: the elements of a row; 0: it does not write it */
	bool *items;             /* of each buffer: work items of a group keep the elements of a row */
	bool *outside;           /* of each buffer: rows of the candidate's own stay in scratch, since local memory has no room for them */
	struct loop_nest *nests; /* copies of those of the candidate, which begins with statement `first` */
	uint32_t first, n;
	struct rows rows;
};

/* True if only the candidate uses the buffer, so that it can be one of a row. */
static inline bool loops_is_own(const struct joiner *j, uint32_t buffer)
{
	return j->row[buffer] && !j->outside[buffer] && j->f->buffers[buffer].kind == BUFFER_TEMP && j->inside[buffer] == j->uses[buffer];
}

/* True if the nests have no rows, but a loop of one iteration. */
static inline bool loops_have_one_row(const struct joiner *j)
{
	int64_t n;
	return j->rows.n == 1 && dim_is_const(j->dims, j->rows.extent[0], &n) && n == 1;
}

/* block_rows.c: finds the rows of all buffers that the nests write; all rows are 0 before. Returns false if an iteration depends on another one. */
bool loops_find_rows(struct joiner *j);
/* Returns the elements from one row to the next, if rows follow each other and the nest touches only its own; else 0. */
int64_t loops_row_of(const struct joiner *j, const struct loop_nest *n, const struct loop_access *a, uint32_t loops);
/* block_cost.c: true if what the nests share of a row fits the cache, and all rows do not. Of work groups, rows that local memory has no room for stay outside. */
bool loops_is_worth_block(struct joiner *j);
/* True if the nest is as fast inside of the block, and sums in the same order. */
bool loops_keeps_schedule(const struct joiner *j, struct loop_nest *n);
#endif
