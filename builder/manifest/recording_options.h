/* What the actions of `trib profile` measure, and how they judge it. -1 or NULL: the flag was not given. */
#ifndef TRIB_BUILDER_MANIFEST_RECORDING_OPTIONS_H
#define TRIB_BUILDER_MANIFEST_RECORDING_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>

struct recording_options {
	int samples;                   /* 0: the default */
	int warm_up;                   /* -1: the default */
	uint32_t scenario;             /* enum scenario */
	const char *flags_a, *flags_b; /* of `ab` */
	const char *baseline, *budget; /* of `check` */
	uint32_t metric;               /* of a time: 0 CPU, 1 wall, 2 instructions */
	bool save, update_if_better;   /* of `check` */
	bool any_conditions;
	bool critical, try_variants; /* of `suggest` */
	const char *threshold;
	int port; /* of `serve`; -1: not given */
};
#endif
