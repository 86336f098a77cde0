/* Rules of losses and distances that are composed of others. */
#include "frontend/rules/builtin.h"

static struct value composed_loss_operand(const struct builtin_call *c, uint32_t i) { return value_tensor(c->operand[i]); }

struct value reduce_loss(struct emitter *e, struct builtin_call *c, uint32_t i, struct value loss)
{
	static const char *const words[] = {"none", "mean", "sum"};
	uint32_t reduction;
	if (!need_word(e, c, i, words, 3, &reduction))
		return VALUE_POISON;
	return reduction ? COMPOSE(reduction == 1 ? BI_MEAN : BI_SUM, loss) : loss;
}

struct value rule_margin_ranking_loss(struct emitter *e, struct builtin_call *c)
{
	struct value wrong =
		COMPOSE(BI_MUL, composed_loss_operand(c, 2), COMPOSE(BI_SUB, composed_loss_operand(c, 1), composed_loss_operand(c, 0)));
	return reduce_loss(e, c, 4, COMPOSE(BI_RELU, COMPOSE(BI_ADD, wrong, c->v[3])));
}

/* A target of 1: the distance; of -1: what it lacks to the margin. */
struct value rule_hinge_embedding_loss(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_loss_operand(c, 0), t = composed_loss_operand(c, 1), zero = value_float(0);
	struct value lacks = COMPOSE(BI_RELU, COMPOSE(BI_SUB, c->v[2], x));
	lacks = COMPOSE(BI_WHERE, COMPOSE(BI_NE, t, value_float(1)), lacks, zero);
	return reduce_loss(e, c, 3, COMPOSE(BI_ADD, lacks, COMPOSE(BI_WHERE, COMPOSE(BI_NE, t, value_float(-1)), x, zero)));
}

struct value rule_soft_margin_loss(struct emitter *e, struct builtin_call *c)
{
	struct value wrong = COMPOSE(BI_NEG, COMPOSE(BI_MUL, composed_loss_operand(c, 1), composed_loss_operand(c, 0)));
	return reduce_loss(e, c, 2, COMPOSE(BI_LOG1P, COMPOSE(BI_EXP, wrong)));
}

/* One logistic loss for each label, of which the last dimension is the mean. */
struct value rule_multilabel_soft_margin_loss(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_loss_operand(c, 0), t = composed_loss_operand(c, 1), rest = COMPOSE(BI_SUB, value_float(1), t);
	struct value yes = COMPOSE(BI_MUL, t, COMPOSE(BI_LOGSIGMOID, x));
	struct value no = COMPOSE(BI_MUL, rest, COMPOSE(BI_LOGSIGMOID, COMPOSE(BI_NEG, x)));
	struct value loss = COMPOSE(BI_NEG, COMPOSE(BI_ADD, yes, no));
	if (c->v[2].kind != V_NONE)
		loss = COMPOSE(BI_MUL, loss, c->v[2]);
	return reduce_loss(e, c, 3, COMPOSE(BI_MEAN, loss, value_int(-1)));
}

/* `full` adds Stirling's formula for the logarithm of the factorial of targets above 1. */
struct value rule_poisson_nll_loss(struct emitter *e, struct builtin_call *c)
{
	bool logs, full;
	struct value x = composed_loss_operand(c, 0), t = composed_loss_operand(c, 1), loss;
	if (!need_bool(e, c, 2, &logs) || !need_bool(e, c, 3, &full))
		return VALUE_POISON;
	if (logs)
		loss = COMPOSE(BI_SUB, COMPOSE(BI_EXP, x), COMPOSE(BI_MUL, t, x));
	else
		loss = COMPOSE(BI_SUB, x, COMPOSE(BI_MUL, t, COMPOSE(BI_LOG, COMPOSE(BI_ADD, x, c->v[4]))));
	if (full) {
		struct value root = COMPOSE(BI_MUL, COMPOSE(BI_LOG, COMPOSE(BI_MUL, t, value_float(6.283185307179586))), value_float(0.5));
		struct value stirling = COMPOSE(BI_ADD, COMPOSE(BI_SUB, COMPOSE(BI_MUL, t, COMPOSE(BI_LOG, t)), t), root);
		stirling = COMPOSE(BI_WHERE, COMPOSE(BI_LE, t, value_float(1)), value_float(0), stirling);
		loss = COMPOSE(BI_ADD, loss, stirling);
	}
	return reduce_loss(e, c, 5, loss);
}

struct value rule_gaussian_nll_loss(struct emitter *e, struct builtin_call *c)
{
	bool full;
	struct value x = composed_loss_operand(c, 0), t = composed_loss_operand(c, 1), var = c->v[2], away = COMPOSE(BI_SUB, x, t);
	if (!need_bool(e, c, 3, &full) || !is_tensor(away) || is_poison(var))
		return VALUE_POISON;
	if (is_tensor(var) && rank_of(e, var) + 1 == rank_of(e, x))
		var = COMPOSE(BI_UNSQUEEZE, var, value_int(-1));
	var = COMPOSE(BI_MAXIMUM, var, c->v[4]);
	struct value loss = COMPOSE(BI_ADD, COMPOSE(BI_LOG, var), COMPOSE(BI_DIV, COMPOSE(BI_MUL, away, away), var));
	loss = COMPOSE(BI_MUL, loss, value_float(0.5));
	return reduce_loss(e, c, 5, full ? COMPOSE(BI_ADD, loss, value_float(0.9189385332046727)) : loss);
}

/* ---- distances ---- */

static struct value compose_pairwise(struct emitter *e, struct builtin_call *c, struct value a, struct value b, struct value p,
				     struct value eps, struct value keep)
{
	struct value away = COMPOSE(BI_ADD, COMPOSE(BI_SUB, a, b), eps);
	return COMPOSE(BI_NORM, away, p, value_int(-1), keep);
}

struct value rule_pairwise_distance(struct emitter *e, struct builtin_call *c)
{
	return compose_pairwise(e, c, composed_loss_operand(c, 0), composed_loss_operand(c, 1), c->v[2], c->v[3], c->v[4]);
}

struct value rule_dist(struct emitter *e, struct builtin_call *c) { return COMPOSE(BI_NORM, COMPOSE(BI_SUB, c->v[0], c->v[1]), c->v[2]); }

/* With `swap` the negative may be compared with the positive, if that is nearer. */
struct value rule_triplet_margin_loss(struct emitter *e, struct builtin_call *c)
{
	bool swap;
	struct value a = composed_loss_operand(c, 0), p = composed_loss_operand(c, 1), n = composed_loss_operand(c, 2),
		     keep = value_bool(false);
	if (!need_bool(e, c, 6, &swap))
		return VALUE_POISON;
	struct value near = compose_pairwise(e, c, a, p, c->v[4], c->v[5], keep);
	struct value far = compose_pairwise(e, c, a, n, c->v[4], c->v[5], keep);
	if (swap)
		far = COMPOSE(BI_MINIMUM, far, compose_pairwise(e, c, p, n, c->v[4], c->v[5], keep));
	return reduce_loss(e, c, 7, COMPOSE(BI_RELU, COMPOSE(BI_ADD, COMPOSE(BI_SUB, near, far), c->v[3])));
}

/* A target of 1: 1 minus the cosine; of -1: what the cosine is above the margin. */
struct value rule_cosine_embedding_loss(struct emitter *e, struct builtin_call *c)
{
	struct value cosine = COMPOSE(BI_COSINE_SIMILARITY, composed_loss_operand(c, 0), composed_loss_operand(c, 1), value_int(-1)),
		     t = composed_loss_operand(c, 2);
	struct value like = COMPOSE(BI_WHERE, COMPOSE(BI_EQ, t, value_float(1)), COMPOSE(BI_SUB, value_float(1), cosine), value_float(0));
	struct value above = COMPOSE(BI_RELU, COMPOSE(BI_SUB, cosine, c->v[3]));
	above = COMPOSE(BI_WHERE, COMPOSE(BI_EQ, t, value_float(-1)), above, value_float(0));
	return reduce_loss(e, c, 4, COMPOSE(BI_ADD, like, above));
}
