/* cmocka with the headers that it needs, and samples of tests that try many cases. */
#ifndef TRIB_TESTS_UNIT_H
#define TRIB_TESTS_UNIT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/* Returns `sample` if TRIB_QUICK is in the environment, which the preset `dev` sets; else `all`. */
static inline uint32_t quick(uint32_t all, uint32_t sample) { return getenv("TRIB_QUICK") ? sample : all; }
#endif
