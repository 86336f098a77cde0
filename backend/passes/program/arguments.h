/* How units take and give their run-time tensors. It is decided for a whole program before plans are made, so that a unit, its callers and the
 * threads that plan them agree.
 *
 * Tensors of rank 4: a unit's body decides, with the layouts of its callees: what operations that keep the channels connect with a convolution
 * whose kernel is channels-last, or with such an argument of a callee, is channels-last. Arguments of entries, and of the branches and bodies of
 * `if` and loops, are plain. So an edit can change the layouts of the edited unit and, by them, those of its callers.
 *
 * States are stored along the dim that grows, so that the filled part is a prefix of their memory. An output that is such an input with rows appended
 * *grows* it: both have the same memory, which has room for the output, and the unit writes only the new rows. On devices it has its own. */
#ifndef TRIB_BACKEND_PASSES_PROGRAM_ARGUMENTS_H
#define TRIB_BACKEND_PASSES_PROGRAM_ARGUMENTS_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/ir.h"
#include "base/map.h"

struct arena;
struct hir_program;
struct target;

/* Of the inputs and outputs of a unit that are known only at run time, in order. */
struct argument_layouts {
	uint32_t n_inputs, n_outputs;
	const uint8_t *inputs, *outputs; /* enum layout */
	const uint32_t *grows;           /* for each output the input that it grows, or IR_NONE */
};
/* Of every unit of a program. */
struct arguments {
	struct map layouts;   /* hir_unit.identity → address of its struct argument_layouts, if not all is plain; never iterated */
	struct arena *memory; /* of them */
};

/* Decides the layouts of p, for a target; a is empty. */
void arguments_decide(struct arguments *a, const struct target *t, const struct hir_program *p);
void arguments_free(struct arguments *a);
/* Returns the layouts of a unit; without arguments if all are plain, if `a` is NULL or does not have the unit. */
struct argument_layouts arguments_of(const struct arguments *a, const struct hir_unit *u);
/* Returns the layouts as a number, 0 if all are plain. */
uint64_t argument_layouts_code(struct argument_layouts l);

static inline enum layout argument_input(struct argument_layouts l, uint32_t k)
{
	return k < l.n_inputs ? (enum layout)l.inputs[k] : LAYOUT_PLAIN;
}
static inline enum layout argument_output(struct argument_layouts l, uint32_t k)
{
	return k < l.n_outputs ? (enum layout)l.outputs[k] : LAYOUT_PLAIN;
}
static inline uint32_t argument_grows(struct argument_layouts l, uint32_t k) { return k < l.n_outputs ? l.grows[k] : IR_NONE; }
#endif
