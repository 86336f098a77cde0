#include "builder/profile/calibrate.h"
#include <stdlib.h>
#include "base/bug.h"
#include "base/os.h"
#include "builder/profile/statistics.h"

#define WORDS ((uint32_t)1 << 14) /* 128 KiB: in a cache of the core, so that other processes cannot slow it down */
#define STEPS ((uint32_t)1 << 20)
#define RUNS 7

/* Dependent arithmetic that chooses the next word: neither can be removed, and it runs at the speed of one core. */
static uint64_t work(uint64_t *words)
{
	uint64_t x = 88172645463325252ull;
	for (uint32_t i = 0; i < STEPS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		words[x & (WORDS - 1)] += x;
	}
	return words[x & (WORDS - 1)];
}

int64_t calibrate_ns(void)
{
	uint64_t *words = alloc_zeroed(WORDS * sizeof *words);
	volatile uint64_t sink = work(words); /* touches the pages */
	double times[RUNS];
	for (uint32_t i = 0; i < RUNS; i++) {
		int64_t began = os_thread_cpu_ns();
		sink = work(words);
		times[i] = (double)(os_thread_cpu_ns() - began);
	}
	(void)sink;
	free(words);
	return (int64_t)statistics_quantile(times, RUNS, 0);
}
