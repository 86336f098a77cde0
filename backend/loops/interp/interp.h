/* The interpreter of loop IR, for tests. It follows the schedules, and reports every use of memory that the IR does not allow: outside a buffer, of an
 * element that nothing wrote, or of scratch memory that another buffer has taken. */
#ifndef TRIB_BACKEND_LOOPS_INTERP_INTERP_H
#define TRIB_BACKEND_LOOPS_INTERP_INTERP_H
#include <stddef.h>
#include "backend/loops/ir/loops.h"

enum loop_error_kind {
	LOOP_RAN,
	LOOP_SIZE_ERROR,  /* as TRI_ERR_SHAPE */
	LOOP_INDEX_ERROR, /* as TRI_ERR_RANGE */
	LOOP_ASSERTION,
	LOOP_BROKEN /* the loop IR itself is wrong */
};
struct loop_error {
	enum loop_error_kind kind;
	char text[256];
};
struct loop_host {
	loop_find_fn *find; /* callees */
	/* Receives printed text; may be NULL. */
	void (*put)(void *ctx, const char *text, size_t n);
	void *ctx;
};

/* Runs f. bufs, weights and dims are those of a tri_unit_fn. The first error ends the run. */
bool loop_interp(const struct loop_fn *f, void *const *bufs, const void *const *weights, const int64_t *dims, const struct loop_host *host,
		 struct loop_error *error);
#endif
