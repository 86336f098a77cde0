/* damaged_weights LIBRARY WEIGHTS COPY SEED CASES: damages the weight file of a built library, as COPY, in CASES ways: bits, numbers and runs of bytes
 * in headers, indices and data, offsets with a right checksum, missing ends. An open without `verify` must fail with a message or give a
 * model whose runs end soon and touch only the memory of their tensors (guarded.h). An open with it must fail if a byte of a weight changed.
 *
 * Every line of the standard input is an entry, "ENTRY SIZE…", with sizes of its run-time dimensions. Prints how many cases were refused, and
 * how many ran. */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backend/runtime/abi/triw.h"
#include "tests/diff/guarded.h"

enum { SECONDS = 30, MOST_CALLS = 32, HEAD = 160, INDICES = 2048 };

struct call {
	const tri_entry_desc *entry;
	uint32_t index;
	int n;
	tri_tensor io[MAX_TENSORS];
};
struct file {
	char *bytes;
	size_t size;
};
struct case_ {
	const char *copy;
	struct file from, now; /* undamaged, damaged */
};

static uint64_t state;
static char at_work[256]; /* the case under way, for the message of a signal */

static void die(const char *why)
{
	fprintf(stderr, "damaged_weights: %s: %s\n", at_work, why);
	exit(2);
}

static void on_signal(int number)
{
	const char *why = number == SIGALRM ? " hangs\n" : " crashes\n";
	(void)!write(2, at_work, strlen(at_work));
	(void)!write(2, why, strlen(why));
	_exit(2);
}

/* splitmix64 */
static uint64_t below(uint64_t n)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % n;
}

static uint64_t odd_number(void)
{
	static const uint64_t odd[] = {1, 2, 3, 4, 64, 0x40404040, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, 1ull << 63, UINT64_MAX};
	return below(2) ? odd[below(sizeof odd / sizeof *odd)] : below(1 << 16);
}

static struct triw_entry *table_of(struct file f) { return (struct triw_entry *)(void *)(f.bytes + sizeof(struct triw_header)); }
static struct triw_header *header_of(struct file f) { return (struct triw_header *)(void *)f.bytes; }

/* A place in the first bytes of a blob, where headers and indices are, or anywhere. */
static size_t place(struct file f, size_t first)
{
	const struct triw_entry *e = &table_of(f)[below(header_of(f)->n_entries)];
	uint64_t most = e->size < first ? e->size : first;
	return most && below(8) ? e->offset + below(most) : below(f.size);
}

static void forge(struct file f)
{
	struct triw_entry *e = &table_of(f)[below(header_of(f)->n_entries)];
	*(below(2) ? &e->offset : &e->size) = below(2) ? odd_number() * TRIW_ALIGN : below(f.size);
	header_of(f)->check = triw_check(header_of(f), table_of(f));
}

/* Returns the bytes that are left. */
static size_t damage(struct file f)
{
	size_t at;
	uint64_t number = odd_number();
	switch (below(7)) {
	case 0: f.bytes[below(f.size)] ^= (char)(1 << below(8)); break;
	case 1: f.bytes[place(f, HEAD)] ^= (char)(1 << below(8)); break;
	case 2:
		at = place(f, HEAD) / 8 * 8;
		memcpy(f.bytes + at, &number, below(2) ? 4 : 8);
		break;
	case 3:
		at = place(f, INDICES) / 4 * 4;
		memcpy(f.bytes + at, &number, 4);
		break;
	case 4:
		at = place(f, INDICES);
		memset(f.bytes + at, (int)below(256), f.size - at < 64 ? f.size - at : 1 + below(64));
		break;
	case 5: forge(f); break;
	case 6: return below(f.size);
	}
	return f.size;
}

/* True if what the table describes, or the table, is not as it was. */
static bool is_changed(const struct case_ *c, size_t size)
{
	const struct triw_entry *e = table_of(c->from);
	uint32_t n = header_of(c->from)->n_entries;
	bool changed = size != c->from.size || memcmp(c->from.bytes, c->now.bytes, sizeof(struct triw_header) + n * sizeof *e) != 0;
	for (uint32_t i = 0; i < n && !changed; i++)
		changed = memcmp(c->from.bytes + e[i].offset, c->now.bytes + e[i].offset, e[i].size) != 0;
	return changed;
}

static void write_copy(const struct case_ *c, size_t size)
{
	FILE *f = fopen(c->copy, "wb");
	if (!f || fwrite(c->now.bytes, 1, size, f) != size || fclose(f) != 0)
		die("cannot write the copy");
}

static struct tri_model *open_copy(const tri_model_desc *desc, const char *path, uint32_t verify)
{
	tri_error err = {0};
	tri_options o = {.size = sizeof o, .threads = 2, .weights = path, .verify = verify};
	struct tri_model *m = desc->open(&o, &err);
	if (!m && (err.code != TRI_ERR_WEIGHTS || !strstr(err.message, path)))
		die("an error of another kind, or without the file's name");
	return m;
}

static void run(const tri_model_desc *desc, struct tri_model *m, struct call *calls, int n)
{
	for (int i = 0; i < n; i++) {
		tri_error err = {0};
		alarm(SECONDS);
		int code = desc->run(m, calls[i].index, calls[i].io, &err);
		alarm(0);
		if (code != TRI_OK && !err.message[0])
			die("an error without a message");
	}
}

/* Returns whether the file was refused. */
static bool attack(const tri_model_desc *desc, const struct case_ *c, struct call *calls, int n)
{
	memcpy(c->now.bytes, c->from.bytes, c->from.size);
	size_t left = damage(c->now);
	write_copy(c, left);
	struct tri_model *m = open_copy(desc, c->copy, 0), *verified = open_copy(desc, c->copy, 1);
	if (verified && is_changed(c, left))
		die("`verify` finds nothing");
	if (m)
		run(desc, m, calls, n);
	desc->close(m);
	desc->close(verified);
	return !m;
}

static void make_tensors(struct call *c, const int64_t *sizes)
{
	c->n = c->entry->n_inputs + c->entry->n_outputs;
	for (int k = 0; k < c->n; k++) {
		const tri_io_desc *d = k < c->entry->n_inputs ? &c->entry->inputs[k] : &c->entry->outputs[k - c->entry->n_inputs];
		tri_tensor *t = &c->io[k];
		size_t count = 1;
		*t = (tri_tensor){.rank = d->rank, .dtype = d->dtype};
		for (int32_t j = 0; j < d->rank; j++)
			count *= (size_t)(t->shape[j] = dim_of(&d->dims[j], sizes));
		t->data = guarded_new(count * bytes_of(d->dtype)).data;
		for (size_t j = 0; j < count && d->dtype == TRI_FLOAT32; j++)
			((float *)t->data)[j] = (float)(j * 7 % 11) * 0.5f - 2;
		for (size_t j = 0; j < count && d->dtype == TRI_INT8; j++)
			((int8_t *)t->data)[j] = (int8_t)(j * 37);
	}
}

static bool read_call(const tri_model_desc *desc, char *line, struct call *c)
{
	const char *name = strtok(line, " \n"), *word;
	int64_t sizes[MAX_SIZES] = {0};
	*c = (struct call){0};
	while (name && c->index < desc->n_entries && strcmp(desc->entries[c->index].name, name) != 0)
		c->index++;
	if (!name || c->index == desc->n_entries)
		return false;
	c->entry = &desc->entries[c->index];
	for (int k = 0; (word = strtok(NULL, " \n")) && k < MAX_SIZES; k++)
		sizes[k] = strtoll(word, NULL, 10);
	make_tensors(c, sizes);
	return true;
}

static struct file read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct file out = {0};
	if (!f || fseek(f, 0, SEEK_END) != 0 || ftell(f) <= (long)sizeof(struct triw_header))
		die("cannot read the weights");
	out.size = (size_t)ftell(f);
	out.bytes = malloc(out.size);
	rewind(f);
	if (!out.bytes || fread(out.bytes, 1, out.size, f) != out.size || fclose(f) != 0)
		die("cannot read the weights");
	return out;
}

int main(int argc, char **argv)
{
	static const int signals[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
	static struct call calls[MOST_CALLS];
	char line[MAX_LINE];
	int n = 0;
	long refused = 0;
	void *library = argc == 6 ? dlopen(argv[1], RTLD_NOW) : NULL;
	const tri_model_desc *desc = library ? dlsym(library, TRI_DESC_SYMBOL) : NULL;
	if (!desc)
		die("LIBRARY WEIGHTS COPY SEED CASES");
	struct case_ c = {argv[3], read_file(argv[2]), read_file(argv[2])};
	while (n < MOST_CALLS && fgets(line, sizeof line, stdin))
		if (!read_call(desc, line, &calls[n++]))
			die("no such entry");
	struct tri_model *whole = open_copy(desc, argv[2], 1);
	if (!whole)
		die("the undamaged file is refused");
	run(desc, whole, calls, n);
	desc->close(whole);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], on_signal);
	long cases = strtol(argv[5], NULL, 10);
	for (long i = 0; i < cases; i++) {
		state = strtoull(argv[4], NULL, 10) + (uint64_t)i;
		snprintf(at_work, sizeof at_work, "seed %llu", (unsigned long long)state);
		refused += attack(desc, &c, calls, n);
	}
	printf("%ld %ld\n", refused, cases - refused);
	return 0;
}
