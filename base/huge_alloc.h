/* Memory of large arrays and texts: huge pages are asked for, without which faults cost a quarter of the time of a front end. */
#ifndef TRIB_BASE_HUGE_ALLOC_H
#define TRIB_BASE_HUGE_ALLOC_H
#include <stddef.h>

/* At least `bytes`, to be given to free(). NULL: out of memory. */
void *huge_alloc(size_t bytes);
/* `at` (NULL: nothing yet) with its first `used` bytes in a new block of `bytes`; `at` is freed. Aborts when out of memory. */
void *huge_grow(void *at, size_t used, size_t bytes);
#endif
