#include <inttypes.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/cli/command.h"
#include "builder/module.h"
#include "gpu/module.h"

enum { MAX_DEVICES = 64 };

static void print_device(uint32_t i, const struct gpu_device *d)
{
	printf("opencl:%u  %s\n", i, d->name);
	printf("    %s by %s, %s, driver %s\n", d->type, d->vendor, d->version, d->driver);
	printf("    platform %s\n", d->platform);
	printf("    %u compute units, %" PRIu64 " MiB of memory, at most %" PRIu64 " MiB a buffer, %" PRIu64
	       " KiB local, work-groups of %u\n",
	       d->compute_units, d->memory_bytes >> 20, d->max_alloc_bytes >> 20, d->local_bytes >> 10, d->max_work_group);
}

enum status cmd_devices(const struct options *o)
{
	struct arena *a = arena_new(0);
	struct gpu_device *list = ARENA_ARRAY(a, struct gpu_device, MAX_DEVICES);
	struct buf why = {0};
	const char *error = "";
	(void)o;
	const struct gpu_api *api = module_open(a, "gpu", GPU_ENTRY, GPU_ABI, &error);
	uint32_t n = api ? api->devices(list, MAX_DEVICES, &why) : 0;
	for (uint32_t i = 0; i < n && i < MAX_DEVICES; i++)
		print_device(i, &list[i]);
	if (n == 0)
		fprintf(stderr, "trib: there is no OpenCL device: %s\n", why.at ? why.at : error);
	buf_free(&why);
	arena_free(a);
	return n ? STATUS_OK : STATUS_ENVIRONMENT;
}
