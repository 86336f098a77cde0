/* An entry prepared for values of its dynamic dimensions: its buffers, and kernels with their arguments. */
#ifndef TRI_PREPARE_H
#define TRI_PREPARE_H
#include "gpu/runtime/device.h"

/* When the device did a command, by its own clock; 0 and 0: never. */
struct tri_cl_interval {
	cl_ulong began, ended;
};
/* A step of a measured run. */
struct tri_cl_done {
	int64_t step;
	int64_t began;  /* of a step that ends a call: where that began in the list */
	cl_event event; /* NULL: nothing was launched */
	struct tri_cl_interval at;
};

/* An argument of a step as it was set last: a buffer and an offset, or a number. */
struct tri_cl_bound {
	cl_mem memory; /* NULL: it must be set */
	int64_t value;
};

struct tri_cl_prepared {
	const struct tri_cl_code *code;
	bool ready, sized; /* for `dims`: all, or the buffers */
	bool may_fail;     /* a kernel may report an error */
	int64_t *dims;
	cl_mem *io;        /* inputs, then outputs; states among them belong to the caller */
	size_t *io_bytes;  /* for `dims` */
	uint64_t *io_room; /* of the buffer */
	cl_mem scratch;
	uint64_t scratch_bytes;      /* of the buffer */
	cl_kernel *kernels;          /* one for each step, if it launches something */
	uint64_t *symbols;           /* for each step: bits of the dims that its offsets and sizes depend on */
	size_t *local, *global;      /* work items of a group and of all groups; global 0: not launched */
	struct tri_cl_bound **bound; /* for each step: its arguments, then its dims */
	struct tri_cl_bound *bounds; /* their memory */
	char *values;                /* for steps that print or assert */
	size_t values_room;
	/* Of a measured run: its steps, and the copy of each input and output, NULL: not copied. */
	struct tri_cl_done *done;
	int64_t n_done, done_room;
	cl_event *copied;
	int64_t began_ns;
	tri_launch *shapes; /* of each step */
};

/* The states among inputs and outputs are the last ones. */
static inline bool tri_cl_is_state(const tri_entry_desc *e, int32_t i)
{
	return i < e->n_inputs ? i >= e->n_inputs - e->n_states_in : i - e->n_inputs >= e->n_outputs - e->n_states_out;
}

/* Allocates memory for an entry on devices of a variant. Returns false if there is none. */
bool tri_cl_prepared_init(struct tri_cl_prepared *p, enum tri_cl_variant variant, const tri_entry_desc *e);
/* Prepares the entry for these dims and states. Sets only what has changed. Returns TRI_OK or the error. */
int tri_cl_prepare(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e, const int64_t *dims,
		   const tri_tensor *io, tri_error *err);
void tri_cl_prepared_end(struct tri_cl_prepared *p, const struct tri_cl_device *d, const tri_entry_desc *e);
/* Returns the value of a dimension whose symbols are known; 0 if it has no steps, or if 64 bits cannot hold it. */
int64_t tri_cl_size(const tri_dim_desc *d, const int64_t *dims);
#endif
