/* Losses. float16 and bfloat16 are computed in float32 and rounded once. */
#include "backend/lower/state.h"

static uint32_t all_dims(struct lower *l, ir_ref x) { return (1u << lower_of(l, x)->rank) - 1; }

static ir_ref sum_all(struct lower *l, ir_ref x) { return lower_reduce(l, OP_REDUCE_SUM, x, all_dims(l, x), false); }

void lower_bi_mse_loss(struct lower *l, ir_ref *r)
{
	ir_ref away = lower_op2(l, OP_SUB, lower_widen(l, lower_tensor(l, 0)), lower_widen(l, lower_tensor(l, 1)));
	ir_ref square = lower_op2(l, OP_MUL, away, away);
	r[0] = lower_str_is(l, 2, "none")  ? square
	       : lower_str_is(l, 2, "sum") ? sum_all(l, square)
					   : lower_mean(l, square, all_dims(l, square), false);
}

/* ---- cross entropy ---- */

struct entropy {
	uint32_t classes;     /* the dimension */
	ir_ref log_p, weight; /* weight: [C, 1 …], or IR_NONE */
	double smoothing;
};

static ir_ref sum_classes(struct lower *l, const struct entropy *s, ir_ref x)
{
	return lower_reduce(l, OP_REDUCE_SUM, x, 1u << s->classes, false);
}

static ir_ref apply_class_weights(struct lower *l, const struct entropy *s, ir_ref x)
{
	return s->weight == IR_NONE ? x : lower_op2(l, OP_MUL, x, s->weight);
}

/* Reshapes [C] to [C, 1 …], so that it broadcasts along the classes. */
static ir_ref class_weights(struct lower *l, const struct entropy *s)
{
	ir_ref w = lower_tensor(l, 2);
	dim dims[HIR_MAX_RANK];
	if (w == IR_NONE)
		return w;
	uint32_t rank = lower_of(l, s->log_p)->rank - s->classes;
	for (uint32_t k = 0; k < rank; k++)
		dims[k] = k ? dim_const(l->f->dims, 1) : lower_of(l, w)->dims[0];
	return lower_reshape(l, lower_widen(l, w), dims, rank);
}

/* Takes element [.., index, ..] of x along the classes. `index` lacks that dimension. */
static ir_ref of_class(struct lower *l, const struct entropy *s, ir_ref x, ir_ref index)
{
	struct hir_type t = *lower_of(l, s->log_p), items = *lower_of(l, index);
	t.dims[s->classes] = dim_const(l->f->dims, 1);
	ir_ref y = lower_gather_dim(l, x, lower_reshape(l, index, t.dims, t.rank), s->classes);
	return lower_reshape(l, y, items.dims, items.rank);
}

/* Reduces the losses of the items. `share` is the weight of each item in a mean. */
static ir_ref reduce_items(struct lower *l, ir_ref items, ir_ref share)
{
	if (lower_str_is(l, 4, "none"))
		return items;
	ir_ref sum = sum_all(l, items);
	if (lower_str_is(l, 4, "sum"))
		return sum;
	return lower_op2(l, OP_DIV, sum, share == IR_NONE ? lower_count(l, items, all_dims(l, items), lower_of(l, items)->elem) : share);
}

/* Smoothing adds eps/C to every class. An ignored item reads class 0 and has weight 0. */
static ir_ref of_indices(struct lower *l, const struct entropy *s, ir_ref target)
{
	dtype e = lower_of(l, s->log_p)->elem;
	ir_ref zero = lower_const_float(l, e, 0), one = lower_const_float(l, e, 1);
	target = lower_cast(l, target, DT_INT64);
	ir_ref counts = lower_op2(l, OP_NE, target, lower_const_int(l, DT_INT64, lower_int(l, 3)));
	ir_ref index = lower_select(l, counts, target, lower_const_int(l, DT_INT64, 0)), share = one;
	if (s->weight != IR_NONE)
		share = of_class(l, s, lower_broadcast(l, s->weight, lower_of(l, s->log_p)), index);
	share = lower_select(l, counts, share, zero);
	ir_ref items = lower_op2(l, OP_MUL, lower_op1(l, OP_NEG, of_class(l, s, s->log_p, index)), share);
	if (s->smoothing > 0) {
		ir_ref all = lower_op1(l, OP_NEG, sum_classes(l, s, apply_class_weights(l, s, s->log_p)));
		ir_ref part = lower_op2(l, OP_DIV, lower_const_float(l, e, s->smoothing), lower_count(l, s->log_p, 1u << s->classes, e));
		ir_ref smooth = lower_op2(l, OP_MUL, lower_select(l, counts, all, zero), part);
		items = lower_op2(l, OP_ADD, lower_op2c(l, OP_MUL, items, 1 - s->smoothing), smooth);
	} else {
		items = lower_select(l, counts, items, zero);
	}
	return reduce_items(l, items, sum_all(l, share));
}

static ir_ref of_probabilities(struct lower *l, const struct entropy *s, ir_ref target)
{
	dtype e = lower_of(l, s->log_p)->elem;
	if (s->smoothing > 0) {
		ir_ref part = lower_op2(l, OP_DIV, lower_const_float(l, e, s->smoothing), lower_count(l, s->log_p, 1u << s->classes, e));
		target = lower_op2(l, OP_ADD, lower_op2c(l, OP_MUL, target, 1 - s->smoothing), part);
	}
	ir_ref terms = apply_class_weights(l, s, lower_op2(l, OP_MUL, s->log_p, target));
	return reduce_items(l, lower_op1(l, OP_NEG, sum_classes(l, s, terms)), IR_NONE);
}

void lower_bi_cross_entropy(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_widen(l, lower_tensor(l, 0)), target = lower_widen(l, lower_tensor(l, 1));
	struct entropy s = {.classes = lower_of(l, x)->rank > 1, .smoothing = lower_float(l, 5)};
	s.log_p = lower_log_softmax(l, x, 1u << s.classes);
	s.weight = class_weights(l, &s);
	bool indices = dtype_class(lower_of(l, target)->elem) == DTC_INT;
	r[0] = indices ? of_indices(l, &s, target) : of_probabilities(l, &s, target);
}
