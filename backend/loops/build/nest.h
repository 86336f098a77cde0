/* Private to nest*.c: a nest under construction. */
#ifndef TRIB_BACKEND_LOOPS_BUILD_NEST_H
#define TRIB_BACKEND_LOOPS_BUILD_NEST_H
#include "backend/loops/build/build.h"
#include "base/vec.h"

struct memo {
	ir_ref value;
	const struct coords *coords;
	uint32_t expr;
};
struct nest_builder {
	struct builder *b;
	const struct group *group;
	VEC(struct loop_expr) exprs;
	VEC(struct loop_reduction) reductions;
	VEC(struct memo) memo;
	VEC(uint32_t) values; /* computed by the nest */
};

/* nest.c: adds the element of v at the coordinates, and returns its expression. */
uint32_t nest_eval(struct nest_builder *n, ir_ref v, const struct coords *c);

/* ---- nest_gather.c ---- */
uint32_t nest_gather(struct nest_builder *n, ir_ref v, const struct coords *c);
/* The sum of the places of gather v, which is not used: only their checks count. */
uint32_t nest_range(struct nest_builder *n, ir_ref v);

/* ---- nest_exprs.c ---- */
void nest_access_add(const struct builder *b, struct loop_access *a, const struct coord *c, dim scale);
void nest_access_at(const struct builder *b, const struct hir_type *t, enum layout layout, const struct coords *c, struct loop_access *a);
/* Returns an expression whose dims are all 0. */
struct loop_expr nest_expr(const struct builder *b, enum loop_expr_kind kind, dtype elem, bool in_reduction);
/* Each adds an expression, and returns its number. */
uint32_t nest_put(struct nest_builder *n, struct loop_expr e);
uint32_t nest_put_int(struct nest_builder *n, dtype elem, int64_t i, bool in_reduction);
uint32_t nest_put_op(struct nest_builder *n, enum ir_op op, dtype elem, bool in_reduction, const uint32_t *args, uint32_t n_args);
uint32_t nest_put_cast(struct nest_builder *n, uint32_t value, dtype elem);
uint32_t nest_put_extent(struct nest_builder *n, dim x, bool in_reduction);
/* The value of a coordinate, an int64. */
uint32_t nest_put_coord(struct nest_builder *n, const struct coord *c, bool in_reduction);
#endif
