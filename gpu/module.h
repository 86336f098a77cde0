/* The interface of libtrib-gpu.so, which is linked with the OpenCL loader. Only commands that use devices open it. */
#ifndef TRIB_GPU_MODULE_H
#define TRIB_GPU_MODULE_H
#include <stdbool.h>
#include <stdint.h>

struct buf;

#define GPU_MOST_DEVICES 64
struct gpu_device {
	char platform[128], name[128], vendor[128], version[128], driver[64];
	char type[16]; /* "cpu", "gpu", "accelerator" */
	uint32_t compute_units;
	uint64_t memory_bytes, max_alloc_bytes, local_bytes;
	uint32_t max_work_group;
};

/* The answers of the drivers. It is filled while they are asked, so that another process can see which one was asked last. */
struct gpu_answer {
	char asked[128]; /* the platform whose driver is asked; "": none, or it is being loaded */
	uint32_t n;      /* devices, in the order of the loader; `list` has the first ones */
	struct gpu_device list[GPU_MOST_DEVICES];
	char why[160]; /* there are none */
};

/* The most that a device does, in units a second. */
struct gpu_ceilings {
	double read_bytes, copy_bytes; /* of its memory */
	double float_ops, int8_ops;    /* multiplications and additions in registers */
};

#define GPU_ABI 3
#define GPU_ENTRY "trib_gpu"
#define GPU_DRIVERS "an OpenCL driver" /* whose code it runs */
struct gpu_api {
	uint32_t abi;
	void (*devices)(struct gpu_answer *out); /* zeroed before */
	/* Measures device `number` of that order. False: *why says why. */
	bool (*measure)(uint32_t number, struct gpu_ceilings *out, struct buf *why);
};
typedef const struct gpu_api *gpu_entry_fn(void);
#endif
