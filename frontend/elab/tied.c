/* Tied parameters: the call of a layer gives a parameter of another layer to one of its own, `nn.Linear(8, 4, bias=false, weight=embed.weight)`. */
#include "frontend/elab/tied.h"
#include <string.h>
#include "base/buf.h"
#include "frontend/elab/expr.h"
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

/* AST_NONE: the layer has no argument of the name. */
static node_id find_argument(struct elab *e, struct item *it, name_id name)
{
	struct ast_nodes params = ast_fn(&it->mod->ast, it->node).params;
	for (uint32_t i = 0; i < params.n; i++)
		if (node_name(e, it->mod, params.at[i]) == name)
			return params.at[i];
	return AST_NONE;
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

static bool is_bool_argument(struct elab *e, struct item *it, node_id argument)
{
	const struct ast *t = &it->mod->ast;
	node_id type = ast_a(t, argument);
	return type && ast_kind(t, type) == NODE_TYPE_NAME && !strcmp(name_text(e->em.f, node_name(e, it->mod, type)), "bool");
}

/* True if the layer's body binds `_NAME`, which is none if the layer is made without the parameter NAME: `other.bias` is none then. */
static bool binds_hidden(struct elab *e, struct item *it, name_id name)
{
	const struct ast *t = &it->mod->ast;
	struct ast_nodes items = ast_nodes(t, ast_a(t, ast_fn(t, it->node).body));
	name_id hidden = intern_str(e->em.f->names, text_join(&e->em, "_", name_text(e->em.f, name), "", ""));
	for (uint32_t i = 0; i < items.n; i++)
		if (ast_kind(t, items.at[i]) == NODE_LET && node_name(e, it->mod, ast_let(t, items.at[i]).pattern) == hidden)
			return true;
	return false;
}

static bool may_be_param(struct value v) { return v.kind == V_TENSOR || v.kind == V_NONE || is_poison(v); }

/* An argument such as `bias: bool` says whether the layer has the parameter of its name. True if it is given a parameter. */
static bool takes_argument(struct elab *e, struct item *it, node_id argument, struct arg *a)
{
	bool is_param = a->v.kind == V_TENSOR && param_of_node(e, a->v.u.t);
	if (!is_param && a->v.kind != V_NONE)
		return false;
	if (is_bool_argument(e, it, argument) && (is_param || binds_hidden(e, it, a->name)))
		a->v = value_bool(is_param);
	return a->v.kind == V_BOOL && is_param;
}

void take_tied(struct elab *e, struct item *it, struct args *args, struct instance *out)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < args->n; i++) {
		struct arg a = args->at[i], given = a;
		node_id argument = a.name ? find_argument(e, it, a.name) : AST_NONE;
		node_id declared = a.name && !argument ? find_declaration(e, it, a.name) : AST_NONE;
		bool taken = argument ? takes_argument(e, it, argument, &a) : a.name && (declared || may_be_param(a.v));
		if (argument || !taken)
			args->at[kept++] = a;
		if (!taken)
			continue;
		if (declared)
			index_note_argument(e, a.name_at, it->mod, ast_const(&it->mod->ast, declared).name);
		if (!out->tied)
			out->tied = ARENA_ARRAY(e->em.f->arena, struct tied_param, args->n);
		struct layer_param *p = given.v.kind == V_TENSOR ? param_of_node(e, given.v.u.t) : NULL;
		out->tied[out->n_tied++] = (struct tied_param){.arg = given, .param = p};
	}
	args->n = kept;
}

void report_untied(struct elab *e, const struct instance *in, const char *what)
{
	for (uint32_t i = 0; i < in->n_tied && !in->failed; i++)
		if (in->tied[i].used)
			continue;
		else if (find_argument(e, in->item, in->tied[i].arg.name))
			report_error(&e->em, DIAG_TIED, in->tied[i].arg.at, "%s has no parameter `%s`, so that none can be given to it",
				     what, name_text(e->em.f, in->tied[i].arg.name));
		else
			report_unknown_param(e, in, &in->tied[i].arg, what);
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

/* What the call that made the instance gives to its parameter, or to one of a member whose name begins with `_`; NULL: nothing. */
static struct tied_param *find_tied(const struct instance *in, name_id name)
{
	for (; in; in = in->hidden_in)
		for (uint32_t i = 0; i < in->n_tied; i++)
			if (in->tied[i].arg.name == name)
				return &in->tied[i];
	return NULL;
}

/* The layer that the source names: an instance in a member whose name begins with `_` is a part of it. */
static const char *layer_text(struct elab *e, const struct instance *in)
{
	while (in->hidden_in)
		in = in->hidden_in;
	return name_text(e->em.f, in->item->name);
}

static void report_not_param(struct elab *e, const struct layer_param *own, const struct arg *a)
{
	struct diag *g = report_error(&e->em, DIAG_TIED, a->at, "parameter `%s` of layer `%s` can be tied to a parameter, not to %s",
				      name_text(e->em.f, a->name), layer_text(e, own->owner), value_text(&e->em, a->v));
	diag_secondary(e->em.report.out, g, own->at, "the parameter is declared here");
	diag_help(e->em.report.out, g, "give it a parameter itself, `%s=embed.weight`; compute with it in `fn forward`",
		  name_text(e->em.f, a->name));
}

struct layer_param *tie_param(struct elab *e, const struct instance *in, struct layer_param *own)
{
	struct tied_param *t = find_tied(in, own->name);
	if (!t)
		return own;
	t->used = true;
	if (!t->param) {
		bool is_unknown = is_poison(t->arg.v) || (t->arg.v.kind == V_TENSOR && !e->em.b->open_params);
		if (t->arg.v.kind != V_NONE && !is_unknown)
			report_not_param(e, own, &t->arg);
		return own;
	}
	if (!own->has_type || !t->param->has_type || may_be_same_type(own, t->param))
		return t->param;
	const char *layer = layer_text(e, in), *owner = layer_text(e, t->param->owner);
	struct diag *g = report_error(&e->em, DIAG_TIED, t->arg.at,
				      "parameter `%s` of layer `%s` is %s, but it is tied to `%s` of layer `%s`, which is %s",
				      name_text(e->em.f, own->name), layer, param_type_text(e, own), name_text(e->em.f, t->param->name),
				      owner, param_type_text(e, t->param));
	diag_secondary(e->em.report.out, g, own->at, "declared here");
	diag_secondary(e->em.report.out, g, t->param->at, "tied to this parameter");
	return own;
}
