/* States of a layer: a function reads the old values first, and assigns the new ones before a call that reads them and at its end. */
#include <string.h>
#include "backend/pytorch/expr.h"
#include "backend/pytorch/text.h"
#include "base/arena.h"

static struct held *held_at(struct body *b, const char *path)
{
	for (uint32_t i = 0; i < b->held.len; i++)
		if (strcmp(b->held.at[i].path, path) == 0)
			return &b->held.at[i];
	struct held h = {path, HIR_NONE};
	vec_push(&b->held, h);
	return &b->held.at[b->held.len - 1];
}

static bool is_same_value(const struct body *b, hir_ref x, hir_ref y)
{
	if (x == y || x == HIR_NONE || y == HIR_NONE)
		return x == y;
	const struct hir_node *m = &b->u->nodes[x], *n = &b->u->nodes[y];
	return m->kind == HIR_RESULT && n->kind == HIR_RESULT && m->source == n->source && m->index == n->index;
}

/* Gives the layer's state a value, unless it has it. */
static void states_put_state(struct body *b, const char *path, hir_ref value, struct buf *out)
{
	struct held *h = held_at(b, path);
	if (!is_same_value(b, h->node, value))
		put_line(out, "", arena_printf(b->p->a, "%s = %s", member_path(b->p->a, !b->spec->owner, path), tensor_text(b, value)));
	h->node = value;
}

static const char *state_path(struct body *b, const struct hir_node *call, uint32_t input)
{
	const char *name = call->callee->inputs[input].name;
	return call->layer && *call->layer ? arena_printf(b->p->a, "%s.%s", call->layer, name) : name;
}

void put_states_of_call(struct body *b, const struct hir_node *n, struct buf *out)
{
	for (uint32_t i = 0; n->kind == HIR_CALL && i < n->callee->n_inputs; i++)
		if (n->callee->inputs[i].state)
			states_put_state(b, state_path(b, n, i), b->u->args[n->args + i].u.tensor, out);
}

void note_states_of_call(struct body *b, hir_ref r)
{
	const struct hir_node *n = &b->u->nodes[r];
	for (hir_ref k = r + 1; n->kind == HIR_CALL && k < b->u->n_nodes; k++) {
		const struct hir_node *result = &b->u->nodes[k];
		if (result->kind == HIR_RESULT && result->source == r && n->callee->outputs[result->index].state)
			held_at(b, state_path(b, n, n->callee->outputs[result->index].state - 1))->node = k;
	}
}

void put_states(struct body *b, struct buf *out)
{
	for (uint32_t i = 0; i < b->u->n_outputs; i++)
		if (b->u->outputs[i].state)
			states_put_state(b, b->u->inputs[b->u->outputs[i].state - 1].name, b->u->outputs[i].node, out);
}

/* A function that changes states reads their old values first. */
void states_begin(struct body *b, struct buf *out)
{
	b->held.len = 0;
	for (hir_ref r = 0; r < b->u->n_nodes; r++) {
		const struct hir_node *n = &b->u->nodes[r];
		if (n->kind != HIR_INPUT || !b->u->inputs[n->index].state)
			continue;
		const char *path = b->u->inputs[n->index].name, *dot = strrchr(path, '.');
		held_at(b, path)->node = r;
		if (!b->uses[r] || !changes_states(b->u))
			continue;
		b->vars[r] = new_variable(b, r, dot ? dot + 1 : path);
		put_line(out, "", arena_printf(b->p->a, "%s = %s", b->vars[r], b->inputs[n->index]));
	}
}
