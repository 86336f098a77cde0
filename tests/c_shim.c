/* A model's C source as a library: tests that call libraries then run the source. The descriptor is that of the library for the CPU, CPU_LIBRARY, but for
 * the functions. HEADER: the header of the source. MODEL: its name. ENTRIES(X): X(PREFIX) for each entry. WEIGHTS: its weight file, or "". */
#include HEADER
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/abi/tri.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

struct tri_model {
	MODEL model;
	void *weights, *states;
};
tri_model_desc tri_desc;
extern tri_model_desc JOIN(MODEL, _desc) __attribute__((alias("tri_desc")));

static void *read_file(const char *path, uint64_t *size)
{
	FILE *f = fopen(path, "rb");
	void *bytes = NULL;
	if (f && fseek(f, 0, SEEK_END) == 0 && (*size = (uint64_t)ftell(f)) && (bytes = malloc(*size))) {
		rewind(f);
		if (fread(bytes, 1, *size, f) != *size)
			*size = 0;
	}
	if (f)
		fclose(f);
	return bytes;
}

static void shim_print(void *user, const char *text, const tri_tensor *values, uint32_t n)
{
	(void)user, (void)values;
	fprintf(stderr, "%s (%u values)\n", text, (unsigned)n);
}

static void shim_close(struct tri_model *m)
{
	free(m->weights);
	free(m->states);
	free(m);
}

static struct tri_model *shim_open(const tri_options *opt, tri_error *err)
{
	struct tri_model *m = calloc(1, sizeof *m);
	tri_memory memory = {.print = shim_print};
	if (*WEIGHTS)
		memory.weights = m->weights = read_file(WEIGHTS, &memory.weights_bytes);
	if (opt && opt->n_capacities) {
		memory.capacities = opt->capacities;
		memory.n_capacities = opt->n_capacities;
	}
#ifdef STATES
	memory.states_bytes = JOIN(MODEL, _state_bytes)(&memory);
	if (memory.states_bytes != UINT64_MAX)
		memory.states = m->states = malloc(memory.states_bytes + 1);
#endif
	if (JOIN(MODEL, _open)(&m->model, &memory, err) == TRI_OK)
		return m;
	shim_close(m);
	return NULL;
}

/* The scratch memory is exactly as large as the source says, and full of rubbish. */
static void *scratch_of(uint64_t bytes)
{
	void *scratch = malloc(bytes + 1);
	if (scratch)
		memset(scratch, 0xa5, bytes + 1);
	return scratch;
}

#define ENTRY(prefix)                                                                                      \
	static int run_##prefix(struct tri_model *m, uint32_t entry, const tri_tensor *io, tri_error *err) \
	{                                                                                                  \
		union {                                                                                    \
			prefix##_io io;                                                                    \
			tri_tensor all[sizeof(prefix##_io) / sizeof(tri_tensor)];                          \
		} x;                                                                                       \
		const tri_entry_desc *e = &tri_desc.entries[entry];                                        \
		for (int32_t k = 0; k < e->n_inputs + e->n_outputs; k++)                                   \
			x.all[k] = io[k];                                                                  \
		uint64_t bytes = prefix##_scratch_bytes(&m->model, &x.io, err);                            \
		if (bytes == UINT64_MAX)                                                                   \
			return err->code;                                                                  \
		void *scratch = scratch_of(bytes);                                                         \
		int code = prefix##_run(&m->model, &x.io, scratch, bytes, err);                            \
		free(scratch);                                                                             \
		return code;                                                                               \
	}
ENTRIES(ENTRY)
#undef ENTRY

static int shim_run(struct tri_model *m, uint32_t entry, tri_tensor *io, tri_error *err)
{
	static int (*const runs[])(struct tri_model *, uint32_t, const tri_tensor *, tri_error *) = {
#define ENTRY(prefix) run_##prefix,
		ENTRIES(ENTRY)
#undef ENTRY
	};
	const char *log = getenv("TRIB_C_RUNS");
	FILE *f = log ? fopen(log, "a") : NULL;
	tri_error own;
	if (f) {
		fputs("run\n", f);
		fclose(f);
	}
	return runs[entry](m, entry, io, err ? err : &own);
}

#ifdef STATES
static int shim_reset(struct tri_model *m, tri_error *err) { return JOIN(MODEL, _reset)(&m->model, err); }

/* The states are the memory for them, and what the model says of it. */
static int shim_save(struct tri_model *m, void *to, uint64_t *size, tri_error *err)
{
	char *at = to;
	*size = sizeof m->model.length + sizeof m->model.second + m->model.memory.states_bytes;
	if (to) {
		memcpy(at, m->model.length, sizeof m->model.length);
		memcpy(at += sizeof m->model.length, m->model.second, sizeof m->model.second);
		memcpy(at + sizeof m->model.second, m->states, m->model.memory.states_bytes);
	}
	*err = (tri_error){0};
	return TRI_OK;
}

static int shim_restore(struct tri_model *m, const void *from, uint64_t size, tri_error *err)
{
	const char *at = from;
	(void)size;
	memcpy(m->model.length, at, sizeof m->model.length);
	memcpy(m->model.second, at += sizeof m->model.length, sizeof m->model.second);
	memcpy(m->states, at + sizeof m->model.second, m->model.memory.states_bytes);
	*err = (tri_error){0};
	return TRI_OK;
}
#endif

__attribute__((constructor)) static void shim_load(void)
{
	void *library = dlopen(CPU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const tri_model_desc *cpu = library ? dlsym(library, TRI_DESC_SYMBOL) : NULL;
	if (!cpu) {
		fprintf(stderr, "%s\n", dlerror());
		abort();
	}
	tri_desc = *cpu;
	tri_desc.open = shim_open;
	tri_desc.run = shim_run;
	tri_desc.close = shim_close;
#ifdef STATES
	tri_desc.reset = shim_reset;
	tri_desc.state_save = shim_save;
	tri_desc.state_load = shim_restore;
#endif
}
