/* Gathers: loads at computed places. */
#include "backend/loops/build/nest.h"

/* The place along dim k of the table of gather v, checked. */
static uint32_t nest_gather_put_place(struct nest_builder *n, ir_ref v, uint32_t k, struct ir_table_dim d, const struct coords *c)
{
	const struct builder *b = n->b;
	struct loop_expr e = nest_expr(b, LOOP_CHECK, DT_INT64, c->in_reduction);
	struct coords ic;
	coords_operand(b, v, d.index, c, 0, &ic);
	e.args[0] = nest_put_cast(n, nest_eval(n, ir_operand(b->ir, v, d.index), &ic), DT_INT64);
	e.extent = gather_bound(b, v, k, d);
	return nest_put(n, e);
}

static uint32_t put_sum(struct nest_builder *n, uint32_t a, uint32_t b, bool in_reduction)
{
	return a == LOOP_NONE ? b : nest_put_op(n, OP_ADD, DT_INT64, in_reduction, (uint32_t[]){a, b}, 2);
}

/* One place is scaled by the access itself; of several the access has the sum of their offsets. */
static void nest_gather_put_index(struct nest_builder *n, uint32_t place, dim stride, struct loop_access *a, bool is_only,
				  bool in_reduction)
{
	if (is_only) {
		a->index = place;
		a->scale = stride;
		return;
	}
	uint32_t offset = nest_put_op(n, OP_MUL, DT_INT64, in_reduction, (uint32_t[]){place, nest_put_extent(n, stride, in_reduction)}, 2);
	a->index = put_sum(n, a->index, offset, in_reduction);
	a->scale = n->b->one;
}

uint32_t nest_gather(struct nest_builder *n, ir_ref v, const struct coords *c)
{
	const struct builder *b = n->b;
	ir_ref table = ir_operand(b->ir, v, 0);
	const struct hir_type *t = &ir_at(b->ir, table)->type;
	struct ir_table_dim d[HIR_MAX_RANK];
	dim strides[HIR_MAX_RANK];
	struct loop_expr e = nest_expr(b, LOOP_LOAD, t->elem, c->in_reduction);
	ir_table_dims_of(b->ir, v, d);
	coords_strides(b, t, LAYOUT_PLAIN, strides);
	for (uint32_t k = 0; k < t->rank; k++) {
		if (d[k].at != IR_NONE)
			nest_access_add(b, &e.access, &c->at[d[k].at], strides[k]);
		if (d[k].index)
			nest_gather_put_index(n, nest_gather_put_place(n, v, k, d[k], c), strides[k], &e.access,
					      ir_at(b->ir, v)->n_operands == 2, c->in_reduction);
	}
	e.access.buffer = b->buffer[ir_below_reshapes(b->ir, table)];
	return nest_put(n, e);
}

uint32_t nest_range(struct nest_builder *n, ir_ref v)
{
	const struct builder *b = n->b;
	struct ir_table_dim d[HIR_MAX_RANK];
	struct coords c;
	uint32_t sum = LOOP_NONE;
	ir_table_dims_of(b->ir, v, d);
	coords_identity(b, ir_at(b->ir, ir_operand(b->ir, v, 1))->type.rank, &c);
	for (uint32_t k = 0; k < ir_at(b->ir, ir_operand(b->ir, v, 0))->type.rank; k++)
		if (d[k].index)
			sum = put_sum(n, sum, nest_gather_put_place(n, v, k, d[k], &c), false);
	return nest_put_cast(n, sum, DT_INT8);
}
