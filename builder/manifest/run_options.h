/* How a model is run, of `trib run`, `trib test` and `trib bench`. -1 or NULL: the flag was not given. */
#ifndef TRIB_BUILDER_MANIFEST_RUN_OPTIONS_H
#define TRIB_BUILDER_MANIFEST_RUN_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>

struct run_options {
	const char *const *outputs; /* "y=y.npy" */
	uint32_t n_outputs;
	const char *device; /* NULL: cpu */
	int threads;        /* 0: one for each CPU */
	int batch_size;     /* 0: all at once */
	bool main, no_build;
	bool no_print;     /* what the model prints is left out */
	double rtol, atol; /* -1: by the element type */
	double timeout_ns; /* of opening a device, and of a run; 0: none */
};
#endif
