/* Run-time indices: all indices of a gather must be inside its table, even if the elements are not used. The nest that reads the
 * elements checks the indices that it visits. If it may skip some, because another of its loops has no iterations or only a slice is
 * used, a separate nest checks all indices. */
#include "backend/loops/build/build.h"

static bool is_never_empty(const struct builder *b, dim x) { return loops_is_nonnegative(b->dims, dim_sub(b->dims, x, b->one)); }

/* Returns 1 if extent x is 0, else 0. */
static dim range_is_empty(const struct builder *b, dim x)
{
	return is_never_empty(b, x) ? b->zero : dim_floordiv(b->dims, b->one, dim_add(b->dims, x, b->one));
}

static dim is_not_empty(const struct builder *b, dim x) { return dim_sub(b->dims, b->one, range_is_empty(b, x)); }

/* Finds the coordinates of the indices in the nest that reads their elements. Returns false if there is no such nest, or several. */
static bool index_coords(const struct builder *b, ir_ref v, const struct group **g, struct coords *out)
{
	const struct fused *f = &b->values[v];
	struct coords own;
	if (!f->stored && f->use != USE_ONE)
		return false;
	*g = &b->groups[f->stored ? f->first_group : f->group];
	coords_identity(b, ir_at(b->ir, v)->type.rank, &own);
	return coords_operand(b, v, 1, f->stored ? &own : f->coords, 0, out);
}

/* Stores the loops that run over the index, one for each dimension, as bits. Returns false if they do not visit every index. */
static bool index_loops(const struct builder *b, const struct group *g, const struct hir_type *index, const struct coords *c,
			uint32_t *loops)
{
	*loops = 0;
	for (uint32_t k = 0; k < c->rank; k++) {
		uint32_t loop = coord_single(b, &c->at[k]);
		if (dim_eq(index->dims[k], b->one) && loop == LOOP_NONE)
			continue;
		if (loop == LOOP_NONE || (*loops >> loop & 1) || !dim_eq(g->extent[loop], index->dims[k]))
			return false;
		*loops |= 1u << loop;
	}
	return true;
}

/* Returns 1 if another loop of the nest has no iterations, else 0. */
static dim other_loop_is_empty(const struct builder *b, const struct group *g, const struct coords *c, uint32_t loops)
{
	dim none = b->one;
	uint32_t n = g->n_parallel + (c->in_reduction ? g->n_reduce : 0u);
	for (uint32_t k = 0; k < n; k++)
		if (!(loops >> k & 1))
			none = dim_mul(b->dims, none, is_not_empty(b, g->extent[k]));
	return dim_sub(b->dims, b->one, none);
}

bool loops_needs_range_nest(const struct builder *b, ir_ref v, struct hir_type *space)
{
	const struct group *g;
	struct coords c;
	uint32_t loops;
	if (!ir_gathers(ir_at(b->ir, v)->op))
		return false;
	*space = ir_at(b->ir, ir_operand(b->ir, v, 1))->type;
	space->elem = DT_INT8;
	if (!index_coords(b, v, &g, &c) || !index_loops(b, g, space, &c, &loops))
		return true;
	dim when = other_loop_is_empty(b, g, &c, loops);
	if (dim_eq(when, b->zero))
		return false;
	if (space->rank == 0) {
		space->rank = 1;
		space->dims[0] = b->one;
	}
	space->dims[0] = dim_mul(b->dims, space->dims[0], when);
	return true;
}

dim gather_bound(const struct builder *b, ir_ref v, uint32_t k, struct ir_table_dim d)
{
	dim size = ir_at(b->ir, ir_operand(b->ir, v, 0))->type.dims[k];
	if (d.at == IR_NONE)
		return size;
	return dim_add(b->dims, dim_sub(b->dims, size, ir_at(b->ir, v)->type.dims[d.at]), b->one);
}

/* Returns 1 if a dim that v takes single elements of is empty, else 0. */
static dim has_empty_dim(const struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	const struct hir_type *table = &ir_at(b->ir, ir_operand(b->ir, v, 0))->type;
	struct ir_table_dim d[HIR_MAX_RANK];
	if (!ir_gathers(in->op))
		return range_is_empty(b, table->dims[ir_axis(in)->axis]);
	dim none = b->one;
	ir_table_dims_of(b->ir, v, d);
	for (uint32_t k = 0; k < table->rank; k++)
		if (d[k].index && d[k].at == IR_NONE)
			none = dim_mul(b->dims, none, is_not_empty(b, table->dims[k]));
	return dim_sub(b->dims, b->one, none);
}

dim loops_empty_index(const struct builder *b, ir_ref v)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	if (!ir_gathers(in->op) && in->op != OP_SCATTER && in->op != OP_SCATTER_ADD)
		return b->zero;
	const struct hir_type *index = &ir_at(b->ir, ir_operand(b->ir, v, 1))->type;
	dim misses = has_empty_dim(b, v);
	for (uint32_t k = 0; k < index->rank && !dim_eq(misses, b->zero); k++)
		misses = dim_mul(b->dims, misses, is_not_empty(b, index->dims[k]));
	return dim_sub(b->dims, b->zero, misses);
}
