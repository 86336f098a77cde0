/* The functions of OpenCL, from the loader of this machine. Libraries are not linked with it, so they can be loaded where there is none. */
#ifndef TRI_LOADER_H
#define TRI_LOADER_H
#include <stdbool.h>
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include "backend/runtime/abi/tri.h"

#define TRI_CL_DRIVERS "install the driver of the device (Debian, for processors: pocl-opencl-icd)"
/* What to do if there is a driver, but no device: PoCL, for one, has none if it cannot write its cache. */
#define TRI_CL_NO_DEVICE "see that this user may open the device and that the driver can write its cache (XDG_CACHE_HOME)"

struct tri_cl_api {
#define CALL(name) __typeof__(name) *name;
#include "gpu/runtime/calls.def"
};

/* Fills *out. Returns false with the error if there is no loader. It stays in the process, because drivers have threads. */
bool tri_cl_load(struct tri_cl_api *out, tri_error *err);
#endif
