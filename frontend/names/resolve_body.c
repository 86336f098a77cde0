/* Names in statements and expressions. */
#include "base/diag.h"
#include "frontend/habits/habits.h"
#include "frontend/names/index_note.h"
#include "frontend/names/resolve_state.h"

static void resolve_body_check_name(struct resolver *r, token_id tok)
{
	offer_names(r, tok, ASK_NAME);
	if (!use_name(r, tok))
		report_unknown(r, DIAG_UNKNOWN_NAME, tok, "name", HABIT_VALUE);
}

/* m.x where m is an import that no local hides. */
static void check_module_member(struct resolver *r, node_id n)
{
	node_id obj = ast_a(r->t, n);
	if (ast_kind(r->t, obj) != NODE_NAME || scope_find(r, name_at(r, ast_token(r->t, obj))))
		return;
	struct item *it = module_find(r->m, name_at(r, ast_token(r->t, obj)));
	it = it ? item_resolve_import(r->f, it) : NULL;
	if (!it || it->kind != ITEM_IMPORT || !it->import.target || it->import.target->failed)
		return;
	token_id tok = ast_token(r->t, n);
	struct item *member = module_find(it->import.target, name_at(r, tok));
	offer_members(r, it->import.target, tok);
	if (member)
		use_item(r, member, tok);
	else
		report_module_member(r, it, tok);
}

void resolve_pattern(struct resolver *r, node_id p, enum symbol_kind kind, node_id whole, bool typed)
{
	switch (ast_kind(r->t, p)) {
	case NODE_PAT_NAME: scope_push(r, ast_token(r->t, p), kind, whole, typed); break;
	case NODE_PAT_REST: scope_push(r, ast_a(r->t, p), kind, whole, typed); break;
	case NODE_PAT_TUPLE:
	case NODE_PAT_LIST: {
		struct ast_nodes items = ast_nodes(r->t, ast_a(r->t, p));
		for (uint32_t i = 0; i < items.n; i++)
			resolve_pattern(r, items.at[i], kind, whole, typed);
		break;
	}
	default: break;
	}
}

static void walk_list(struct resolver *r, uint32_t list)
{
	struct ast_nodes items = ast_nodes(r->t, list);
	for (uint32_t i = 0; i < items.n; i++)
		resolve_node(r, items.at[i]);
}

static void walk_scoped(struct resolver *r, node_id n)
{
	uint32_t mark = r->scope.len;
	resolve_node(r, n);
	scope_leave(r, mark);
}

static void walk_block(struct resolver *r, node_id n)
{
	uint32_t mark = r->scope.len;
	r->blocks++;
	walk_list(r, ast_a(r->t, n));
	r->blocks--;
	warn_statements(r, ast_nodes(r->t, ast_a(r->t, n)));
	scope_leave(r, mark);
}

void resolve_let_value(struct resolver *r, node_id n)
{
	struct ast_let l = ast_let(r->t, n);
	if (l.value)
		resolve_node(r, l.value);
	if (l.type)
		resolve_type(r, l.type, DIMS_KNOWN);
}

static void walk_let(struct resolver *r, node_id n)
{
	struct ast_let l = ast_let(r->t, n);
	resolve_let_value(r, n);
	resolve_pattern(r, l.pattern, SYMBOL_LOCAL, n, l.type != AST_NONE);
	if (r->blocks && ast_kind(r->t, l.pattern) == NODE_PAT_NAME)
		r->scope.at[r->scope.len - 1].plain = true;
}

void resolve_const(struct resolver *r, node_id n)
{
	struct ast_const c = ast_const(r->t, n);
	if (c.type)
		resolve_type(r, c.type, DIMS_KNOWN);
	if (c.value)
		resolve_node(r, c.value);
}

static void walk_for(struct resolver *r, node_id n)
{
	struct ast_for f = ast_for(r->t, n);
	uint32_t mark = r->scope.len;
	check_attributes(r, f.attrs, BEFORE_LOOP);
	if (attr_find(r->m, f.attrs, "unroll") && attr_find(r->m, f.attrs, "loop"))
		diag_add(r->out, DIAG_LOOP_ATTR, node_span(r->m, f.attrs.at[1]),
			 "a loop cannot be both unrolled and kept: remove one of them");
	resolve_node(r, f.iter);
	resolve_pattern(r, f.pattern, SYMBOL_LOCAL, f.pattern, true);
	resolve_node(r, f.body);
	scope_leave(r, mark);
}

static void walk_comprehension(struct resolver *r, node_id n)
{
	struct ast_nodes clauses = ast_nodes(r->t, ast_b(r->t, n));
	uint32_t mark = r->scope.len;
	for (uint32_t i = 0; i < clauses.n; i++) {
		if (ast_kind(r->t, clauses.at[i]) == NODE_COMP_FOR) {
			resolve_node(r, ast_b(r->t, clauses.at[i]));
			resolve_pattern(r, ast_a(r->t, clauses.at[i]), SYMBOL_LOCAL, ast_a(r->t, clauses.at[i]), true);
		} else {
			resolve_node(r, ast_a(r->t, clauses.at[i]));
		}
	}
	resolve_node(r, ast_a(r->t, n));
	scope_leave(r, mark);
}

static void walk_if(struct resolver *r, node_id n)
{
	struct ast_if f = ast_if(r->t, n);
	resolve_node(r, f.cond);
	walk_scoped(r, f.then);
	if (f.otherwise)
		walk_scoped(r, f.otherwise);
}

/* x.f(…): f may be a member of x or a function; the elaborator knows. */
static void walk_call(struct resolver *r, node_id n)
{
	node_id callee = ast_a(r->t, n);
	resolve_node(r, callee);
	walk_list(r, ast_b(r->t, n));
	struct ast_nodes args = ast_nodes(r->t, ast_b(r->t, n));
	warn_norm_order(r, n);
	if (args.n && ast_kind(r->t, callee) == NODE_NAME && token_is(&r->t->tokens, ast_token(r->t, callee), "print"))
		warn_plain_text(r, args.at[0], (struct ast_nodes){args.at + 1, args.n - 1});
}

static void walk_range(struct resolver *r, node_id n)
{
	struct ast_range x = ast_range(r->t, n);
	if (x.from)
		resolve_node(r, x.from);
	if (x.to)
		resolve_node(r, x.to);
	if (x.step)
		resolve_node(r, x.step);
}

static void walk_chain(struct resolver *r, node_id n)
{
	struct ast_chain c = ast_chain(r->t, n);
	for (uint32_t i = 0; i < c.n; i++)
		resolve_node(r, c.operands[i]);
}

static void walk_fstring(struct resolver *r, node_id n)
{
	struct ast_fstring s = ast_fstring(r->t, n);
	for (uint32_t i = 0; i < s.n; i++)
		resolve_node(r, s.exprs[i]);
}

static void walk_assign(struct resolver *r, node_id n)
{
	node_id target = ast_a(r->t, n);
	struct ast_nodes names = {&target, 1};
	uint32_t undeclared = 0;
	resolve_node(r, ast_b(r->t, n));
	if (ast_kind(r->t, target) == NODE_TUPLE)
		names = ast_nodes(r->t, ast_a(r->t, target));
	for (uint32_t i = 0; i < names.n; i++)
		undeclared += ast_kind(r->t, names.at[i]) == NODE_NAME && !use_name(r, ast_token(r->t, names.at[i]));
	if (!undeclared || undeclared < names.n) {
		resolve_node(r, target);
		return;
	}
	report_undeclared(r, n);
	for (uint32_t i = 0; i < names.n; i++)
		scope_push(r, ast_token(r->t, names.at[i]), SYMBOL_LOCAL, n, false);
}

/* torch.nn.functional.relu, where nothing is called torch. */
static bool is_library_chain(struct resolver *r, node_id n)
{
	node_id root = n;
	while (ast_kind(r->t, root) == NODE_MEMBER)
		root = ast_a(r->t, root);
	if (ast_kind(r->t, root) != NODE_NAME || !habit_module_help(name_text(r->f, name_at(r, ast_token(r->t, root)))))
		return false;
	token_id tok = ast_token(r->t, root);
	return !use_name(r, tok) && report_library_module(r, tok, ast_token(r->t, n), HABIT_VALUE);
}

void resolve_node(struct resolver *r, node_id n)
{
	uint32_t a = ast_a(r->t, n), b = ast_b(r->t, n);
	switch (ast_kind(r->t, n)) {
	case NODE_NAME: resolve_body_check_name(r, ast_token(r->t, n)); break;
	case NODE_MEMBER:
		if (is_library_chain(r, n))
			break;
		resolve_node(r, a);
		check_module_member(r, n);
		break;
	case NODE_LET: walk_let(r, n); break;
	case NODE_CONST:
		resolve_const(r, n);
		scope_push(r, ast_const(r->t, n).name, SYMBOL_CONST, n, ast_const(r->t, n).type != AST_NONE);
		break;
	case NODE_FN: resolve_local_fn(r, n); break;
	case NODE_ALIAS: resolve_local_alias(r, n); break;
	case NODE_FOR: walk_for(r, n); break;
	case NODE_IF:
	case NODE_TERNARY: walk_if(r, n); break;
	case NODE_BLOCK: walk_block(r, n); break;
	case NODE_COMPREHENSION: walk_comprehension(r, n); break;
	case NODE_CALL: walk_call(r, n); break;
	case NODE_INDEX:
		resolve_node(r, a);
		walk_list(r, b);
		break;
	case NODE_RANGE:
	case NODE_SLICE: walk_range(r, n); break;
	case NODE_CHAIN: walk_chain(r, n); break;
	case NODE_FSTRING: walk_fstring(r, n); break;
	case NODE_TUPLE:
	case NODE_LIST: walk_list(r, a); break;
	case NODE_ASSIGN: walk_assign(r, n); break;
	case NODE_ASSERT:
		if (b)
			warn_plain_text(r, b, (struct ast_nodes){0});
		/* fall through */
	case NODE_BINARY:
	case NODE_WHILE:
		resolve_node(r, a);
		if (b)
			resolve_node(r, b);
		break;
	case NODE_RETURN:
	case NODE_UNARY:
	case NODE_PAREN:
	case NODE_NAMED_ARG:
		if (a)
			resolve_node(r, a);
		break;
	default: break;
	}
}
