/* The OpenCL module: a shared object linked against the ICD loader, opened only by commands that talk to devices. */
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

#define GPU_ABI 1
#define GPU_ENTRY "trib_gpu"
struct gpu_api {
	uint32_t abi;
	/* All devices of all platforms, in the loader's order, at most `cap`; returns how many there are. With none, *why says why. */
	uint32_t (*devices)(struct gpu_device *out, uint32_t cap, struct buf *why);
};
typedef const struct gpu_api *gpu_entry_fn(void);
#endif
