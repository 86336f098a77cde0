/* Evaluates the types of the source to patterns. */
#include <string.h>
#include "frontend/types/type_state.h"
#include "frontend/unit/reads.h"

enum { MAX_TYPES = 10000, MAX_ALIASES = 100, MAX_GENERICS = 1000 };

static struct type *new_type(struct sig *s, enum type_kind kind, node_id n)
{
	struct type *t = ARENA_NEW(s->e->temp, struct type);
	s->n_types++;
	*t = (struct type){.kind = kind, .elem = DT_COUNT, .elem_var = SIG_NO_VAR, .shape_var = SIG_NO_VAR, .at = node_span(s->mod, n)};
	return t;
}

/* ---- tensors ---- */

static void type_set_shape(struct sig *s, struct type *t, node_id n)
{
	const struct ast *a = sig_tree(s);
	if (ast_kind(a, n) == NODE_TYPE_SHAPE) {
		struct ast_nodes dims = ast_nodes(a, ast_a(a, n));
		t->shape = SHAPE_DIMS;
		if (dims.n > HIR_MAX_RANK) {
			report_error(s->e, DIAG_RANK, node_span(s->mod, n), "a tensor has at most %d dimensions", HIR_MAX_RANK);
			t->shape = SHAPE_ANY;
			return;
		}
		for (uint32_t i = 0; i < dims.n; i++)
			t->dims[i] = sig_dim(s, dims.at[i]);
		t->rank = dims.n;
		return;
	}
	t->shape = SHAPE_ANY;
	uint32_t arg;
	if (sig_alias_argument(s, n, &arg)) {
		node_id given = s->aliases->args[arg];
		struct alias_frame here = sig_set_scope(s, s->aliases);
		if (ast_kind(sig_tree(s), given) != NODE_TYPE_NAME && ast_kind(sig_tree(s), given) != NODE_TYPE_SHAPE)
			report_error(s->e, DIAG_TYPE_MISMATCH, node_span(s->mod, given),
				     "a list of dimensions is expected, or a name for it");
		type_set_shape(s, t, given);
		sig_set_scope(s, &here);
		return;
	}
	if (ast_kind(a, n) != NODE_TYPE_NAME)
		return;
	name_id name = token_name(s->e->f, s->mod, ast_token(a, n));
	uint32_t v = sig_var_find(s, name);
	if (v == SIG_NO_VAR)
		v = sig_var_add(s, SV_UNUSED, name);
	if (sig_var_use(s, v, SV_SHAPE, node_span(s->mod, n))) {
		t->shape = SHAPE_VAR;
		t->shape_var = v;
	}
}

/* True if an argument of the layer, or a local of the body, of that name is an element type. */
static bool elem_of_value(struct sig *s, node_id n, name_id name, dtype *out)
{
	const struct evaluator *ev = s->e->evaluator;
	struct value v = VALUE_POISON;
	span at = node_span(s->mod, n);
	if (ast_a(sig_tree(s), n) != TOKEN_NONE)
		return false;
	bool found = s->use_locals && ev->find_name(s->e, name, at, &v);
	if (!found && s->self && instance_member(s->self, name))
		found = ev->find_global(s->e, s->mod, s->self, name, at, &v);
	if (!found || v.kind != V_DTYPE)
		return false;
	*out = v.u.dt;
	return true;
}

static void set_elem(struct sig *s, struct type *t, node_id n)
{
	const struct ast *a = sig_tree(s);
	uint32_t arg;
	if (sig_alias_argument(s, n, &arg)) {
		node_id given = s->aliases->args[arg];
		struct alias_frame here = sig_set_scope(s, s->aliases);
		if (ast_kind(sig_tree(s), given) != NODE_TYPE_NAME)
			report_error(s->e, DIAG_UNKNOWN_TYPE, node_span(s->mod, given), "an element type is expected");
		set_elem(s, t, given);
		sig_set_scope(s, &here);
		return;
	}
	if (ast_kind(a, n) != NODE_TYPE_NAME)
		return;
	name_id name = token_name(s->e->f, s->mod, ast_token(a, n));
	uint32_t v = sig_var_find(s, name);
	if (v != SIG_NO_VAR) {
		if (sig_var_use(s, v, SV_DTYPE, node_span(s->mod, n)))
			t->elem_var = v;
		return;
	}
	t->elem = dtype_find(name_text(s->e->f, name));
	if (t->elem != DT_COUNT || elem_of_value(s, n, name, &t->elem))
		return;
	struct type *alias = sig_type(s, n);
	if (alias->kind == TY_SCALAR)
		t->elem = alias->elem;
	else if (alias->kind != TY_ANY)
		report_error(s->e, DIAG_UNKNOWN_TYPE, node_span(s->mod, n), "`%s` is not an element type", name_text(s->e->f, name));
}

static struct type *tensor_type(struct sig *s, node_id n, bool ternary)
{
	const struct ast *a = sig_tree(s);
	struct ast_nodes args = ast_b(a, n) ? ast_nodes(a, ast_b(a, n)) : (struct ast_nodes){0};
	struct type *t = new_type(s, TY_TENSOR, n);
	t->shape = SHAPE_ANY;
	if (ternary)
		t->elem = DT_TRIT;
	bool bracketed = ast_kind(a, n) == NODE_TYPE_ANY && args.n == 1 && ast_kind(a, args.at[0]) != NODE_TYPE_NAME;
	if (args.n > 2 || bracketed) /* reported by the resolver */
		return new_type(s, TY_ANY, n);
	if (args.n && ternary && args.n == 1 && ast_kind(a, args.at[0]) == NODE_TYPE_SHAPE) {
		type_set_shape(s, t, args.at[0]);
		return t;
	}
	if (args.n >= 1)
		set_elem(s, t, args.at[0]);
	if (ternary && t->elem != DT_TRIT && t->elem != DT_COUNT && t->elem_var == SIG_NO_VAR) {
		struct diag *g = report_error(s->e, DIAG_UNKNOWN_TYPE, t->at, "the elements of a TernaryTensor are trits");
		diag_help(s->e->report.out, g, "write `Tensor<%s, …>` for others", dtype_text(t->elem));
	}
	if (args.n == 2)
		type_set_shape(s, t, args.at[1]);
	return t;
}

/* ---- names of types ---- */

/* True for a name that has no definition. */
static bool is_new_name(const struct sig *s, node_id n)
{
	if (ast_kind(sig_tree(s), n) != NODE_TYPE_NAME || ast_a(sig_tree(s), n) != TOKEN_NONE || ast_b(sig_tree(s), n))
		return false;
	name_id name = token_name(s->e->f, s->mod, ast_token(sig_tree(s), n));
	return !module_find(s->mod, name) && dtype_find(name_text(s->e->f, name)) == DT_COUNT;
}

/* Evaluates an alias's type in its own module, where only its generics are visible. */
static struct type *eval_alias(struct sig *s, struct item *it, const struct ast_alias *al, struct ast_nodes args)
{
	struct arena *a = s->e->temp;
	name_id *names = ARENA_ARRAY(a, name_id, args.n + 1);
	bool *flags = ARENA_ARRAY(a, bool, 2 * args.n + 1);
	for (uint32_t i = 0; i < args.n; i++) {
		names[i] = token_name(s->e->f, it->mod, ast_token(&it->mod->ast, al->generics.at[i]));
		flags[i] = flags[args.n + i] = false;
	}
	struct alias_frame alias = {.up = s->aliases,
				    .mod = s->mod,
				    .self = s->self,
				    .use_locals = s->use_locals,
				    .scope = s->scope,
				    .item = it,
				    .n = args.n,
				    .names = names,
				    .args = args.at,
				    .used = flags,
				    .dims = ARENA_ARRAY(a, dim, args.n + 1),
				    .evaluated = flags + args.n};
	s->aliases = &alias;
	s->mod = it->mod;
	s->self = it->local ? s->self : NULL;
	s->use_locals = s->use_locals && it->local;
	s->scope = ++s->n_scopes;
	s->alias_depth++;
	struct type *t = sig_type(s, al->type);
	s->alias_depth--;
	for (uint32_t i = 0; i < s->vars.len; i++)
		if (s->vars.at[i].scope == s->scope)
			s->vars.at[i].name = 0;
	sig_set_scope(s, &alias);
	for (uint32_t i = 0; i < args.n; i++)
		if (!alias.used[i] && is_new_name(s, args.at[i]))
			sig_dim(s, args.at[i]);
	return t;
}

/* True if the alias contains itself or exceeds a limit (reported). */
static bool report_alias_limits(struct sig *s, struct item *it)
{
	const char *name = name_text(s->e->f, it->name);
	span at = tok_span(it->mod, it->name_token);
	for (struct alias_frame *f = s->aliases; f; f = f->up)
		if (f->item == it) {
			report_error(s->e, DIAG_RECURSION, at, "type `%s` is defined in terms of itself", name);
			return true;
		}
	if (s->n_types <= MAX_TYPES && s->alias_depth <= MAX_ALIASES && s->vars.len <= MAX_GENERICS)
		return false;
	if (s->e->report.gave_up)
		return true;
	struct diag *g = report_error(s->e, DIAG_ELAB_STEPS, at, "type `%s` has more than %d parts, %d generics or %d nested aliases", name,
				      MAX_TYPES, MAX_GENERICS, MAX_ALIASES);
	diag_note(s->e->report.out, g, "each use of an alias in another multiplies its parts");
	s->e->report.gave_up = true;
	s->e->report.steps = s->e->report.max_steps + 1; /* ends the check of the following definitions, too */
	return true;
}

static struct type *alias_type(struct sig *s, struct item *it, node_id n)
{
	struct ast_nodes args = ast_b(sig_tree(s), n) ? ast_nodes(sig_tree(s), ast_b(sig_tree(s), n)) : (struct ast_nodes){0};
	struct ast_alias al = ast_alias(&it->mod->ast, it->node);
	const char *name = name_text(s->e->f, it->name);
	if (it->has_syntax_error)
		return new_type(s, TY_ANY, n);
	if (args.n != al.generics.n) {
		struct diag *g = report_error(s->e, DIAG_ARG_COUNT, node_span(s->mod, n), "`%s` takes %u arguments, not %u", name,
					      al.generics.n, args.n);
		diag_secondary(s->e->report.out, g, tok_span(it->mod, it->name_token), "defined here");
		return new_type(s, TY_ANY, n);
	}
	if (report_alias_limits(s, it))
		return new_type(s, TY_ANY, n);
	return eval_alias(s, it, &al, args);
}

static struct type *items_type(struct sig *s, enum type_kind kind, node_id n, struct ast_nodes items)
{
	struct type *t = new_type(s, kind, n);
	t->items = ARENA_ARRAY(s->e->temp, struct type *, items.n + 1);
	t->n_items = items.n;
	for (uint32_t i = 0; i < items.n; i++)
		t->items[i] = sig_type(s, items.at[i]);
	return t;
}

/* List<A>: any number of elements of one type; List<[A, B]>: two elements of these types. */
static struct type *list_type(struct sig *s, node_id n, node_id elem)
{
	struct type *t = new_type(s, TY_LIST, n);
	if (elem == AST_NONE)
		return t;
	const struct ast *a = sig_tree(s);
	if (ast_kind(a, elem) == NODE_TYPE_SHAPE) { /* List<[A]> */
		struct ast_nodes inner = ast_nodes(a, ast_a(a, elem));
		return inner.n == 1 ? list_type(s, n, inner.at[0]) : inner.n ? items_type(s, TY_LIST, n, inner) : t;
	}
	return items_type(s, TY_LIST, n, (struct ast_nodes){&elem, 1});
}

/* The alias of a block; NULL: the name is none. */
static struct item *local_alias(struct sig *s, node_id n, name_id name)
{
	struct value v = VALUE_POISON;
	bool found =
		s->use_locals && ast_a(sig_tree(s), n) == TOKEN_NONE && s->e->evaluator->find_name(s->e, name, node_span(s->mod, n), &v);
	return found && v.kind == V_TYPE && v.u.item && v.u.item->local ? v.u.item : NULL;
}

static struct item *type_item(struct sig *s, node_id n)
{
	const struct ast *a = sig_tree(s);
	name_id name = token_name(s->e->f, s->mod, ast_token(a, n));
	struct module *m = s->mod;
	struct item *local = local_alias(s, n, name);
	if (local)
		return local;
	if (ast_a(a, n) != TOKEN_NONE) {
		struct item *im = module_find(m, token_name(s->e->f, m, ast_a(a, n)));
		im = im ? item_resolve_import(s->e->f, im) : NULL;
		m = im && im->kind == ITEM_IMPORT ? im->import.target : NULL;
	}
	struct item *it = m ? module_find(m, name) : NULL;
	it = it ? item_resolve_import(s->e->f, it) : NULL;
	if (it)
		reads_note(s->e, it, READ_WHOLE);
	return it;
}

static struct type *named_type(struct sig *s, node_id n)
{
	const struct ast *a = sig_tree(s);
	name_id name = token_name(s->e->f, s->mod, ast_token(a, n));
	const char *text = name_text(s->e->f, name);
	bool plain = ast_a(a, n) == TOKEN_NONE;
	uint32_t arg;
	if (sig_alias_argument(s, n, &arg)) {
		node_id given = s->aliases->args[arg];
		struct alias_frame here = sig_set_scope(s, s->aliases);
		struct type *t = sig_type(s, given);
		sig_set_scope(s, &here);
		return t;
	}
	uint32_t var = plain ? sig_var_find(s, name) : SIG_NO_VAR;
	struct ast_nodes args = ast_b(a, n) ? ast_nodes(a, ast_b(a, n)) : (struct ast_nodes){0};
	if (var != SIG_NO_VAR && s->vars.at[var].kind != SV_DIM) {
		if (s->vars.at[var].kind == SV_UNUSED)
			s->vars.at[var].kind = SV_TYPE;
		struct type *t = new_type(s, s->vars.at[var].kind == SV_SHAPE ? TY_ANY : TY_GENERIC, n);
		t->elem_var = var;
		return t;
	}
	struct item *it = type_item(s, n);
	if (it && it->kind == ITEM_TYPE)
		return alias_type(s, it, n);
	if (it && it->kind == ITEM_MODULE_LAYER) {
		struct type *t = new_type(s, TY_LAYER, n);
		t->layer = it;
		return t;
	}
	if (plain && dtype_find(text) != DT_COUNT && !args.n) {
		struct type *t = new_type(s, TY_SCALAR, n);
		t->elem = dtype_find(text);
		return t;
	}
	if (plain && !strcmp(text, "Tensor"))
		return tensor_type(s, n, false);
	if (plain && !strcmp(text, "TernaryTensor"))
		return tensor_type(s, n, true);
	if (plain && !strcmp(text, "List"))
		return list_type(s, n, args.n ? args.at[0] : AST_NONE);
	if (plain && !strcmp(text, "Tuple"))
		return args.n ? items_type(s, TY_TUPLE, n, args) : new_type(s, TY_ANY, n);
	if (plain && !strcmp(text, "str"))
		return new_type(s, TY_STR, n);
	if (plain && !strcmp(text, "void"))
		return new_type(s, TY_VOID, n);
	if (plain && !strcmp(text, "Layer"))
		return new_type(s, TY_LAYER, n);
	return new_type(s, TY_ANY, n); /* unknown: reported by the resolver */
}

struct type *sig_type(struct sig *s, node_id n)
{
	const struct ast *a = sig_tree(s);
	switch (ast_kind(a, n)) {
	case NODE_TYPE_NAME:
	case NODE_TYPE_ANY: return named_type(s, n);
	case NODE_TYPE_LIST: return list_type(s, n, ast_a(a, n));
	case NODE_TYPE_SHAPE: return list_type(s, n, n);
	case NODE_PAREN: return sig_type(s, ast_a(a, n));
	case NODE_TYPE_FN: return new_type(s, TY_FN, n); /* the function checks the types that it declares */
	case NODE_TYPE_OPTION: {
		node_id of = ast_a(a, n);
		return items_type(s, TY_OPTION, n, (struct ast_nodes){&of, 1});
	}
	case NODE_TYPE_TUPLE: return items_type(s, TY_TUPLE, n, ast_nodes(a, ast_a(a, n)));
	case NODE_INT:
	case NODE_BINARY:
	case NODE_UNARY:
		report_error(s->e, DIAG_UNKNOWN_TYPE, node_span(s->mod, n), "a type is expected, not a dimension");
		return new_type(s, TY_ANY, n);
	default: return new_type(s, TY_ANY, n);
	}
}
