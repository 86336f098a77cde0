#include "backend/plan/figures.h"
#include <string.h>

static const struct {
	const char *name;
	uint8_t level;
} listed[] = {
#define PROGRAM_PASS(id, text, level, needs, makes, breaks) {text, level},
#include "backend/passes/program/program_passes.def"
#undef PROGRAM_PASS
#define PASS(id, text, groups, level, needs, makes, breaks) {text, level},
#include "backend/passes/passes.def"
#undef PASS
#define LOOP_PASS(id, text, level, needs, makes, breaks) {text, level},
#include "backend/loops/loop_passes.def"
#undef LOOP_PASS
};
_Static_assert(sizeof listed / sizeof *listed == LISTED_PASSES, "one row for each pass");

const char *listed_pass_name(uint32_t k) { return listed[k].name; }
uint8_t listed_pass_level(uint32_t k) { return listed[k].level; }

uint32_t listed_pass_find(const char *name)
{
	uint32_t k = 0;
	while (k < LISTED_PASSES && strcmp(listed[k].name, name) != 0)
		k++;
	return k;
}
