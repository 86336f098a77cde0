/* Scans the tree of a loop's body: the locals it assigns to, and its exits. */
#include "frontend/elab/stmt.h"
#include "frontend/elab/expr.h"

static void note_target(struct elab *e, node_id t, bool *assigned, uint32_t n)
{
	if (ast_kind(elab_tree(e), t) == NODE_PAREN)
		note_target(e, ast_a(elab_tree(e), t), assigned, n);
	if (ast_kind(elab_tree(e), t) == NODE_TUPLE) {
		struct ast_nodes items = ast_nodes(elab_tree(e), ast_a(elab_tree(e), t));
		for (uint32_t i = 0; i < items.n; i++)
			note_target(e, items.at[i], assigned, n);
	}
	if (ast_kind(elab_tree(e), t) != NODE_NAME)
		return;
	name_id name = elab_name(e, ast_token(elab_tree(e), t));
	for (uint32_t i = n; i-- > 0;)
		if (e->locals.at[e->frame->base + i].name == name) {
			assigned[i] = true;
			return;
		}
}

/* Children precede parents, and their tokens are inside those of the parent: the subtree is a range of nodes. */
static bool has_kind(struct elab *e, node_id root, enum node_kind kind)
{
	token_id first = ast_first_token(elab_tree(e), root);
	for (node_id k = root; k > 0 && ast_token(elab_tree(e), k) >= first; k--)
		if (ast_kind(elab_tree(e), k) == kind)
			return true;
	return false;
}

void find_assigned_locals(struct elab *e, node_id root, bool *assigned, uint32_t n)
{
	token_id first = ast_first_token(elab_tree(e), root);
	for (node_id k = root; k > 0 && ast_token(elab_tree(e), k) >= first; k--) {
		e->em.report.steps++;
		if (ast_kind(elab_tree(e), k) == NODE_ASSIGN)
			note_target(e, ast_a(elab_tree(e), k), assigned, n);
		else if (ast_kind(elab_tree(e), k) == NODE_CALL && appended_list(e, k))
			note_target(e, ast_a(elab_tree(e), ast_a(elab_tree(e), k)), assigned, n);
	}
}

bool has_append(struct elab *e, node_id body)
{
	token_id first = ast_first_token(elab_tree(e), body);
	for (node_id k = body; k > 0 && ast_token(elab_tree(e), k) >= first; k--)
		if (ast_kind(elab_tree(e), k) == NODE_CALL && appended_list(e, k))
			return true;
	return false;
}

bool has_early_exit(struct elab *e, node_id body) { return has_kind(e, body, NODE_BREAK) || has_kind(e, body, NODE_RETURN); }

void forget_assigned_locals(struct elab *e, node_id body)
{
	uint32_t n = e->locals.len - e->frame->base;
	bool *assigned = ARENA_ARRAY(e->em.f->arena, bool, n + 1);
	find_assigned_locals(e, body, assigned, n);
	for (uint32_t i = 0; i < n; i++) {
		struct local *l = &e->locals.at[e->frame->base + i];
		if (assigned[i] && l->value.kind != V_TENSOR)
			l->value = VALUE_POISON;
	}
}
