/* Memory of the front end's dense arrays. Large ones ask for huge pages: on a file of 100,000 lines, faults would cost a quarter of the time. */
#ifndef TRIB_FRONTEND_DENSE_H
#define TRIB_FRONTEND_DENSE_H
#include <stddef.h>

/* `at` (NULL: nothing yet) with its first `used` bytes in a block of `bytes`, to be given to free(). Aborts when out of memory. */
void *dense_grow(void *at, size_t used, size_t bytes);
#endif
