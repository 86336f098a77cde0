/* What `trib bench` measures. -1 or NULL: the flag was not given. */
#ifndef TRIB_BUILDER_MANIFEST_BENCH_OPTIONS_H
#define TRIB_BUILDER_MANIFEST_BENCH_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>

struct bench_options {
	const char *batches, *thread_list, *compare; /* lists */
	const char *roofline;                        /* the file of the picture */
};
#endif
