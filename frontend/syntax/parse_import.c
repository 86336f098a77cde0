/* Imports. */
#include <stddef.h>
#include "frontend/syntax/parse_state.h"

/* The token of a module's name or path; TOKEN_NONE: an error was reported. */
static token_id parse_module(struct parser *p)
{
	token_id module = p->i;
	if (p->k != TOK_NAME && p->k != TOK_STRING) {
		struct diag *g = error_expected(p, DIAG_EXPECTED_NAME, "a module");
		add_help(p, g, "a module is a name, as in `import nn`, or a file, as in `import \"blocks.tri\"`");
		return TOKEN_NONE;
	}
	advance(p);
	if (p->k != TOK_DOT || after_newline(p))
		return module;
	return habit_at(p, HABIT_AT_IMPORT, module, NULL) == HABIT_READ ? p->i - 1 : TOKEN_NONE;
}

static token_id parse_as(struct parser *p)
{
	if (p->k != TOK_AS || after_newline(p))
		return TOKEN_NONE;
	advance(p);
	return expect_name(p, "a name after `as`");
}

node_id parse_import(struct parser *p)
{
	token_id keyword = p->i;
	advance(p);
	token_id module = parse_module(p), alias = module == TOKEN_NONE ? TOKEN_NONE : parse_as(p);
	if (module == TOKEN_NONE || p->panic)
		return error_node(p);
	if (p->k == TOK_COMMA) {
		struct diag *g = error_at(p, DIAG_STATEMENT_END, current_span(p), "an import names one module");
		add_help(p, g, "write each import on its own line");
	}
	return new_node(p, NODE_IMPORT, keyword, module, alias);
}

static node_id parse_import_name(struct parser *p)
{
	if (p->k == TOK_STAR) {
		struct diag *g = error_at(p, DIAG_EXPECTED_NAME, current_span(p), "import names one by one");
		add_help(p, g, "or import the module and write `nn.Linear`");
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
	if (module == TOKEN_NONE || !expect(p, TOK_IMPORT, "`import` and names"))
		return error_node(p);
	if (p->k == TOK_LPAREN) { /* from nn import (Linear, Conv2d) */
		parse_elements(p, TOK_RPAREN, parse_import_name, &commas);
	} else {
		do
			push(p, parse_import_name(p));
		while (!p->panic && accept(p, TOK_COMMA));
	}
	return new_node(p, NODE_FROM_IMPORT, keyword, module, pop_list(p, base, 0));
}
