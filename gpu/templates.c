#include "gpu/templates.h"
#include <string.h>
#include "gpu/embedded.h"

const char *opencl_template(const char *name)
{
	for (const struct gpu_embedded *e = GPU_TEMPLATES; e->name; e++)
		if (!strcmp(e->name, name))
			return (const char *)e->bytes;
	return NULL;
}
