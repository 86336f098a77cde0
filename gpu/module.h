/* The interface of libtrib-gpu.so, which is linked with the OpenCL loader. Only commands that use devices open it. */
#ifndef TRIB_GPU_MODULE_H
#define TRIB_GPU_MODULE_H
#include <stdbool.h>
#include <stdint.h>

struct buf;

struct gpu_device {
	char platform[128], name[128], vendor[128], version[128], driver[64];
	char type[16]; /* "cpu", "gpu", "accelerator" */
	uint32_t compute_units;
	uint64_t memory_bytes, max_alloc_bytes, local_bytes;
	uint32_t max_work_group;
};

/* The most that a device does, in units a second. */
struct gpu_ceilings {
	double read_bytes, copy_bytes; /* of its memory */
	double float_ops, int8_ops;    /* multiplications and additions in registers */
};

#define GPU_ABI 2
#define GPU_ENTRY "trib_gpu"
#define GPU_DRIVERS "an OpenCL driver" /* whose code it runs */
struct gpu_api {
	uint32_t abi;
	/* Stores at most `cap` devices, in the order of the loader, and returns the number of all. If there are none, *why says why. */
	uint32_t (*devices)(struct gpu_device *out, uint32_t cap, struct buf *why);
	/* Measures device `number` of that order. False: *why says why. */
	bool (*measure)(uint32_t number, struct gpu_ceilings *out, struct buf *why);
};
typedef const struct gpu_api *gpu_entry_fn(void);
#endif
