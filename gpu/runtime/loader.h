/* The functions of OpenCL, from the loader of this machine. Libraries are not linked with it, so they can be loaded where there is none. */
#ifndef TRI_LOADER_H
#define TRI_LOADER_H
#include <stdbool.h>
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include "backend/runtime/abi/tri.h"

struct tri_cl_api {
#define CALL(name) __typeof__(name) *name;
#include "gpu/runtime/calls.def"
};

/* Fills *out. Returns false with the error if there is no loader. It stays in the process, because drivers have threads. */
bool tri_cl_load(struct tri_cl_api *out, tri_error *err);
#endif
