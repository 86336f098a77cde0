/* Losses. float16 and bfloat16 are computed in float32 and rounded once. */
#include "backend/lower/state.h"

static uint32_t all_dims(struct lower *l, ir_ref x) { return (1u << ir_type_of(l->f, x)->rank) - 1; }

static ir_ref sum_all(struct lower *l, ir_ref x) { return ir_build_reduce(l->b, OP_REDUCE_SUM, x, all_dims(l, x), false); }

void lower_bi_mse_loss(struct lower *l, ir_ref *r)
{
	ir_ref away = ir_build_op2(l->b, OP_SUB, ir_build_widen(l->b, lower_tensor(l, 0)), ir_build_widen(l->b, lower_tensor(l, 1)));
	ir_ref square = ir_build_op2(l->b, OP_MUL, away, away);
	r[0] = lower_str_is(l, 2, "none")  ? square
	       : lower_str_is(l, 2, "sum") ? sum_all(l, square)
					   : ir_build_mean(l->b, square, all_dims(l, square), false);
}

/* ---- cross entropy ---- */

struct entropy {
	uint32_t classes;     /* the dimension */
	ir_ref log_p, weight; /* weight: [C, 1 …], or IR_NONE */
	double smoothing;
};

static ir_ref sum_classes(struct lower *l, const struct entropy *s, ir_ref x)
{
	return ir_build_reduce(l->b, OP_REDUCE_SUM, x, 1u << s->classes, false);
}

static ir_ref apply_class_weights(struct lower *l, const struct entropy *s, ir_ref x)
{
	return s->weight == IR_NONE ? x : ir_build_op2(l->b, OP_MUL, x, s->weight);
}

/* Reshapes [C] to [C, 1 …], so that it broadcasts along the classes. */
static ir_ref class_weights(struct lower *l, const struct entropy *s)
{
	ir_ref w = lower_tensor(l, 2);
	dim dims[HIR_MAX_RANK];
	if (w == IR_NONE)
		return w;
	uint32_t rank = ir_type_of(l->f, s->log_p)->rank - s->classes;
	for (uint32_t k = 0; k < rank; k++)
		dims[k] = k ? dim_const(l->f->dims, 1) : ir_type_of(l->f, w)->dims[0];
	return ir_build_reshape(l->b, ir_build_widen(l->b, w), dims, rank);
}

/* Takes element [.., index, ..] of x along the classes. `index` lacks that dimension. */
static ir_ref of_class(struct lower *l, const struct entropy *s, ir_ref x, ir_ref index)
{
	struct hir_type t = *ir_type_of(l->f, s->log_p), items = *ir_type_of(l->f, index);
	t.dims[s->classes] = dim_const(l->f->dims, 1);
	ir_ref y = ir_build_gather_dim(l->b, x, ir_build_reshape(l->b, index, t.dims, t.rank), s->classes);
	return ir_build_reshape(l->b, y, items.dims, items.rank);
}

/* Reduces the losses of the items. `share` is the weight of each item in a mean. */
static ir_ref reduce_items(struct lower *l, ir_ref items, ir_ref share)
{
	if (lower_str_is(l, 4, "none"))
		return items;
	ir_ref sum = sum_all(l, items);
	if (lower_str_is(l, 4, "sum"))
		return sum;
	return ir_build_op2(l->b, OP_DIV, sum,
			    share == IR_NONE ? ir_build_count(l->b, items, all_dims(l, items), ir_type_of(l->f, items)->elem) : share);
}

/* Smoothing adds eps/C to every class. An ignored item reads class 0 and has weight 0. */
static ir_ref of_indices(struct lower *l, const struct entropy *s, ir_ref target)
{
	dtype e = ir_type_of(l->f, s->log_p)->elem;
	ir_ref zero = ir_build_const_float(l->b, e, 0), one = ir_build_const_float(l->b, e, 1);
	target = ir_build_cast(l->b, target, DT_INT64);
	ir_ref counts = ir_build_op2(l->b, OP_NE, target, ir_build_const_int(l->b, DT_INT64, lower_int(l, 3)));
	ir_ref index = ir_build_select(l->b, counts, target, ir_build_const_int(l->b, DT_INT64, 0)), share = one;
	if (s->weight != IR_NONE)
		share = of_class(l, s, ir_build_broadcast(l->b, s->weight, ir_type_of(l->f, s->log_p)), index);
	share = ir_build_select(l->b, counts, share, zero);
	ir_ref items = ir_build_op2(l->b, OP_MUL, ir_build_op1(l->b, OP_NEG, of_class(l, s, s->log_p, index)), share);
	if (s->smoothing > 0) {
		ir_ref all = ir_build_op1(l->b, OP_NEG, sum_classes(l, s, apply_class_weights(l, s, s->log_p)));
		ir_ref part = ir_build_op2(l->b, OP_DIV, ir_build_const_float(l->b, e, s->smoothing),
					   ir_build_count(l->b, s->log_p, 1u << s->classes, e));
		ir_ref smooth = ir_build_op2(l->b, OP_MUL, ir_build_select(l->b, counts, all, zero), part);
		items = ir_build_op2(l->b, OP_ADD, ir_build_op2c(l->b, OP_MUL, items, 1 - s->smoothing), smooth);
	} else {
		items = ir_build_select(l->b, counts, items, zero);
	}
	return reduce_items(l, items, sum_all(l, share));
}

static ir_ref of_probabilities(struct lower *l, const struct entropy *s, ir_ref target)
{
	dtype e = ir_type_of(l->f, s->log_p)->elem;
	if (s->smoothing > 0) {
		ir_ref part = ir_build_op2(l->b, OP_DIV, ir_build_const_float(l->b, e, s->smoothing),
					   ir_build_count(l->b, s->log_p, 1u << s->classes, e));
		target = ir_build_op2(l->b, OP_ADD, ir_build_op2c(l->b, OP_MUL, target, 1 - s->smoothing), part);
	}
	ir_ref terms = apply_class_weights(l, s, ir_build_op2(l->b, OP_MUL, s->log_p, target));
	return reduce_items(l, ir_build_op1(l->b, OP_NEG, sum_classes(l, s, terms)), IR_NONE);
}

void lower_bi_cross_entropy(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0)), target = ir_build_widen(l->b, lower_tensor(l, 1));
	struct entropy s = {.classes = ir_type_of(l->f, x)->rank > 1, .smoothing = lower_float(l, 5)};
	s.log_p = lower_softmax(l, x, 1u << s.classes, true);
	s.weight = class_weights(l, &s);
	bool indices = dtype_class(ir_type_of(l->f, target)->elem) == DTC_INT;
	r[0] = indices ? of_indices(l, &s, target) : of_probabilities(l, &s, target);
}
