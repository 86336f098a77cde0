/* Imports, and what other languages write for them. */
#include <stdio.h>
#include <string.h>
#include "frontend/std/std.h"
#include "frontend/syntax/parse_state.h"

static token_id parse_module(struct parser *p)
{
	if (p->k != TOK_NAME && p->k != TOK_STRING) {
		struct diag *g = error_expected(p, DIAG_EXPECTED_NAME, "a module");
		help(p, g, "a module is a name, as in `import nn`, or a file, as in `import \"blocks.tri\"`");
		return TOKEN_NONE;
	}
	advance(p);
	return p->i - 1;
}

static token_id parse_as(struct parser *p)
{
	if (p->k != TOK_AS || after_newline(p))
		return TOKEN_NONE;
	advance(p);
	return expect_name(p, "a name after `as`");
}

/* The line of the import whose keyword this is, or the rest of that. */
static span import_line(const struct parser *p, token_id keyword)
{
	const struct source *s = p->t->tokens.src;
	span at = token_span(&p->t->tokens, keyword);
	while (at.end < s->len && s->text[at.end] != '\n' && s->text[at.end] != ';')
		at.end++;
	at.end += at.end < s->len;
	return at;
}

/* torch.nn, std.nn, nn.tri: the module is the last name if that is the standard library's, or the first before `.tri`; otherwise TOKEN_NONE. */
static token_id dotted_module(struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	token_id first = p->i - 1, last = first;
	char name[64], text[64];
	uint32_t len;
	while ((p->k == TOK_DOT || p->k == TOK_COLON || p->k == TOK_NAME) && !after_newline(p)) {
		last = p->k == TOK_NAME ? p->i : last;
		advance(p);
	}
	snprintf(name, sizeof name, "%.*s", (int)(token_len(t, last) < 63 ? token_len(t, last) : 63), token_text(t, last));
	snprintf(text, sizeof text, "%.*s", (int)(token_len(t, first) < 63 ? token_len(t, first) : 63), token_text(t, first));
	bool file = !strcmp(name, "tri"), own = file && !frontend_std(text, &len);
	const char *why = habit_module_help(text);
	struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, between(p, first, last),
				  own ? "a file is imported by its path, in quotes" : "a module has one name");
	if (own) {
		bool named = p->k == TOK_AS;
		edit_as(p, g, between(p, first, last), "\"%.*s\"%s%.*s", (int)(t->ends[last] - t->starts[first]), token_text(t, first),
			named ? "" : " as ", named ? 0 : (int)token_len(t, first), token_text(t, first));
		recovered(p, g);
		return TOKEN_NONE;
	}
	if (file || frontend_std(name, &len)) {
		edit(p, g, between(p, first, last), file ? text : name);
		sound(p, g);
		return file ? first : last;
	}
	help(p, g, why ? why : "a file in a folder is imported by its path: `import \"layers/blocks.tri\" as blocks`");
	if (habit_package(text))
		edit(p, g, import_line(p, first - 1), "");
	recovered(p, g);
	return TOKEN_NONE;
}

static bool at_dotted(const struct parser *p)
{
	return !p->panic && !after_newline(p) && (p->k == TOK_DOT || (p->k == TOK_COLON && peek(p) == TOK_COLON));
}

/* `import Linear from nn` */
static bool import_from(struct parser *p, token_id keyword)
{
	const struct tokens *t = &p->t->tokens;
	if (p->k != TOK_FROM || after_newline(p))
		return false;
	token_id name = keyword + 1, module = p->i + 1;
	bool plain = p->i == name + 1 && token_kind(t, name) == TOK_NAME && peek(p) == TOK_NAME;
	while (p->k != TOK_EOF && p->k != TOK_SEMICOLON && (p->i <= module || !after_newline(p)))
		skip_token(p);
	struct diag *g =
		error_at(p, DIAG_HABIT_SYNTAX, between(p, keyword, p->i - 1), "this does not import a name; write `from nn import Linear`");
	if (plain)
		edit_as(p, g, between(p, keyword, module), "from %.*s import %.*s", (int)token_len(t, module), token_text(t, module),
			(int)token_len(t, name), token_text(t, name));
	recovered(p, g);
	return true;
}

node_id parse_import(struct parser *p)
{
	token_id keyword = p->i;
	advance(p);
	if (p->k == TOK_LBRACE) { /* import { Linear } from "nn" */
		skip_token(p);
		return import_from(p, keyword) ? error_node(p) : (error_expected(p, DIAG_EXPECTED_NAME, "a module"), error_node(p));
	}
	token_id module = parse_module(p);
	if (at_dotted(p))
		module = dotted_module(p);
	token_id alias = p->panic ? TOKEN_NONE : parse_as(p);
	if (p->panic || module == TOKEN_NONE || import_from(p, keyword))
		return error_node(p);
	if (p->k == TOK_COMMA) {
		struct diag *g = error_at(p, DIAG_STATEMENT_END, here(p), "an import names one module");
		help(p, g, "write one import a line");
	}
	return new_node(p, NODE_IMPORT, keyword, module, alias);
}

static node_id parse_import_name(struct parser *p)
{
	if (p->k == TOK_STAR) {
		struct diag *g = error_at(p, DIAG_EXPECTED_NAME, here(p), "names are imported one by one");
		help(p, g, "or import the module and write `nn.Linear`");
		return error_node(p);
	}
	token_id name = expect_name(p, "a name to import");
	if (name == TOKEN_NONE)
		return error_node(p);
	return new_node(p, NODE_IMPORT_NAME, name, parse_as(p), 0);
}

node_id parse_from(struct parser *p)
{
	token_id keyword = p->i;
	uint32_t base = p->n_scratch, commas;
	advance(p);
	token_id module = parse_module(p);
	if (at_dotted(p) && (module = dotted_module(p)) == TOKEN_NONE) {
		while (p->k != TOK_EOF && !after_newline(p))
			skip_token(p);
		return error_node(p);
	}
	if (!p->panic)
		expect(p, TOK_IMPORT, "`import` and names");
	if (p->panic)
		return error_node(p);
	if (p->k == TOK_LBRACE) {
		struct diag *g =
			error_at(p, DIAG_HABIT_SYNTAX, here(p), "imported names have no braces; write `from nn import Linear, ReLU`");
		skip_token(p);
		recovered(p, g);
		return error_node(p);
	}
	if (p->k == TOK_LPAREN) { /* from nn import (Linear, Conv2d), as in Python */
		parse_elements(p, TOK_RPAREN, parse_import_name, &commas);
	} else {
		do
			push(p, parse_import_name(p));
		while (!p->panic && accept(p, TOK_COMMA));
	}
	return new_node(p, NODE_FROM_IMPORT, keyword, module, pop_list(p, base, 0));
}
