/* attack LIBRARY SYMBOL SEED CALLS: calls the entries of a built library with random wrong tensors: ranks, element types, extents,
 * pointers, values, and sizes that overflow or are huge beside an empty one. Every call must end soon, with success or with an error
 * that has a message. It must touch only the memory of its tensors (guarded.h). The next correct call must succeed and
 * give the same bytes each time.
 *
 * Every line of the standard input is an entry, "ENTRY SIZE…", with valid sizes of its run-time dimensions. Prints how many calls ended
 * in each way. */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/diff/guarded.h"

enum { MOST_BYTES = 1 << 20, SECONDS = 20, RIGHT_EACH = 16, N_CODES = TRI_ERR_BUSY + 1 };

static uint64_t state;
static char at_work[1024]; /* the call under way, for the message of a signal */

static void die(const char *why)
{
	fprintf(stderr, "attack: %s: %s\n", why, at_work);
	exit(2);
}

static void on_signal(int number)
{
	const char *why = number == SIGALRM ? "attack: a call hangs: " : "attack: a call crashes: ";
	(void)!write(2, why, strlen(why));
	(void)!write(2, at_work, strlen(at_work));
	_exit(2);
}

/* splitmix64 */
static uint64_t random_bits(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}
static int64_t below(uint64_t n) { return (int64_t)(random_bits() % n); }

static int64_t odd_extent(void)
{
	static const int64_t huge[] = {-1,        INT64_MIN,       INT64_MAX, 1ll << 62,    1ll << 61, (1ll << 40) + 1,
				       1ll << 40, 1ll << 32 << 16, 3ll << 60, INT64_MAX - 1};
	return below(3) ? below(9) : huge[below(sizeof huge / sizeof *huge)];
}

/* Bytes of the tensor; -1: they are more than 64 bits say, or it has a negative extent; -2: memory could hold them, but not this
 * program's. */
static int64_t size_of(const tri_tensor *t)
{
	int64_t size = (int64_t)bytes_of(t->dtype);
	bool wrong = t->rank < 0 || t->rank > TRI_MAX_RANK, empty = false, beyond = false;
	for (int32_t k = 0; !wrong && k < t->rank; k++) {
		wrong |= t->shape[k] < 0;
		empty |= t->shape[k] == 0;
		beyond |= __builtin_mul_overflow(size, t->shape[k], &size);
	}
	if (wrong || (beyond && !empty))
		return -1;
	return empty ? 0 : size > MOST_BYTES ? -2 : size;
}

struct call {
	const tri_entry_desc *entry;
	uint32_t index;
	int n;
	int64_t sizes[MAX_SIZES];
	tri_tensor io[MAX_TENSORS];
	struct guarded memory[MAX_TENSORS];
	bool null[MAX_TENSORS];
	bool odd_values;
};

static const tri_io_desc *io_desc(const struct call *c, int k)
{
	return k < c->entry->n_inputs ? &c->entry->inputs[k] : &c->entry->outputs[k - c->entry->n_inputs];
}

static void shapes(struct call *c)
{
	for (int k = 0; k < c->n; k++) {
		const tri_io_desc *d = io_desc(c, k);
		c->io[k] = (tri_tensor){.rank = d->rank, .dtype = d->dtype};
		for (int32_t j = 0; j < d->rank; j++)
			c->io[k].shape[j] = dim_of(&d->dims[j], c->sizes);
	}
}

static void fill(const struct call *c, int k, size_t size)
{
	const tri_tensor *t = &c->io[k];
	static const int64_t odd[] = {-1, -3, 2, 3, 7, 100, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
	size_t bytes = bytes_of(t->dtype);
	for (size_t j = 0; j < size / bytes; j++) {
		float number = (float)(j * 7 % 11) * 0.5f - 2;
		int64_t whole = c->odd_values ? odd[below(sizeof odd / sizeof *odd)] : 0;
		if (t->dtype == TRI_FLOAT32)
			memcpy((char *)t->data + j * bytes, &number, sizeof number);
		else
			memcpy((char *)t->data + j * bytes, &whole, t->dtype == TRI_BOOL || t->dtype == TRI_TRIT ? 0 : bytes);
	}
}

static void map(struct call *c)
{
	for (int k = 0; k < c->n; k++) {
		int64_t size = size_of(&c->io[k]);
		c->memory[k] = guarded_new(size > 0 ? (size_t)size : 0);
		c->io[k].data = c->memory[k].data;
		if (k < c->entry->n_inputs && size > 0)
			fill(c, k, (size_t)size);
		if (c->null[k])
			c->io[k].data = NULL;
	}
}

static void unmap(struct call *c)
{
	for (int k = 0; k < c->n; k++)
		munmap(c->memory[k].pages, c->memory[k].all);
}

/* A fault of one tensor. */
static void spoil(struct call *c, tri_tensor *t)
{
	static const int32_t ranks[] = {-1, 0, 1, 2, 3, 4, 5, 8, 9, INT32_MAX, INT32_MIN}, types[] = {-1, 10, 255, INT32_MAX, INT32_MIN};
	switch (below(5)) {
	case 0: t->rank = ranks[below(sizeof ranks / sizeof *ranks)]; break;
	case 1: t->dtype = below(2) ? (int32_t)below(10) : types[below(sizeof types / sizeof *types)]; break;
	case 2: c->null[t - c->io] = true; break;
	default: t->shape[below(TRI_MAX_RANK)] = odd_extent(); break;
	}
}

/* Wrong sizes that all tensors agree about, or faults of single ones, or both. */
static void make_wrong(struct call *c)
{
	int way = (int)below(4);
	c->odd_values = below(2);
	for (int64_t n = way != 3 && c->entry->n_dims ? 1 + below(3) : 0; n > 0; n--)
		c->sizes[below((uint64_t)c->entry->n_dims)] = odd_extent();
	shapes(c);
	for (int64_t n = way >= 2 ? 1 + below(2) : 0; n > 0; n--)
		spoil(c, &c->io[below((uint64_t)c->n)]);
}

static void describe(const struct call *c)
{
	size_t n = (size_t)snprintf(at_work, sizeof at_work, "%s", c->entry->name);
	for (int k = 0; k < c->n && n < sizeof at_work - 300; k++) {
		n += (size_t)snprintf(at_work + n, 64, " %s%d:%d[", c->null[k] ? "NULL " : "", (int)c->io[k].dtype, (int)c->io[k].rank);
		for (int32_t j = 0; j < c->io[k].rank && j < TRI_MAX_RANK; j++)
			n += (size_t)snprintf(at_work + n, 32, "%s%lld", j ? ", " : "", (long long)c->io[k].shape[j]);
		n += (size_t)snprintf(at_work + n, 8, "]");
	}
	at_work[n++] = '\n';
	at_work[n] = 0;
}

static int run(const tri_model_desc *desc, struct tri_model *m, struct call *c)
{
	tri_error err;
	bool silent = below(8) == 0;
	memset(&err, 0xaa, sizeof err);
	describe(c);
	alarm(SECONDS);
	int code = desc->run(m, c->index, c->io, silent ? NULL : &err);
	alarm(0);
	if (code < 0 || code >= N_CODES)
		die("no such code");
	if (!silent && (err.code != code || !memchr(err.message, 0, sizeof err.message)))
		die("the error has another code, or its message no end");
	if (!silent && code != TRI_OK && !err.message[0])
		die("an error without a message");
	return code;
}

/* A right call: the bytes of its outputs, one output's after the other's, in `out`. */
static size_t right(const tri_model_desc *desc, struct tri_model *m, const struct call *model, char *out)
{
	struct call c = *model;
	size_t n = 0;
	shapes(&c);
	map(&c);
	if (run(desc, m, &c) != TRI_OK)
		die("a right call fails");
	for (int k = c.entry->n_inputs; k < c.n; k++) {
		size_t size = (size_t)size_of(&c.io[k]);
		memcpy(out + n, c.io[k].data, size);
		n += size;
	}
	unmap(&c);
	return n;
}

static void attack(const tri_model_desc *desc, struct tri_model *m, const struct call *model, long calls, long ends[N_CODES])
{
	static char want[MOST_BYTES], got[MOST_BYTES];
	size_t n = right(desc, m, model, want);
	for (long k = 0; k < calls; k++) {
		struct call c = *model;
		bool fits = true;
		make_wrong(&c);
		for (int j = 0; j < c.n; j++)
			fits &= size_of(&c.io[j]) != -2;
		if (!fits)
			continue;
		map(&c);
		ends[run(desc, m, &c)]++;
		unmap(&c);
		if (k % RIGHT_EACH == 0 && (right(desc, m, model, got) != n || memcmp(want, got, n) != 0))
			die("after a refused call a right one gives other bytes");
	}
}

/* What needs no tensors. */
static void without_tensors(const tri_model_desc *desc, struct tri_model *m)
{
	tri_error err = {0};
	if (desc->run(NULL, 0, NULL, &err) == TRI_OK || !err.message[0])
		die("a run without a model");
	if (desc->run(m, desc->n_entries, NULL, &err) == TRI_OK || desc->run(m, UINT32_MAX, NULL, &err) == TRI_OK ||
	    desc->run(m, 0, NULL, &err) == TRI_OK)
		die("a run without an entry or tensors");
}

static bool read_call(const tri_model_desc *desc, char *line, struct call *c)
{
	const char *name = strtok(line, " \n"), *word;
	*c = (struct call){0};
	while (name && c->index < desc->n_entries && strcmp(desc->entries[c->index].name, name) != 0)
		c->index++;
	if (!name || c->index == desc->n_entries)
		return false;
	c->entry = &desc->entries[c->index];
	c->n = c->entry->n_inputs + c->entry->n_outputs;
	for (int k = 0; (word = strtok(NULL, " \n")) && k < MAX_SIZES; k++)
		c->sizes[k] = strtoll(word, NULL, 10);
	return true;
}

int main(int argc, char **argv)
{
	char line[MAX_LINE];
	long ends[N_CODES] = {0};
	tri_error err = {0};
	void *library = argc == 5 ? dlopen(argv[1], RTLD_NOW) : NULL;
	const tri_model_desc *desc = library ? dlsym(library, argv[2]) : NULL;
	struct tri_model *m = desc ? desc->open(NULL, &err) : NULL;
	struct call c;
	if (!m)
		die(library ? err.message : argc == 5 ? dlerror() : "LIBRARY SYMBOL SEED CALLS");
	signal(SIGALRM, on_signal);
	signal(SIGSEGV, on_signal);
	signal(SIGBUS, on_signal);
	signal(SIGFPE, on_signal);
	signal(SIGABRT, on_signal);
	state = strtoull(argv[3], NULL, 10);
	without_tensors(desc, m);
	while (fgets(line, sizeof line, stdin)) {
		if (!read_call(desc, line, &c))
			die("no such entry");
		attack(desc, m, &c, strtol(argv[4], NULL, 10), ends);
	}
	desc->close(m);
	for (int k = 0; k < N_CODES; k++)
		printf("%ld ", ends[k]);
	printf("\n");
	return 0;
}
