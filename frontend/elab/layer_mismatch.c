/* A wrong size in a call of a layer of the standard library: its assertion `x.shape[-1] == in_features` fails for the result of another layer. */
#include <string.h>
#include "base/buf.h"
#include "frontend/elab/stmt.h"
#include "frontend/unit/layer_pair.h"

/* A size that an assertion compares with a number. */
struct asserted_size {
	hir_ref tensor;
	uint32_t axis;
	int64_t want;
	const char *noun;
};

static struct value eval_quietly(struct elab *e, node_id n)
{
	suppress_diags(&e->em);
	struct value v = eval(e, n);
	restore_diags(&e->em);
	return v;
}

/* The noun of an argument such as `in_channels`. */
static const char *noun_of(const char *name)
{
	size_t n = strlen(name), channels = strlen("channels");
	return n >= channels && !strcmp(name + n - channels, "channels") ? "channels" : "features";
}

/* Finds the comparison that is false among those that `&&` joins. */
static bool find_asserted_size(struct elab *e, node_id cond, struct asserted_size *out)
{
	const struct ast *t = elab_tree(e);
	if (ast_kind(t, cond) != NODE_BINARY)
		return false;
	node_id a = ast_a(t, cond), b = ast_b(t, cond);
	if (ast_token_kind(t, cond) == TOK_AND)
		return find_asserted_size(e, a, out) || find_asserted_size(e, b, out);
	if (ast_token_kind(t, cond) != TOK_EQ || ast_kind(t, b) != NODE_NAME || ast_kind(t, a) != NODE_INDEX ||
	    ast_kind(t, ast_a(t, a)) != NODE_MEMBER || !token_is(&t->tokens, ast_token(t, ast_a(t, a)), "shape"))
		return false;
	struct value x = eval_quietly(e, ast_a(t, ast_a(t, a))), want = eval_quietly(e, b);
	struct ast_nodes subs = ast_nodes(t, ast_b(t, a));
	struct value i = subs.n == 1 ? eval_quietly(e, subs.at[0]) : VALUE_POISON;
	if (x.kind != V_TENSOR || want.kind != V_INT || i.kind != V_INT)
		return false;
	int64_t rank = type_of(&e->em, x.u.t)->rank, axis = i.u.i < 0 ? i.u.i + rank : i.u.i;
	*out = (struct asserted_size){x.u.t, (uint32_t)axis, want.u.i, noun_of(name_text(e->em.f, elab_name(e, ast_token(t, b))))};
	return axis >= 0 && axis < rank;
}

/* The innermost call of the library from elsewhere. */
static const struct call_site *call_of_library(struct elab *e)
{
	const struct call_site *s = e->em.report.site;
	while (s && (s->at.source == SPAN_NO_SOURCE || is_in_std(&e->em, s->at)))
		s = s->up;
	return s;
}

/* The innermost call of a layer that the user made, up to `outermost`: one of the layers of an `nn.Sequential`. */
static const struct call_site *call_of_layer(struct elab *e, const struct call_site *outermost)
{
	const struct call_site *s = e->em.report.site;
	while (s != outermost && (!s->callee || !s->self || s->self->at.source == SPAN_NO_SOURCE || is_in_std(&e->em, s->self->at)))
		s = s->up;
	return s;
}

/* The layer that gave the tensor: found in this unit, or in the one that calls the library. */
static const struct named_layer *giver_of(struct elab *e, const struct call_site *call, const struct asserted_size *size)
{
	const struct named_layer *giver = layer_of_result(e->em.b, size->tensor, size->axis);
	if (!giver && call->caller && call->n_operands)
		giver = layer_of_result(call->caller, call->operands[0], size->axis);
	return giver;
}

struct diag *report_layer_mismatch(struct elab *e, node_id cond)
{
	struct asserted_size size;
	const struct call_site *call = call_of_library(e);
	if (!e->frame->mod->std || !call || !call->self || !call->callee || !find_asserted_size(e, cond, &size))
		return NULL;
	const struct named_layer *giver = giver_of(e, call, &size);
	if (!giver)
		return NULL;
	const struct call_site *taken = call_of_layer(e, call);
	const struct named_layer taker = {taken->callee, taken->self->at, taken->self};
	struct buf have = {0};
	dim_print_apart(e->em.b->dims, type_of(&e->em, size.tensor)->dims[size.axis], &have);
	const char *gives = arena_printf(e->em.f->arena, "%s %s", have.at, size.noun);
	const char *takes = arena_printf(e->em.f->arena, "%lld", (long long)size.want);
	buf_free(&have);
	struct diag *g = report_error(&e->em, DIAG_ARG_SHAPE, elab_span(e, cond), "%s gives %s, %s takes %s", layer_name(&e->em, giver),
				      gives, layer_name(&e->em, &taker), takes);
	label_layers(&e->em, g, giver, gives, &taker, takes);
	return g;
}
