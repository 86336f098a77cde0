/* An OpenCL loader for tests, libOpenCL.so.1, that hands calls on to the real one. It makes calls fail, loses the device, reports other limits, and
 * counts the objects that live. A process that has opened it has it as its loader. */
#ifndef TRIB_TESTS_OPENCL_DRIVER_H
#define TRIB_TESTS_OPENCL_DRIVER_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opencl_driver {
	_Atomic uint32_t calls;      /* so far; releases do not count */
	uint32_t fail_at;            /* the call that fails, from 1; 0: none */
	int32_t fail_with;           /* its status */
	bool loses;                  /* all later calls fail, too */
	const char *failed;          /* the name of the call that failed; NULL: none did */
	uint32_t hang_at;            /* from this call on commands are enqueued, but do not run before opencl_driver_resume; 0: none */
	_Atomic bool hung;           /* one of them was enqueued */
	_Atomic bool hangs_in_build; /* a program is not built before this is false; no other program is meanwhile */
	_Atomic bool hangs_in_find;  /* no platform is found before this is false */
	bool takes_signals;          /* a program was built by a thread that receives SIGINT */
	_Atomic int64_t live;        /* objects that are not released */
	void *queue;                 /* the last one that was created */
	_Atomic uint32_t builds;     /* programs that were built from source */
	_Atomic uint32_t launches, args, buffers, finishes; /* calls so far */
	/* Limits that it reports and keeps; 0: those of the device. */
	size_t most_group;
	uint64_t most_bytes; /* of a buffer */
	bool no_local_memory, is_gpu, is_discrete;
	uint32_t address_bits, align_bits;
	bool has_no_platform, has_no_device, has_no_float64;
};
#define OPENCL_DRIVER_ENTRY "opencl_driver"
typedef struct opencl_driver *opencl_driver_fn(void);
/* Runs what hangs, and waits for it. */
#define OPENCL_DRIVER_RESUME "opencl_driver_resume"
typedef void opencl_driver_resume_fn(void);
#endif
