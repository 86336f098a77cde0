/* A model's C source as a library: tests that call libraries then run the source. The descriptor is that of the library for the CPU, CPU_LIBRARY, but for
 * the functions. HEADER: the header of the source. MODEL: its name. ENTRIES(X): X(PREFIX) for each entry. WEIGHTS: its weight file, or "". CUDA: it is defined
 * if the source runs the model on a device, in memory of which tensors, scratch and states then are. */
#include HEADER
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/abi/tri.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#ifdef CUDA
#include <cuda_runtime_api.h>
static void *memory_new(size_t bytes)
{
	void *at;
	return cudaMalloc(&at, bytes) == cudaSuccess ? at : NULL;
}
static void memory_free(void *at) { cudaFree(at); }
static void memory_write(void *to, const void *from, size_t bytes) { cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice); }
static void memory_read(void *to, const void *from, size_t bytes) { cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost); }

static size_t tensor_bytes(const tri_tensor *t)
{
	static const size_t sizes[] = {
		[TRI_BOOL] = 1,  [TRI_TRIT] = 1,    [TRI_INT8] = 1,     [TRI_INT16] = 2,   [TRI_INT32] = 4,  [TRI_INT64] = 8,
		[TRI_UINT8] = 1, [TRI_FLOAT16] = 2, [TRI_BFLOAT16] = 2, [TRI_FLOAT32] = 4, [TRI_FLOAT64] = 8};
	size_t bytes = sizes[t->dtype];
	for (int32_t k = 0; k < t->rank; k++)
		bytes *= (size_t)t->shape[k];
	return bytes;
}

/* Gives tensors memory on the device, which has the content of inputs. */
static void tensors_begin(tri_tensor *t, int32_t n_inputs, int32_t n)
{
	for (int32_t k = 0; k < n; k++) {
		void *at = memory_new(tensor_bytes(&t[k]));
		if (k < n_inputs)
			memory_write(at, t[k].data, tensor_bytes(&t[k]));
		t[k].data = at;
	}
}

/* `to`: the tensors of the host. */
static void tensors_end(const tri_tensor *t, const tri_tensor *to, int32_t n_inputs, int32_t n)
{
	for (int32_t k = 0; k < n; k++) {
		if (k >= n_inputs)
			memory_read(to[k].data, t[k].data, tensor_bytes(&t[k]));
		memory_free(t[k].data);
	}
}
#else
static void *memory_new(size_t bytes)
{
	void *at = malloc(bytes + 1);
	if (at)
		memset(at, 0xa5, bytes + 1);
	return at;
}
static void memory_free(void *at) { free(at); }
static void tensors_begin(tri_tensor *t, int32_t n_inputs, int32_t n) { (void)t, (void)n_inputs, (void)n; }
static void tensors_end(const tri_tensor *t, const tri_tensor *to, int32_t n_inputs, int32_t n)
{
	(void)t, (void)to, (void)n_inputs, (void)n;
}
#ifdef STATES
static void memory_write(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
static void memory_read(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
#endif
#endif

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
#ifdef CUDA
	JOIN(MODEL, _close)(&m->model);
#endif
	free(m->weights);
	memory_free(m->states);
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
		memory.states = m->states = memory_new(memory.states_bytes);
#endif
	if (JOIN(MODEL, _open)(&m->model, &memory, err) == TRI_OK)
		return m;
	shim_close(m);
	return NULL;
}

/* The scratch memory is exactly as large as the source says, and full of rubbish. */
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
		void *scratch = memory_new(bytes);                                                         \
		tensors_begin(x.all, e->n_inputs, e->n_inputs + e->n_outputs);                             \
		int code = prefix##_run(&m->model, &x.io, scratch, bytes, err);                            \
		tensors_end(x.all, io, e->n_inputs, e->n_inputs + e->n_outputs);                           \
		memory_free(scratch);                                                                      \
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
		memory_read(at + sizeof m->model.second, m->states, m->model.memory.states_bytes);
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
	memory_write(m->states, at + sizeof m->model.second, m->model.memory.states_bytes);
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
