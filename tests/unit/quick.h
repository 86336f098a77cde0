/* TRIB_QUICK in the environment: tests that try many cases try a sample of them. The preset `dev` sets it. */
#ifndef TRIB_TESTS_QUICK_H
#define TRIB_TESTS_QUICK_H
#include <stdint.h>
#include <stdlib.h>

static inline uint32_t quick(uint32_t all, uint32_t sample) { return getenv("TRIB_QUICK") ? sample : all; }

#endif
