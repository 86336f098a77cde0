/* Chooses a device, builds the program, reports OpenCL errors. */
#ifndef TRI_DEVICE_H
#define TRI_DEVICE_H
#include <stdbool.h>
#include <stddef.h>
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include "gpu/runtime/launch.h"

/* Fills *err, unless err is NULL, with TRI_ERR_DEVICE and "CALL: CL_… (-n)"; returns false. */
bool tri_cl_error(tri_error *err, const char *call, cl_int status);

/* Finds the device with this number among all devices, in the order of the loader. NULL and "" mean the first. */
bool tri_cl_device(const char *which, cl_device_id *out, tri_error *err);
/* Returns the variant of kernels for a device: by its type, unless TRIB_OPENCL_VARIANT is "groups" or "wide". */
enum tri_cl_variant tri_cl_variant_of(cl_device_id device);
/* Builds the program for a device. Returns NULL with the build log in *err. */
cl_program tri_cl_build(cl_context context, cl_device_id device, const struct tri_cl_program *data, tri_error *err);
#endif
