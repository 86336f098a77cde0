/* Builtins that take elements at places known only at run time. All but `gather` become a GATHER, whose result has the dims of the indices first. */
#include "backend/ir/tensor.h"
#include "backend/lower/state.h"

/* Moves the first `n` dims behind the `place` dims that follow them. */
static ir_ref move_first_dims(struct lower *l, ir_ref x, uint32_t n, uint32_t place)
{
	int64_t perm[HIR_MAX_RANK];
	uint32_t rank = ir_type_of(l->f, x)->rank;
	for (uint32_t k = 0; k < rank; k++)
		perm[k] = k < place ? n + k : k < place + n ? k - place : k;
	return ir_build_permute(l->b, x, perm);
}

void lower_bi_index_select(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0), index = lower_tensor(l, 2);
	uint32_t axis = (uint32_t)lower_int(l, 1);
	ir_ref taken = ir_build_gather(l->b, x, &index, (struct ir_gather){.mask = 1u << axis});
	r[0] = move_first_dims(l, taken, ir_type_of(l->f, index)->rank, axis);
}

static bool is_natural_constant(const struct ir_fn *f, ir_ref r)
{
	const struct ir_inst *i = ir_at(f, r);
	int64_t n = ir_type_count(f->dims, &i->type);
	for (int64_t k = 0; k < n; k++)
		if (elem_int(i->type.elem, ir_data(i)->data, k) < 0)
			return false;
	return true;
}

/* True if no element is negative, whatever the inputs are. */
static bool is_natural(const struct ir_fn *f, ir_ref r)
{
	const struct ir_inst *i = ir_at(f, r);
	switch (i->op) {
	case OP_CONST: return is_natural_constant(f, r);
	case OP_DIM:
	case OP_IOTA:
	case OP_ARGMAX:
	case OP_ARGMIN:
	case OP_SORT: return true;
	case OP_BROADCAST:
	case OP_RESHAPE:
	case OP_TRANSPOSE:
	case OP_SLICE: return is_natural(f, ir_operand(f, r, 0));
	case OP_CAST: return i->type.elem == DT_INT64 && is_natural(f, ir_operand(f, r, 0));
	default: return false;
	}
}

/* An index from -size to -1 counts from the end. Another one stays as it is, for the message. */
static ir_ref count_from_start(struct lower *l, ir_ref index, dim size)
{
	if (is_natural(l->f, index))
		return index;
	index = ir_build_cast(l->b, index, DT_INT64);
	ir_ref zero = ir_build_const_int(l->b, DT_INT64, 0);
	ir_ref sum = ir_build_op2(l->b, OP_ADD, index, ir_build_extent(l->b, size, DT_INT64));
	ir_ref is_negative = ir_build_op2(l->b, OP_LT, index, zero), is_inside = ir_build_op2(l->b, OP_LE, zero, sum);
	return ir_build_select(l->b, ir_build_op2(l->b, OP_AND, is_negative, is_inside), sum, index);
}

void lower_bi_index(struct lower *l, ir_ref *r)
{
	const struct hir_arg *items = NULL;
	ir_ref x = lower_tensor(l, 0), indices[HIR_MAX_RANK];
	const struct hir_type t = *ir_type_of(l->f, x);
	struct hir_type shape = {0};
	struct ir_gather g = {0};
	uint32_t rank = lower_list(l, 1, &items), n = 0;
	for (uint32_t k = 0; k < rank; k++) {
		if (items[k].kind == ARG_NONE)
			continue;
		g.mask |= 1u << k;
		indices[n] = count_from_start(l, l->values[items[k].u.tensor][0], t.dims[k]);
		shape = n ? ir_common_shape(l->b, &shape, ir_type_of(l->f, indices[n])) : *ir_type_of(l->f, indices[n]);
		n++;
	}
	for (uint32_t k = 0; k < n; k++)
		indices[k] = ir_build_broadcast(l->b, indices[k], &shape);
	r[0] = move_first_dims(l, ir_build_gather(l->b, x, indices, g), shape.rank, (uint32_t)lower_int(l, 2));
}

void lower_bi_narrow(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	uint32_t dims = 1u << lower_int(l, 1);
	r[0] = ir_build(l->b, OP_GATHER, &t, (ir_ref[]){lower_tensor(l, 0), lower_tensor(l, 2)}, 2);
	ir_set_gather(l->f, r[0], (struct ir_gather){.mask = dims, .windows = dims});
}

/* First slices x along other dimensions to the size of the index. */
void lower_bi_gather(struct lower *l, ir_ref *r)
{
	uint32_t axis = (uint32_t)lower_int(l, 1);
	struct hir_type t = lower_node_type(l);
	ir_ref operands[2] = {lower_tensor(l, 0), lower_tensor(l, 2)};
	for (uint32_t k = 0; k < t.rank; k++)
		if (k != axis && !dim_eq(ir_type_of(l->f, operands[0])->dims[k], t.dims[k]))
			operands[0] = ir_build_slice(l->b, operands[0], k, dim_const(l->f->dims, 0), 1, t.dims[k]);
	r[0] = ir_build_gather_dim(l->b, operands[0], operands[1], axis);
}

void lower_bi_embedding(struct lower *l, ir_ref *r)
{
	r[0] = ir_build_as(l->b, OP_EMBEDDING, NULL, (ir_ref[]){lower_tensor(l, 1), lower_tensor(l, 0)}, 2);
}
