/* The layouts in which units take and give tensors of rank 4. They are decided for a whole program before plans are made, so that a unit, its
 * callers and the threads that plan them agree.
 *
 * A unit's body decides, with the layouts of its callees: what operations that keep the channels connect with a convolution whose kernel is
 * channels-last, or with such an argument of a callee, is channels-last. Arguments of entries, and of the branches and bodies of `if` and
 * loops, are plain. So an edit can change the layouts of the edited unit and, by them, those of its callers. */
#ifndef TRIB_BACKEND_PASSES_ARGUMENTS_H
#define TRIB_BACKEND_PASSES_ARGUMENTS_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/ir.h"
#include "base/map.h"

struct hir_program;
struct target;

/* Bit k: run-time input or output k is channels-last. All others are plain. */
struct argument_layouts {
	uint32_t inputs, outputs;
};
/* Of every unit of a program. */
struct arguments {
	struct map layouts; /* hir_unit.identity → argument_layouts_code; never iterated */
};

/* Decides the layouts of p, for a target; a is empty. */
void arguments_decide(struct arguments *a, const struct target *t, const struct hir_program *p);
void arguments_free(struct arguments *a);
/* Returns the layouts of a unit; all are plain if `a` is NULL or does not have the unit. */
struct argument_layouts arguments_of(const struct arguments *a, const struct hir_unit *u);
/* Returns the layouts as a number, 0 if all are plain. */
static inline uint64_t argument_layouts_code(struct argument_layouts l) { return (uint64_t)l.outputs << 32 | l.inputs; }

static inline enum layout argument_layout(uint32_t mask, uint32_t k)
{
	return k < 32 && (mask >> k & 1) ? LAYOUT_CHANNELS_LAST : LAYOUT_PLAIN;
}
#endif
