/* How a weights file is read. */
#ifndef TRIB_BUILDER_MANIFEST_WEIGHTS_OPTIONS_H
#define TRIB_BUILDER_MANIFEST_WEIGHTS_OPTIONS_H
#include <stdbool.h>
#include "base/source.h"

struct weights_options {
	const char *prefix; /* removed from the names of the file's tensors; NULL: none */
	span prefix_at;
	bool initialize;    /* a parameter that the file lacks gets its initial value and a warning; else it is an error */
	bool ignore_unused; /* no warning about tensors that nothing takes */
};
#endif
