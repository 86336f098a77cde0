/* Functions and types that are defined in a block. */
#include "frontend/elab/local_fn.h"
#include "frontend/elab/elaborate.h"
#include "frontend/elab/expr.h"
#include "frontend/elab/index_value.h"
#include "frontend/elab/locals.h"

static bool is_captured(const struct func *fn, name_id name)
{
	for (uint32_t i = 0; i < fn->n_captured; i++)
		if (fn->captured[i] == name)
			return true;
	return false;
}

/* Notes the locals that the text of the function names. Returns their values; a name may also be one of the function's own. */
static struct value *capture(struct elab *e, struct func *fn, node_id n)
{
	const struct ast *t = elab_tree(e);
	token_id first = ast_first_token(t, n);
	uint32_t most = e->locals.len - e->frame->base;
	name_id *names = ARENA_ARRAY(e->em.f->arena, name_id, most + 1);
	struct value *values = ARENA_ARRAY(e->em.f->arena, struct value, most + 1);
	fn->captured = names;
	for (node_id k = n; k > 0 && ast_token(t, k) >= first;
	     k--) { /* children precede parents, and their tokens are inside those of the parent */
		e->em.report.steps++;
		if (ast_kind(t, k) != NODE_NAME && ast_kind(t, k) != NODE_TYPE_NAME)
			continue;
		name_id name = elab_name(e, ast_token(t, k));
		const struct local *l = local_find(e, name);
		if (!l || l->value.kind == V_UNSET || l->value.kind == V_COLLECTED || is_captured(fn, name))
			continue;
		names[fn->n_captured] = name;
		values[fn->n_captured++] = l->value;
	}
	return values;
}

/* The top-level definition that contains node n: children precede their parents. */
static struct item *item_around(struct module *m, node_id n)
{
	struct item *found = NULL;
	for (uint32_t i = 0; i < m->n_items; i++)
		if (m->items[i].node > n && (!found || m->items[i].node < found->node))
			found = &m->items[i];
	return found;
}

void exec_fn(struct elab *e, node_id n)
{
	struct ast_fn decl = ast_fn(elab_tree(e), n);
	struct func *fn = ARENA_NEW(e->em.f->arena, struct func);
	*fn = (struct func){.mod = e->frame->mod,
			    .item = item_around(e->frame->mod, n),
			    .node = n,
			    .name = elab_name(e, decl.name),
			    .self = e->frame->self,
			    .local = true};
	struct value *values = capture(e, fn, n), v = {.kind = V_FN, .u.fn = fn};
	if (e->em.checking)
		check_local_fn(e, fn, values);
	if (fn->n_captured) {
		struct partial *p = ARENA_NEW(e->em.f->arena, struct partial);
		*p = (struct partial){.fn = fn, .at = elab_span(e, n)};
		v = value_seq(e->em.f->arena, V_TUPLE, fn->n_captured + 1);
		v.u.seq->at[0] = (struct value){.kind = V_PARTIAL, .u.partial = p};
		for (uint32_t i = 0; i < fn->n_captured; i++)
			v.u.seq->at[i + 1] = values[i];
	}
	local_push(e, fn->name, v, true);
}

void exec_alias(struct elab *e, node_id n)
{
	struct ast_alias al = ast_alias(elab_tree(e), n);
	struct item *it = ARENA_NEW(e->em.f->arena, struct item);
	*it = (struct item){
		.kind = ITEM_TYPE, .name = elab_name(e, al.name), .mod = e->frame->mod, .node = n, .name_token = al.name, .local = true};
	local_push(e, it->name, (struct value){.kind = V_TYPE, .u.item = it}, true);
}
