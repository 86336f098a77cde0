/* Measures the ceilings of one OpenCL device. Part of libtrib-gpu.so. */
#ifndef TRIB_GPU_MEASURE_H
#define TRIB_GPU_MEASURE_H
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include "gpu/module.h"

/* Takes a second or two. False: *why is a sentence. */
bool measure_device(cl_device_id device, struct gpu_ceilings *out, struct buf *why);
#endif
