/* Times products of float32 of n x n matrices, in turn: by CLBlast on the first OpenCL device, and by libraries that trib built. Prints a JSON object: the
 * least microseconds of each, where those of a library include the copies of input and output. Arguments: n, rounds, libraries. */
#define CL_TARGET_OPENCL_VERSION 120
#include <clblast_c.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "backend/runtime/abi/tri.h"

enum { MOST_LIBRARIES = 4 };

struct product {
	size_t n;
	float *x, *y;
	cl_command_queue queue;
	cl_mem a, b, c;
	uint32_t n_libraries;
	const tri_model_desc *desc[MOST_LIBRARIES];
	struct tri_model *model[MOST_LIBRARIES];
};

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void give_up(const char *what)
{
	fprintf(stderr, "clblast: %s\n", what);
	exit(1);
}

static void open_device(struct product *p)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_int status;
	if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		give_up("no OpenCL device");
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	p->queue = context ? clCreateCommandQueue(context, device, 0, &status) : NULL;
	if (!p->queue)
		give_up("clCreateCommandQueue failed");
	cl_mem *buffers[] = {&p->a, &p->b, &p->c};
	for (int i = 0; i < 3; i++)
		*buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, p->n * p->n * sizeof *p->x, p->x, &status);
	if (!p->a || !p->b || !p->c)
		give_up("clCreateBuffer failed");
}

static void open_library(struct product *p, const char *path)
{
	tri_error e;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const tri_model_desc *desc = library ? dlsym(library, TRI_DESC_SYMBOL) : NULL;
	if (!desc || p->n_libraries == MOST_LIBRARIES)
		give_up(path);
	p->desc[p->n_libraries] = desc;
	p->model[p->n_libraries] = desc->open(NULL, &e);
	if (!p->model[p->n_libraries++])
		give_up(e.message);
}

static void run_clblast(const struct product *p)
{
	cl_command_queue queue = p->queue;
	if (CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, p->n, p->n, p->n, 1, p->a, 0, p->n, p->b, 0, p->n,
			 0, p->c, 0, p->n, &queue, NULL) ||
	    clFinish(queue))
		give_up("CLBlastSgemm failed");
}

static void run_library(const struct product *p, uint32_t i)
{
	const tri_io_desc *port = p->desc[i]->entries[0].inputs;
	tri_tensor io[2] = {{.data = p->x, .rank = 2, .dtype = port->dtype}, {.data = p->y, .rank = 2, .dtype = port->dtype}};
	tri_error e;
	for (int k = 0; k < 4; k++)
		io[k / 2].shape[k % 2] = (int64_t)p->n;
	if (p->desc[i]->run(p->model[i], 0, io, &e))
		give_up(e.message);
}

int main(int n_args, char **args)
{
	if (n_args < 4)
		give_up("usage: clblast N ROUNDS LIBRARY…");
	struct product p = {.n = strtoul(args[1], NULL, 10)};
	double least[MOST_LIBRARIES + 1];
	p.x = malloc(p.n * p.n * sizeof *p.x);
	p.y = malloc(p.n * p.n * sizeof *p.y);
	if (!p.x || !p.y)
		give_up("out of memory");
	for (size_t i = 0; i < p.n * p.n; i++)
		p.x[i] = (float)rand() / (float)RAND_MAX - 0.5F;
	open_device(&p);
	for (int i = 3; i < n_args; i++)
		open_library(&p, args[i]);
	for (long round = -1, rounds = strtol(args[2], NULL, 10); round < rounds; round++) /* round -1 is not counted */
		for (uint32_t i = 0; i <= p.n_libraries; i++) {
			double start = seconds();
			if (i == p.n_libraries)
				run_clblast(&p);
			else
				run_library(&p, i);
			double took = seconds() - start;
			least[i] = round <= 0 || took < least[i] ? took : least[i];
		}
	printf("{\"n\": %zu", p.n);
	for (uint32_t i = 0; i <= p.n_libraries; i++)
		printf(", \"%s\": %.1f", i < p.n_libraries ? p.desc[i]->backend : "clblast", 1e6 * least[i]);
	puts("}");
	return 0;
}
