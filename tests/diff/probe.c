/* probe LIBRARY SYMBOL [STACK]: calls the entries of a built library as a C program does, on a thread with STACK bytes of stack if it is given. Inaccessible pages surround the tensors: one byte read
 * or written beside them, or any byte of an empty one, ends the probe by a signal.
 *
 * Every line of the standard input is a case, "ENTRY VALUE SIZE…": the value of all integer inputs, and the entry's run-time dimensions.
 * Every line of the standard output is its result: "ok HEX", the first output's bytes, or "error CODE MESSAGE". */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/diff/guarded.h"

static void die(const char *why)
{
	fprintf(stderr, "probe: %s\n", why);
	exit(2);
}

/* Floats: -2, -1.5 … 3 by turns, the same that the test gives the interpreter. */
static void fill(const tri_tensor *t, size_t count, int64_t value)
{
	for (size_t k = 0; k < count; k++) {
		float number = (float)(k * 7 % 11) * 0.5f - 2;
		char *at = (char *)t->data + k * bytes_of(t->dtype);
		if (t->dtype == TRI_FLOAT32)
			memcpy(at, &number, sizeof number);
		else
			memcpy(at, &value, bytes_of(t->dtype)); /* little-endian */
	}
}

static struct guarded tensor_new(const tri_io_desc *d, const int64_t *sizes, int64_t value, bool input, tri_tensor *t)
{
	size_t count = 1;
	*t = (tri_tensor){.rank = d->rank, .dtype = d->dtype};
	for (int32_t k = 0; k < d->rank; k++) {
		t->shape[k] = dim_of(&d->dims[k], sizes);
		count *= t->shape[k] > 0 ? (size_t)t->shape[k] : 0; /* a negative one is for the library to refuse */
	}
	struct guarded g = guarded_new(count * bytes_of(d->dtype));
	t->data = g.data;
	if (input)
		fill(t, count, value);
	return g;
}

/* A run on a thread of its own. */
struct run {
	const tri_model_desc *desc;
	struct tri_model *m;
	uint32_t entry;
	tri_tensor *io;
	tri_error *err;
	int code;
};
enum { GUARD = 4 << 20 }; /* below the stack, so that no function steps over it */

static void *run_thread(void *arg)
{
	struct run *r = arg;
	r->code = r->desc->run(r->m, r->entry, r->io, r->err);
	return NULL;
}

static void run_with_stack(struct run *r, size_t stack)
{
	pthread_t thread;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	if (pthread_attr_setguardsize(&attr, GUARD) || pthread_attr_setstacksize(&attr, stack) ||
	    pthread_create(&thread, &attr, run_thread, r))
		die("no thread");
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}

static void run_case(const tri_model_desc *desc, struct tri_model *m, const char *name, int64_t value, const int64_t *sizes, size_t stack)
{
	tri_tensor io[MAX_TENSORS];
	struct guarded memory[MAX_TENSORS];
	tri_error err = {0};
	uint32_t at = 0;
	while (at < desc->n_entries && strcmp(desc->entries[at].name, name) != 0)
		at++;
	if (at == desc->n_entries)
		die("no such entry");
	const tri_entry_desc *e = &desc->entries[at];
	int n = e->n_inputs + e->n_outputs;
	for (int k = 0; k < n; k++)
		memory[k] =
			tensor_new(k < e->n_inputs ? &e->inputs[k] : &e->outputs[k - e->n_inputs], sizes, value, k < e->n_inputs, &io[k]);
	struct run run = {desc, m, at, io, &err, 0};
	if (stack)
		run_with_stack(&run, stack);
	else
		run_thread(&run);
	if (run.code == TRI_OK) {
		const struct guarded *out = &memory[e->n_inputs];
		printf("ok ");
		for (size_t k = 0; k < out->size; k++)
			printf("%02x", (unsigned char)out->data[k]);
		printf("\n");
	} else {
		printf("error %d %s\n", run.code, err.message);
	}
	fflush(stdout);
	for (int k = 0; k < n; k++)
		munmap(memory[k].pages, memory[k].all);
}

int main(int argc, char **argv)
{
	char line[MAX_LINE];
	tri_error err = {0};
	size_t stack = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	void *library = argc == 3 || argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
	const tri_model_desc *desc = library ? dlsym(library, argv[2]) : NULL;
	struct tri_model *m = desc ? desc->open(NULL, &err) : NULL;
	if (!m)
		die(library ? err.message : argc >= 3 ? dlerror() : "LIBRARY SYMBOL [STACK]");
	while (fgets(line, sizeof line, stdin)) {
		int64_t sizes[MAX_SIZES] = {0};
		const char *name = strtok(line, " \n"), *value = strtok(NULL, " \n"), *word;
		for (int n = 0; (word = strtok(NULL, " \n")) && n < MAX_SIZES; n++)
			sizes[n] = strtoll(word, NULL, 10);
		if (name && value)
			run_case(desc, m, name, strtoll(value, NULL, 10), sizes, stack);
	}
	desc->close(m);
	return 0;
}
