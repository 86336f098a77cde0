/* What a unit is planned for: it decides which passes run and what they do. */
#ifndef TRIB_BACKEND_PASSES_OPTIONS_H
#define TRIB_BACKEND_PASSES_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>

struct ir_program;
struct target;

struct plan_options {
	const struct target *target;
	const struct ir_program *program; /* what was decided for all units, for this target; NULL: nothing */
	uint8_t opt;                      /* 0 … 3 */
	bool size;                        /* -Os */
	bool no_loops;                    /* of the run_fn: its code is not printed from loops */
	bool profile_hook;                /* the code reports the time of each statement */
	bool verify;                      /* verify after every pass */
};
#endif
