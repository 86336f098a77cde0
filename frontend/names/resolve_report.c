/* Reports of unknown names. */
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "frontend/habits/habits.h"
#include "frontend/names/resolve_state.h"
#include "frontend/std/std_data.h"

static const char *resolve_report_text_at(struct resolver *r, token_id tok) { return name_text(r->f, name_at(r, tok)); }

static bool was_reported(struct resolver *r, token_id tok)
{
	for (uint32_t i = 0; i < r->reported.len; i++)
		if (r->reported.at[i] == name_at(r, tok))
			return true;
	vec_push(&r->reported, name_at(r, tok));
	return false;
}

/* True if the statement that holds the name at `tok` declares the local: `let mlp = Mlp(4)`. */
static bool declared_here(const struct resolver *r, const struct scope_entry *entry, token_id tok)
{
	const struct tokens *t = &r->t->tokens;
	if (entry->tok >= tok || token_kind(t, entry->tok + 1) != TOK_ASSIGN)
		return false;
	for (token_id i = entry->tok + 1; i <= tok; i++)
		if (token_after_newline(t, i) || token_kind(t, i) == TOK_SEMICOLON)
			return false;
	return true;
}

/* True if the token is within the item's definition, which does not use itself. */
static bool surrounds(const struct resolver *r, const struct item *it, token_id tok)
{
	span at = it->mod == r->m && it->node && it->kind != ITEM_CONST ? node_span(r->m, it->node) : SPAN_NONE;
	return at.source != SPAN_NO_SOURCE && at.start <= r->t->tokens.starts[tok] && r->t->tokens.starts[tok] < at.end;
}

/* True if the item may be used so. The kind of an imported name is not known here. A dimension is no function, layer or type. */
static bool fits_use(const struct item *it, unsigned use)
{
	if (!use)
		return it->name && (it->kind == ITEM_CONST || it->kind == ITEM_FROM);
	bool type = it->kind == ITEM_TYPE, value = it->kind == ITEM_FN || it->kind == ITEM_CONST || it->kind == ITEM_IMPORT;
	return it->name && !(use == HABIT_VALUE && type) && !(use == HABIT_TYPE && value);
}

/* At the start of a line, before a parenthesis, a word may be a keyword: `retrun (x)`. */
static bool may_be_keyword(const struct resolver *r, token_id tok)
{
	const struct tokens *t = &r->t->tokens;
	return token_after_newline(t, tok) && token_kind(t, tok + 1) == TOK_LPAREN && t->starts[tok + 1] > t->ends[tok];
}

static bool did_you_mean(struct resolver *r, struct diag *g, token_id tok, unsigned use)
{
	static const char *const keywords[] = {"return", "assert", "while", "if", "for"};
	static const char *const types[] = {"Tensor",  "TernaryTensor", "List",  "Tuple", "bool",    "trit",     "int8",
					    "int16",   "int32",         "uint8", "int64", "float16", "bfloat16", "float32",
					    "float64", "int",           "float", "str",   "void"};
	VEC(const char *) names = {0};
	bool values = use == HABIT_VALUE;
	if (diags_errors(r->out) >= MAX_SUGGESTED)
		return false;
	for (uint32_t i = r->scope.len; i-- > 0;)
		if (!declared_here(r, &r->scope.at[i], tok))
			vec_push(&names, name_text(r->f, r->scope.at[i].name));
	for (uint32_t i = 0; i < r->m->n_items; i++)
		if (fits_use(&r->m->items[i], use) && !surrounds(r, &r->m->items[i], tok))
			vec_push(&names, name_text(r->f, r->m->items[i].name));
	for (uint32_t i = 0; values && i < sizeof keywords / sizeof *keywords && may_be_keyword(r, tok); i++)
		vec_push(&names, keywords[i]);
	for (uint32_t i = 0; values && i < r->f->prelude.names.len; i++)
		vec_push(&names, r->f->prelude.names.at[i]);
	for (uint32_t i = 0; use == HABIT_TYPE && i < sizeof types / sizeof *types; i++)
		vec_push(&names, types[i]);
	bool found = diag_did_you_mean(r->out, g, tok_span(r->m, tok), resolve_report_text_at(r, tok), names.at, names.len);
	vec_free(&names);
	return found;
}

/* ---- the standard library ---- */

static span file_start(struct resolver *r)
{
	const struct source *s = r->t->tokens.src;
	uint32_t at = s->len >= 3 && memcmp(s->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
	for (uint32_t end = at; s->text[end] == '#'; at = ++end) /* below comments at the head of the file */
		while (end < s->len && s->text[end] != '\n')
			end++;
	at = at > s->len ? s->len : at;
	return (span){s->id, at, at};
}

static bool std_defines(const char *module, const char *name)
{
	char layer[96], function[96];
	uint32_t len;
	const char *code = frontend_std(module, &len);
	snprintf(layer, sizeof layer, "\nlayer %.64s(", name);
	snprintf(function, sizeof function, "\nfn %.64s(", name);
	return code && (strstr(code, layer) || strstr(code, function)) && *name != '_';
}

static bool imported(struct resolver *r, const char *module)
{
	for (uint32_t i = 0; i < r->m->n_items; i++)
		if (r->m->items[i].kind == ITEM_IMPORT && r->m->items[i].name && !strcmp(name_text(r->f, r->m->items[i].name), module))
			return true;
	return false;
}

/* Help for `nn` without its import, or `Linear` without its module. */
static bool std_help(struct resolver *r, struct diag *g, token_id tok)
{
	const char *name = resolve_report_text_at(r, tok);
	char line[160];
	uint32_t len;
	if (tok + 1 < r->t->tokens.len && token_kind(&r->t->tokens, tok + 1) == TOK_DOT && frontend_std(name, &len)) {
		snprintf(line, sizeof line, "import %s\n", name);
		diag_help(r->out, g, "import the standard library's module");
		diag_edit(r->out, g, file_start(r), line);
		return true;
	}
	for (const struct std_module *m = std_modules; m->name; m++) {
		if (!std_defines(m->name, name))
			continue;
		snprintf(line, sizeof line, "%s.%.120s", m->name, name);
		diag_help(r->out, g, imported(r, m->name) ? "the module `%s` defines it" : "the module `%s` defines it; add `import %s`",
			  m->name, m->name);
		diag_edit(r->out, g, tok_span(r->m, tok), line);
		return true;
	}
	return false;
}

/* ---- unknown names ---- */

/* Adds help and returns true if another function of the layer has a local or argument of the name at `tok`. */
static bool elsewhere_in_layer(struct resolver *r, struct diag *g, token_id tok)
{
	if (!r->layer || diags_errors(r->out) >= MAX_SUGGESTED)
		return false;
	span all = node_span(r->m, r->layer);
	for (node_id n = 0; n < r->t->len; n++) {
		enum node_kind k = ast_kind(r->t, n);
		token_id at = k == NODE_PAT_NAME || k == NODE_ARG_DECL ? ast_token(r->t, n) : tok;
		uint32_t start = r->t->tokens.starts[at];
		if (at == tok || start < all.start || start >= all.end || name_at(r, at) != name_at(r, tok))
			continue;
		diag_secondary(r->out, g, tok_span(r->m, at), "%s of another function has this name",
			       k == NODE_ARG_DECL ? "an argument" : "a local");
		diag_help(r->out, g, "functions do not see each other's locals: pass the value as an argument, or return it");
		return true;
	}
	return false;
}

/* True if a failed import, which was reported, probably meant this name: `import nm`, `nn.Linear(4, 2)`. */
static bool misspelt_import(struct resolver *r, token_id tok)
{
	const char *name = resolve_report_text_at(r, tok);
	for (uint32_t i = 0; i < r->m->n_items; i++) {
		const struct item *it = &r->m->items[i];
		bool failed = (it->kind == ITEM_IMPORT && !it->import.target) || (it->kind == ITEM_FROM && it->resolved.missing_reported);
		const char *other = failed ? name_text(r->f, it->name) : "";
		bool slip = strlen(name) == 2 && strlen(other) == 2 && (name[0] == other[0] || name[1] == other[1]);
		if (failed && (slip || diag_nearest(name, &other, 1)))
			return true;
	}
	return false;
}

void report_unknown(struct resolver *r, enum diag_code code, token_id tok, const char *what, unsigned use)
{
	bool again = was_reported(r, tok);
	if ((again && !habit_name_instead(resolve_report_text_at(r, tok), use)) || (use == HABIT_VALUE && misspelt_import(r, tok)))
		return;
	struct diag *g = diag_add(r->out, code, tok_span(r->m, tok), "unknown %s `%s`", what, resolve_report_text_at(r, tok));
	diag_label_primary(r->out, g, "not found in this scope");
	if (use == HABIT_VALUE && tok && token_kind(&r->t->tokens, tok - 1) == TOK_SLASH2) {
		diag_help(r->out, g, "if this is a comment, it starts with `#`");
		diag_guess(r->out, g, tok_span(r->m, tok - 1), "#");
		return;
	}
	if ((use == HABIT_VALUE && elsewhere_in_layer(r, g, tok)) || (use == HABIT_VALUE && std_help(r, g, tok)) ||
	    habit_name_help(r->out, g, &r->t->tokens, tok, use) || did_you_mean(r, g, tok, use))
		return;
	if (habit_module_help(resolve_report_text_at(r, tok)))
		diag_help(r->out, g, "%s", habit_module_help(resolve_report_text_at(r, tok)));
	else if (!strcmp(what, "dimension"))
		diag_help(
			r->out, g,
			"only signatures introduce dimensions; declare it, as in `type Name<%s> = …`, or make it an argument of the layer",
			resolve_report_text_at(r, tok));
}

bool report_library_module(struct resolver *r, token_id root, token_id member, unsigned use)
{
	const char *name = resolve_report_text_at(r, root), *what = resolve_report_text_at(r, member),
		   *instead = habit_name_instead(what, use);
	char line[160];
	uint64_t i;
	if (!habit_module_help(name))
		return false;
	span whole = {r->t->tokens.src->id, r->t->tokens.starts[root], r->t->tokens.ends[member]};
	if (map_get(&r->f->prelude.by_name, map_key_u64(name_at(r, member)), &i) || dtype_find(what) != DT_COUNT || !strcmp(what, "Tensor"))
		instead = what;
	bool layer = !instead && use == HABIT_VALUE && std_defines("nn", what);
	if (was_reported(r, root) && !instead && !layer)
		return true;
	struct diag *g = diag_add(r->out, DIAG_UNKNOWN_NAME, tok_span(r->m, root), "there is no module `%s`", name);
	diag_label_primary(r->out, g, "not found in this scope");
	diag_help(r->out, g, "%s", habit_module_help(name));
	if (layer) {
		snprintf(line, sizeof line, "nn.%.120s", what);
		diag_edit(r->out, g, whole, line);
	} else if (instead) {
		diag_edit(r->out, g, whole, instead);
	} else {
		habit_name_help(r->out, g, &r->t->tokens, member, use);
	}
	return true;
}

/* `nn.layer_norm(x, …)` is the builtin `layer_norm`; `nn.linear(4, 5)` with sizes is the layer `nn.Linear`. */
static bool suggest_builtin(struct resolver *r, struct diag *g, token_id tok)
{
	uint64_t i;
	const struct tokens *t = &r->t->tokens;
	if (token_kind(t, tok + 1) == TOK_LPAREN && token_kind(t, tok + 2) == TOK_INT)
		return false;
	if (!map_get(&r->f->prelude.by_name, map_key_u64(name_at(r, tok)), &i))
		return false;
	diag_help(r->out, g, "`%s` is a builtin: write it without the module", resolve_report_text_at(r, tok));
	if (tok >= 2 && token_kind(t, tok - 1) == TOK_DOT)
		diag_edit(r->out, g, (span){tok_span(r->m, tok).source, tok_span(r->m, tok - 2).start, tok_span(r->m, tok).end},
			  resolve_report_text_at(r, tok));
	return true;
}

void report_module_member(struct resolver *r, const struct item *it, token_id tok)
{
	struct diag *g = diag_add(r->out, DIAG_UNKNOWN_MEMBER, tok_span(r->m, tok), "module `%s` has no member `%s`",
				  name_text(r->f, it->name), resolve_report_text_at(r, tok));
	diag_label_primary(r->out, g, "not in this module");
	if (it->import.target->std && (suggest_builtin(r, g, tok) || habit_name_help(r->out, g, &r->t->tokens, tok, HABIT_NN)))
		return;
	VEC(const char *) names = {0};
	for (uint32_t i = 0; i < it->import.target->n_items; i++)
		if (it->import.target->items[i].name)
			vec_push(&names, name_text(r->f, it->import.target->items[i].name));
	diag_did_you_mean(r->out, g, tok_span(r->m, tok), resolve_report_text_at(r, tok), names.at, names.len);
	vec_free(&names);
}

/* Appends the source text of a node. */
static void resolve_report_put_node(struct resolver *r, node_id n, struct buf *out)
{
	span at = node_span(r->m, n);
	buf_put(out, r->t->tokens.src->text + at.start, at.end - at.start);
}

/* The dimensions among the arguments, from `first`, in one pair of brackets. */
static void resolve_report_put_dims(struct resolver *r, struct ast_nodes args, uint32_t first, struct buf *out)
{
	buf_puts(out, "[");
	for (uint32_t i = first; i < args.n; i++) {
		enum node_kind k = ast_kind(r->t, args.at[i]);
		bool list = k == NODE_TYPE_SHAPE || k == NODE_TYPE_TUPLE;
		struct ast_nodes items = list ? ast_nodes(r->t, ast_a(r->t, args.at[i])) : (struct ast_nodes){&args.at[i], 1};
		for (uint32_t j = 0; j < items.n; j++) {
			buf_puts(out, i > first || j ? ", " : "");
			resolve_report_put_node(r, items.at[j], out);
		}
	}
	buf_puts(out, "]");
}

void report_tensor_type(struct resolver *r, node_id n, struct ast_nodes args)
{
	token_id tok = ast_token(r->t, n);
	const char *name = resolve_report_text_at(r, tok);
	bool scalar = dtype_find(name) != DT_COUNT, ternary = !strcmp(name, "TernaryTensor"), elem = false;
	struct buf type = {0};
	if (args.n && ast_kind(r->t, args.at[0]) == NODE_TYPE_NAME)
		elem = dtype_find(resolve_report_text_at(r, ast_token(r->t, args.at[0]))) != DT_COUNT;
	bool swapped = args.n == 2 && ast_kind(r->t, args.at[0]) == NODE_TYPE_SHAPE && ast_kind(r->t, args.at[1]) == NODE_TYPE_NAME;
	struct diag *g = diag_add(r->out, DIAG_UNKNOWN_TYPE, node_span(r->m, n),
				  scalar ? "`%s` is the type of one element, not of a tensor"
					 : "`%s` takes an element type and a list of dimensions in `< >`",
				  name);
	buf_puts(&type, ternary ? "TernaryTensor<" : "Tensor<");
	if (scalar)
		buf_puts(&type, name);
	else if (elem)
		resolve_report_put_node(r, args.at[0], &type);
	else if (swapped)
		resolve_report_put_node(r, args.at[1], &type);
	else
		buf_puts(&type, ternary ? "trit" : "float32");
	buf_puts(&type, ", ");
	if (swapped)
		args.n = 1;
	resolve_report_put_dims(r, args, elem && !scalar, &type);
	buf_puts(&type, ">");
	diag_help(r->out, g, "write `%s`", type.at);
	if (scalar || elem || ternary || swapped)
		diag_edit(r->out, g, node_span(r->m, n), type.at);
	else
		diag_guess(r->out, g, node_span(r->m, n), type.at);
	buf_free(&type);
}

void report_undeclared(struct resolver *r, node_id assign)
{
	node_id target = ast_a(r->t, assign);
	token_id tok = ast_first_token(r->t, target);
	bool tuple = ast_kind(r->t, target) == NODE_TUPLE, plain = token_kind(&r->t->tokens, ast_token(r->t, assign)) == TOK_ASSIGN;
	span at = node_span(r->m, target);
	if (!tuple && was_reported(r, tok))
		return;
	struct diag *g = tuple ? diag_add(r->out, DIAG_UNKNOWN_NAME, at, "these names are not declared")
			       : diag_add(r->out, DIAG_UNKNOWN_NAME, at, "unknown name `%s`", resolve_report_text_at(r, tok));
	diag_label_primary(r->out, g, "not declared in this scope");
	if (!plain || (!tuple && did_you_mean(r, g, tok, HABIT_VALUE)))
		return;
	if (token_kind(&r->t->tokens, tok - 1) == TOK_ASSIGN) { /* a = b = 4 */
		diag_help(r->out, g, tuple ? "declare them with `let` on a line before" : "declare it with `let` on a line before");
		return;
	}
	diag_help(r->out, g, tuple ? "declare them with `let`" : "declare it with `let`");
	at.end = at.start;
	if (r->blocks <= 1)
		diag_edit(r->out, g, at, "let ");
	else
		diag_guess(r->out, g, at, "let ");
}
