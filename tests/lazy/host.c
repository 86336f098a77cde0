/* A program that contains the compiler: host FOLDER THREADS ROUNDS. All threads open the project's model and run it at once, so that
 * several threads call the same unit first. Prints the sum of one result, and how many results differ from it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tri_lazy.h"

enum { ROWS = 3, COLUMNS = 8, MOST_THREADS = 64, MOST_ROUNDS = 100 };

struct worker {
	const char *folder;
	pthread_barrier_t *gate;
	float y[ROWS * COLUMNS];
	char failure[256];
};

static int run(tri_lazy_model *m, float *y, tri_error *err)
{
	float x[ROWS * COLUMNS];
	for (int i = 0; i < ROWS * COLUMNS; i++)
		x[i] = (float)(i - 11) / 8;
	tri_tensor io[] = {{x, {ROWS, COLUMNS}, 2, TRI_FLOAT32}, {y, {ROWS, COLUMNS}, 2, TRI_FLOAT32}};
	return m->desc->run(m->model, 0, io, err);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	tri_error err;
	tri_options one = {.size = sizeof one, .threads = 1};
	pthread_barrier_wait(w->gate);
	tri_lazy_model *m = tri_open_lazy(w->folder, "net", &one, &err);
	pthread_barrier_wait(w->gate);
	if (!m || run(m, w->y, &err) != TRI_OK)
		snprintf(w->failure, sizeof w->failure, "%s", err.message);
	tri_close_lazy(m);
	return NULL;
}

/* False: a thread failed, and has said why. */
static int one_round(const char *folder, int n, struct worker *workers, int *differ)
{
	pthread_t threads[MOST_THREADS];
	pthread_barrier_t gate;
	pthread_barrier_init(&gate, NULL, (unsigned)n);
	for (int i = 0; i < n; i++) {
		workers[i] = (struct worker){.folder = folder, .gate = &gate};
		if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
			abort();
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&gate);
	for (int i = 0; i < n; i++) {
		if (*workers[i].failure) {
			fprintf(stderr, "thread %d: %s\n", i, workers[i].failure);
			return 0;
		}
		*differ += memcmp(workers[i].y, workers[0].y, sizeof workers[0].y) != 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	static struct worker workers[MOST_THREADS];
	int n = argc > 2 ? atoi(argv[2]) : 1, rounds = argc > 3 ? atoi(argv[3]) : 1, differ = 0;
	if (argc < 2 || n < 1 || n > MOST_THREADS || rounds < 1 || rounds > MOST_ROUNDS)
		return 2;
	for (int i = 0; i < rounds; i++)
		if (!one_round(argv[1], n, workers, &differ))
			return 1;
	double sum = 0;
	for (int i = 0; i < ROWS * COLUMNS; i++)
		sum += workers[0].y[i];
	printf("%.6f %d\n", sum, differ);
	return 0;
}
