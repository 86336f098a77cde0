/* Dimensions of types. */
#include "frontend/syntax/literal.h"
#include "frontend/types/type_state.h"

static dim unknown_dim(struct sig *s)
{
	uint32_t v = sig_var_add(s, SV_DIM, 0);
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
	if (v.kind != V_POISON) {
		struct diag *g = report_error(s->e, DIAG_TYPE_MISMATCH, at, "`%s` is used as a dimension but is %s",
					      name_text(s->e->f, name), value_kind_text(v));
		if (v.kind == V_FN || v.kind == V_LAYER_CLASS)
			diag_help(s->e->report.out, g, "give the dimension another name");
	}
	return unknown_dim(s);
}

static dim argument_dim(struct sig *s, uint32_t i)
{
	struct alias_frame *f = s->aliases;
	if (!f->evaluated[i]) {
		struct alias_frame here = sig_set_scope(s, f);
		enum node_kind k = ast_kind(sig_tree(s), f->args[i]);
		if (k == NODE_TYPE_ANY || k == NODE_TYPE_LIST || k == NODE_TYPE_SHAPE || k == NODE_TYPE_TUPLE)
			report_error(s->e, DIAG_TYPE_MISMATCH, node_span(s->mod, f->args[i]),
				     "a dimension is expected, not a type or a list");
		f->dims[i] = sig_dim(s, f->args[i]);
		f->evaluated[i] = true;
		sig_set_scope(s, &here);
	}
	return f->dims[i];
}

static dim named_dim(struct sig *s, node_id n)
{
	uint32_t arg;
	if (sig_alias_argument(s, n, &arg))
		return argument_dim(s, arg);
	token_id tok = ast_token(sig_tree(s), n);
	name_id name = token_name(s->e->f, s->mod, tok);
	span at = tok_span(s->mod, tok);
	uint32_t var = sig_var_find(s, name);
	struct value v = VALUE_POISON;
	if (var != SIG_NO_VAR)
		return sig_var_use(s, var, SV_DIM, at) ? dim_sym(s->dims, s->vars.at[var].sym) : unknown_dim(s);
	if (s->use_locals && s->e->evaluator->find_name(s->e, name, at, &v))
		return dim_of_value(s, v, name, at);
	if (dtype_find(name_text(s->e->f, name)) != DT_COUNT)
		return dim_of_value(s, (struct value){.kind = V_DTYPE, .u.dt = dtype_find(name_text(s->e->f, name))}, name, at);
	/* A name of the prelude (`max`, `full`) may be a dimension. */
	bool bound = (s->self && instance_member(s->self, name)) || module_find(s->mod, name);
	if (bound && s->e->evaluator->find_global(s->e, s->mod, s->self, name, at, &v))
		return dim_of_value(s, v, name, at);
	var = sig_var_add(s, SV_DIM, name);
	return dim_sym(s->dims, s->vars.at[var].sym);
}

static dim eval_dim(struct sig *s, node_id n);

static dim binary_dim(struct sig *s, node_id n)
{
	dim a = eval_dim(s, ast_a(sig_tree(s), n)), b = eval_dim(s, ast_b(sig_tree(s), n));
	enum token_kind op = ast_token_kind(sig_tree(s), n);
	int64_t v;
	switch (op) {
	case TOK_PLUS: return dim_add(s->dims, a, b);
	case TOK_MINUS: return dim_sub(s->dims, a, b);
	case TOK_STAR: return dim_mul(s->dims, a, b);
	case TOK_SLASH2:
	case TOK_PERCENT:
		if (dim_is_const(s->dims, b, &v) && !v) {
			report_error(s->e, DIAG_CONST_ARITH, node_span(s->mod, n), "division by zero in a dimension");
			return unknown_dim(s);
		}
		return op == TOK_PERCENT ? dim_mod(s->dims, a, b) : dim_floordiv(s->dims, a, b);
	default: return unknown_dim(s);
	}
}

static dim eval_dim(struct sig *s, node_id n)
{
	uint64_t v;
	switch (ast_kind(sig_tree(s), n)) {
	case NODE_INT:
		if (literal_int(&sig_tree(s)->tokens, ast_token(sig_tree(s), n), &v) && v <= INT64_MAX)
			return dim_const(s->dims, (int64_t)v);
		report_error(s->e, DIAG_LITERAL_RANGE, node_span(s->mod, n), "the dimension is too large");
		return unknown_dim(s);
	case NODE_TYPE_NAME: return named_dim(s, n);
	case NODE_PAREN: return eval_dim(s, ast_a(sig_tree(s), n));
	case NODE_UNARY:
		if (ast_token_kind(sig_tree(s), n) == TOK_PLUS)
			return eval_dim(s, ast_a(sig_tree(s), n));
		return dim_sub(s->dims, dim_const(s->dims, 0), eval_dim(s, ast_a(sig_tree(s), n)));
	case NODE_BINARY: return binary_dim(s, n);
	default: return unknown_dim(s);
	}
}

dim sig_dim(struct sig *s, node_id n)
{
	int64_t v;
	dim d = eval_dim(s, n);
	if (dims_overflowed(s->dims))
		report_error(s->e, DIAG_CONST_ARITH, node_span(s->mod, n), "the dimension overflows 64 bits or is too complicated");
	if (dim_is_const(s->dims, d, &v) && v < 0) {
		struct diag *g = report_error(s->e, DIAG_SHAPE, node_span(s->mod, n), "the dimension is negative");
		diag_label_primary(s->e->report.out, g, "%lld here", (long long)v);
		return unknown_dim(s);
	}
	return d;
}
