/* Chooses a device, builds the program, reports OpenCL errors. */
#ifndef TRI_DEVICE_H
#define TRI_DEVICE_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include "gpu/runtime/launch.h"
#include "gpu/runtime/loader.h"

enum { TRI_CL_NAME = 256 };

/* The device state that all entries of an opened model share. */
struct tri_cl_device {
	struct tri_cl_api cl;
	const tri_model_desc *desc;
	cl_device_id id;
	char name[TRI_CL_NAME];
	_Atomic bool has_name;
	enum tri_cl_variant variant;      /* of the kernels that the device runs */
	bool unified;                     /* device and host share memory */
	bool lost;                        /* a command failed: the device is not used any more */
	uint64_t most_bytes, local_bytes; /* of a buffer, and of the local memory of a work group */
	cl_context context;
	cl_command_queue queue; /* runs commands in order */
	cl_program program;
	cl_mem *blobs; /* of the program, uploaded once */
	uint64_t blob_bytes;
	cl_mem failed; /* four int64, see launch.h */
	bool measures; /* the queue records when commands ran */
	bool no_print; /* of tri_options */
	/* For waits with a time-out (queue.c), 0: none. */
	uint32_t timeout_ms;
	int64_t deadline_ns;
	_Atomic uint32_t ended;
	bool is_unsuitable; /* no device was opened, because none here can run the model */
	bool hangs;         /* it did not end in time: no call of OpenCL is made any more, and nothing is freed */
};
enum { TRI_CL_TIMED_OUT = -9000 }; /* a status of our own */

/* Fill *err, unless err is NULL, with TRI_ERR_DEVICE or TRI_ERR_MEMORY and "CALL: CL_… (-n)", and what can be done about it; return false.
 * tri_cl_error_in is for commands of a run; the device is then lost. `place`: of the statement, as in tri_fail_at; 0: none. */
bool tri_cl_error(tri_error *err, const char *call, cl_int status);
bool tri_cl_error_in(struct tri_cl_device *d, tri_error *err, const char *call, cl_int status, uint64_t place);
/* Creates a buffer of at least one byte; its contents are those of `from`, unless that is NULL. NULL: out of memory, with the error: `what` says whose
 * memory. The device may read `from` later, too. */
cl_mem tri_cl_buffer(const struct tri_cl_device *d, uint64_t size, const void *from, const char *what, tri_error *err);

/* Finds a device: `which` is its number in the order of the loader, or a part of its name, in any case of letters, that no other name has. NULL and ""
 * mean the first device. Sets id, name, variant, unified, most_bytes and local_bytes. */
bool tri_cl_device(struct tri_cl_device *d, const char *which, tri_error *err);
/* True if the device has what the program needs; else the error. */
bool tri_cl_supports(const struct tri_cl_device *d, const struct tri_cl_program *data, tri_error *err);
/* Builds the program for the device. Returns NULL with the build log in *err. */
cl_program tri_cl_build(struct tri_cl_device *d, const struct tri_cl_program *data, tri_error *err);
#endif
