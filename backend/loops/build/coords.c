/* Maps coordinates of a result to coordinates of its operands. */
#include "backend/loops/build/build.h"
#include <string.h>
#include "base/bug.h"

bool coords_eq(const struct coords *a, const struct coords *b)
{
	return a->rank == b->rank && a->in_reduction == b->in_reduction && memcmp(a->at, b->at, a->rank * sizeof a->at[0]) == 0;
}

static void coord_zero(const struct builder *b, struct coord *c)
{
	c->base = b->zero;
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		c->coef[k] = b->zero;
}

static void coord_loop(const struct builder *b, uint32_t loop, struct coord *c)
{
	coord_zero(b, c);
	c->coef[loop] = b->one;
}

/* out += scale·c */
static void coord_add(const struct builder *b, const struct coord *c, dim scale, struct coord *out)
{
	out->base = dim_add(b->dims, out->base, dim_mul(b->dims, c->base, scale));
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		if (!dim_eq(c->coef[k], b->zero))
			out->coef[k] = dim_add(b->dims, out->coef[k], dim_mul(b->dims, c->coef[k], scale));
}

void coords_identity(const struct builder *b, uint32_t rank, struct coords *out)
{
	memset(out, 0, sizeof *out);
	out->rank = rank;
	for (uint32_t k = 0; k < rank; k++)
		coord_loop(b, k, &out->at[k]);
}

void coords_strides(const struct builder *b, const struct hir_type *t, enum layout layout, dim *strides)
{
	dim s = b->one;
	uint32_t order[HIR_MAX_RANK];
	ir_layout_order(layout, t->rank, order);
	for (uint32_t i = t->rank; i-- > 0;) {
		strides[order[i]] = s;
		s = dim_mul(b->dims, s, t->dims[order[i]]);
	}
}

static bool coords_is_one(const struct builder *b, dim x) { return dim_eq(x, b->one); }

uint32_t coord_single(const struct builder *b, const struct coord *c)
{
	uint32_t loop = LOOP_NONE;
	if (!dim_eq(c->base, b->zero))
		return LOOP_NONE;
	for (uint32_t k = 0; k < LOOP_MAX; k++) {
		if (dim_eq(c->coef[k], b->zero))
			continue;
		if (loop != LOOP_NONE || !dim_eq(c->coef[k], b->one))
			return LOOP_NONE;
		loop = k;
	}
	return loop;
}

bool coords_cover(const struct builder *b, const struct group *g, const struct hir_type *t, const struct coords *c)
{
	uint32_t seen = 0;
	for (uint32_t k = 0; k < c->rank; k++) {
		if (coords_is_one(b, t->dims[k]))
			continue;
		uint32_t loop = coord_single(b, &c->at[k]);
		if (loop >= g->n_parallel || (seen >> loop & 1) || !dim_eq(g->extent[loop], t->dims[k]))
			return false;
		seen |= 1u << loop;
	}
	for (uint32_t k = 0; k < g->n_parallel; k++)
		if (!coords_is_one(b, g->extent[k]) && !(seen >> k & 1))
			return false;
	return true;
}

bool coords_outer(const struct builder *b, const struct group *g, const struct coords *c)
{
	bool free_seen = false;
	uint32_t n = g->n_parallel + (c->in_reduction ? g->n_reduce : 0);
	for (uint32_t k = 0; k < n; k++) {
		bool used = false;
		for (uint32_t i = 0; i < c->rank; i++)
			used |= !dim_eq(c->at[i].coef[k], b->zero);
		if (used && free_seen)
			return false;
		if (!used && !coords_is_one(b, g->extent[k]))
			free_seen = true;
	}
	return true;
}

/* Maps coordinates of the result `to` to the operand `from`. Equal dimensions map one to one; an operand's dimension may be split into
 * several. Returns false if dimensions are joined, which is not affine. */
static bool map_reshape(const struct builder *b, const struct hir_type *from, const struct hir_type *to, const struct coords *c,
			struct coords *out)
{
	uint32_t j = 0;
	for (uint32_t i = 0; i < from->rank; i++) {
		coord_zero(b, &out->at[i]);
		if (coords_is_one(b, from->dims[i]))
			continue;
		while (j < to->rank && coords_is_one(b, to->dims[j]))
			j++;
		uint32_t end = j;
		dim size = b->one;
		while (end < to->rank && !dim_eq(size, from->dims[i]))
			size = dim_mul(b->dims, size, to->dims[end++]);
		if (!dim_eq(size, from->dims[i]))
			return false;
		dim scale = b->one;
		for (uint32_t k = end; k-- > j;) {
			coord_add(b, &c->at[k], scale, &out->at[i]);
			scale = dim_mul(b->dims, scale, to->dims[k]);
		}
		j = end;
	}
	for (; j < to->rank; j++)
		if (!coords_is_one(b, to->dims[j]))
			return false;
	return true;
}

static void map_broadcast(const struct builder *b, const struct hir_type *from, const struct hir_type *to, const struct coords *c,
			  struct coords *out)
{
	uint32_t lead = to->rank - from->rank;
	for (uint32_t i = 0; i < from->rank; i++) {
		if (coords_is_one(b, from->dims[i]) && !dim_eq(from->dims[i], to->dims[lead + i]))
			coord_zero(b, &out->at[i]);
		else
			out->at[i] = c->at[lead + i];
	}
}

static void map_slice(const struct builder *b, const struct ir_inst *in, const struct coords *c, struct coords *out)
{
	const struct ir_slice *slice = ir_slice(in);
	for (uint32_t i = 0; i < c->rank; i++) {
		coord_zero(b, &out->at[i]);
		out->at[i].base = slice->start[i];
		coord_add(b, &c->at[i], dim_const(b->dims, slice->step[i]), &out->at[i]);
	}
}

static void map_window(const struct builder *b, const struct ir_inst *in, const struct coords *c, struct coords *out)
{
	const struct ir_window *window = ir_window(in);
	uint32_t inside = out->rank;
	for (uint32_t i = 0; i < out->rank; i++) {
		coord_zero(b, &out->at[i]);
		coord_add(b, &c->at[i], dim_const(b->dims, window->step[i]), &out->at[i]);
		if (!(window->mask >> i & 1))
			continue;
		coord_add(b, &c->at[inside], dim_const(b->dims, window->step[inside]), &out->at[i]);
		inside++;
	}
}

static void map_reduce(const struct builder *b, const struct ir_inst *in, uint32_t rank, const struct coords *c, uint32_t first_reduce,
		       struct coords *out)
{
	uint32_t mask = ir_axes(in)->mask;
	uint32_t kept = 0, reduced = first_reduce;
	for (uint32_t i = 0; i < rank; i++) {
		if (mask >> i & 1)
			coord_loop(b, reduced++, &out->at[i]);
		else
			out->at[i] = c->at[kept++];
	}
	BUG_ON(kept != c->rank);
}

bool coords_operand(const struct builder *b, ir_ref v, uint32_t k, const struct coords *c, uint32_t first_reduce, struct coords *out)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	const struct hir_type *from = &ir_at(b->ir, ir_operand(b->ir, v, k))->type;
	memset(out, 0, sizeof *out);
	out->rank = from->rank;
	out->in_reduction = c->in_reduction;
	switch (in->op) {
	case OP_CONVERT_LAYOUT: memcpy(out->at, c->at, from->rank * sizeof c->at[0]); return true;
	case OP_BROADCAST: map_broadcast(b, from, &in->type, c, out); return true;
	case OP_RESHAPE: return map_reshape(b, from, &in->type, c, out);
	case OP_TRANSPOSE:
		for (uint32_t i = 0; i < c->rank; i++)
			out->at[ir_perm(in)->perm[i]] = c->at[i];
		return true;
	case OP_SLICE: map_slice(b, in, c, out); return true;
	case OP_WINDOW: map_window(b, in, c, out); return true;
	case OP_GATHER:
	case OP_GATHER_DIM: /* the indices */ memcpy(out->at, c->at, from->rank * sizeof c->at[0]); return true;
	case OP_REDUCE_SUM:
	case OP_REDUCE_PROD:
	case OP_REDUCE_MAX:
	case OP_REDUCE_MIN:
	case OP_ARGMAX:
	case OP_ARGMIN:
		map_reduce(b, in, from->rank, c, first_reduce, out);
		out->in_reduction = 1;
		return true;
	case OP_MATMUL:
		memcpy(out->at, c->at, from->rank * sizeof c->at[0]);
		coord_loop(b, first_reduce, &out->at[k == 0 ? from->rank - 1 : from->rank - 2]);
		out->in_reduction = 1;
		return true;
	default:
		BUG_ON(!(ir_op_traits(in->op) & EWISE));
		memcpy(out->at, c->at, from->rank * sizeof c->at[0]);
		return true;
	}
}

uint32_t coords_reduce_extents(const struct builder *b, ir_ref v, dim *extents)
{
	const struct ir_inst *in = ir_at(b->ir, v);
	const struct hir_type *from = &ir_at(b->ir, ir_operand(b->ir, v, 0))->type;
	uint32_t n = 0;
	if (in->op == OP_MATMUL) {
		extents[n++] = from->dims[from->rank - 1];
		return n;
	}
	for (uint32_t i = 0; i < from->rank; i++)
		if (ir_axes(in)->mask >> i & 1)
			extents[n++] = from->dims[i];
	return n;
}
