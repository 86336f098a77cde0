/* A noisy neighbour: bursts of arithmetic or of copies through memory, and pauses, of random lengths up to 200 ms. The argument is the seed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COPY = 32 << 20, LONGEST_MS = 200 };

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	char *from = malloc(COPY), *to = malloc(COPY);
	volatile uint64_t sink = 0;
	srandom(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
	if (!from || !to)
		return 1;
	memset(from, 1, COPY);
	for (;;) {
		double end = now_ms() + (double)(random() % LONGEST_MS);
		int copies = random() % 2;
		while (now_ms() < end) {
			for (uint32_t i = 0; !copies && i < 100000; i++)
				sink = sink * 6364136223846793005u + i;
			if (copies)
				memcpy(to, from, COPY);
			sink += (uint64_t)to[sink % COPY];
		}
		struct timespec pause = {0, random() % LONGEST_MS * 1000000};
		nanosleep(&pause, NULL);
	}
}
