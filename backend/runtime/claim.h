/* Lets one run at a time use an opened model. A second run is an error and changes nothing. A model that is closed during a run is freed
 * at its end. */
#ifndef TRI_CLAIM_H
#define TRI_CLAIM_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "backend/runtime/model.h"

enum { TRI_CLAIM_RUN = 1, TRI_CLAIM_CLOSED = 2 };
typedef _Atomic uint32_t tri_claim; /* 0: free */

/* Returns TRI_OK if the caller may use the model until tri_claim_end. */
static inline int tri_claim_begin(tri_claim *c, tri_error *err)
{
	uint32_t none = 0;
	if (atomic_compare_exchange_strong_explicit(c, &none, TRI_CLAIM_RUN, memory_order_acquire, memory_order_relaxed))
		return TRI_OK;
	return tri_error_set(err, TRI_ERR_BUSY, "another thread is running this opened model: open the model once for each thread");
}

/* True if the model was closed during the run: the caller must free it. */
static inline bool tri_claim_end(tri_claim *c)
{
	uint32_t run = TRI_CLAIM_RUN;
	return !atomic_compare_exchange_strong_explicit(c, &run, 0, memory_order_release, memory_order_acquire);
}

/* True if the caller must free the model. Otherwise the current run frees it at its end. */
static inline bool tri_claim_close(tri_claim *c) { return atomic_fetch_or_explicit(c, TRI_CLAIM_CLOSED, memory_order_acq_rel) == 0; }
#endif
