/* Private to this folder: the layouts of states, and which outputs grow them. */
#ifndef TRIB_BACKEND_PASSES_PROGRAM_ARGUMENT_STATES_H
#define TRIB_BACKEND_PASSES_PROGRAM_ARGUMENT_STATES_H
#include "backend/passes/program/arguments.h"

/* Layouts that are being decided. */
struct argument_draft {
	uint8_t *inputs, *outputs;
	uint32_t *grows;
};
/* Sets the layouts of the states among the run-time arguments of u, and with `in_place` what they grow. Those of its callees are known. */
void arguments_of_states(const struct arguments *known, const struct hir_unit *u, bool in_place, const struct argument_draft *out);
#endif
