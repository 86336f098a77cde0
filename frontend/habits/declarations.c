/* Habits in declarations: imports, attributes, arguments, generics, types, members of layers. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "frontend/habits/habit_state.h"
#include "frontend/habits/habits.h"
#include "frontend/hir/dtype.h"
#include "frontend/std/std.h"

/* @torch.jit.script */
enum habit habit_attribute(struct parser *p, token_id first, node_id *node)
{
	(void)node;
	while (p->k == TOK_DOT || ((p->k == TOK_NAME || p->k == TOK_LPAREN) && !after_newline(p)))
		skip_token(p);
	resume_corrected(p, habit_report(p, token_range(p, first, p->i - 1), "an attribute has one name",
					 "leave it out: everything is compiled", ""));
	return HABIT_SKIPPED;
}

/* ---- imports ---- */

/* The line of the import from its keyword on. */
static span import_line_at(const struct parser *p, token_id keyword)
{
	const struct source *s = p->t->tokens.src;
	span at = token_span(&p->t->tokens, keyword);
	while (at.end < s->len && s->text[at.end] != '\n' && s->text[at.end] != ';')
		at.end++;
	at.end += at.end < s->len;
	return at;
}

static void copy_name(const struct tokens *t, token_id i, char out[64])
{
	snprintf(out, 64, "%.*s", (int)(token_len(t, i) < 63 ? token_len(t, i) : 63), token_text(t, i));
}

/* torch.nn: the last name is the module, if the standard library has it. */
enum habit habit_import(struct parser *p, token_id first, node_id *node)
{
	const struct tokens *t = &p->t->tokens;
	token_id last = first;
	char name[64], package[64];
	uint32_t len;
	(void)node;
	while ((p->k == TOK_DOT || p->k == TOK_NAME) && !after_newline(p)) {
		last = p->k == TOK_NAME ? p->i : last;
		advance(p);
	}
	copy_name(t, last, name);
	copy_name(t, first, package);
	struct diag *g = habit_report(p, token_range(p, first, last), "a module has one name", NULL, NULL);
	if (last == p->i - 1 && frontend_std(name, &len)) {
		suggest_edit(p, g, token_range(p, first, last), name);
		resume_corrected(p, g);
		return HABIT_READ;
	}
	const char *why = habit_module_help(package);
	add_help(p, g, why ? why : "a file is imported by its path: `import \"layers/blocks.tri\" as blocks`");
	if (habit_package(package))
		suggest_edit(p, g, import_line_at(p, first - 1), "");
	resume(p, g);
	while (p->k != TOK_EOF && !after_newline(p))
		skip_token(p);
	return HABIT_SKIPPED;
}

/* ---- arguments and members ---- */

/* A base class: nn.Module */
static enum habit read_base_class(struct parser *p, token_id first)
{
	while (p->k == TOK_DOT && peek(p) == TOK_NAME) {
		advance(p);
		advance(p);
	}
	resume(p, habit_report(p, token_range(p, first, p->i - 1), "a layer has no base class; its arguments are in `( )`", NULL, ""));
	return HABIT_READ;
}

enum habit habit_argument(struct parser *p, token_id first, node_id *node)
{
	(void)node;
	if (p->k == TOK_DOT)
		return read_base_class(p, first);
	if (!word_at(p, first, "self"))
		return HABIT_NONE;
	span at = token_span(&p->t->tokens, first);
	struct diag *g =
		habit_report(p, at, "`self` is not an argument; leave it out", "use members of the layer by their names: `conv1(x)`", NULL);
	at.end = p->k == TOK_COMMA ? p->t->tokens.starts[p->i + 1] : at.end;
	suggest_edit(p, g, at, "");
	resume(p, g);
	return HABIT_READ;
}

/* fc = nn.Linear(4, 4), self.fc = … */
enum habit habit_assign(struct parser *p, token_id first, node_id *node)
{
	node_id target = ast_a(p->t, *node);
	node_id object = ast_kind(p->t, target) == NODE_MEMBER ? ast_a(p->t, target) : AST_NONE;
	bool of_self = object && ast_kind(p->t, object) == NODE_NAME && word_at(p, ast_token(p->t, object), "self");
	(void)first;
	if (ast_kind(p->t, target) != NODE_NAME && !of_self)
		return HABIT_NONE;
	span at = ast_span(p->t, *node);
	struct diag *g = habit_report(p, at, "`let` is missing before this member", NULL, NULL);
	at.end = p->t->tokens.starts[ast_token(p->t, target)];
	suggest_edit(p, g, at, "let ");
	resume(p, g);
	return HABIT_READ;
}

/* [first, *rest] */
enum habit habit_pattern(struct parser *p, token_id first, node_id *node)
{
	(void)first, (void)node;
	if (peek(p) != TOK_NAME)
		return HABIT_NONE;
	resume_corrected(p, habit_report(p, current_span(p), "this is not the rest of a list; write `...rest`", NULL, "..."));
	read_token_as(p, TOK_DOT3);
	return HABIT_READ;
}

/* ---- types ---- */

/* f[T, N](x): `[` and its `]` are read as `< >`. */
enum habit habit_generics(struct parser *p, token_id first, node_id *node)
{
	const struct tokens *t = &p->t->tokens;
	token_id open = p->i, close = matching_bracket(p, open);
	(void)first, (void)node;
	if (close == TOKEN_NONE || (kind_at(p, close + 1) != TOK_LPAREN && kind_at(p, close + 1) != TOK_ASSIGN))
		return HABIT_NONE;
	struct diag *g = habit_report(p, token_range(p, open, close), "`[ ]` does not hold generics; use `< >`", NULL, NULL);
	suggest_edit_as(p, g, token_range(p, open, close), "<%.*s>", (int)(t->starts[close] - t->ends[open]), t->src->text + t->ends[open]);
	resume_corrected(p, g);
	read_token_as(p, TOK_LT);
	p->t->tokens.kinds[close] = (uint8_t)((p->kinds[close] & TOKEN_NEWLINE) | TOK_GT);
	return HABIT_READ;
}

enum habit habit_type(struct parser *p, token_id first, node_id *node)
{
	struct diag *g;
	(void)first, (void)node;
	if (after_newline(p))
		return HABIT_NONE;
	if (p->k == TOK_STRING) { /* "Tensor" */
		g = habit_report(p, current_span(p), "a type has no quotes; leave them out", NULL, NULL);
	} else if (p->k == TOK_NONE && kind_at(p, p->i - 1) == TOK_ARROW) { /* -> None */
		g = error_at(p, DIAG_EXPECTED_TYPE, current_span(p), "a function without a result has the type `void`");
		suggest_edit(p, g, current_span(p), "void");
	} else {
		return HABIT_NONE;
	}
	resume(p, g);
	advance(p);
	return HABIT_SKIPPED;
}

/* Returns the token after the type at i, which need not be a type of the language: `None`. Stops at a newline. */
static token_id skip_type(struct parser *p, token_id i)
{
	while (!newline_at(p, i)) {
		enum token_kind k = kind_at(p, i);
		token_id close = k == TOK_LT ? closing_angle(p, i) : k == TOK_LPAREN || k == TOK_LBRACKET ? matching_bracket(p, i) : i;
		if (close == TOKEN_NONE ||
		    (close == i && k != TOK_NAME && k != TOK_NONE && k != TOK_STRING && k != TOK_DOT && k != TOK_QUESTION))
			break;
		i = close + 1;
	}
	return i;
}

/* int | float: read as the first type. */
enum habit habit_union(struct parser *p, token_id first, node_id *node)
{
	token_id end = p->i;
	(void)node;
	while (kind_at(p, end) == TOK_PIPE)
		end = skip_type(p, end + 1);
	struct diag *g = habit_report(
		p, token_range(p, p->i, end - 1), "`A | B` is not a type: a value has one type",
		"an argument without a type accepts anything; a generic accepts several element types, `fn f<T: Float>(x: Tensor<T, S>)`; an "
		"optional argument has a default, `bias = none`",
		NULL);
	if (kind_at(p, first - 1) == TOK_COLON)
		suggest_edit(p, g, token_range(p, first - 1, end - 1), "");
	resume(p, g);
	jump_to(p, end);
	return HABIT_READ;
}

/* The names between the quotes here, with commas. False: there is other text. */
static bool unquote(const struct parser *p, struct buf *names)
{
	span at = current_span(p);
	const char *s = p->t->tokens.src->text + at.start + 1, *end = p->t->tokens.src->text + at.end - 1;
	for (bool word = false; s < end; s++) {
		bool letter = isalpha((unsigned char)*s) || *s == '_' || (word && isdigit((unsigned char)*s));
		if (!letter && *s != ' ')
			return false;
		if (letter && !word && names->len)
			buf_puts(names, ", ");
		if (letter)
			buf_putc(names, *s);
		word = letter;
	}
	return names->len > 0;
}

/* "batch", "float32" */
static struct diag *read_quoted(struct parser *p)
{
	struct buf names = {0};
	bool fine = unquote(p, &names), element = fine && dtype_find(names.at) != DT_COUNT;
	struct diag *g = habit_report(p, current_span(p),
				      element ? "an element type has no quotes; leave them out"
					      : "a dimension has no quotes; use a name, a number or `?`",
				      NULL, fine ? names.at : "?");
	buf_free(&names);
	resume(p, g);
	return g;
}

enum habit habit_dim(struct parser *p, token_id first, node_id *node)
{
	const char *message = "this is not a dimension; use `?` for any size";
	(void)first, (void)node;
	if (p->k == TOK_STRING) {
		read_quoted(p);
	} else if (p->k == TOK_DOT3) { /* Tensor<float32, ...> */
		struct diag *g =
			habit_report(p, current_span(p), "`...` is not a dimension", "a name means any shape: `Tensor<float32, S>`", NULL);
		if (g && kind_at(p, p->i - 1) == TOK_LT)
			diag_cause(p->diags, g, "...");
		resume(p, g);
	} else if (p->k == TOK_NONE || word_at(p, p->i, "_")) {
		resume_corrected(p, habit_report(p, current_span(p), message, NULL, "?"));
	} else if (p->k == TOK_MINUS && kind_at(p, p->i + 1) == TOK_INT && token_is(&p->t->tokens, p->i + 1, "1") &&
		   kind_at(p, p->i - 1) == TOK_LBRACKET && kind_at(p, p->i - 2) != TOK_NAME) { /* [-1, 4] */
		resume_corrected(p, habit_report(p, token_range(p, p->i, p->i + 1), message, NULL, "?"));
		advance(p);
	} else {
		return HABIT_NONE;
	}
	advance(p);
	return HABIT_READ;
}
