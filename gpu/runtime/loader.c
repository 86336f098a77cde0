#include "gpu/runtime/loader.h"
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include "backend/runtime/model.h"

#define LOADER "libOpenCL.so.1"

static const struct {
	const char *name;
	size_t offset;
} calls[] = {
#define CALL(name) {#name, offsetof(struct tri_cl_api, name)},
#include "gpu/runtime/calls.def"
};

bool tri_cl_load(struct tri_cl_api *out, tri_error *err)
{
	void *so = dlopen(LOADER, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!so) {
		tri_error_set(err, TRI_ERR_DEVICE,
			      "there is no " LOADER ": install an OpenCL loader (Debian: ocl-icd-libopencl1) and the driver of the device "
			      "(for processors pocl-opencl-icd)");
		return false;
	}
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		void *at = dlsym(so, calls[i].name);
		if (!at) {
			tri_error_set(err, TRI_ERR_DEVICE, LOADER " has no %s: install a loader of OpenCL 1.2 or later", calls[i].name);
			return false;
		}
		memcpy((char *)out + calls[i].offset, &at, sizeof at);
	}
	return true;
}
