/* Several threads call a library while it is replaced. Every call computes y = K·x with the K of one generation, which is in the result.
 * The program checks that each result and each generation has a single K. It reads commands from standard input, one a line: the number
 * of the library that was published. It answers when a call has used that library, or when the library was refused. */
#include "build/gain.h"
#define TRI_LIVE_IMPLEMENTATION
#include "build/tri_live.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, N = 67, MOST_GENERATIONS = 1000, PATIENCE_MS = 20000 };

struct shared {
	tri_live *live;
	uint64_t followed;    /* the last generation that was reported */
	pthread_mutex_t lock; /* guards what follows */
	float factor[MOST_GENERATIONS];
	unsigned long calls;
	int wrong, stop;
};

static int note(struct shared *s, uint64_t generation, float factor)
{
	pthread_mutex_lock(&s->lock);
	if (generation >= MOST_GENERATIONS || (s->factor[generation] != 0 && s->factor[generation] != factor))
		s->wrong = 1;
	else
		s->factor[generation] = factor;
	s->calls++;
	int stop = s->stop || s->wrong;
	pthread_mutex_unlock(&s->lock);
	return !stop;
}

static void *caller(void *arg)
{
	struct shared *s = arg;
	float x[N], y[N];
	tri_error err = {0};
	gain_io io = {
		.x = {.data = x, .shape = {N}, .rank = 1, .dtype = TRI_FLOAT32},
		.out = {.data = y, .shape = {N}, .rank = 1, .dtype = TRI_FLOAT32},
	};
	uint64_t generation;
	for (int i = 0; i < N; i++)
		x[i] = (float)(i + 1);
	do {
		memset(y, 0, sizeof y);
		int failed = tri_live_run(s->live, 0, (tri_tensor *)&io, &generation, &err) != TRI_OK;
		for (int i = 0; i < N; i++)
			failed |= y[i] != y[0] * x[i];
		if (failed) {
			printf("wrong: %s\n", err.message);
			generation = MOST_GENERATIONS;
		}
	} while (note(s, generation, y[0]));
	return NULL;
}

static int was_called(struct shared *s, uint64_t generation)
{
	pthread_mutex_lock(&s->lock);
	int called = s->wrong || (generation < MOST_GENERATIONS && s->factor[generation] != 0);
	pthread_mutex_unlock(&s->lock);
	return called;
}

/* Waits until the newest library is in use, or refused. A call may be the first to take it: when a model of the old one finds its
 * weights gone. */
static void follow(struct shared *s)
{
	static const char *const said[] = {"refused", "the same", "taken"};
	tri_error err = {0};
	int taken = 0;
	for (int i = 0; i < PATIENCE_MS && (taken = tri_live_reload(s->live, &err)) == 0 && tri_live_generation(s->live) == s->followed;
	     i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	if (taken == 0 && tri_live_generation(s->live) != s->followed)
		taken = 1;
	s->followed = tri_live_generation(s->live);
	for (int i = 0; i < PATIENCE_MS && taken > 0 && !was_called(s, s->followed); i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	printf("%s %llu %s\n", said[taken + 1], (unsigned long long)tri_live_generation(s->live), taken > 0 ? "" : err.message);
	fflush(stdout);
}

int main(void)
{
	struct shared *s = calloc(1, sizeof *s);
	pthread_t threads[THREADS];
	tri_error err = {0};
	tri_options options = {.size = sizeof options, .threads = 1};
	char line[64];
	s->live = tri_live_open("build/libgain.so", &options, &err);
	if (!s->live) {
		printf("cannot open: %s\n", err.message);
		return 1;
	}
	s->followed = tri_live_generation(s->live);
	pthread_mutex_init(&s->lock, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, caller, s);
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin))
		follow(s);
	pthread_mutex_lock(&s->lock);
	s->stop = 1;
	pthread_mutex_unlock(&s->lock);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("end %lu %d", s->calls, s->wrong);
	for (int g = 1; g < MOST_GENERATIONS && s->factor[g] != 0; g++)
		printf(" %g", s->factor[g]);
	printf("\n");
	int wrong = s->wrong;
	tri_live_close(s->live);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return wrong;
}
