/* Makes entries of the units that an entry calls, so that each can be run alone: of trib bench. */
#ifndef TRIB_BUILDER_BUILD_MODEL_UNIT_ENTRIES_H
#define TRIB_BUILDER_BUILD_MODEL_UNIT_ENTRIES_H
#include <stdbool.h>
#include "frontend/hir/hir.h"

struct arena;

#define UNIT_ENTRIES_MOST 512

/* True if the node is a call that can be an entry: its build-time inputs are parameters, and it has neither effects nor states that grow. */
bool unit_entries_has(const struct hir_unit *u, const struct hir_node *call);
/* True if such a callee is no entry itself but its calls are: one of them is a unit of its own that calls others. So a stack of blocks becomes its blocks. */
bool unit_entries_expands(const struct hir_unit *callee);
/* Returns the program with the calls of `entry` as entries unit_0, unit_1 …, in the order of the nodes; `p` itself if there are none. In `a`. */
struct hir_program *unit_entries_make(struct arena *a, struct hir_program *p, uint32_t entry);
#endif
