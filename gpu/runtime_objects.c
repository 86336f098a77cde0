/* The runtime objects of OpenCL libraries: their own, and those shared with CPU libraries. */
#include <string.h>
#include "backend/link/model/runtime_objects.h"
#include "gpu/embedded.h"
#include "gpu/opencl.h"

static const void *shared_object(const char *name, size_t *len)
{
	for (uint32_t i = 0; i < runtime_object_count(); i++)
		if (!strcmp(runtime_object_name(i), name))
			return runtime_object(RUNTIME_BASE, i, len);
	return NULL;
}

const void *opencl_runtime_object(uint32_t i, const char **name, size_t *len)
{
	uint32_t n = 0;
	while (GPU_RUNTIME[n].name)
		n++;
	if (i < n) {
		*name = GPU_RUNTIME[i].name;
		*len = GPU_RUNTIME[i].size;
		return GPU_RUNTIME[i].bytes;
	}
	static const char *const shared[] = {"model",        "model_io", "async",   "thread",  "origins", "states",
					     "states_saved", "dims",     "collect", "effects", "format",  "format_tensor"};
	if (i - n >= sizeof shared / sizeof *shared)
		return NULL;
	*name = shared[i - n];
	return shared_object(*name, len);
}
