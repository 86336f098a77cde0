/* The passes of all lists, numbered in one order: over programs, tensor IR, loop IR. What they have cost and changed. */
#ifndef TRIB_BACKEND_PLAN_FIGURES_H
#define TRIB_BACKEND_PLAN_FIGURES_H
#include "backend/loops/loop_passes.h"
#include "backend/passes/passes.h"
#include "backend/passes/program/program_passes.h"

enum {
	FIRST_TENSOR_PASS = PROGRAM_PASS_COUNT,
	FIRST_LOOP_PASS = FIRST_TENSOR_PASS + PASS_COUNT,
	LISTED_PASSES = FIRST_LOOP_PASS + LOOP_PASS_COUNT
};

struct plan_figures {
	struct pass_figures of[LISTED_PASSES];
};
const char *listed_pass_name(uint32_t k);
uint8_t listed_pass_level(uint32_t k); /* the lowest -O that runs it */
/* Returns the number of the pass of this name; LISTED_PASSES: there is none. */
uint32_t listed_pass_find(const char *name);
#endif
