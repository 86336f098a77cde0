/* inject DRIVER LIBRARY MODE: opens and runs every entry of a library while each call of OpenCL in turn fails, or the device reports other
 * limits. All dynamic dimensions are 2, all floats 1, other inputs 0; every second run is asynchronous. Results must be those of a device that works, or the
 * call must fail with a message; no object may be left. Prints what was done. */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
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
	tri_options options;
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

static void free_tensors(const tri_entry_desc *e, tri_tensor *io)
{
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++)
		free(io[i].data);
}

struct ending {
	sem_t ended;
	tri_error err;
};

static void note_end(void *user, const tri_error *err)
{
	struct ending *x = user;
	x->err = *err;
	sem_post(&x->ended);
}

/* Starts a run, and waits for it. */
static int run_later(const struct injection *x, struct tri_model *m, tri_tensor *io, tri_error *err)
{
	struct ending end;
	sem_init(&end.ended, 0, 0);
	int code = x->desc->run_async(m, 0, io, note_end, &end, err);
	if (code == TRI_OK) {
		sem_wait(&end.ended);
		*err = end.err;
	}
	sem_destroy(&end.ended);
	return err->code;
}

/* Runs the first entry. Appends its outputs to `out` if it succeeds. */
static int inject_run(const struct injection *x, struct tri_model *m, bool later, char *out, tri_error *err)
{
	const tri_entry_desc *e = &x->desc->entries[0];
	tri_tensor io[MOST_TENSORS];
	new_tensors(e, io);
	int code = later ? run_later(x, m, io, err) : x->desc->run(m, 0, io, err);
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++) {
		if (i >= e->n_inputs && code == TRI_OK) {
			memcpy(out, io[i].data, inject_bytes(&io[i]));
			out += inject_bytes(&io[i]);
		}
		free(io[i].data);
	}
	return code;
}

/* A call that failed for want of memory, and no other, is reported so. */
static bool may_be_memory(const struct injection *x)
{
	return !x->driver->failed || x->driver->fail_with == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
	       x->driver->fail_with == CL_OUT_OF_RESOURCES;
}

static void expect_message(const struct injection *x, int code, const tri_error *err)
{
	REQUIRE(code != TRI_ERR_MEMORY || may_be_memory(x), "%s failed at call %u with %d: reported as `%s`", x->driver->failed,
		x->driver->fail_at, x->driver->fail_with, err->message);
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
	struct tri_model *m = x->desc->open(&x->options, &err);
	if (!m) {
		expect_message(x, err.code, &err);
		*first = err;
		clean = false;
	}
	for (uint32_t i = 0; m && i < RUNS; i++) {
		memset(&err, 0, sizeof err);
		int code = inject_run(x, m, i % 2, out, &err);
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
		REQUIRE(inject_run(x, m, false, x->want[i], &err) == TRI_OK, "%s", err.message);
	}
	x->desc->close(m);
}

enum { STATUSES = 6 };

static void inject_errors(struct injection *x, size_t n_statuses, bool loses)
{
	static const cl_int statuses[STATUSES] = {CL_DEVICE_NOT_AVAILABLE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES,
						  CL_INVALID_VALUE,        CL_BUILD_PROGRAM_FAILURE,         -9999};
	tri_error err;
	x->driver->calls = 0;
	REQUIRE(inject_attempt(x, &err), "%s", err.message);
	uint32_t calls = x->driver->calls;
	for (size_t s = 0; s < n_statuses; s++)
		for (uint32_t n = 1; n <= calls; n++) {
			x->driver->calls = 0;
			x->driver->failed = NULL;
			x->driver->fail_at = n;
			x->driver->fail_with = statuses[s];
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
	report_limits(x, "no float64", &(struct opencl_driver){.has_no_float64 = true});
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

/* ---- a device that hangs ---- */

/* True if all memory of the tensors has this byte; sets it before, if `set`. */
static bool all_bytes(const tri_entry_desc *e, const tri_tensor *io, char byte, bool set)
{
	for (int32_t i = 0; i < e->n_inputs + e->n_outputs; i++) {
		char *at = io[i].data;
		for (size_t k = 0; k < inject_bytes(&io[i]); k++) {
			at[k] = set ? byte : at[k];
			if (at[k] != byte)
				return false;
		}
	}
	return true;
}

/* All calls with a model whose device hangs fail at once. */
static void expect_lost(const struct injection *x, struct tri_model *m, tri_tensor *io)
{
	tri_error err;
	uint64_t size = 0;
	REQUIRE(x->desc->run(m, 0, io, &err) == TRI_ERR_DEVICE, "a device that hangs runs");
	REQUIRE(strstr(err.message, "open the model again"), "%s", err.message);
	REQUIRE(x->desc->reset(m, &err) == TRI_ERR_DEVICE, "a device that hangs was reset");
	x->desc->state_save(m, NULL, &size, &err);
	char *saved = malloc(size);
	REQUIRE(x->desc->state_save(m, saved, &size, &err) == TRI_ERR_DEVICE, "a device that hangs was read");
	free(saved);
}

static int count_threads(void)
{
	int n = 0;
	DIR *tasks = opendir("/proc/self/task");
	while (readdir(tasks))
		n++;
	closedir(tasks);
	return n;
}

/* Opens and runs until the device hangs, closes, and lets it go on: it no longer uses the memory of the caller. Returns false if the time was over
 * before the device hung. */
static bool attempt_hang(const struct injection *x, opencl_driver_resume_fn *resume)
{
	const tri_entry_desc *e = &x->desc->entries[0];
	tri_tensor io[MOST_TENSORS];
	tri_error err = {0};
	int threads = count_threads();
	new_tensors(e, io);
	struct tri_model *m = x->desc->open(&x->options, &err);
	for (uint32_t i = 0; m && i < RUNS && err.code == TRI_OK; i++) {
		int code = i % 2 ? run_later(x, m, io, &err) : x->desc->run(m, 0, io, &err);
		REQUIRE(code == err.code, "run %u returned %d with the error %d", i, code, err.code);
	}
	REQUIRE(!x->driver->hung || (err.code == TRI_ERR_DEVICE && err.message[0]), "hang at call %u: %d `%s`", x->driver->hang_at,
		err.code, err.message);
	if (m && x->driver->hung)
		expect_lost(x, m, io);
	if (m)
		x->desc->close(m);
	all_bytes(e, io, 'x', true);
	x->driver->hang_at = 0;
	resume();
	while (count_threads() > threads) /* the one that opened the device */
		usleep(1000);
	REQUIRE(all_bytes(e, io, 'x', false), "memory of the caller has changed after a hang");
	free_tensors(e, io);
	return x->driver->hung || err.code == TRI_OK;
}

/* Lets the device hang at call n. A machine with other work is given more time. */
static bool inject_hang(struct injection *x, uint32_t n, opencl_driver_resume_fn *resume)
{
	x->options.timeout_ms = 15;
	x->options.open_timeout_ms = 500;
	do {
		x->options.timeout_ms *= 2;
		x->options.open_timeout_ms *= 2;
		x->driver->calls = 0;
		x->driver->hang_at = n;
		x->driver->hung = false;
	} while (!attempt_hang(x, resume));
	return x->driver->hung;
}

static void inject_hangs(struct injection *x, opencl_driver_resume_fn *resume)
{
	tri_error err;
	uint32_t hangs = 0;
	x->options.timeout_ms = 3600000;
	x->driver->calls = 0;
	REQUIRE(inject_attempt(x, &err), "%s", err.message);
	uint32_t calls = x->driver->calls;
	for (uint32_t n = 1; n <= calls; n += n + 12 < calls ? calls / 8 : 1) /* each of the last calls: those that read outputs */
		hangs += inject_hang(x, n, resume);
	printf("%u\n", hangs);
}

/* Opens while no program can be built. Then the first opening goes on beside another one. */
static void inject_hanging_build(struct injection *x)
{
	tri_error err;
	char *out = malloc(x->want_bytes + 1);
	x->driver->hangs_in_build = true;
	x->options.open_timeout_ms = 30;
	REQUIRE(!x->desc->open(&x->options, &err), "a program that is never built is open");
	REQUIRE(err.code == TRI_ERR_DEVICE, "%d", err.code);
	printf("%s\n", err.message);
	x->driver->hangs_in_build = false;
	x->options.open_timeout_ms = 3600000;
	struct tri_model *m = x->desc->open(&x->options, &err);
	REQUIRE(m && inject_run(x, m, false, out, &err) == TRI_OK, "%s", err.message);
	REQUIRE(memcmp(out, x->want[0], x->want_bytes) == 0, "wrong results");
	x->desc->close(m);
	fflush(stdout);
	_exit(0); /* a thread may still be in the driver */
}

/* Forks while a thread looks for devices, which the child has not. */
static void inject_fork(struct injection *x)
{
	tri_error err;
	int status;
	x->driver->hangs_in_find = true;
	x->options.open_timeout_ms = 30;
	REQUIRE(!x->desc->open(&x->options, &err), "a device that is never found is open");
	pid_t child = fork();
	if (child == 0) {
		x->driver->hangs_in_find = false;
		x->driver->has_no_platform = true;
		x->options.open_timeout_ms = 30000;
		REQUIRE(!x->desc->open(&x->options, &err), "a missing device is open");
		printf("%s\n", err.message);
		fflush(stdout);
		_exit(0);
	}
	REQUIRE(waitpid(child, &status, 0) == child && status == 0, "the child ended with %d", status);
	_exit(0); /* a thread is still in the driver */
}

/* ---- asynchronous runs ---- */

struct last_runs {
	const struct injection *x;
	struct tri_model *m;
	char *out; /* of a run in the callback */
	struct ending end;
};

static void run_and_close(void *user, const tri_error *err)
{
	struct last_runs *r = user;
	tri_error own;
	REQUIRE(err->code == TRI_OK && inject_run(r->x, r->m, false, r->out, &own) == TRI_OK, "%s", err->code ? err->message : own.message);
	r->x->desc->close(r->m);
	note_end(&r->end, err);
}

static void run_and_close_in_callback(const struct injection *x)
{
	tri_tensor io[MOST_TENSORS];
	tri_error err;
	struct last_runs r = {.x = x, .m = x->desc->open(NULL, &err), .out = malloc(x->want_bytes + 1)};
	sem_init(&r.end.ended, 0, 0);
	new_tensors(&x->desc->entries[0], io);
	REQUIRE(r.m && x->desc->run_async(r.m, 0, io, run_and_close, &r, &err) == TRI_OK, "%s", err.message);
	sem_wait(&r.end.ended);
	REQUIRE(memcmp(r.out, x->want[1], x->want_bytes) == 0, "wrong results of a run in a callback");
	REQUIRE(x->driver->live == 0, "%lld objects are left", (long long)x->driver->live);
	free_tensors(&x->desc->entries[0], io);
	free(r.out);
}

/* The device runs nothing before the model is closed. */
static void close_during_run(const struct injection *x, opencl_driver_resume_fn *resume)
{
	tri_tensor io[MOST_TENSORS];
	tri_error err;
	struct ending end;
	struct tri_model *m = x->desc->open(NULL, &err);
	sem_init(&end.ended, 0, 0);
	new_tensors(&x->desc->entries[0], io);
	x->driver->hung = false;
	x->driver->hang_at = x->driver->calls + 1;
	REQUIRE(m && x->desc->run_async(m, 0, io, note_end, &end, &err) == TRI_OK, "%s", err.message);
	while (!x->driver->hung)
		usleep(100);
	REQUIRE(x->desc->run(m, 0, io, &err) == TRI_ERR_BUSY, "a run during a run: %d", err.code);
	x->desc->close(m);
	x->driver->hang_at = 0;
	resume();
	sem_wait(&end.ended);
	REQUIRE(end.err.code == TRI_OK, "%s", end.err.message);
	REQUIRE(x->driver->live == 0, "%lld objects are left", (long long)x->driver->live);
	free_tensors(&x->desc->entries[0], io);
}

/* ---- runs one after the other ---- */

/* Prints what the last half of many runs called. */
static void count_calls(const struct injection *x)
{
	enum { MANY = 40 };
	const tri_entry_desc *e = &x->desc->entries[0];
	tri_tensor io[MOST_TENSORS];
	tri_error err;
	struct opencl_driver half = {0};
	struct tri_model *m = x->desc->open(NULL, &err);
	REQUIRE(m, "%s", err.message);
	new_tensors(e, io);
	for (int i = 0; i < MANY; i++) {
		if (i == MANY / 2)
			half = *x->driver;
		REQUIRE(x->desc->run(m, 0, io, &err) == TRI_OK, "%s", err.message);
	}
	printf("%u launches, %u arguments, %u buffers, %u waits\n", x->driver->launches - half.launches, x->driver->args - half.args,
	       x->driver->buffers - half.buffers, x->driver->finishes - half.finishes);
	free_tensors(e, io);
	x->desc->close(m);
}

/* Opens, and prints how many programs were built from source. */
static void count_builds(const struct injection *x)
{
	tri_error err;
	struct tri_model *m = x->desc->open(NULL, &err);
	REQUIRE(m, "%s", err.message);
	x->desc->close(m);
	REQUIRE(!x->driver->takes_signals, "a program was built by a thread that an interrupt ends");
	printf("%u\n", x->driver->builds);
}

/* ---- several devices ---- */

struct device_run {
	const struct injection *x;
	char device[2];
};

static void *run_on_device(void *arg)
{
	const struct device_run *r = arg;
	const struct injection *x = r->x;
	tri_options options = {.size = sizeof options, .device = r->device};
	char *out = malloc(x->want_bytes + 1);
	tri_error err;
	struct tri_model *m = x->desc->open(&options, &err);
	REQUIRE(m, "%s", err.message);
	for (uint32_t i = 0; i < RUNS; i++) {
		REQUIRE(inject_run(x, m, i % 2, out, &err) == TRI_OK, "device %s: %s", r->device, err.message);
		REQUIRE(memcmp(out, x->want[i], x->want_bytes) == 0, "device %s: wrong results in run %u", r->device, i);
	}
	x->desc->close(m);
	free(out);
	return NULL;
}

/* Uses two devices at once, and devices by name. Prints what is said of one that does not exist. */
static void inject_devices(const struct injection *x)
{
	static const char *const names[] = {"0", "1", "", "BASIC", "-", "2", "nosuch"};
	struct device_run runs[2] = {{x, "0"}, {x, "1"}};
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		REQUIRE(pthread_create(&threads[i], NULL, run_on_device, &runs[i]) == 0, "no thread");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		tri_error err;
		struct tri_model *m = x->desc->open(&(tri_options){.size = sizeof(tri_options), .device = names[i]}, &err);
		printf("%s: %s\n", names[i], m ? "opens" : err.message);
		if (m)
			x->desc->close(m);
	}
	REQUIRE(x->driver->live == 0, "%lld objects are left", (long long)x->driver->live);
}

int main(int argc, char **argv)
{
	REQUIRE(argc == 4, "inject DRIVER LIBRARY MODE");
	void *loader = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL), *library = loader ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;
	REQUIRE(library, "%s", dlerror());
	opencl_driver_fn *entry;
	*(void **)&entry = dlsym(loader, OPENCL_DRIVER_ENTRY);
	opencl_driver_resume_fn *resume;
	*(void **)&resume = dlsym(loader, OPENCL_DRIVER_RESUME);
	struct injection x = {.driver = entry(), .desc = dlsym(library, TRI_DESC_SYMBOL), .options.size = sizeof x.options};
	const char *mode = argv[3];
	if (strcmp(mode, "builds") == 0) {
		count_builds(&x);
		return 0;
	}
	learn_results(&x);
	if (strcmp(mode, "states") == 0) { /* the last value of each run, of a state that counts them */
		for (uint32_t i = 0; i < RUNS; i++)
			printf("%d\n", *(const int32_t *)(const void *)(x.want[i] + x.want_bytes - sizeof(int32_t)));
	} else if (strcmp(mode, "limits") == 0) {
		inject_limits(&x);
	} else if (strcmp(mode, "hangs") == 0) {
		inject_hangs(&x, resume);
	} else if (strcmp(mode, "hanging build") == 0) {
		inject_hanging_build(&x);
	} else if (strcmp(mode, "fork") == 0) {
		inject_fork(&x);
	} else if (strcmp(mode, "asynchronous") == 0) {
		run_and_close_in_callback(&x);
		close_during_run(&x, resume);
	} else if (strcmp(mode, "calls") == 0) {
		count_calls(&x);
	} else if (strcmp(mode, "devices") == 0) {
		inject_devices(&x);
	} else if (strcmp(mode, "timed errors") == 0) {
		x.options.timeout_ms = 3600000;
		inject_errors(&x, 1, false);
	} else {
		bool loses = strcmp(mode, "lost") == 0;
		inject_errors(&x, loses ? 1 : STATUSES, loses);
	}
	for (uint32_t i = 0; i < RUNS; i++)
		free(x.want[i]);
	return 0;
}
