/* An entry made ready for given values of its dynamic dimensions: buffers of the right size, kernels with their arguments set. */
#ifndef TRI_PREPARE_H
#define TRI_PREPARE_H
#include "gpu/runtime/device.h"

/* What all entries of an opened model share. */
struct tri_cl_device {
	cl_device_id id;
	cl_context context;
	cl_command_queue queue; /* in order */
	cl_program program;
	cl_mem *blobs; /* the program's, uploaded once */
	cl_mem failed; /* three int64, see launch.h */
};

struct tri_cl_prepared {
	bool ready; /* for `dims` */
	int64_t *dims;
	cl_mem *io; /* inputs, then outputs */
	size_t *io_bytes;
	cl_mem scratch;
	cl_kernel *kernels;     /* one per launch */
	size_t *local, *global; /* work items of a group and in all; global 0: nothing to do */
	bool may_fail;
};

/* Memory for everything, nothing ready yet. False: out of memory. */
bool tri_cl_prepared_init(struct tri_cl_prepared *p, const tri_entry_desc *e);
/* Ready for the dims, at once if they are those of the last time. TRI_OK or the error. */
int tri_cl_prepare(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e, const int64_t *dims, tri_error *err);
void tri_cl_prepared_end(struct tri_cl_prepared *p, const tri_entry_desc *e);
#endif
