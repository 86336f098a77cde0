/* One walk over each item with a stack of the names in scope. */
#include "frontend/resolve.h"
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"
#include "frontend/index_note.h"
#include "frontend/literal.h"
#include "frontend/module.h"
#include "frontend/foreign.h"
#include "frontend/resolve_state.h"

/* Where a type stands decides what an unknown dimension is. */
enum dim_names { DIMS_INTRODUCE, DIMS_KNOWN };

static void walk(struct resolver *r, node_id n);

static void push(struct resolver *r, token_id name, enum symbol_kind kind, node_id whole, bool typed)
{
	struct definition d = {kind, whole, r->parent, typed};
	vec_push(&r->scope, ((struct scoped){text_of(r, name), index_define(r->f, r->m, name, &d), name, (uint8_t)kind, false, false}));
}

static struct scoped *in_scope(struct resolver *r, name_id n)
{
	for (uint32_t i = r->scope.len; i-- > 0;)
		if (r->scope.at[i].name == n)
			return &r->scope.at[i];
	return NULL;
}

/* A local's or an item's name at a token, not the prelude's. */
static bool defined(struct resolver *r, token_id tok)
{
	name_id n = text_of(r, tok);
	struct scoped *local = in_scope(r, n);
	struct item *it = local ? NULL : module_find(r->m, n);
	if (local)
		local->used = true;
	else if (it)
		it->used = true;
	if (local)
		index_use(r->f, tok_span(r->m, tok), local->symbol);
	else if (it && r->f->index)
		index_use(r->f, tok_span(r->m, tok), index_item(r->f, it));
	return local || it;
}

static bool known(struct resolver *r, token_id tok)
{
	uint64_t i;
	if (defined(r, tok))
		return true;
	if (!map_get(&r->f->prelude, map_key_u64(text_of(r, tok)), &i))
		return false;
	index_use(r->f, tok_span(r->m, tok), (uint32_t)i);
	return true;
}

/* Candidates for an editor that asks what may stand at a token. */
static void offer(struct resolver *r, token_id tok, enum ask_context context)
{
	if (!index_asked(r->f, tok_span(r->m, tok)))
		return;
	r->f->index->candidates.len = 0;
	for (uint32_t i = r->scope.len; i-- > 0;) {
		struct scoped s = r->scope.at[i];
		if (in_scope(r, s.name) == &r->scope.at[i])
			index_offer(r->f, name_text(r->f, s.name), r->f->index->symbols.at[s.symbol].kind, s.symbol, NULL);
	}
	index_offer_globals(r->f, r->m, context);
}

static void check_name(struct resolver *r, token_id tok)
{
	offer(r, tok, ASK_NAME);
	if (!known(r, tok))
		report_unknown(r, DIAG_UNKNOWN_NAME, tok, "name", FOREIGN_VALUE);
}

/* m.x where m is an import that no local hides. */
static void check_module_member(struct resolver *r, node_id n)
{
	node_id obj = ast_a(r->t, n);
	if (ast_kind(r->t, obj) != NODE_NAME || in_scope(r, text_of(r, ast_token(r->t, obj))))
		return;
	struct item *it = module_find(r->m, text_of(r, ast_token(r->t, obj)));
	it = it ? item_follow(r->f, it) : NULL;
	if (!it || it->kind != ITEM_IMPORT || !it->target || it->target->failed)
		return;
	token_id tok = ast_token(r->t, n);
	struct item *member = module_find(it->target, text_of(r, tok));
	if (member)
		member->used = true;
	if (member && r->f->index)
		index_use(r->f, tok_span(r->m, tok), index_item(r->f, member));
	if (index_asked(r->f, tok_span(r->m, tok))) {
		r->f->index->context = ASK_MEMBER;
		index_offer_items(r->f, it->target);
	}
	if (!member)
		report_module_member(r, it, tok);
}

/* ---- types ---- */

static void walk_type(struct resolver *r, node_id n, enum dim_names dims);

static void walk_dim(struct resolver *r, node_id n, enum dim_names dims)
{
	switch (ast_kind(r->t, n)) {
	case NODE_TYPE_NAME: {
		token_id tok = ast_token(r->t, n);
		offer(r, tok, ASK_NAME);
		if (defined(r, tok))
			return;
		if (dims == DIMS_INTRODUCE)
			push(r, tok, SYMBOL_DIM, n, false);
		else
			report_unknown(r, DIAG_UNKNOWN_NAME, tok, "dimension", 0);
		return;
	}
	case NODE_BINARY:
		walk_dim(r, ast_a(r->t, n), dims);
		walk_dim(r, ast_b(r->t, n), dims);
		return;
	case NODE_UNARY:
	case NODE_PAREN: walk_dim(r, ast_a(r->t, n), dims); return;
	case NODE_TYPE_SHAPE: {
		struct ast_nodes items = ast_nodes(r->t, ast_a(r->t, n));
		for (uint32_t i = 0; i < items.n; i++)
			walk_dim(r, items.at[i], dims);
		return;
	}
	default: return;
	}
}

static bool is_type_word(const char *s)
{
	return dtype_find(s) != DT_COUNT || !strcmp(s, "Tensor") || !strcmp(s, "TernaryTensor") || !strcmp(s, "List") ||
	       !strcmp(s, "str") || !strcmp(s, "void");
}

static void note_type_word(struct resolver *r, token_id tok)
{
	if (r->f->index)
		index_use(r->f, tok_span(r->m, tok), index_builtin(r->f->index, name_text(r->f, text_of(r, tok))));
}

/* The item a type's name stands for; NULL: none, or a generic, or a prelude type. Reports unknown ones. */
static struct item *type_item(struct resolver *r, node_id n)
{
	name_id name = text_of(r, ast_token(r->t, n));
	struct module *m = r->m;
	token_id tok = ast_token(r->t, n), mod = ast_a(r->t, n);
	if (mod != TOKEN_NONE) {
		struct item *im = module_find(m, text_of(r, mod));
		defined(r, mod);
		im = im ? item_follow(r->f, im) : NULL;
		if (!im || im->kind != ITEM_IMPORT) {
			if (!im && !report_foreign_module(r, mod, tok, FOREIGN_TYPE))
				report_unknown(r, DIAG_UNKNOWN_NAME, mod, "module", FOREIGN_VALUE);
			return NULL;
		}
		m = im->target;
		if (!m || m->failed)
			return NULL;
		if (index_asked(r->f, tok_span(r->m, tok))) {
			r->f->index->context = ASK_MEMBER;
			index_offer_items(r->f, m);
		}
	} else {
		offer(r, tok, ASK_TYPE);
		if (in_scope(r, name))
			return defined(r, tok), NULL;
		if (is_type_word(name_text(r->f, name)))
			return note_type_word(r, tok), NULL;
	}
	struct item *it = module_find(m, name);
	if (it)
		it->used = true;
	if (it && r->f->index)
		index_use(r->f, tok_span(r->m, tok), index_item(r->f, it));
	bool from = it && it->kind == ITEM_FROM;
	it = it ? item_follow(r->f, it) : NULL;
	if (from && !it)
		return NULL;
	if (!it || (it->kind != ITEM_TYPE && it->kind != ITEM_MODULE_LAYER)) {
		report_unknown(r, DIAG_UNKNOWN_TYPE, ast_token(r->t, n), "type", FOREIGN_TYPE);
		return NULL;
	}
	return it;
}

/* A name that is an element type: one of the language's, or a generic or alias. */
static bool names_element(struct resolver *r, node_id n)
{
	if (ast_kind(r->t, n) != NODE_TYPE_NAME)
		return false;
	name_id name = text_of(r, ast_token(r->t, n));
	return dtype_find(name_text(r->f, name)) != DT_COUNT || in_scope(r, name) || module_find(r->m, name) ||
	       (foreign_name_instead(name_text(r->f, name), FOREIGN_TYPE) && name != 0);
}

/* Is it a tensor's type with arguments as the language has them: an element type, then a list of dimensions or the name of a shape? */
static bool tensor_arguments_fit(struct resolver *r, node_id n, bool ternary, struct ast_nodes args)
{
	bool square = ast_kind(r->t, n) == NODE_TYPE_ANY,
	     shape_only = ternary && args.n == 1 && ast_kind(r->t, args.at[0]) == NODE_TYPE_SHAPE;
	if (square)
		return args.n == 1 && names_element(r, args.at[0]);
	if (args.n == 0 || shape_only)
		return true;
	if (args.n > 2 || ast_kind(r->t, args.at[0]) != NODE_TYPE_NAME)
		return false;
	return args.n == 1 || ast_kind(r->t, args.at[1]) == NODE_TYPE_SHAPE || ast_kind(r->t, args.at[1]) == NODE_TYPE_NAME;
}

static void walk_type_name(struct resolver *r, node_id n, enum dim_names dims)
{
	const char *text = name_text(r->f, text_of(r, ast_token(r->t, n)));
	struct item *it = type_item(r, n);
	struct ast_nodes args = ast_b(r->t, n) ? ast_nodes(r->t, ast_b(r->t, n)) : (struct ast_nodes){0};
	bool tensor = !it && (!strcmp(text, "Tensor") || !strcmp(text, "TernaryTensor"));
	if (tensor && !tensor_arguments_fit(r, n, text[1] == 'e' && text[2] == 'r', args)) {
		report_tensor_type(r, n, args);
		return;
	}
	if (!it && args.n && dtype_find(text) != DT_COUNT) {
		report_tensor_type(r, n, args);
		return;
	}
	for (uint32_t i = 0; i < args.n; i++) {
		enum node_kind k = ast_kind(r->t, args.at[i]);
		if (k == NODE_TYPE_SHAPE && tensor)
			walk_dim(r, args.at[i], dims);
		else if (tensor && i == 0 && k == NODE_TYPE_NAME)
			walk_type(r, args.at[i], dims);
		else if (!strcmp(text, "List"))
			walk_type(r, args.at[i], dims);
		else if (k == NODE_TYPE_NAME && is_type_word(name_text(r->f, text_of(r, ast_token(r->t, args.at[i])))))
			note_type_word(r, ast_token(r->t, args.at[i]));
		else
			walk_dim(r, args.at[i], dims);
	}
}

static void walk_type(struct resolver *r, node_id n, enum dim_names dims)
{
	switch (ast_kind(r->t, n)) {
	case NODE_TYPE_NAME:
	case NODE_TYPE_ANY: walk_type_name(r, n, dims); break;
	case NODE_TYPE_LIST:
	case NODE_PAREN: walk_type(r, ast_a(r->t, n), dims); break;
	case NODE_TYPE_SHAPE:
	case NODE_TYPE_TUPLE: {
		struct ast_nodes items = ast_nodes(r->t, ast_a(r->t, n));
		for (uint32_t i = 0; i < items.n; i++)
			walk_type(r, items.at[i], dims);
		break;
	}
	default: break;
	}
}

/* ---- patterns, statements, expressions ---- */

/* The names of a pattern in the statement `whole`. */
static void bind_pattern(struct resolver *r, node_id p, enum symbol_kind kind, node_id whole, bool typed)
{
	switch (ast_kind(r->t, p)) {
	case NODE_PAT_NAME: push(r, ast_token(r->t, p), kind, whole, typed); break;
	case NODE_PAT_REST: push(r, ast_a(r->t, p), kind, whole, typed); break;
	case NODE_PAT_TUPLE:
	case NODE_PAT_LIST: {
		struct ast_nodes items = ast_nodes(r->t, ast_a(r->t, p));
		for (uint32_t i = 0; i < items.n; i++)
			bind_pattern(r, items.at[i], kind, whole, typed);
		break;
	}
	default: break;
	}
}

static void walk_list(struct resolver *r, uint32_t list)
{
	struct ast_nodes items = ast_nodes(r->t, list);
	for (uint32_t i = 0; i < items.n; i++)
		walk(r, items.at[i]);
}

static void walk_scoped(struct resolver *r, node_id n)
{
	uint32_t mark = r->scope.len;
	walk(r, n);
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

static void walk_let(struct resolver *r, node_id n)
{
	struct ast_let l = ast_let(r->t, n);
	walk(r, l.value);
	if (l.type)
		walk_type(r, l.type, DIMS_KNOWN);
	bind_pattern(r, l.pattern, SYMBOL_LOCAL, n, l.type != AST_NONE);
	if (r->blocks && ast_kind(r->t, l.pattern) == NODE_PAT_NAME)
		r->scope.at[r->scope.len - 1].plain = true;
}

static void walk_const(struct resolver *r, node_id n)
{
	struct ast_const c = ast_const(r->t, n);
	if (c.type)
		walk_type(r, c.type, DIMS_KNOWN);
	if (c.value)
		walk(r, c.value);
}

static void walk_for(struct resolver *r, node_id n)
{
	struct ast_for f = ast_for(r->t, n);
	uint32_t mark = r->scope.len;
	walk(r, f.iter);
	bind_pattern(r, f.pattern, SYMBOL_LOCAL, f.pattern, true);
	walk(r, f.body);
	scope_leave(r, mark);
}

static void walk_comprehension(struct resolver *r, node_id n)
{
	struct ast_nodes clauses = ast_nodes(r->t, ast_b(r->t, n));
	uint32_t mark = r->scope.len;
	for (uint32_t i = 0; i < clauses.n; i++) {
		if (ast_kind(r->t, clauses.at[i]) == NODE_COMP_FOR) {
			walk(r, ast_b(r->t, clauses.at[i]));
			bind_pattern(r, ast_a(r->t, clauses.at[i]), SYMBOL_LOCAL, ast_a(r->t, clauses.at[i]), true);
		} else {
			walk(r, ast_a(r->t, clauses.at[i]));
		}
	}
	walk(r, ast_a(r->t, n));
	scope_leave(r, mark);
}

static void walk_if(struct resolver *r, node_id n)
{
	struct ast_if f = ast_if(r->t, n);
	walk(r, f.cond);
	walk_scoped(r, f.then);
	if (f.otherwise)
		walk_scoped(r, f.otherwise);
}

/* x.f(…): f may be a member of x or a function; the elaborator knows. */
static void walk_call(struct resolver *r, node_id n)
{
	node_id callee = ast_a(r->t, n);
	walk(r, callee);
	walk_list(r, ast_b(r->t, n));
}

static void walk_range(struct resolver *r, node_id n)
{
	struct ast_range x = ast_range(r->t, n);
	if (x.from)
		walk(r, x.from);
	if (x.to)
		walk(r, x.to);
	if (x.step)
		walk(r, x.step);
}

static void walk_chain(struct resolver *r, node_id n)
{
	struct ast_chain c = ast_chain(r->t, n);
	for (uint32_t i = 0; i < c.n; i++)
		walk(r, c.operands[i]);
}

static void walk_fstring(struct resolver *r, node_id n)
{
	struct ast_fstring s = ast_fstring(r->t, n);
	for (uint32_t i = 0; i < s.n; i++)
		walk(r, s.exprs[i]);
}

static void walk_assign(struct resolver *r, node_id n)
{
	node_id target = ast_a(r->t, n);
	struct ast_nodes names = {&target, 1};
	uint32_t undeclared = 0;
	walk(r, ast_b(r->t, n));
	if (ast_kind(r->t, target) == NODE_TUPLE)
		names = ast_nodes(r->t, ast_a(r->t, target));
	for (uint32_t i = 0; i < names.n; i++)
		undeclared += ast_kind(r->t, names.at[i]) == NODE_NAME && !known(r, ast_token(r->t, names.at[i]));
	if (!undeclared || undeclared < names.n) {
		walk(r, target);
		return;
	}
	report_undeclared(r, n);
	for (uint32_t i = 0; i < names.n; i++)
		push(r, ast_token(r->t, names.at[i]), SYMBOL_LOCAL, n, false);
}

/* torch.nn.functional.relu, where nothing is called torch. */
static bool foreign_chain(struct resolver *r, node_id n)
{
	node_id root = n;
	while (ast_kind(r->t, root) == NODE_MEMBER)
		root = ast_a(r->t, root);
	if (ast_kind(r->t, root) != NODE_NAME || !foreign_module(name_text(r->f, text_of(r, ast_token(r->t, root)))))
		return false;
	token_id tok = ast_token(r->t, root);
	return !known(r, tok) && report_foreign_module(r, tok, ast_token(r->t, n), FOREIGN_VALUE);
}

static void walk(struct resolver *r, node_id n)
{
	uint32_t a = ast_a(r->t, n), b = ast_b(r->t, n);
	switch (ast_kind(r->t, n)) {
	case NODE_NAME: check_name(r, ast_token(r->t, n)); break;
	case NODE_MEMBER:
		if (foreign_chain(r, n))
			break;
		walk(r, a);
		check_module_member(r, n);
		break;
	case NODE_LET: walk_let(r, n); break;
	case NODE_CONST:
		walk_const(r, n);
		push(r, ast_const(r->t, n).name, SYMBOL_CONST, n, ast_const(r->t, n).type != AST_NONE);
		break;
	case NODE_FOR: walk_for(r, n); break;
	case NODE_IF:
	case NODE_TERNARY: walk_if(r, n); break;
	case NODE_BLOCK: walk_block(r, n); break;
	case NODE_COMPREHENSION: walk_comprehension(r, n); break;
	case NODE_CALL: walk_call(r, n); break;
	case NODE_INDEX:
		walk(r, a);
		walk_list(r, b);
		break;
	case NODE_RANGE:
	case NODE_SLICE: walk_range(r, n); break;
	case NODE_CHAIN: walk_chain(r, n); break;
	case NODE_FSTRING: walk_fstring(r, n); break;
	case NODE_TUPLE:
	case NODE_LIST: walk_list(r, a); break;
	case NODE_ASSIGN: walk_assign(r, n); break;
	case NODE_BINARY:
	case NODE_WHILE:
	case NODE_ASSERT:
		walk(r, a);
		if (b)
			walk(r, b);
		break;
	case NODE_RETURN:
	case NODE_UNARY:
	case NODE_PAREN:
	case NODE_NAMED_ARG:
		if (a)
			walk(r, a);
		break;
	default: break;
	}
}

/* ---- items ---- */

static void check_opt(struct resolver *r, node_id n)
{
	struct ast_nodes args = ast_a(r->t, n) ? ast_nodes(r->t, ast_a(r->t, n)) : (struct ast_nodes){0};
	uint64_t level;
	bool one = args.n == 1 && ast_kind(r->t, args.at[0]) == NODE_INT;
	if (!one || !literal_int(&r->t->tokens, ast_token(r->t, args.at[0]), &level) || level > 3)
		diag_add(r->out, DIAG_UNKNOWN_ATTR, node_span(r->m, n), "`@opt` takes a level from 0 to 3: `@opt(2)`");
}

static void check_attrs(struct resolver *r, struct ast_nodes attrs)
{
	static const char *const known_attrs[] = {"inline", "noinline", "export", "device", "opt", "nograd", "variadic"};
	for (uint32_t i = 0; i < attrs.n; i++) {
		token_id tok = ast_token(r->t, attrs.at[i]);
		const char *name = name_text(r->f, text_of(r, tok));
		bool found = false, asked = index_asked(r->f, tok_span(r->m, tok));
		for (uint32_t k = 0; k < sizeof known_attrs / sizeof *known_attrs; k++) {
			found = found || !strcmp(name, known_attrs[k]);
			if (asked)
				index_offer(r->f, known_attrs[k], SYMBOL_UNKNOWN, SYMBOL_NONE, NULL);
		}
		if (asked)
			r->f->index->context = ASK_ATTRIBUTE;
		if (!strcmp(name, "opt"))
			check_opt(r, attrs.at[i]);
		if (found)
			continue;
		struct diag *g = diag_add(r->out, DIAG_UNKNOWN_ATTR, tok_span(r->m, tok), "unknown attribute `@%s`", name);
		if (!foreign_name_help(r->out, g, &r->t->tokens, tok, FOREIGN_ATTRIBUTE) &&
		    !diag_did_you_mean(r->out, g, tok_span(r->m, tok), name, known_attrs, sizeof known_attrs / sizeof *known_attrs))
			diag_help(r->out, g,
				  "the attributes are `@inline`, `@noinline`, `@export`, `@device(\"gpu\")`, `@opt(2)`, `@nograd` and `@variadic`");
	}
}

static void check_traits(struct resolver *r, struct ast_nodes traits)
{
	static const char *const names[] = {"Numeric", "Float", "Comparable", "Quantizable"};
	for (uint32_t i = 0; i < traits.n; i++) {
		const char *name = name_text(r->f, text_of(r, traits.at[i]));
		bool found = false;
		for (int k = 0; k < 4; k++)
			found = found || !strcmp(name, names[k]);
		if (found)
			continue;
		const char *near = diag_nearest(name, names, 4);
		struct diag *g = diag_add(r->out, DIAG_UNKNOWN_TYPE, tok_span(r->m, traits.at[i]), "unknown trait `%s`", name);
		diag_note(r->out, g, "the traits are Numeric, Float, Comparable and Quantizable");
		if (near)
			diag_edit(r->out, g, tok_span(r->m, traits.at[i]), near);
	}
}

static void push_generics(struct resolver *r, struct ast_nodes generics)
{
	for (uint32_t i = 0; i < generics.n; i++) {
		if (ast_kind(r->t, generics.at[i]) != NODE_GENERIC)
			continue;
		push(r, ast_token(r->t, generics.at[i]), SYMBOL_GENERIC, generics.at[i], true);
		check_traits(r, ast_nodes(r->t, ast_a(r->t, generics.at[i])));
	}
}

static void check_params_once(struct resolver *r, struct ast_nodes params)
{
	for (uint32_t i = 0; i < params.n; i++)
		for (uint32_t k = 0; k < i; k++) {
			token_id a = ast_token(r->t, params.at[k]), b = ast_token(r->t, params.at[i]);
			if (text_of(r, a) != text_of(r, b))
				continue;
			struct diag *g = diag_add(r->out, DIAG_DUPLICATE, tok_span(r->m, b), "argument `%s` is declared twice",
						  name_text(r->f, text_of(r, b)));
			diag_secondary(r->out, g, tok_span(r->m, a), "first declared here");
		}
}

static void walk_signature(struct resolver *r, const struct ast_fn *fn)
{
	check_attrs(r, fn->attrs);
	check_params_once(r, fn->params);
	push_generics(r, fn->generics);
	for (uint32_t i = 0; i < fn->params.n; i++) {
		node_id p = fn->params.at[i];
		if (ast_a(r->t, p))
			walk_type(r, ast_a(r->t, p), DIMS_INTRODUCE);
		if (ast_b(r->t, p))
			walk(r, ast_b(r->t, p));
		push(r, ast_token(r->t, p), SYMBOL_ARG, p, ast_a(r->t, p) != AST_NONE);
	}
	for (uint32_t i = 0; i < fn->where.n; i++) {
		if (ast_kind(r->t, fn->where.at[i]) == NODE_WHERE_TRAIT) {
			defined(r, ast_token(r->t, fn->where.at[i]));
			check_traits(r, ast_nodes(r->t, ast_a(r->t, fn->where.at[i])));
		} else {
			walk(r, fn->where.at[i]);
		}
	}
	if (fn->result)
		walk_type(r, fn->result, DIMS_INTRODUCE);
}

static void walk_fn(struct resolver *r, node_id n)
{
	struct ast_fn fn = ast_fn(r->t, n);
	uint32_t mark = r->scope.len, outer = r->parent;
	if (r->f->index)
		r->parent = index_symbol_at(r->f->index, tok_span(r->m, fn.name));
	walk_signature(r, &fn);
	walk(r, fn.body);
	scope_leave(r, mark);
	r->parent = outer;
}

static enum symbol_kind member_kind(enum node_kind k)
{
	return k == NODE_PARAM ? SYMBOL_PARAM : k == NODE_FN ? SYMBOL_METHOD : SYMBOL_MEMBER;
}

static bool is_typed(const struct ast *t, node_id n)
{
	return (ast_kind(t, n) == NODE_FN ? ast_fn(t, n).result : ast_const(t, n).type) != AST_NONE;
}

static void push_member(struct resolver *r, node_id n, uint32_t first)
{
	token_id tok = ast_item_name(r->t, n);
	name_id name = text_of(r, tok);
	for (uint32_t i = first; i < r->scope.len; i++)
		if (r->scope.at[i].name == name && strcmp(name_text(r->f, name), "_"))
			diag_add(r->out, DIAG_DUPLICATE, tok_span(r->m, tok), "the layer has two members `%s`", name_text(r->f, name));
	push(r, tok, member_kind(ast_kind(r->t, n)), n, is_typed(r->t, n));
}

/* All members are visible in all functions. */
static void push_members(struct resolver *r, struct ast_nodes items)
{
	uint32_t first = r->scope.len;
	for (uint32_t i = 0; i < items.n; i++) {
		switch (ast_kind(r->t, items.at[i])) {
		case NODE_PARAM:
		case NODE_CONST:
		case NODE_FN: push_member(r, items.at[i], first); break;
		case NODE_LET:
			bind_pattern(r, ast_let(r->t, items.at[i]).pattern, SYMBOL_MEMBER, items.at[i],
				     ast_let(r->t, items.at[i]).type != AST_NONE);
			break;
		default: break;
		}
	}
}

static void walk_module_layer(struct resolver *r, node_id n)
{
	struct ast_fn fn = ast_fn(r->t, n);
	uint32_t mark = r->scope.len;
	walk_signature(r, &fn);
	if (ast_kind(r->t, fn.body) == NODE_BLOCK) {
		struct ast_nodes items = ast_nodes(r->t, ast_a(r->t, fn.body));
		push_members(r, items);
		for (uint32_t i = 0; i < items.n; i++) {
			enum node_kind k = ast_kind(r->t, items.at[i]);
			if (k == NODE_FN)
				walk_fn(r, items.at[i]);
			else if (k == NODE_PARAM || k == NODE_CONST)
				walk_const(r, items.at[i]);
			else
				walk(r, items.at[i]);
		}
	}
	scope_leave(r, mark);
}

static void offer_import(struct resolver *r, const struct item *it)
{
	if (!it->target || !index_asked(r->f, tok_span(r->m, ast_token(r->t, it->node))))
		return;
	r->f->index->context = ASK_IMPORT;
	index_offer_items(r->f, it->target);
}

static void walk_item(struct resolver *r, const struct item *it)
{
	uint32_t mark = r->scope.len;
	r->parent = index_item(r->f, &r->m->items[it - r->m->items]);
	switch (it->kind) {
	case ITEM_FN:
	case ITEM_LAYER: walk_fn(r, it->node); break;
	case ITEM_MODULE_LAYER: walk_module_layer(r, it->node); break;
	case ITEM_CONST:
		check_attrs(r, ast_const(r->t, it->node).attrs);
		walk_const(r, it->node);
		break;
	case ITEM_TYPE: {
		struct ast_alias al = ast_alias(r->t, it->node);
		push_generics(r, al.generics);
		walk_type(r, al.type, DIMS_KNOWN);
		break;
	}
	case ITEM_FROM:
		item_follow(r->f, &r->m->items[it - r->m->items]);
		offer_import(r, it);
		break;
	case ITEM_MAIN: walk(r, ast_a(r->t, it->node)); break;
	case ITEM_IMPORT: break;
	}
	scope_leave(r, mark);
}

void resolve_module(struct frontend *f, struct module *m)
{
	struct resolver r = {.f = f, .m = m, .t = &m->ast, .trash = diags_new(1), .parent = SYMBOL_NONE};
	bool incomplete = m->failed && module_incomplete(f, m);
	for (uint32_t i = 0; i < m->n_items; i++) {
		r.told.len = 0;
		r.out = m->std || incomplete || item_broken(f, m, &m->items[i]) ? r.trash : f->diags;
		r.warnings = r.out == r.trash ? r.trash : f->warnings;
		walk_item(&r, &m->items[i]);
	}
	diags_free(r.trash);
	vec_free(&r.scope);
	vec_free(&r.told);
}
