/* Notes the values that a check finds in the editor's index. */
#include "frontend/elab/index_value.h"
#include <string.h>
#include "base/buf.h"
#include "frontend/elab/unit.h"
#include "frontend/elab/unknown_list.h"

enum { MOST_ELEMENTS = 6, MOST_DEPTH = 4, MOST_VALUES = 4 };

/* Not in the standard library: it is elaborated for its callers, with their sizes. */
static bool is_noted(const struct elab *e) { return e->em.f->index && !e->em.report.suppressed && !e->frame->mod->std; }

void index_prelude(struct frontend *f)
{
	for (uint32_t i = 0; i < f->prelude.names.len; i++) {
		enum value_kind k = f->prelude.values.at[i].kind;
		index_add_builtin(f, f->prelude.names.at[i], k == V_DTYPE || k == V_TYPE);
	}
	index_bare_types(f);
}

/* True if nothing is known of the value. */
static bool has_no_type(struct value v) { return is_poison(v) && (!is_unknown_list(v) || v.u.element->item.kind == V_VOID); }

/* ---- texts ---- */

static void index_value_put_type(struct elab *e, struct value v, struct buf *b, int depth);

static const char *type_word(struct value v)
{
	switch (v.kind) {
	case V_INT:
	case V_DIM: return "int";
	case V_FLOAT: return "float";
	case V_BOOL: return "bool";
	case V_TRIT: return "trit";
	case V_STR: return "str";
	default: return value_kind_text(v);
	}
}

/* "int = 64"; inside a tuple or list only "64". */
static void put_scalar(struct elab *e, struct value v, struct buf *b, int depth)
{
	struct buf text = {0};
	value_print(e->em.f, e->em.b->dims, v, &text);
	bool known = text.at && strcmp(text.at, "?") != 0;
	if (depth && known)
		buf_puts(b, text.at);
	else
		buf_printf(b, known ? "%s = %s" : "%s", type_word(v), text.at);
	buf_free(&text);
}

static void index_value_put_elements(struct elab *e, struct value v, struct buf *b, int depth)
{
	for (uint32_t i = 0; i < v.u.seq->n; i++) {
		if (i)
			buf_puts(b, ", ");
		if (i == MOST_ELEMENTS) {
			buf_puts(b, "…");
			return;
		}
		index_value_put_type(e, v.u.seq->at[i], b, depth + 1);
	}
}

/* "[T; n]" if all elements have the same text. */
static void index_value_put_list(struct elab *e, struct value v, struct buf *b, int depth)
{
	struct buf first = {0}, other = {0};
	bool same = v.u.seq->n > 1 && v.u.seq->n <= 4096;
	if (same)
		index_value_put_type(e, v.u.seq->at[0], &first, depth + 1);
	for (uint32_t i = 1; same && i < v.u.seq->n; i++) {
		buf_clear(&other);
		index_value_put_type(e, v.u.seq->at[i], &other, depth + 1);
		same = other.len == first.len && !memcmp(other.at, first.at, first.len);
	}
	buf_putc(b, '[');
	if (same)
		buf_printf(b, "%s; %u", first.at, v.u.seq->n);
	else
		index_value_put_elements(e, v, b, depth);
	buf_putc(b, ']');
	buf_free(&first);
	buf_free(&other);
}

/* "[T; ?]"; "_" for another unknown value. */
static void put_unknown_list(struct elab *e, struct value v, struct buf *b, int depth)
{
	if (!is_unknown_list(v) || v.u.element->item.kind == V_VOID) {
		buf_putc(b, '_');
		return;
	}
	buf_putc(b, '[');
	for (const struct element *el = v.u.element; el; el = el->next) {
		index_value_put_type(e, el->item, b, depth + 1);
		buf_puts(b, el->next ? " | " : "; ?]");
	}
}

static void index_value_put_type(struct elab *e, struct value v, struct buf *b, int depth)
{
	if (depth > MOST_DEPTH) {
		buf_puts(b, "…");
		return;
	}
	switch (v.kind) {
	case V_POISON: put_unknown_list(e, v, b, depth); break;
	case V_TENSOR: buf_puts(b, type_text(&e->em, v.u.t)); break;
	case V_INT:
	case V_DIM:
	case V_FLOAT:
	case V_BOOL:
	case V_TRIT: put_scalar(e, v, b, depth); break;
	case V_TUPLE:
		buf_putc(b, '(');
		index_value_put_elements(e, v, b, depth);
		buf_putc(b, ')');
		break;
	case V_LIST: index_value_put_list(e, v, b, depth); break;
	case V_LAYER: value_print(e->em.f, e->em.b->dims, v, b); break;
	case V_STR: buf_puts(b, "str"); break;
	case V_NONE: buf_puts(b, "none"); break;
	case V_VOID: buf_puts(b, "void"); break;
	case V_RANGE: buf_puts(b, "range"); break;
	case V_DTYPE: buf_puts(b, dtype_text(v.u.dt)); break;
	default: buf_puts(b, value_kind_text(v)); break;
	}
}

/* NULL: the value has no type to show. */
static const char *value_type(struct elab *e, struct value v)
{
	struct buf b = {0};
	if (has_no_type(v) || v.kind == V_FN || v.kind == V_LAYER_CLASS || v.kind == V_BUILTIN || v.kind == V_SPECIAL ||
	    v.kind == V_MODULE || v.kind == V_TYPE)
		return NULL;
	index_value_put_type(e, v, &b, 0);
	const char *s = arena_strndup(e->em.f->index->arena, b.at, b.len);
	buf_free(&b);
	return s;
}

/* ---- names ---- */

/* True if the value is the size of that name, so that showing it would repeat the name. */
static bool is_own_size(struct elab *e, struct value v, token_id tok)
{
	uint32_t sym;
	return v.kind == V_DIM && dim_is_sym(e->em.b->dims, v.u.d, &sym) &&
	       token_is(&e->frame->mod->ast.tokens, tok, dims_sym_name(e->em.b->dims, sym));
}

/* Joins the texts of a name's values in several iterations of a loop. */
static const char *join_texts(struct index *ix, const char *old, const char *new)
{
	const char *value = strstr(old, " = ");
	size_t n = value ? (size_t)(value - old) : strlen(old);
	if (strstr(old, new) || (!value && !strncmp(old, new, n) && !strncmp(new + n, " = ", 3)))
		return old;
	if (value && !strncmp(old, new, n + 3)) /* int = 0, int = 1 */
		return arena_strndup(ix->arena, old, n);
	return arena_printf(ix->arena, "%s | %s", old, new);
}

void index_note_value(struct elab *e, token_id tok, struct value v)
{
	if (!is_noted(e) || has_no_type(v))
		return;
	struct index *ix = e->em.f->index;
	span at = tok_span(e->frame->mod, tok);
	uint64_t i;
	index_use(e->em.f, at, SYMBOL_NONE);
	if (!map_get(&ix->by_use, map_key_u64((uint64_t)at.source << 32 | at.start), &i) || ix->uses.at[i].seen++ >= MOST_VALUES)
		return;
	struct index_use *u = &ix->uses.at[i];
	const char *type = is_own_size(e, v, tok) ? "int" : value_type(e, v);
	u->type = u->type && type ? join_texts(ix, u->type, type) : type ? type : u->type;
	uint32_t s = index_symbol_at(ix, at);
	if (s != SYMBOL_NONE)
		ix->symbols.at[s].type = u->type;
}

void index_note_result(struct elab *e, struct value v)
{
	if (!is_noted(e) || has_no_type(v))
		return;
	const struct func *fn = e->frame->func;
	struct ast_fn decl = ast_fn(&fn->mod->ast, fn->node);
	uint32_t s = index_symbol_at(e->em.f->index, tok_span(fn->mod, decl.name));
	bool argument = false; /* the result is an integer argument */
	for (uint32_t i = 0; i < decl.params.n && !argument; i++)
		argument = is_own_size(e, v, ast_token(&fn->mod->ast, decl.params.at[i]));
	if (s != SYMBOL_NONE && !e->em.f->index->symbols.at[s].type)
		e->em.f->index->symbols.at[s].type = argument ? "int" : value_type(e, v);
}

/* The token of the name that a pattern binds, or TOKEN_NONE. */
static token_id pattern_token(struct frontend *f, struct module *m, node_id p, name_id name)
{
	const struct ast *t = &m->ast;
	token_id tok = TOKEN_NONE;
	switch (ast_kind(t, p)) {
	case NODE_PAT_NAME: tok = ast_token(t, p); break;
	case NODE_PAT_REST: tok = ast_a(t, p); break;
	case NODE_PAT_TUPLE:
	case NODE_PAT_LIST: {
		struct ast_nodes items = ast_nodes(t, ast_a(t, p));
		for (uint32_t i = 0; i < items.n && tok == TOKEN_NONE; i++)
			tok = pattern_token(f, m, items.at[i], name);
		return tok;
	}
	default: break;
	}
	return tok != TOKEN_NONE && token_name(f, m, tok) == name ? tok : TOKEN_NONE;
}

/* The token of a member's name in its layer. */
static token_id member_token(struct frontend *f, const struct instance *in, name_id name)
{
	struct module *m = in->item->mod;
	const struct ast *t = &m->ast;
	struct ast_fn decl = ast_fn(t, in->item->node);
	struct ast_nodes items = ast_kind(t, decl.body) == NODE_BLOCK ? ast_nodes(t, ast_a(t, decl.body)) : (struct ast_nodes){0};
	for (uint32_t i = 0; i < decl.params.n; i++)
		if (token_name(f, m, ast_token(t, decl.params.at[i])) == name)
			return ast_token(t, decl.params.at[i]);
	for (uint32_t i = 0; i < items.n; i++) {
		token_id tok = ast_kind(t, items.at[i]) == NODE_LET ? pattern_token(f, m, ast_let(t, items.at[i]).pattern, name)
								    : ast_item_name(t, items.at[i]);
		if (tok != TOKEN_NONE && token_name(f, m, tok) == name)
			return tok;
	}
	return TOKEN_NONE;
}

static uint32_t builtin_symbol(struct elab *e, struct value v)
{
	for (uint32_t i = 0; i < e->em.f->prelude.values.len; i++)
		if (e->em.f->prelude.values.at[i].kind == v.kind && e->em.f->prelude.values.at[i].u.builtin == v.u.builtin)
			return i;
	return SYMBOL_NONE;
}

/* The symbol of a value that can be called. */
static uint32_t callable_symbol(struct elab *e, struct value v)
{
	struct member *forward;
	switch (v.kind) {
	case V_FN:
		if (v.u.fn->self)
			return index_symbol_at(e->em.f->index, tok_span(v.u.fn->mod, ast_fn(&v.u.fn->mod->ast, v.u.fn->node).name));
		return index_item(e->em.f, v.u.fn->item);
	case V_LAYER_CLASS: return index_item(e->em.f, v.u.item);
	case V_LAYER:
		forward = instance_member(v.u.layer, intern_str(e->em.f->names, "forward"));
		return forward && forward->kind == M_FN ? callable_symbol(e, forward->value) : SYMBOL_NONE;
	case V_BUILTIN:
	case V_SPECIAL: return builtin_symbol(e, v);
	case V_DTYPE: return index_builtin(e->em.f->index, dtype_text(v.u.dt));
	default: return SYMBOL_NONE;
	}
}

void index_note_member(struct elab *e, token_id name, struct value object, struct value found)
{
	if (!is_noted(e))
		return;
	span at = tok_span(e->frame->mod, name);
	name_id id = token_name(e->em.f, e->frame->mod, name);
	uint32_t s = SYMBOL_NONE;
	if (object.kind == V_LAYER) {
		token_id tok = member_token(e->em.f, object.u.layer, id);
		if (tok != TOKEN_NONE)
			s = index_symbol_at(e->em.f->index, tok_span(object.u.layer->item->mod, tok));
	} else if (object.kind == V_MODULE) {
		struct item *it = module_find(object.u.mod, id);
		s = it ? index_item(e->em.f, it) : SYMBOL_NONE;
	}
	if (s == SYMBOL_NONE && object.kind != V_LAYER)
		s = callable_symbol(e, found);
	if (s != SYMBOL_NONE)
		index_use(e->em.f, at, s);
	index_note_value(e, name, found);
}

/* ---- calls ---- */

void index_note_call(struct elab *e, token_id callee_name, struct value callee, bool method)
{
	if (!is_noted(e))
		return;
	struct index *ix = e->em.f->index;
	span at = tok_span(e->frame->mod, callee_name);
	uint32_t s = callable_symbol(e, callee);
	if (s == SYMBOL_NONE || !map_put(&ix->by_call, map_key_u64((uint64_t)at.source << 32 | at.start), 1))
		return;
	vec_push(&ix->calls, ((struct index_call){at, s, method}));
}

void index_note_argument(struct elab *e, span name, struct module *mod, token_id declared)
{
	if (!is_noted(e))
		return;
	uint32_t s = index_symbol_at(e->em.f->index, tok_span(mod, declared));
	if (s != SYMBOL_NONE)
		index_use(e->em.f, name, s);
}

/* ---- candidates ---- */

static enum symbol_kind index_value_member_kind(const struct member *member)
{
	return member->kind == M_PARAM   ? SYMBOL_PARAM
	       : member->kind == M_STATE ? SYMBOL_STATE
	       : member->kind == M_FN    ? SYMBOL_METHOD
	       : member->is_arg          ? SYMBOL_ARG
					 : SYMBOL_MEMBER;
}

static void offer_layer(struct elab *e, const struct instance *in)
{
	struct index *ix = e->em.f->index;
	for (uint32_t i = 0; i < in->n_members; i++) {
		const struct member *m = &in->members[i];
		if (in->item->mod->std && *name_text(e->em.f, m->name) == '_')
			continue;
		token_id tok = member_token(e->em.f, in, m->name);
		uint32_t s = tok == TOKEN_NONE ? SYMBOL_NONE : index_symbol_at(ix, tok_span(in->item->mod, tok));
		const char *detail = m->kind == M_VALUE ? value_type(e, m->value) : NULL;
		if (m->kind == M_PARAM && m->param->has_type)
			detail = value_type(e, param_value(e, m->param, SPAN_NONE));
		index_offer(e->em.f, name_text(e->em.f, m->name), index_value_member_kind(m), s, detail);
	}
}

/* True for a builtin with a tensor as its first parameter, so that x.f() is f(x). */
static bool takes_tensor(const struct symbol *s)
{
	const char *p = s->params;
	bool tensor = p && (*p == 'x' || *p == 'w' || *p == 't') && (!p[1] || p[1] == ',');
	return tensor && strcmp(s->name, "shape") != 0; /* a member hides it */
}

static void offer_tensor(struct elab *e, struct value v)
{
	struct index *ix = e->em.f->index;
	index_offer(e->em.f, "shape", SYMBOL_MEMBER, SYMBOL_NONE, shape_text(&e->em, type_of(&e->em, v.u.t)));
	index_offer(e->em.f, "dtype", SYMBOL_MEMBER, SYMBOL_NONE, dtype_text(type_of(&e->em, v.u.t)->elem));
	index_offer(e->em.f, "rank", SYMBOL_MEMBER, SYMBOL_NONE, "int");
	index_offer(e->em.f, "size", SYMBOL_MEMBER, SYMBOL_NONE, "int");
	for (uint32_t i = 0; i < ix->n_builtins; i++) {
		const char *p = ix->symbols.at[i].params;
		if (takes_tensor(&ix->symbols.at[i]))
			index_offer(e->em.f, ix->symbols.at[i].name, SYMBOL_BUILTIN, i, p);
	}
	for (uint32_t i = 0; i < e->frame->mod->n_items; i++) {
		struct item *it = &e->frame->mod->items[i];
		uint32_t s = it->name && it->kind == ITEM_FN ? index_item(e->em.f, it) : SYMBOL_NONE;
		if (s != SYMBOL_NONE)
			index_offer(e->em.f, name_text(e->em.f, it->name), SYMBOL_FN, s, NULL);
	}
}

void index_offer_members(struct elab *e, struct value object)
{
	struct index *ix = e->em.f->index;
	if (ix->context == ASK_MEMBER)
		return;
	ix->context = ASK_MEMBER;
	if (object.kind == V_TENSOR)
		offer_tensor(e, object);
	else if (object.kind == V_LAYER)
		offer_layer(e, object.u.layer);
	else if (object.kind == V_MODULE)
		index_offer_items(e->em.f, object.u.mod, object.u.mod == e->frame->mod);
}
