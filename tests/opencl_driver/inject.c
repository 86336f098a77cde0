/* inject DRIVER LIBRARY errors|lost|limits|builds: opens and runs every entry of a library while each call of OpenCL in turn fails, or the device reports other
 * limits. All dynamic dimensions are 2, all floats 1, other inputs 0. Results must be those of a device that works, or the call must fail with a message; no
 * object may be left. Prints what was done. `builds`: opens and runs it once, and prints how many programs were built from source. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include "backend/runtime/abi/tri.h"
#include "tests/opencl_driver/driver.h"

enum { RUNS = 3, MOST_TENSORS = 16 };

struct injection {
	struct opencl_driver *driver;
	const tri_model_desc *desc;
	char *want[RUNS]; /* the outputs of each run */
	size_t want_bytes;
	uint64_t injected, harmless;
};

#define REQUIRE(ok, ...) ((ok) ? (void)0 : (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1)))

static size_t inject_bytes(const tri_tensor *t)
{
	static const size_t bytes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 1};
	size_t n = bytes[t->dtype];
	for (int32_t k = 0; k < t->rank; k++)
		n *= (size_t)t->shape[k];
	return n;
}

static void fill_tensor(const tri_tensor *t)
{
	const float one = 1;
	size_t bytes = inject_bytes(t);
	memset(t->data, 0, bytes);
	for (size_t i = 0; t->dtype == TRI_FLOAT32 && i < bytes / 4; i++)
		memcpy((char *)t->data + 4 * i, &one, 4);
}

static void new_tensors(const tri_entry_desc *e, tri_tensor *io)
{
	REQUIRE(e->n_inputs + e->n_outputs <= MOST_TENSORS, "too many tensors");
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++) {
		const tri_io_desc *t = i < e->n_inputs ? &e->inputs[i] : &e->outputs[i - e->n_inputs];
		io[i] = (tri_tensor){.rank = t->rank, .dtype = t->dtype};
		for (int32_t k = 0; k < t->rank; k++)
			io[i].shape[k] = t->dims[k].steps[0].op == TRI_DIM_CONST ? t->dims[k].steps[0].value : 2;
		io[i].data = calloc(1, inject_bytes(&io[i]) + 1);
		fill_tensor(&io[i]);
	}
}

/* Runs the first entry. Appends its outputs to `out` if it succeeds. */
static int inject_run(const struct injection *x, struct tri_model *m, char *out, tri_error *err)
{
	const tri_entry_desc *e = &x->desc->entries[0];
	tri_tensor io[MOST_TENSORS];
	new_tensors(e, io);
	int code = x->desc->run(m, 0, io, err);
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++) {
		if (i >= e->n_inputs && code == TRI_OK) {
			memcpy(out, io[i].data, inject_bytes(&io[i]));
			out += inject_bytes(&io[i]);
		}
		free(io[i].data);
	}
	return code;
}

static void expect_message(const struct injection *x, int code, const tri_error *err)
{
	REQUIRE(code != TRI_OK && err->code == code && err->message[0], "%s failed at call %u with %d: no clear error (%d, %d, `%s`)",
		x->driver->failed ? x->driver->failed : "nothing", x->driver->fail_at, x->driver->fail_with, code, err->code, err->message);
}

/* Opens, runs several times, closes. True if all of it succeeded. */
static bool inject_attempt(const struct injection *x, tri_error *first)
{
	char *out = malloc(x->want_bytes + 1);
	tri_error err = {0};
	bool clean = true;
	uint32_t good = 0;
	memset(first, 0, sizeof *first);
	struct tri_model *m = x->desc->open(NULL, &err);
	if (!m) {
		expect_message(x, err.code, &err);
		*first = err;
		clean = false;
	}
	for (uint32_t i = 0; m && i < RUNS; i++) {
		memset(&err, 0, sizeof err);
		int code = inject_run(x, m, out, &err);
		if (code != TRI_OK) {
			expect_message(x, code, &err);
			*first = first->code ? *first : err;
			clean = false;
			continue;
		}
		REQUIRE(memcmp(out, x->want[good], x->want_bytes) == 0, "%s failed at call %u with %d: wrong results in run %u",
			x->driver->failed ? x->driver->failed : "nothing", x->driver->fail_at, x->driver->fail_with, i);
		good++; /* a run that failed changed no state */
	}
	if (m)
		x->desc->close(m);
	REQUIRE(x->driver->live == 0, "%s failed at call %u with %d: %lld objects are left",
		x->driver->failed ? x->driver->failed : "nothing", x->driver->fail_at, x->driver->fail_with, (long long)x->driver->live);
	free(out);
	return clean;
}

static void learn_results(struct injection *x)
{
	const tri_entry_desc *e = &x->desc->entries[0];
	tri_tensor io[MOST_TENSORS];
	tri_error err = {0};
	struct tri_model *m = x->desc->open(NULL, &err);
	REQUIRE(m, "%s", err.message);
	new_tensors(e, io);
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++) {
		x->want_bytes += i >= e->n_inputs ? inject_bytes(&io[i]) : 0;
		free(io[i].data);
	}
	for (uint32_t i = 0; i < RUNS; i++) {
		x->want[i] = malloc(x->want_bytes + 1);
		REQUIRE(inject_run(x, m, x->want[i], &err) == TRI_OK, "%s", err.message);
	}
	x->desc->close(m);
}

static void inject_errors(struct injection *x, bool loses)
{
	static const cl_int statuses[] = {CL_OUT_OF_RESOURCES, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_DEVICE_NOT_AVAILABLE,
					  CL_INVALID_VALUE,    CL_BUILD_PROGRAM_FAILURE,         -9999};
	tri_error err;
	x->driver->calls = 0;
	REQUIRE(inject_attempt(x, &err), "%s", err.message);
	uint32_t calls = x->driver->calls;
	for (size_t s = 0; s < (loses ? 1 : sizeof statuses / sizeof *statuses); s++)
		for (uint32_t n = 1; n <= calls; n++) {
			x->driver->calls = 0;
			x->driver->failed = NULL;
			x->driver->fail_at = n;
			x->driver->fail_with = loses ? CL_DEVICE_NOT_AVAILABLE : statuses[s];
			x->driver->loses = loses;
			x->harmless += inject_attempt(x, &err);
			x->injected += x->driver->failed != NULL;
		}
	x->driver->fail_at = 0;
	REQUIRE(inject_attempt(x, &err), "after all errors: %s", err.message);
	printf("%u calls, %llu errors injected, %llu of them changed nothing\n", calls, (unsigned long long)x->injected,
	       (unsigned long long)x->harmless);
}

static void report_limits(const struct injection *x, const char *what, const struct opencl_driver *limits)
{
	tri_error err;
	*x->driver = *limits;
	bool ok = inject_attempt(x, &err);
	printf("%s: %s\n", what, ok ? "runs" : err.message);
}

static void inject_limits(const struct injection *x)
{
	report_limits(x, "no platform", &(struct opencl_driver){.has_no_platform = true});
	report_limits(x, "no device", &(struct opencl_driver){.has_no_device = true});
	report_limits(x, "groups of 64", &(struct opencl_driver){.most_group = 64, .is_gpu = true});
	report_limits(x, "groups of 16", &(struct opencl_driver){.most_group = 16, .is_gpu = true});
	report_limits(x, "no local memory", &(struct opencl_driver){.no_local_memory = true});
	report_limits(x, "no local memory, gpu", &(struct opencl_driver){.no_local_memory = true, .is_gpu = true});
	report_limits(x, "buffers of 1 MiB", &(struct opencl_driver){.most_bytes = 1 << 20});
	report_limits(x, "buffers of 1 KiB", &(struct opencl_driver){.most_bytes = 1 << 10, .is_discrete = true});
	report_limits(x, "32-bit addresses", &(struct opencl_driver){.address_bits = 32});
	report_limits(x, "big alignment", &(struct opencl_driver){.align_bits = 1 << 20});
	report_limits(x, "own memory", &(struct opencl_driver){.is_discrete = true});
	report_limits(x, "own memory, gpu", &(struct opencl_driver){.is_discrete = true, .is_gpu = true});
}

int main(int argc, char **argv)
{
	REQUIRE(argc == 4, "inject DRIVER LIBRARY errors|lost|limits|builds");
	void *loader = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL), *library = loader ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;
	REQUIRE(library, "%s", dlerror());
	opencl_driver_fn *entry;
	*(void **)&entry = dlsym(loader, OPENCL_DRIVER_ENTRY);
	struct injection x = {.driver = entry(), .desc = dlsym(library, TRI_DESC_SYMBOL)};
	learn_results(&x);
	if (strcmp(argv[3], "builds") == 0)
		printf("%u\n", x.driver->builds);
	else if (strcmp(argv[3], "limits") == 0)
		inject_limits(&x);
	else
		inject_errors(&x, strcmp(argv[3], "lost") == 0);
	for (uint32_t i = 0; i < RUNS; i++)
		free(x.want[i]);
	return 0;
}
