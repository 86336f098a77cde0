/* Rules of network builtins that are composed of others: losses, gates, windows. */
#include <string.h>
#include "frontend/rules/builtin.h"

/* ---- losses ---- */

static struct value compose_distance(struct emitter *e, struct builtin_call *c)
{
	return COMPOSE(BI_ABS, COMPOSE(BI_SUB, value_tensor(c->operand[0]), value_tensor(c->operand[1])));
}

struct value rule_l1_loss(struct emitter *e, struct builtin_call *c) { return reduce_loss(e, c, 2, compose_distance(e, c)); }

/* d²/2 below `width`, width · (d - width/2) above it; divided by width for smooth_l1_loss. */
struct value rule_huber_loss(struct emitter *e, struct builtin_call *c)
{
	double width;
	struct value d = compose_distance(e, c);
	if (!is_tensor(d) || !need_float_value(e, c, 3, &width))
		return VALUE_POISON;
	double scale = c->bi == BI_HUBER_LOSS ? 1 : 1 / width;
	if (width == 0)
		return reduce_loss(e, c, 2, d);
	struct value near = COMPOSE(BI_MUL, COMPOSE(BI_MUL, d, d), value_float(0.5 * scale));
	struct value far = COMPOSE(BI_MUL, COMPOSE(BI_SUB, d, value_float(0.5 * width)), value_float(width * scale));
	return reduce_loss(e, c, 2, COMPOSE(BI_WHERE, COMPOSE(BI_LT, d, value_float(width)), near, far));
}

static struct value apply_weight(struct emitter *e, struct builtin_call *c, struct value loss)
{
	return c->v[2].kind == V_NONE ? loss : COMPOSE(BI_MUL, loss, c->v[2]);
}

/* Logarithms are at least -100, as in PyTorch. */
struct value rule_binary_cross_entropy(struct emitter *e, struct builtin_call *c)
{
	struct value p = value_tensor(c->operand[0]), t = value_tensor(c->operand[1]), one = value_float(1);
	struct value yes = COMPOSE(BI_CLIP, COMPOSE(BI_LOG, p), value_float(-100));
	struct value no = COMPOSE(BI_CLIP, COMPOSE(BI_LOG, COMPOSE(BI_SUB, one, p)), value_float(-100));
	struct value sum = COMPOSE(BI_ADD, COMPOSE(BI_MUL, t, yes), COMPOSE(BI_MUL, COMPOSE(BI_SUB, one, t), no));
	return reduce_loss(e, c, 3, apply_weight(e, c, COMPOSE(BI_NEG, sum)));
}

/* max(x, 0) - x·t + log(1 + exp(-|x|)); pos_weight is a factor of the positive part. */
struct value rule_binary_cross_entropy_with_logits(struct emitter *e, struct builtin_call *c)
{
	struct value x = value_tensor(c->operand[0]), t = value_tensor(c->operand[1]), one = value_float(1);
	struct value tail = COMPOSE(BI_LOG1P, COMPOSE(BI_EXP, COMPOSE(BI_NEG, COMPOSE(BI_ABS, x))));
	struct value soft = COMPOSE(BI_ADD, tail, COMPOSE(BI_RELU, COMPOSE(BI_NEG, x)));
	if (c->v[4].kind != V_NONE)
		soft = COMPOSE(BI_MUL, soft, COMPOSE(BI_ADD, one, COMPOSE(BI_MUL, COMPOSE(BI_SUB, c->v[4], one), t)));
	struct value loss = COMPOSE(BI_ADD, COMPOSE(BI_MUL, COMPOSE(BI_SUB, one, t), x), soft);
	return reduce_loss(e, c, 3, apply_weight(e, c, loss));
}

/* The input is logarithms. A target of 0 adds nothing. "batchmean" divides by the size of the first dimension. */
struct value rule_kl_div(struct emitter *e, struct builtin_call *c)
{
	bool logs;
	struct value x = value_tensor(c->operand[0]), t = value_tensor(c->operand[1]), loss;
	if (!need_bool(e, c, 3, &logs))
		return VALUE_POISON;
	if (logs) {
		loss = COMPOSE(BI_MUL, COMPOSE(BI_EXP, t), COMPOSE(BI_SUB, t, x));
	} else {
		struct value positive = COMPOSE(BI_GT, t, value_float(0)), safe = COMPOSE(BI_WHERE, positive, t, value_float(1));
		loss = COMPOSE(BI_MUL, t, COMPOSE(BI_SUB, COMPOSE(BI_LOG, safe), x));
	}
	if (c->v[2].kind != V_STR || strcmp(c->v[2].u.s, "batchmean") || !is_tensor(loss) || !rank_of(e, loss))
		return reduce_loss(e, c, 2, loss);
	return COMPOSE(BI_DIV, COMPOSE(BI_SUM, loss), value_dim(e->b->dims, type_of(e, loss.u.t)->dims[0]));
}

/* The input is logarithms of probabilities, with the classes in dimension 1, or 0 of a vector. An item of class `ignore_index` has weight 0; the mean is over
 * the sum of the weights. */
struct value rule_nll_loss(struct emitter *e, struct builtin_call *c)
{
	static const char *const words[] = {"none", "mean", "sum"};
	uint32_t reduction;
	struct value x = value_tensor(c->operand[0]), t = value_tensor(c->operand[1]);
	if (!need_word(e, c, 4, words, 3, &reduction))
		return VALUE_POISON;
	if (dtype_class(type_of(e, t.u.t)->elem) != DTC_INT)
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[1], "the target must be class indices (integers), not %s",
				  type_text(e, t.u.t));
	struct value classes = value_int(rank_of(e, x) > 1), counts = COMPOSE(BI_NE, t, c->v[3]);
	struct value at = COMPOSE(BI_WHERE, counts, t, value_int(0));
	struct value weight = c->v[2].kind == V_NONE
				      ? COMPOSE(BI_ONES_LIKE, t, ((struct value){.kind = V_DTYPE, .u.dt = type_of(e, x.u.t)->elem}))
				      : COMPOSE(BI_EMBEDDING, at, COMPOSE(BI_UNSQUEEZE, c->v[2], value_int(-1)));
	if (c->v[2].kind != V_NONE)
		weight = COMPOSE(BI_SQUEEZE, weight, value_int(-1));
	weight = COMPOSE(BI_WHERE, counts, weight, value_float(0));
	struct value picked = COMPOSE(BI_SQUEEZE, COMPOSE(BI_GATHER, x, classes, COMPOSE(BI_UNSQUEEZE, at, classes)), classes);
	struct value loss = COMPOSE(BI_NEG, COMPOSE(BI_MUL, picked, weight));
	if (!reduction)
		return loss;
	struct value sum = COMPOSE(BI_SUM, loss);
	return reduction == 1 ? COMPOSE(BI_DIV, sum, COMPOSE(BI_SUM, weight)) : sum;
}

/* ---- gates ---- */

struct value rule_glu(struct emitter *e, struct builtin_call *c)
{
	struct value parts = COMPOSE(BI_CHUNK, c->v[0], value_int(2), c->v[1]);
	if (parts.kind != V_TUPLE || parts.u.seq->n != 2)
		return is_poison(parts) ? parts : rule_error(e, c, DIAG_SHAPE, c->at, "the size of the dimension must be even");
	return COMPOSE(BI_MUL, parts.u.seq->at[0], COMPOSE(BI_SIGMOID, parts.u.seq->at[1]));
}

/* One slope, or one for each channel (dimension 1). */
struct value rule_prelu(struct emitter *e, struct builtin_call *c)
{
	struct value x = value_tensor(c->operand[0]), w = value_tensor(c->operand[1]);
	int64_t n;
	struct hir_type t = *type_of(e, w.u.t);
	bool one = !t.rank || (dim_is_const(e->b->dims, t.dims[0], &n) && n == 1);
	if (!one && rank_of(e, x) > 1) {
		t.rank = (uint8_t)(rank_of(e, x) - 1);
		for (uint32_t k = 1; k < t.rank; k++)
			t.dims[k] = dim_const(e->b->dims, 1);
		w = emit_reshape(e, w.u.t, &t, c->at);
	}
	return COMPOSE(BI_WHERE, COMPOSE(BI_GT, x, value_int(0)), x, COMPOSE(BI_MUL, w, x));
}

enum { IN_MEAN = 1, IN_VAR, IN_WEIGHT, IN_BIAS, IN_INPUT_STATS, IN_MOMENTUM, IN_EPS };

/* A group_norm with one channel per group; a batch_norm if it uses running statistics. */
struct value rule_instance_norm(struct emitter *e, struct builtin_call *c)
{
	bool own;
	int64_t channels;
	struct value x = value_tensor(c->operand[0]);
	if (!need_bool(e, c, IN_INPUT_STATS, &own))
		return VALUE_POISON;
	if (!own)
		return COMPOSE(BI_BATCH_NORM, x, c->v[IN_MEAN], c->v[IN_VAR], c->v[IN_WEIGHT], c->v[IN_BIAS], value_bool(false), VALUE_NONE,
			       c->v[IN_EPS]);
	if (rank_of(e, x) < 2)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "needs a tensor [N, C, …], not %s", type_text(e, x.u.t));
	if (!need_const_size(e, c, c->ats[0], type_of(e, x.u.t)->dims[1], "the number of channels", &channels))
		return VALUE_POISON;
	return COMPOSE(BI_GROUP_NORM, x, value_int(channels), c->v[IN_WEIGHT], c->v[IN_BIAS], c->v[IN_EPS]);
}

/* ---- windows ---- */

/* Reshapes x to `split`, permutes its dimensions by `order`, and reshapes the result to `joined`. */
static struct value split_permute_join(struct emitter *e, hir_ref x, const struct hir_type *split, const uint32_t *order,
				       const struct hir_type *joined, span at)
{
	struct value v = emit_permute(e, emit_reshape(e, x, split, at).u.t, order, at);
	return emit_reshape(e, v.u.t, joined, at);
}

/* pixel_shuffle: [C·r·r, H, W] to [C, H·r, W·r]; pixel_unshuffle: the inverse. */
struct value rule_pixel_shuffle(struct emitter *e, struct builtin_call *c)
{
	static const uint32_t up[] = {0, 3, 1, 4, 2}, down[] = {0, 2, 4, 1, 3};
	int64_t r, rest;
	hir_ref x = c->operand[0];
	if (!need_int(e, c, 1, &r))
		return VALUE_POISON;
	struct dims *d = e->b->dims;
	struct hir_type t = *type_of(e, x), split = t, joined = t;
	bool grows = c->bi == BI_PIXEL_SHUFFLE;
	if (t.rank < 3 || t.rank + 2 > HIR_MAX_RANK || r < 1)
		return rule_error(e, c, DIAG_RANK, c->at, "needs a tensor [.., C, H, W] and a factor of at least 1");
	uint32_t at = t.rank - 3u, order[HIR_MAX_RANK];
	dim f = dim_const(d, r), area = dim_const(d, r * r), *n = &t.dims[at];
	for (uint32_t k = grows ? 0 : 1; k < (grows ? 1u : 3u); k++)
		if (dim_is_const(d, dim_mod(d, n[k], grows ? area : f), &rest) && rest)
			return rule_error(e, c, DIAG_SHAPE, c->ats[0], "the shape %s is not divisible by the factor %lld",
					  shape_text(e, &t), (long long)r);
	dim to[3] = {grows ? dim_floordiv(d, n[0], area) : dim_mul(d, n[0], area), grows ? dim_mul(d, n[1], f) : dim_floordiv(d, n[1], f),
		     grows ? dim_mul(d, n[2], f) : dim_floordiv(d, n[2], f)};
	dim parts[5] = {grows ? to[0] : n[0], grows ? f : to[1], f, grows ? n[1] : to[2], grows ? n[2] : f};
	split.rank = (uint8_t)(t.rank + 2);
	for (uint32_t k = 0; k < 5; k++) {
		split.dims[at + k] = parts[k];
		order[at + k] = at + (grows ? up : down)[k];
	}
	for (uint32_t k = 0; k < at; k++)
		order[k] = k;
	for (uint32_t k = 0; k < 3; k++)
		joined.dims[at + k] = to[k];
	return split_permute_join(e, x, &split, order, &joined, c->at);
}

/* Makes the pair [first, v] of a number or a list of one number. */
static struct value composed_nn_add_height(struct emitter *e, struct value v, int64_t first)
{
	if (v.kind == V_NONE)
		return v;
	return LIST(value_int(first), value_is_seq(v) && v.u.seq->n ? v.u.seq->at[0] : v);
}

/* maxpool1d, avgpool1d: pooling of images of height 1. */
struct value rule_pool1d(struct emitter *e, struct builtin_call *c)
{
	struct value x = COMPOSE(BI_UNSQUEEZE, c->v[0], value_int(-2)), k = composed_nn_add_height(e, c->v[1], 1);
	struct value stride = composed_nn_add_height(e, c->v[2].kind == V_NONE ? c->v[1] : c->v[2], 1),
		     padding = composed_nn_add_height(e, c->v[3], 0);
	struct value y = c->bi == BI_MAXPOOL1D
				 ? COMPOSE(BI_MAXPOOL2D, x, k, stride, padding, composed_nn_add_height(e, c->v[4], 1), c->v[5])
				 : COMPOSE(BI_AVGPOOL2D, x, k, stride, padding, c->v[4], c->v[5]);
	return COMPOSE(BI_SQUEEZE, y, value_int(-2));
}

struct value rule_interpolate(struct emitter *e, struct builtin_call *c)
{
	struct value corners = c->v[4].kind == V_NONE ? value_bool(false) : c->v[4];
	return COMPOSE(BI_UPSAMPLE2D, c->v[0], c->v[2], c->v[1], c->v[3], corners);
}

/* [N, C, …]: the channels are a matrix of groups, which is transposed. */
struct value rule_channel_shuffle(struct emitter *e, struct builtin_call *c)
{
	static const uint32_t order[HIR_MAX_RANK] = {0, 2, 1, 3, 4, 5, 6, 7};
	int64_t groups, rest;
	hir_ref x = c->operand[0];
	struct hir_type t = *type_of(e, x), split = t;
	if (!need_int(e, c, 1, &groups))
		return VALUE_POISON;
	if (t.rank < 3 || t.rank == HIR_MAX_RANK || groups < 1)
		return rule_error(e, c, DIAG_RANK, c->at, "needs a tensor [N, C, …] and at least one group");
	dim n = dim_const(e->b->dims, groups);
	if (dim_is_const(e->b->dims, dim_mod(e->b->dims, t.dims[1], n), &rest) && rest)
		return rule_error(e, c, DIAG_SHAPE, c->ats[0], "the channels of %s are not divisible by %lld", shape_text(e, &t),
				  (long long)groups);
	split.rank++;
	split.dims[1] = n;
	split.dims[2] = dim_floordiv(e->b->dims, t.dims[1], n);
	for (uint32_t k = 2; k < t.rank; k++)
		split.dims[k + 1] = t.dims[k];
	return split_permute_join(e, x, &split, order, &t, c->at);
}

/* Divides by a power of the mean square of `size` channels around each one; there are zeros beyond the first and the last. */
struct value rule_local_response_norm(struct emitter *e, struct builtin_call *c)
{
	int64_t size;
	struct value x = value_tensor(c->operand[0]), square = COMPOSE(BI_MUL, x, x), sum = VALUE_NONE, around[2 * HIR_MAX_RANK];
	uint32_t rank = rank_of(e, x), pairs = rank - 1;
	if (!need_int(e, c, 1, &size))
		return VALUE_POISON;
	if (rank < 3 || size < 1)
		return rule_error(e, c, DIAG_RANK, c->at, "needs a tensor [N, C, …] and a size of at least 1");
	for (uint32_t k = 0; k < 2 * pairs; k++) /* of the last dimension first */
		around[k] = value_int(k + 2 < 2 * pairs ? 0 : k & 1 ? (size - 1) / 2 : size / 2);
	struct value padded = COMPOSE(BI_PAD, square, list_of(e, around, 2 * pairs)),
		     channels = value_dim(e->b->dims, type_of(e, x.u.t)->dims[1]);
	for (int64_t k = 0; k < size; k++) {
		struct value part = COMPOSE(BI_NARROW, padded, value_int(1), value_int(k), channels);
		sum = k ? COMPOSE(BI_ADD, sum, part) : part;
	}
	struct value mean = COMPOSE(BI_MUL, COMPOSE(BI_DIV, sum, value_float((double)size)), c->v[2]);
	return COMPOSE(BI_DIV, x, COMPOSE(BI_POW, COMPOSE(BI_ADD, mean, c->v[4]), c->v[3]));
}

struct value rule_adaptive_avgpool1d(struct emitter *e, struct builtin_call *c)
{
	struct value x = value_tensor(c->operand[0]), n = item_of(c->v[1], 0);
	if (rank_of(e, x) < 2 || rank_of(e, x) > 3)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "needs a tensor [C, L] or [N, C, L], not %s", type_text(e, x.u.t));
	x = COMPOSE(BI_ADAPTIVE_AVGPOOL2D, COMPOSE(BI_UNSQUEEZE, x, value_int(-2)), LIST(value_int(1), n));
	return COMPOSE(BI_SQUEEZE, x, value_int(-2));
}
