/* Random numbers, and how far the floats of a device may be off. TRIB_SEED in the environment chooses another run. */
#ifndef TRIB_TESTS_RANDOM_VALUES_H
#define TRIB_TESTS_RANDOM_VALUES_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "frontend/hir/dtype.h"

static uint64_t rng;
static inline void rnd_begin(void)
{
	const char *seed = getenv("TRIB_SEED");
	rng = seed ? strtoull(seed, NULL, 0) : 1;
	printf("TRIB_SEED=%llu\n", (unsigned long long)rng);
}
static inline uint32_t rnd(uint32_t below)
{
	rng = rng * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((rng >> 33) % below);
}

static inline bool is_float(dtype t) { return dtype_class(t) == DTC_FLOAT; }

/* scale: the absolute value of `want`, or of a sum the sum of its absolute terms. */
static inline bool close_enough(dtype t, double got, double want, double scale)
{
	double unit = t == DT_FLOAT16 ? 0x1p-10 : t == DT_BFLOAT16 ? 0x1p-7 : 1e-5, tiny = t == DT_FLOAT16 ? 0x1p-24 : 0x1p-120;
	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got);
	if (isinf(want) || isinf(got))
		return want == got;
	return fabs(got - want) <= unit * scale + tiny;
}
#endif
