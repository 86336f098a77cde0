/* An entry prepared for values of its dynamic dimensions: its buffers, and kernels with their arguments. */
#ifndef TRI_PREPARE_H
#define TRI_PREPARE_H
#include "gpu/runtime/device.h"

/* When the device did a command, by its own clock; 0 and 0: never. */
struct tri_cl_interval {
	cl_ulong began, ended;
};

/* The device state that all entries of an opened model share. */
struct tri_cl_device {
	const tri_model_desc *desc;
	cl_device_id id;
	enum tri_cl_variant variant; /* what the device is */
	cl_context context;
	cl_command_queue queue; /* runs commands in order */
	cl_program program;
	cl_mem *blobs; /* of the program, uploaded once */
	cl_mem failed; /* four int64, see launch.h */
	bool measures; /* the queue records when commands ran */
};

struct tri_cl_prepared {
	const struct tri_cl_code *code;
	bool ready; /* prepared for `dims` */
	int64_t *dims;
	cl_mem *io; /* inputs, then outputs */
	size_t *io_bytes;
	cl_mem scratch;
	cl_kernel *kernels;     /* one for each launch */
	size_t *local, *global; /* work items of a group and of all groups; global 0: not launched */
	tri_launch *shapes;     /* of each launch, if runs are measured */
	uint64_t scratch_bytes;
	/* Of a measured run: each launch, each copy of an input or output, and when they were enqueued; NULL: not enqueued. */
	cl_event *launched, *copied;
	struct tri_cl_interval *times; /* of each launch, when it has ended */
	int64_t began_ns;
	bool may_fail;
};

/* Allocates memory for an entry on devices of a variant. Returns false if there is none. */
bool tri_cl_prepared_init(struct tri_cl_prepared *p, enum tri_cl_variant variant, const tri_entry_desc *e);
/* Prepares the entry for these dims; returns at once if it is. Returns TRI_OK or the error. */
int tri_cl_prepare(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e, const int64_t *dims, tri_error *err);
void tri_cl_prepared_end(struct tri_cl_prepared *p, const tri_entry_desc *e);
/* Returns the value of a dimension whose symbols are known; 0 if it has no steps, or if 64 bits cannot hold it. */
int64_t tri_cl_size(const tri_dim_desc *d, const int64_t *dims);
#endif
