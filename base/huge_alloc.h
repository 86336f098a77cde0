/* Memory of large arrays and texts, with huge pages: without them page faults take a quarter of the front end's time. */
#ifndef TRIB_BASE_HUGE_ALLOC_H
#define TRIB_BASE_HUGE_ALLOC_H
#include <stddef.h>

/* At least `bytes`; the caller frees it with free(). NULL: out of memory. */
void *huge_alloc(size_t bytes);
/* Moves the first `used` bytes of `at` (may be NULL) to a new block of `bytes` and frees `at`. Aborts when out of memory. */
void *huge_grow(void *at, size_t used, size_t bytes);
#endif
