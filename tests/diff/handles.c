/* handles LIBRARY SYMBOL CLOSES: several threads use one opened model of y = x + x @ x, [32, 32], and one closes it during a run, in
 * CLOSES rounds. Every run must give correct numbers or TRI_ERR_BUSY, and the next run must work. Prints the numbers of runs and of
 * refused runs. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/abi/tri.h"

enum { N = 32, THREADS = 4, ROUNDS = 400 };

static const tri_model_desc *desc;
static struct tri_model *model;
static _Atomic int good, busy;
static _Atomic bool done;

#define CHECK(cond)                                                                 \
	do {                                                                        \
		if (!(cond)) {                                                      \
			fprintf(stderr, "handles: line %d: %s\n", __LINE__, #cond); \
			exit(1);                                                    \
		}                                                                   \
	} while (0)

static tri_tensor square(float *data) { return (tri_tensor){.data = data, .shape = {N, N}, .rank = 2, .dtype = TRI_FLOAT32}; }

/* x is `value` everywhere. */
static int run(struct tri_model *m, float value, tri_error *err)
{
	float x[N * N], y[N * N] = {0};
	for (int k = 0; k < N * N; k++)
		x[k] = value;
	tri_tensor io[2] = {square(x), square(y)};
	int code = desc->run(m, 0, io, err);
	for (int k = 0; code == TRI_OK && k < N * N; k++)
		CHECK(y[k] == value + N * value * value);
	return code;
}

static void *many_runs(void *arg)
{
	tri_error err;
	for (int k = 0; k < ROUNDS || (!busy && k < 1000 * ROUNDS); k++) { /* until two have met */
		int code = run(model, (float)(k % 7) + *(float *)arg, &err);
		CHECK(code == TRI_OK || code == TRI_ERR_BUSY);
		CHECK(code == TRI_OK || strstr(err.message, "once for each thread"));
		atomic_fetch_add(code == TRI_OK ? &good : &busy, 1);
	}
	return NULL;
}

static void at_once(void)
{
	pthread_t threads[THREADS];
	float values[THREADS];
	for (int k = 0; k < THREADS; k++) {
		values[k] = (float)(8 * k);
		CHECK(pthread_create(&threads[k], NULL, many_runs, &values[k]) == 0);
	}
	for (int k = 0; k < THREADS; k++)
		pthread_join(threads[k], NULL);
	CHECK(run(model, 3, NULL) == TRI_OK);
}

/* A run that fails gives the model back. */
static void after_errors(void)
{
	tri_tensor io[2] = {{.rank = 9}, {.rank = 0}};
	CHECK(desc->run(model, 0, io, NULL) != TRI_OK);
	CHECK(desc->run(model, 0, NULL, NULL) == TRI_ERR_ARGUMENT);
	CHECK(run(model, 2, NULL) == TRI_OK);
}

static void *one_run(void *m)
{
	int code;
	while ((code = run(m, 1, NULL)) == TRI_ERR_BUSY) {
	}
	CHECK(code == TRI_OK);
	atomic_store(&done, true);
	return NULL;
}

/* Whoever sees that a run is under way closes the model: the run ends well, and frees it. Whether one is seen is a matter of luck: many
 * rounds. */
static void closed_during_run(int rounds)
{
	for (int round = 0; round < rounds; round++) {
		pthread_t t;
		struct tri_model *m = desc->open(NULL, NULL);
		CHECK(m);
		done = false;
		CHECK(pthread_create(&t, NULL, one_run, m) == 0);
		while (!done && desc->run(m, 0, NULL, NULL) != TRI_ERR_BUSY) {
		}
		desc->close(m);
		pthread_join(t, NULL);
	}
}

int main(int argc, char **argv)
{
	void *library = argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
	CHECK(library);
	CHECK((desc = dlsym(library, argv[2])));
	CHECK((model = desc->open(NULL, NULL)));
	at_once();
	after_errors();
	printf("%d runs, %d refused\n", good, busy);
	desc->close(model);
	closed_during_run(atoi(argv[3]));
	return 0;
}
