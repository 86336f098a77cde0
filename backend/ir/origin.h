/* Where instructions come from. An origin is a node of a HIR unit and, if the unit was inlined, the origin of the call. Passes merge
 * instructions, so an instruction has a set of origins. An origin is a node and not a position, so moving a line changes nothing here.
 * No hash that decides a rebuild covers origins. */
#ifndef TRIB_BACKEND_IR_ORIGIN_H
#define TRIB_BACKEND_IR_ORIGIN_H
#include <stdint.h>
#include "frontend/hir/hir.h"

struct arena;
struct buf;

#define ORIGIN_NONE UINT32_MAX
struct origin {
	uint32_t unit; /* in origins.units */
	hir_ref node;
	uint32_t inlined_at; /* origin of the call that was inlined, or ORIGIN_NONE; it is before this one */
};
/* Sets have numbers. Equal sets of a table have the same number, and the empty set has 0. The first member of a set is the main one. */
typedef uint32_t origin_set;
#define ORIGINS_NONE 0
enum { MOST_ORIGINS = 64 /* of a set */ };
struct origins {
	struct arena *arena;
	const struct hir_unit **units;
	struct origin *list;
	uint32_t *members; /* of all sets */
	uint32_t *starts;  /* set s: members[starts[s]] … members[starts[s + 1] - 1] */
	uint32_t n_units, cap_units, n, cap, n_members, cap_members, n_sets, cap_sets;
	uint32_t *slots; /* hash table of sets, 0: empty */
	uint32_t n_slots;
};

struct origins *origins_new(struct arena *a);
/* Adds an origin that the table does not have, and returns the set of it alone. */
origin_set origins_add(struct origins *o, const struct hir_unit *unit, hir_ref node, uint32_t inlined_at);
/* Returns the set of all members of a, then of b. The set keeps the first MOST_ORIGINS. */
origin_set origins_union(struct origins *o, origin_set a, origin_set b);
/* Returns the members of a set, which are in o->list. */
static inline const uint32_t *origins_of(const struct origins *o, origin_set s, uint32_t *n)
{
	*n = o->starts[s + 1] - o->starts[s];
	return *n ? &o->members[o->starts[s]] : NULL;
}
static inline const struct hir_node *origin_node(const struct origins *o, uint32_t origin)
{
	return &o->units[o->list[origin].unit]->nodes[o->list[origin].node];
}
/* Returns the position of the main origin, or SPAN_NONE. */
span origins_span(const struct origins *o, origin_set s);

/* Returns a copy in `a` that can only be read. */
struct origins *origins_freeze(struct arena *a, const struct origins *o);
/* Appends the path of the layer that the origin is in, relative to that of the unit that it was inlined into: "layer1.0.conv1". */
void origin_print_layer(const struct origins *o, uint32_t origin, struct buf *out);
/* Returns what the node is in the source: "conv2d", "Block". */
const char *origin_operation(const struct origins *o, uint32_t origin);

/* Copies sets from one table to another. */
struct origins_copy {
	struct origins *to;
	const struct origins *from;
	uint32_t inlined_at; /* origin of `to`: `from` is of a unit that was inlined there; ORIGIN_NONE: it was not */
	uint32_t *copied;    /* for each origin of `from` its copy, or ORIGIN_NONE */
	origin_set *sets;    /* for each set of `from` its copy, 0: not copied yet */
};
struct origins_copy origins_copy_begin(struct arena *scratch, struct origins *to, const struct origins *from, origin_set inlined_at);
origin_set origins_copy_set(struct origins_copy *c, origin_set s);
#endif
