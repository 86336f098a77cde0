/* Types of the source, evaluated to patterns. */
#include <string.h>
#include "frontend/literal.h"
#include "frontend/sig.h"

enum { MAX_TYPES = 10000, MAX_ALIASES = 100, MAX_GENERICS = 1000 };

static const struct ast *tree(const struct sig *s) { return &s->mod->ast; }

void sig_open(struct sig *s, struct elab *e, struct module *mod, struct instance *self)
{
	*s = (struct sig){
		.e = e, .mark = arena_mark(e->temp), .mod = mod, .self = self, .dims = dims_new(e->temp), .n_outer = dims_syms(e->b->dims)};
	for (uint32_t i = 0; i < s->n_outer; i++)
		dim_new_sym(s->dims, dims_sym_name(e->b->dims, i));
}

void sig_close(struct sig *s)
{
	arena_release(s->e->temp, s->mark);
	vec_free(&s->vars);
	vec_free(&s->eqs);
	vec_free(&s->matches);
	vec_free(&s->imported);
}

static uint32_t add_var(struct sig *s, enum sigvar_kind kind, name_id name)
{
	struct sigvar v = {.kind = kind, .name = name};
	if (kind == SV_DIM) {
		v.sym = dims_syms(s->dims);
		dim_new_sym(s->dims, name ? name_text(s->e->f, name) : "?");
	}
	vec_push(&s->vars, v);
	return s->vars.len - 1;
}

static uint32_t find_var(const struct sig *s, name_id name)
{
	for (uint32_t i = 0; i < s->vars.len; i++)
		if (s->vars.at[i].name == name)
			return i;
	return SIG_NO_VAR;
}

void sig_generics(struct sig *s, struct ast_nodes generics)
{
	for (uint32_t i = 0; i < generics.n; i++) {
		if (ast_kind(tree(s), generics.at[i]) != NODE_GENERIC)
			continue;
		uint32_t v = add_var(s, SV_UNUSED, token_name(s->e->f, s->mod, ast_token(tree(s), generics.at[i])));
		s->vars.at[v].traits = ast_nodes(tree(s), ast_a(tree(s), generics.at[i]));
	}
}

/* A declared generic takes the kind of its first use. False: it is used as two kinds. */
static bool use_var(struct sig *s, uint32_t i, enum sigvar_kind kind, span at)
{
	struct sigvar *v = &s->vars.at[i];
	if (v->kind == kind)
		return true;
	if (v->kind == SV_UNUSED) {
		v->kind = kind;
		if (kind == SV_DIM) {
			v->sym = dims_syms(s->dims);
			dim_new_sym(s->dims, name_text(s->e->f, v->name));
		}
		return true;
	}
	elab_error(s->e, DIAG_TYPE_MISMATCH, at, "`%s` is used both as %s and as something else", name_text(s->e->f, v->name),
		   v->kind == SV_DIM     ? "a dimension"
		   : v->kind == SV_DTYPE ? "an element type"
		   : v->kind == SV_SHAPE ? "a shape"
					 : "a type");
	return false;
}

static struct type *new_type(struct sig *s, enum type_kind kind, node_id n)
{
	struct type *t = ARENA_NEW(s->e->temp, struct type);
	s->n_types++;
	*t = (struct type){.kind = kind, .elem = DT_COUNT, .elem_var = SIG_NO_VAR, .shape_var = SIG_NO_VAR, .at = node_span(s->mod, n)};
	return t;
}

/* ---- dimensions ---- */

static dim unknown_dim(struct sig *s)
{
	uint32_t v = add_var(s, SV_DIM, 0);
	return dim_sym(s->dims, s->vars.at[v].sym);
}

static dim outer_dim(struct sig *s, dim d)
{
	dim *map = ARENA_ARRAY(s->e->temp, dim, s->n_outer + 1);
	for (uint32_t i = 0; i < s->n_outer; i++)
		map[i] = dim_sym(s->dims, i);
	return dim_translate(s->dims, s->e->b->dims, d, map);
}

static dim dim_of_value(struct sig *s, struct value v, name_id name, span at)
{
	if (v.kind == V_INT)
		return dim_const(s->dims, v.u.i);
	if (v.kind == V_DIM)
		return outer_dim(s, v.u.d);
	if (v.kind != V_POISON)
		elab_error(s->e, DIAG_TYPE_MISMATCH, at, "`%s` is used as a dimension but is %s", name_text(s->e->f, name),
			   value_kind_text(v));
	return unknown_dim(s);
}

static dim named_dim(struct sig *s, node_id n)
{
	token_id tok = ast_token(tree(s), n);
	name_id name = token_name(s->e->f, s->mod, tok);
	span at = tok_span(s->mod, tok);
	uint32_t var = find_var(s, name);
	struct value v = VALUE_POISON;
	if (var != SIG_NO_VAR)
		return use_var(s, var, SV_DIM, at) ? dim_sym(s->dims, s->vars.at[var].sym) : unknown_dim(s);
	if (s->use_locals && name_lookup(s->e, name, at, &v))
		return dim_of_value(s, v, name, at);
	/* A name of the prelude (`max`, `full`) does not keep a signature from using it for a dimension. */
	bool bound = (s->self && instance_member(s->self, name)) || module_find(s->mod, name);
	if (bound && name_lookup_static(s->e, s->mod, s->self, name, at, &v))
		return dim_of_value(s, v, name, at);
	var = add_var(s, SV_DIM, name);
	return dim_sym(s->dims, s->vars.at[var].sym);
}

static dim eval_dim(struct sig *s, node_id n);

static dim binary_dim(struct sig *s, node_id n)
{
	dim a = eval_dim(s, ast_a(tree(s), n)), b = eval_dim(s, ast_b(tree(s), n));
	enum token_kind op = ast_token_kind(tree(s), n);
	int64_t v;
	switch (op) {
	case TOK_PLUS: return dim_add(s->dims, a, b);
	case TOK_MINUS: return dim_sub(s->dims, a, b);
	case TOK_STAR: return dim_mul(s->dims, a, b);
	case TOK_SLASH2:
	case TOK_PERCENT:
		if (dim_is_const(s->dims, b, &v) && !v) {
			elab_error(s->e, DIAG_CONST_ARITH, node_span(s->mod, n), "division by zero in a dimension");
			return unknown_dim(s);
		}
		return op == TOK_PERCENT ? dim_mod(s->dims, a, b) : dim_floordiv(s->dims, a, b);
	default: return unknown_dim(s);
	}
}

static dim eval_dim(struct sig *s, node_id n)
{
	uint64_t v;
	switch (ast_kind(tree(s), n)) {
	case NODE_INT:
		if (literal_int(&tree(s)->tokens, ast_token(tree(s), n), &v) && v <= INT64_MAX)
			return dim_const(s->dims, (int64_t)v);
		elab_error(s->e, DIAG_LITERAL_RANGE, node_span(s->mod, n), "the dimension is too large");
		return unknown_dim(s);
	case NODE_TYPE_NAME: return named_dim(s, n);
	case NODE_PAREN: return eval_dim(s, ast_a(tree(s), n));
	case NODE_UNARY:
		if (ast_token_kind(tree(s), n) == TOK_PLUS)
			return eval_dim(s, ast_a(tree(s), n));
		return dim_sub(s->dims, dim_const(s->dims, 0), eval_dim(s, ast_a(tree(s), n)));
	case NODE_BINARY: return binary_dim(s, n);
	default: return unknown_dim(s);
	}
}

/* ---- tensors ---- */

static dim checked_dim(struct sig *s, node_id n)
{
	int64_t v;
	dim d = eval_dim(s, n);
	if (dims_overflowed(s->dims))
		elab_error(s->e, DIAG_CONST_ARITH, node_span(s->mod, n), "the dimension overflows 64 bits or is too complicated");
	if (dim_is_const(s->dims, d, &v) && v < 0) {
		struct diag *g = elab_error(s->e, DIAG_SHAPE, node_span(s->mod, n), "the dimension is negative");
		diag_label_primary(s->e->out, g, "%lld here", (long long)v);
		return unknown_dim(s);
	}
	return d;
}

static void set_shape(struct sig *s, struct type *t, node_id n)
{
	const struct ast *a = tree(s);
	if (ast_kind(a, n) == NODE_TYPE_SHAPE) {
		struct ast_nodes dims = ast_nodes(a, ast_a(a, n));
		t->shape = SHAPE_DIMS;
		if (dims.n > CORE_MAX_RANK) {
			elab_error(s->e, DIAG_RANK, node_span(s->mod, n), "a tensor has at most %d dimensions", CORE_MAX_RANK);
			t->shape = SHAPE_ANY;
			return;
		}
		for (uint32_t i = 0; i < dims.n; i++)
			t->dims[i] = checked_dim(s, dims.at[i]);
		t->rank = dims.n;
		return;
	}
	t->shape = SHAPE_ANY;
	if (ast_kind(a, n) != NODE_TYPE_NAME)
		return;
	name_id name = token_name(s->e->f, s->mod, ast_token(a, n));
	uint32_t v = find_var(s, name);
	if (v == SIG_NO_VAR)
		v = add_var(s, SV_UNUSED, name);
	if (use_var(s, v, SV_SHAPE, node_span(s->mod, n))) {
		t->shape = SHAPE_VAR;
		t->shape_var = v;
	}
}

static void set_elem(struct sig *s, struct type *t, node_id n)
{
	const struct ast *a = tree(s);
	if (ast_kind(a, n) != NODE_TYPE_NAME)
		return;
	name_id name = token_name(s->e->f, s->mod, ast_token(a, n));
	uint32_t v = find_var(s, name);
	if (v != SIG_NO_VAR) {
		if (use_var(s, v, SV_DTYPE, node_span(s->mod, n)))
			t->elem_var = v;
		return;
	}
	t->elem = dtype_find(name_text(s->e->f, name));
	if (t->elem != DT_COUNT)
		return;
	struct type *alias = sig_type(s, n);
	if (alias->kind == TY_SCALAR)
		t->elem = alias->elem;
	else if (alias->kind != TY_ANY)
		elab_error(s->e, DIAG_UNKNOWN_TYPE, node_span(s->mod, n), "`%s` is not an element type", name_text(s->e->f, name));
}

static struct type *tensor_type(struct sig *s, node_id n, bool ternary)
{
	const struct ast *a = tree(s);
	struct ast_nodes args = ast_b(a, n) ? ast_nodes(a, ast_b(a, n)) : (struct ast_nodes){0};
	struct type *t = new_type(s, TY_TENSOR, n);
	t->shape = SHAPE_ANY;
	if (ternary)
		t->elem = DT_TRIT;
	bool bracketed = ast_kind(a, n) == NODE_TYPE_ANY && args.n == 1 && ast_kind(a, args.at[0]) != NODE_TYPE_NAME;
	if (args.n > 2 || bracketed) /* the resolver has reported it */
		return new_type(s, TY_ANY, n);
	if (args.n && ternary && args.n == 1 && ast_kind(a, args.at[0]) == NODE_TYPE_SHAPE) {
		set_shape(s, t, args.at[0]);
		return t;
	}
	if (args.n >= 1)
		set_elem(s, t, args.at[0]);
	if (ternary && t->elem != DT_TRIT && t->elem != DT_COUNT && t->elem_var == SIG_NO_VAR) {
		struct diag *g = elab_error(s->e, DIAG_UNKNOWN_TYPE, t->at, "the elements of a TernaryTensor are trits");
		diag_help(s->e->out, g, "write `Tensor<%s, …>` for others", dtype_text(t->elem));
	}
	if (args.n == 2)
		set_shape(s, t, args.at[1]);
	return t;
}

/* ---- names of types ---- */

/* The arguments of one use of an alias: each a dimension or an element type. */
struct alias_args {
	uint32_t n;
	dim *dims;
	dtype *elems; /* DT_COUNT: it is a dimension */
};

static struct alias_args eval_alias_args(struct sig *s, struct ast_nodes args)
{
	struct arena *a = s->e->temp;
	struct alias_args out = {args.n, ARENA_ARRAY(a, dim, args.n + 1), ARENA_ARRAY(a, dtype, args.n + 1)};
	for (uint32_t i = 0; i < args.n; i++) {
		name_id name =
			ast_kind(tree(s), args.at[i]) == NODE_TYPE_NAME ? token_name(s->e->f, s->mod, ast_token(tree(s), args.at[i])) : 0;
		out.elems[i] = name && find_var(s, name) == SIG_NO_VAR ? dtype_find(name_text(s->e->f, name)) : DT_COUNT;
		out.dims[i] = out.elems[i] == DT_COUNT ? checked_dim(s, args.at[i]) : dim_const(s->dims, 0);
	}
	return out;
}

static void substitute_dims(struct sig *s, struct type *t, const dim *map)
{
	for (uint32_t i = 0; t->kind == TY_TENSOR && i < t->rank; i++)
		t->dims[i] = dim_translate(s->dims, s->dims, t->dims[i], map);
	for (uint32_t i = 0; i < t->n_items; i++)
		substitute_dims(s, t->items[i], map);
}

/* Replaces the alias's generics, variables first … first + n - 1, in a type's dimensions, so that equations mention the caller's only. */
static void substitute_generics(struct sig *s, struct type *t, uint32_t first, const struct alias_args *args)
{
	uint32_t n_syms = dims_syms(s->dims);
	dim *map = ARENA_ARRAY(s->e->temp, dim, n_syms + 1);
	for (uint32_t i = 0; i < n_syms; i++)
		map[i] = dim_sym(s->dims, i);
	for (uint32_t i = 0; i < args->n; i++)
		if (s->vars.at[first + i].kind == SV_DIM)
			map[s->vars.at[first + i].sym] = args->dims[i];
	substitute_dims(s, t, map);
}

/* Reads the alias's type in its own module, where the caller's variables have no names. */
static struct type *alias_body(struct sig *s, struct item *it, const struct ast_alias *al, const struct alias_args *args)
{
	struct sig outer = *s;
	struct alias_frame reading = {s->aliases, it};
	uint32_t first = s->vars.len;
	name_id *hidden = ARENA_ARRAY(s->e->temp, name_id, first + 1);
	for (uint32_t i = 0; i < first; i++) {
		hidden[i] = s->vars.at[i].name;
		s->vars.at[i].name = 0;
	}
	s->mod = it->mod;
	s->self = NULL;
	s->use_locals = false;
	s->aliases = &reading;
	s->alias_depth++;
	sig_generics(s, al->generics);
	for (uint32_t i = 0; i < args->n && first + i < s->vars.len; i++) {
		struct sigvar *v = &s->vars.at[first + i];
		if (args->elems[i] == DT_COUNT)
			continue;
		v->kind = SV_DTYPE;
		v->bound = true;
		v->elem = args->elems[i];
	}
	struct type *t = sig_type(s, al->type);
	s->mod = outer.mod;
	s->self = outer.self;
	s->use_locals = outer.use_locals;
	s->aliases = outer.aliases;
	s->alias_depth--;
	for (uint32_t i = 0; i < s->vars.len; i++)
		s->vars.at[i].name = i < first ? hidden[i] : 0;
	if (s->vars.len >= first + args->n)
		substitute_generics(s, t, first, args);
	return t;
}

/* Is the alias being read already, or is the type beyond all reason? Reported. */
static bool alias_refused(struct sig *s, struct item *it)
{
	const char *name = name_text(s->e->f, it->name);
	span at = tok_span(it->mod, it->name_token);
	for (struct alias_frame *f = s->aliases; f; f = f->up)
		if (f->item == it) {
			elab_error(s->e, DIAG_RECURSION, at, "type `%s` is defined by itself", name);
			return true;
		}
	if (s->n_types <= MAX_TYPES && s->alias_depth <= MAX_ALIASES && s->vars.len <= MAX_GENERICS)
		return false;
	if (s->e->gave_up)
		return true;
	struct diag *g = elab_error(s->e, DIAG_ELAB_STEPS, at,
				    "type `%s` has more than %d parts or %d generics, or is made of more than %d aliases in each other",
				    name, MAX_TYPES, MAX_GENERICS, MAX_ALIASES);
	diag_note(s->e->out, g, "each use of an alias in another multiplies its parts");
	s->e->gave_up = true;
	s->e->steps = s->e->max_steps + 1; /* nor are the definitions that follow looked at */
	return true;
}

static struct type *alias_type(struct sig *s, struct item *it, node_id n)
{
	struct ast_nodes args = ast_b(tree(s), n) ? ast_nodes(tree(s), ast_b(tree(s), n)) : (struct ast_nodes){0};
	struct ast_alias al = ast_alias(&it->mod->ast, it->node);
	const char *name = name_text(s->e->f, it->name);
	if (item_broken(s->e->f, it->mod, it))
		return new_type(s, TY_ANY, n);
	if (args.n != al.generics.n) {
		struct diag *g = elab_error(s->e, DIAG_ARG_COUNT, node_span(s->mod, n), "`%s` takes %u arguments, not %u", name,
					    al.generics.n, args.n);
		diag_secondary(s->e->out, g, tok_span(it->mod, it->name_token), "defined here");
		return new_type(s, TY_ANY, n);
	}
	if (alias_refused(s, it))
		return new_type(s, TY_ANY, n);
	struct alias_args values = eval_alias_args(s, args);
	return alias_body(s, it, &al, &values);
}

static struct type *list_type(struct sig *s, node_id n, node_id elem)
{
	struct type *t = new_type(s, TY_LIST, n);
	if (elem == AST_NONE)
		return t;
	const struct ast *a = tree(s);
	if (ast_kind(a, elem) == NODE_TYPE_SHAPE) { /* List<[A]> */
		struct ast_nodes inner = ast_nodes(a, ast_a(a, elem));
		return inner.n == 1 ? list_type(s, n, inner.at[0]) : t;
	}
	t->items = ARENA_ARRAY(s->e->temp, struct type *, 1);
	t->items[0] = sig_type(s, elem);
	t->n_items = 1;
	return t;
}

static struct item *type_item(struct sig *s, node_id n)
{
	const struct ast *a = tree(s);
	name_id name = token_name(s->e->f, s->mod, ast_token(a, n));
	struct module *m = s->mod;
	if (ast_a(a, n) != TOKEN_NONE) {
		struct item *im = module_find(m, token_name(s->e->f, m, ast_a(a, n)));
		im = im ? item_follow(s->e->f, im) : NULL;
		m = im && im->kind == ITEM_IMPORT ? im->target : NULL;
	}
	struct item *it = m ? module_find(m, name) : NULL;
	return it ? item_follow(s->e->f, it) : NULL;
}

static struct type *named_type(struct sig *s, node_id n)
{
	const struct ast *a = tree(s);
	name_id name = token_name(s->e->f, s->mod, ast_token(a, n));
	const char *text = name_text(s->e->f, name);
	bool plain = ast_a(a, n) == TOKEN_NONE;
	uint32_t var = plain ? find_var(s, name) : SIG_NO_VAR;
	struct ast_nodes args = ast_b(a, n) ? ast_nodes(a, ast_b(a, n)) : (struct ast_nodes){0};
	if (var != SIG_NO_VAR && s->vars.at[var].kind != SV_DIM) {
		if (s->vars.at[var].kind == SV_UNUSED)
			s->vars.at[var].kind = SV_TYPE;
		return new_type(s, TY_ANY, n);
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
	if (plain && !strcmp(text, "str"))
		return new_type(s, TY_STR, n);
	if (plain && !strcmp(text, "void"))
		return new_type(s, TY_VOID, n);
	return new_type(s, TY_ANY, n); /* unknown: the resolver has reported it */
}

struct type *sig_type(struct sig *s, node_id n)
{
	const struct ast *a = tree(s);
	switch (ast_kind(a, n)) {
	case NODE_TYPE_NAME:
	case NODE_TYPE_ANY: return named_type(s, n);
	case NODE_TYPE_LIST: return list_type(s, n, ast_a(a, n));
	case NODE_TYPE_SHAPE: return list_type(s, n, n);
	case NODE_PAREN: return sig_type(s, ast_a(a, n));
	case NODE_TYPE_TUPLE: {
		struct ast_nodes items = ast_nodes(a, ast_a(a, n));
		struct type *t = new_type(s, TY_TUPLE, n);
		t->items = ARENA_ARRAY(s->e->temp, struct type *, items.n + 1);
		t->n_items = items.n;
		for (uint32_t i = 0; i < items.n; i++)
			t->items[i] = sig_type(s, items.at[i]);
		return t;
	}
	default: return new_type(s, TY_ANY, n);
	}
}
