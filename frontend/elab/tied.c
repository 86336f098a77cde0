/* Tied parameters: the call of a layer gives a parameter of another layer to one of its own, `nn.Linear(8, 4, bias=false, weight=embed.weight)`. */
#include "frontend/elab/tied.h"
#include "base/buf.h"
#include "frontend/elab/function.h"
#include "frontend/elab/index_value.h"

/* The declaration of a layer's parameter of this name; AST_NONE: there is none. */
static node_id find_declaration(struct elab *e, struct item *it, name_id name)
{
	const struct ast *t = &it->mod->ast;
	struct ast_nodes items = ast_nodes(t, ast_a(t, ast_fn(t, it->node).body));
	for (uint32_t i = 0; i < items.n; i++)
		if (ast_kind(t, items.at[i]) == NODE_PARAM && token_name(e->em.f, it->mod, ast_const(t, items.at[i]).name) == name)
			return items.at[i];
	return AST_NONE;
}

static bool is_argument(struct elab *e, struct item *it, name_id name)
{
	struct ast_nodes params = ast_fn(&it->mod->ast, it->node).params;
	for (uint32_t i = 0; i < params.n; i++)
		if (node_name(e, it->mod, params.at[i]) == name)
			return true;
	return false;
}

/* The parameter whose value a node of the current unit is; NULL: it is none. */
static struct layer_param *param_of_node(struct elab *e, hir_ref r)
{
	const struct builder *b = e->em.b;
	uint64_t node;
	for (uint32_t i = b->opened.len; i-- > 0;)
		if (map_get(&b->params, map_key_u64(b->opened.at[i]->id), &node) && node == r)
			return b->opened.at[i];
	return NULL;
}

static struct layer_param *given_param(struct elab *e, struct item *it, node_id declared, const struct arg *a)
{
	struct layer_param *p = a->v.kind == V_TENSOR ? param_of_node(e, a->v.u.t) : NULL;
	if (p || is_poison(a->v) || (a->v.kind == V_TENSOR && !e->em.b->open_params))
		return p;
	struct diag *g = report_error(&e->em, DIAG_TIED, a->at, "parameter `%s` of layer `%s` can be tied to a parameter, not to %s",
				      name_text(e->em.f, a->name), name_text(e->em.f, it->name), value_text(&e->em, a->v));
	diag_secondary(e->em.report.out, g, node_span(it->mod, declared), "the parameter is declared here");
	diag_help(e->em.report.out, g, "give it a parameter itself, `%s=embed.weight`; compute with it in `fn forward`",
		  name_text(e->em.f, a->name));
	return NULL;
}

void take_tied(struct elab *e, struct item *it, struct args *args, struct instance *out)
{
	struct tied_param *tied = NULL;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < args->n; i++) {
		const struct arg a = args->at[i];
		node_id declared = a.name && !is_argument(e, it, a.name) ? find_declaration(e, it, a.name) : AST_NONE;
		args->at[kept++] = a;
		if (!declared)
			continue;
		kept--;
		index_note_argument(e, a.name_at, it->mod, ast_const(&it->mod->ast, declared).name);
		struct layer_param *p = a.v.kind == V_NONE ? NULL : given_param(e, it, declared, &a);
		if (!tied)
			tied = ARENA_ARRAY(e->em.f->arena, struct tied_param, args->n);
		if (p)
			tied[out->n_tied++] = (struct tied_param){a.name, p, a.at};
	}
	args->n = kept;
	out->tied = tied;
}

/* "float32[V, 8]" */
static const char *param_type_text(struct elab *e, const struct layer_param *p)
{
	struct buf b = {0};
	buf_printf(&b, "%s[", dtype_text(p->type.elem));
	for (uint32_t i = 0; i < p->type.rank; i++) {
		buf_puts(&b, i ? ", " : "");
		dim_print_apart(p->dims, p->type.dims[i], &b);
	}
	buf_putc(&b, ']');
	return take_text(&e->em, &b);
}

/* False only if the types differ for all values of the sizes. */
static bool may_be_same_type(const struct layer_param *a, const struct layer_param *b)
{
	bool same = a->type.elem == b->type.elem && a->type.rank == b->type.rank;
	for (uint32_t i = 0; same && i < a->type.rank; i++) {
		int64_t x, y;
		if (a->dims == b->dims)
			same = dim_compare(a->dims, a->type.dims[i], b->type.dims[i]) >= 0;
		else if (dim_is_const(a->dims, a->type.dims[i], &x) && dim_is_const(b->dims, b->type.dims[i], &y))
			same = x == y;
	}
	return same;
}

struct layer_param *tie_param(struct elab *e, const struct instance *in, struct layer_param *own)
{
	const struct tied_param *t = NULL;
	for (uint32_t i = 0; i < in->n_tied; i++)
		if (in->tied[i].name == own->name)
			t = &in->tied[i];
	if (!t)
		return own;
	if (!own->has_type || !t->param->has_type || may_be_same_type(own, t->param))
		return t->param;
	const char *layer = name_text(e->em.f, in->item->name), *owner = name_text(e->em.f, t->param->owner->item->name);
	struct diag *g = report_error(&e->em, DIAG_TIED, t->at,
				      "parameter `%s` of layer `%s` is %s, but it is tied to `%s` of layer `%s`, which is %s",
				      name_text(e->em.f, own->name), layer, param_type_text(e, own), name_text(e->em.f, t->param->name),
				      owner, param_type_text(e, t->param));
	diag_secondary(e->em.report.out, g, own->at, "declared here");
	diag_secondary(e->em.report.out, g, t->param->at, "tied to this parameter");
	return own;
}
