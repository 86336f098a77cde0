/* Checking: lists of unknown length, as a loop over a size makes them. Such a list is poison, so that no rule relies on its length; a loop
 * over it and an index find the type of its elements. */
#ifndef TRIB_FRONTEND_ELAB_UNKNOWN_LIST_H
#define TRIB_FRONTEND_ELAB_UNKNOWN_LIST_H
#include "frontend/elab/join.h"

static inline bool is_unknown_list(struct value v) { return v.kind == V_POISON && v.u.element; }
/* A list with elements like `item` (V_VOID: none is known yet), in which the symbols from `first` on differ from element to element. */
struct value unknown_list(struct elab *e, struct value item, uint32_t first);
/* An element: its sizes that differ between elements are new symbols. Poison if v is no such list, or has elements of several kinds. */
struct value unknown_list_item(struct elab *e, struct value v);
/* The number of kinds that an element may be of: layers of different definitions; 0: nothing is known. An element of the kind. */
uint32_t unknown_list_kinds(struct value v);
struct value unknown_list_item_of(struct elab *e, struct value v, uint32_t kind);
/* A list of elements like those of a known list. */
struct value forget_length(struct elab *e, struct value list, uint32_t first);
/* Joins two lists of which one has unknown length. */
struct value join_unknown_lists(struct join *join, struct value a, struct value b);
/* `a + b`, `a * n` if an operand is an unknown list. False: it is something else. */
bool unknown_list_operator(struct elab *e, enum token_kind op, struct value a, struct value b, struct value *out);
/* A call of a builtin function with an unknown list: enumerate, zip, reversed, len, concat, stack, … False: it is something else. */
bool call_with_unknown_list(struct elab *e, struct value callee, const struct args *args, span at, struct value *out);
#endif
