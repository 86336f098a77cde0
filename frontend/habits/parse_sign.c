/* Habits from other languages within a statement: operators, types in calls, signs. They are looked for only where the parser has
 * no other use for what stands there. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "frontend/habits/habit_state.h"

/* ---- operators that are words ---- */

static const struct {
	const char *text, *message, *instead;
	uint8_t kind;
} operators[] = {
	{"and", "`and` is not an operator; use `&&`", "&&", TOK_AND},
	{"or", "`or` is not an operator; use `||`", "||", TOK_OR},
	{"is", "`is` is not an operator; use `==`", "==", TOK_EQ},
	{"mod", "`mod` is not an operator; use `%`", "%", TOK_PERCENT},
	{"div", "`div` is not an operator; use `//`", "//", TOK_SLASH2},
	{"xor", "`xor` is not an operator; use `!=` for bools", "!=", TOK_NE},
};

bool habit_operator(struct parser *p)
{
	for (size_t i = 0; i < COUNT(operators); i++) {
		if (!token_is(&p->t->tokens, p->i, operators[i].text))
			continue;
		bool is_not = operators[i].kind == TOK_EQ && kind_at(p, p->i + 1) == TOK_NAME && token_is(&p->t->tokens, p->i + 1, "not");
		span at = between(p, p->i, p->i + is_not);
		sound(p, habit_report(p, at, is_not ? "`is not` is not an operator; use `!=`" : operators[i].message, NULL,
				      is_not ? "!=" : operators[i].instead));
		if (is_not)
			advance(p);
		read_token_as(p, is_not ? TOK_NE : (enum token_kind)operators[i].kind);
		return true;
	}
	return false;
}

bool habit_not(struct parser *p)
{
	if (!token_is(&p->t->tokens, p->i, "not") || newline_at(p, p->i + 1))
		return false;
	enum token_kind k = kind_at(p, p->i + 1);
	bool operand = k == TOK_NAME || k == TOK_LPAREN || k == TOK_TRUE || k == TOK_FALSE || k == TOK_HABIT_TRUE || k == TOK_HABIT_FALSE;
	if (!operand)
		return false;
	struct diag *g = habit_report(p, here(p), "`not` is not an operator; use `!`", NULL, NULL);
	edit(p, g, (span){p->t->tokens.src->id, p->t->tokens.starts[p->i], p->t->tokens.starts[p->i + 1]}, "!");
	sound(p, g);
	read_token_as(p, TOK_BANG);
	return true;
}

void habit_declaration(struct parser *p)
{
	static const char *const modifiers[] = {"mut", "var", "rec", "ref", "static", "auto", "const", "local"};
	const struct tokens *t = &p->t->tokens;
	span to_name = {t->src->id, t->starts[p->i], t->starts[p->i + 1]};
	for (size_t i = 0; i < COUNT(modifiers); i++) {
		if (!token_is(t, p->i, modifiers[i]))
			continue;
		struct diag *g =
			habit_report(p, here(p), "`let` needs no other word; leave it out: every variable can be assigned to", NULL, NULL);
		edit(p, g, to_name, "");
		sound(p, g);
		advance(p);
		return;
	}
	if (!names_dtype(p, p->i))
		return;
	struct diag *g =
		habit_report(p, between(p, p->i, p->i + 1), "the type is before the name; write it behind, after a `:`", NULL, NULL);
	edit_as(p, g, between(p, p->i, p->i + 1), "%.*s: %.*s", (int)token_len(t, p->i + 1), token_text(t, p->i + 1),
		(int)token_len(t, p->i), token_text(t, p->i));
	sound(p, g);
	advance(p);
}

bool habit_else_if(struct parser *p)
{
	if (p->k != TOK_NAME ||
	    !(token_is(&p->t->tokens, p->i, "elif") || token_is(&p->t->tokens, p->i, "elseif") || token_is(&p->t->tokens, p->i, "elsif")))
		return false;
	if (p->told_block)
		p->failed = true;
	else
		sound(p, habit_report(p, here(p), "this does not continue an `if`; use `else if`", NULL, "else if"));
	read_token_as(p, TOK_IF);
	return true;
}

/* ---- types in calls ---- */

/* The `>` of type arguments that open at i, and are followed by a call or a member if `called`; or TOKEN_NONE. */
static token_id closing_angle(const struct parser *p, token_id i, bool called)
{
	enum { MOST = 64 };
	uint32_t depth = 0;
	for (token_id first = i; i < first + MOST; i++) {
		enum token_kind k = kind_at(p, i);
		depth += k == TOK_LT;
		if (k == TOK_GT && !--depth && !called)
			return i;
		if (k == TOK_GT && !depth)
			return adjacent(p, i) && (kind_at(p, i + 1) == TOK_LPAREN || kind_at(p, i + 1) == TOK_DOT) ? i : TOKEN_NONE;
		bool inside = k == TOK_LT || k == TOK_GT || k == TOK_NAME || k == TOK_INT || k == TOK_COMMA || k == TOK_LBRACKET ||
			      k == TOK_RBRACKET || k == TOK_QUESTION || k == TOK_DOT || k == TOK_STAR;
		if (!inside || (newline_at(p, i) && i > first))
			return TOKEN_NONE;
	}
	return TOKEN_NONE;
}

static bool names_tensor(const struct parser *p, token_id i)
{
	return token_is(&p->t->tokens, i, "Tensor") || token_is(&p->t->tokens, i, "TernaryTensor");
}

/* `let w = Tensor<float32, [3, 4]>`, whose type arguments end at `close`: there is no value. */
static bool type_as_value(struct parser *p, token_id name, token_id close)
{
	const struct tokens *t = &p->t->tokens;
	struct diag *g = habit_report(p, between(p, name, close), "a type is not a value", NULL, NULL);
	token_id dims = p->i;
	while (dims < close && kind_at(p, dims) != TOK_LBRACKET)
		dims++;
	help(p, g,
	     "a tensor is made by `zeros([3, 4])` or `tensor([[1, 2], [3, 4]])`; a type follows a name, `let x: Tensor<float32, [3, 4]> = …`");
	if (g && dims < close && name && kind_at(p, name - 1) == TOK_ASSIGN) {
		edit_as(p, g, between(p, name, close), "%s(%.*s)", token_is(t, name, "TernaryTensor") ? "random_ternary" : "zeros",
			(int)(t->ends[close - 1] - t->starts[dims]), t->src->text + t->starts[dims]);
		g->unsure = true;
	}
	recovered(p, g);
	jump(p, close + 1);
	return true;
}

bool habit_type_arguments(struct parser *p, node_id callee)
{
	enum node_kind k = ast_kind(p->t, callee);
	if ((k != NODE_NAME && k != NODE_MEMBER) || p->panic || !p->i || !adjacent(p, p->i - 1) || !adjacent(p, p->i))
		return false;
	token_id close = closing_angle(p, p->i, true), name = ast_token(p->t, callee);
	bool tensor = names_tensor(p, name);
	if (close == TOKEN_NONE && tensor && (close = closing_angle(p, p->i, false)) != TOKEN_NONE)
		return type_as_value(p, name, close);
	if (close == TOKEN_NONE)
		return false;
	struct diag *g = habit_report(p, between(p, p->i, close), "a call takes no type arguments; leave them out", NULL, NULL);
	help(p, g,
	     tensor ? "a tensor is made by `zeros([3, 4])`, `full([3, 4], 0.5)` or `tensor([[1, 2], [3, 4]])`"
		    : "types and dimensions are found from the arguments; an element type is given by `dtype=float32`, a cast is `float32(x)`");
	if (g && !tensor)
		diag_guess(p->diags, g, between(p, p->i, close), "");
	recovered(p, g);
	jump(p, close + 1);
	return true;
}

bool habit_generics(struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	token_id open = p->i, close = p->k == TOK_LBRACKET && !p->panic ? matching(p, open) : TOKEN_NONE;
	if (close == TOKEN_NONE || (kind_at(p, close + 1) != TOK_LPAREN && kind_at(p, close + 1) != TOK_ASSIGN))
		return false;
	struct diag *g = habit_report(p, between(p, open, close), "`[ ]` does not hold generics; use `< >`", NULL, NULL);
	edit_as(p, g, between(p, open, close), "<%.*s>", (int)(t->starts[close] - t->ends[open]), t->src->text + t->ends[open]);
	sound(p, g);
	read_token_as(p, TOK_LT);
	p->t->tokens.kinds[close] = (uint8_t)((p->kinds[close] & TOKEN_NEWLINE) | TOK_GT);
	return true;
}

void habit_effect(struct parser *p)
{
	static const char *const words[] = {"raises", "throws", "noexcept", "nothrow"};
	for (size_t i = 0; p->k == TOK_NAME && !p->panic && i < COUNT(words); i++) {
		if (!token_is(&p->t->tokens, p->i, words[i]))
			continue;
		struct diag *g = habit_report(p, here(p), "there are no exceptions; leave this out", NULL, NULL);
		edit(p, g, (span){here(p).source, here(p).start, p->t->tokens.starts[p->i + 1]}, "");
		sound(p, g);
		advance(p);
	}
}

bool habit_question(struct parser *p)
{
	enum token_kind next = peek(p);
	bool last = newline_at(p, p->i + 1) || next == TOK_RPAREN || next == TOK_RBRACKET || next == TOK_RBRACE || next == TOK_COMMA ||
		    next == TOK_SEMICOLON || next == TOK_EOF;
	if (!last || !adjacent(p, p->i - 1))
		return false;
	struct diag *g =
		habit_report(p, here(p), "`?` has no use here; leave it out: there are no exceptions or optional values", NULL, "");
	sound(p, g);
	advance(p);
	return g != NULL;
}

bool habit_lambda(struct parser *p)
{
	bool named = peek(p) == TOK_NAME, typed = named && kind_at(p, p->i + 2) == TOK_COLON;
	if (p->panic || !(typed || peek(p) == TOK_RPAREN))
		return false;
	token_id arrow = matching(p, p->i) + 1; /* 0: not closed */
	bool fat = arrow && kind_at(p, arrow) == TOK_ASSIGN && kind_at(p, arrow + 1) == TOK_GT && adjacent(p, arrow);
	if (!fat && !(arrow && kind_at(p, arrow) == TOK_ARROW))
		return false;
	habit_report(p, between(p, p->i, arrow + fat), "a function needs a name",
		     "define one at the top level of the file, `fn f(x: …) { return … }`, and call it by its name", NULL);
	return true;
}

/* ---- signs where the parser has no use for them ---- */

static const struct {
	uint8_t first, second;
	const char *message, *help, *instead;
	bool guess;
} pairs[] = {
	{TOK_SLASH2, TOK_ASSIGN, "there is no `//=`", "write `x = x // …`", NULL, false},
	{TOK_STAR2, TOK_ASSIGN, "there is no `**=`", "write `x = x ** …`", NULL, false},
	{TOK_PERCENT, TOK_ASSIGN, "there is no `%=`", "write `x = x % …`", NULL, false},
	{TOK_AND, TOK_ASSIGN, "there is no `&&=`", "write `x = x && …`", NULL, false},
	{TOK_OR, TOK_ASSIGN, "there is no `||=`", "write `x = x || …`", NULL, false},
	{TOK_EQ, TOK_ASSIGN, "`===` is not an operator; use `==`", NULL, "==", false},
	{TOK_NE, TOK_ASSIGN, "`!==` is not an operator; use `!=`", NULL, "!=", false},
	{TOK_LT, TOK_GT, "`<>` is not an operator; use `!=`", NULL, "!=", false},
	{TOK_LT, TOK_LT, "`<<` is not an operator", "multiply by a power of two: `x * 2 ** n`", NULL, false},
	{TOK_GT, TOK_GT, "`>>` is not an operator", "divide by a power of two: `x // 2 ** n`", NULL, false},
	{TOK_ASSIGN, TOK_GT, "`=>` is not an operator",
	 "a function is defined with `fn f(x: …) -> … { … }`, a choice is `if c { a } else { b }`, a comparison `>=`", NULL, false},
	{TOK_ASSIGN, TOK_LT, "`=<` is not an operator; use `<=`", NULL, "<=", false},
	{TOK_COLON, TOK_COLON, "`::` does not reach a member; use `.`", "`nn.Linear`; a call takes no types: `zeros([3], dtype=float32)`",
	 ".", true},
	{TOK_COLON, TOK_ASSIGN, "`:=` does not declare a variable; use `let x = …`", NULL, NULL, false},
	{TOK_PLUS, TOK_PLUS, "`++` is not an operator; use `+= 1`", NULL, " += 1", false},
	{TOK_MINUS, TOK_MINUS, "`--` is not an operator; use `-= 1`", NULL, " -= 1", false},
	{TOK_QUESTION, TOK_QUESTION, "`??` is not an operator", "write `x == none ? a : x`", NULL, false},
	{TOK_QUESTION, TOK_DOT, "`?.` is not an operator; use `.`", NULL, ".", false},
	{TOK_DOT, TOK_STAR, "`.*` is not an operator; use `*`, which works element by element", NULL, "*", false},
	{TOK_DOT, TOK_SLASH, "`./` is not an operator; use `/`, which works element by element", NULL, "/", false},
	{TOK_DOT, TOK_AT, "`.@` is not an operator; use `@`", NULL, "@", false},
	{TOK_DOT, TOK_PLUS, "`.+` is not an operator; use `+`, which works element by element", NULL, "+", false},
};

/* An increment as a statement by itself, so that an edit is sure. */
static bool ends_after(const struct parser *p, token_id i)
{
	enum token_kind k = kind_at(p, i + 1);
	return newline_at(p, i + 1) || k == TOK_SEMICOLON || k == TOK_RBRACE || k == TOK_EOF;
}

/* f::<float32>(x) */
static bool turbofish(struct parser *p, token_id i)
{
	if (kind_at(p, i) != TOK_COLON || kind_at(p, i + 1) != TOK_COLON || kind_at(p, i + 2) != TOK_LT)
		return false;
	token_id close = closing_angle(p, i + 2, true);
	if (close == TOKEN_NONE)
		return false;
	habit_report(p, between(p, i, close), "a call takes no type arguments; leave them out",
		     "types and dimensions are found from the arguments", "");
	return true;
}

/* x **= e at the operator's token i, on a line of its own: x = x ** e. */
static void spell_assignment(struct parser *p, struct diag *g, token_id i)
{
	const struct tokens *t = &p->t->tokens;
	token_id name = i - 1, last = i + 2;
	if (!i || kind_at(p, name) != TOK_NAME || !newline_at(p, name))
		return;
	if (kind_at(p, i) == TOK_COLON) { /* x := e */
		edit_as(p, g, between(p, name, i + 1), "let %.*s =", (int)token_len(t, name), token_text(t, name));
		return;
	}
	while (!ends_after(p, last))
		last++;
	bool one = last == i + 2;
	edit_as(p, g, between(p, i, last), "= %.*s %.*s %s%.*s%s", (int)token_len(t, name), token_text(t, name), (int)token_len(t, i),
		token_text(t, i), one ? "" : "(", (int)(t->ends[last] - t->starts[i + 2]), token_text(t, i + 2), one ? "" : ")");
}

bool habit_pair(struct parser *p, token_id i)
{
	if (i + 1 >= p->t->tokens.len || !adjacent(p, i))
		return false;
	if (turbofish(p, i))
		return true;
	for (size_t n = 0; n < COUNT(pairs); n++) {
		if (kind_at(p, i) != pairs[n].first || kind_at(p, i + 1) != pairs[n].second)
			continue;
		bool step = pairs[n].first == pairs[n].second && (pairs[n].first == TOK_PLUS || pairs[n].first == TOK_MINUS);
		if (step && !ends_after(p, i + 1))
			continue;
		struct diag *g = habit_report(p, between(p, i, i + 1), pairs[n].message, pairs[n].help, NULL);
		if (g && !pairs[n].instead && pairs[n].second == TOK_ASSIGN)
			spell_assignment(p, g, i);
		if (g && pairs[n].instead && pairs[n].guess)
			diag_guess(p->diags, g, between(p, i, i + 1), pairs[n].instead);
		else if (pairs[n].instead)
			edit(p, g, between(p, i, i + 1), pairs[n].instead);
		return true;
	}
	return false;
}

static const char *comment_message(enum token_kind sign)
{
	return sign == TOK_SLASH2  ? "`//` does not start a comment; use `#`"
	       : sign == TOK_MINUS ? "`--` does not start a comment; use `#`"
				   : "`%` does not start a comment; use `#`";
}

static bool comment_sign(struct parser *p)
{
	for (token_id i = p->i < p->t->tokens.len ? p->i : p->i - 1, back = 0; back < 4; i--, back++) {
		enum token_kind k = kind_at(p, i);
		bool dashes = k == TOK_MINUS && kind_at(p, i + 1) == TOK_MINUS && adjacent(p, i);
		if ((k == TOK_SLASH2 || dashes || k == TOK_PERCENT) && newline_at(p, i)) {
			habit_report(p, between(p, i, i + dashes), comment_message(k), NULL, "#");
			return true;
		}
		if (!i || newline_at(p, i))
			return false;
	}
	return false;
}

bool habit_comment(struct parser *p)
{
	bool dashes = p->k == TOK_MINUS && kind_at(p, p->i + 1) == TOK_MINUS && adjacent(p, p->i);
	if (p->panic || !(p->k == TOK_SLASH2 || dashes))
		return false;
	struct diag *g = habit_report(p, between(p, p->i, p->i + dashes), comment_message((enum token_kind)p->k), NULL, "#");
	do
		advance(p);
	while (p->k != TOK_EOF && !after_newline(p));
	sound(p, g);
	return true;
}

static bool conditional_expression(struct parser *p)
{
	if (p->k != TOK_IF || after_newline(p) || !p->i)
		return false;
	habit_report(p, here(p), "`a if c else b` is not an expression; use `c ? a : b`", "or `if c { a } else { b }`", NULL);
	return true;
}

/* `r.0` */
static bool numbered_member(struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	char text[32];
	if (p->i && token_class(kind_at(p, p->i - 1)) == TOKEN_LITERAL) /* 1.2.3 */
		return false;
	if (!p->i || !adjacent(p, p->i - 1) || *token_text(t, p->i) != '.' || token_len(t, p->i) > 8)
		return false;
	snprintf(text, sizeof text, "[%.*s]", (int)token_len(t, p->i) - 1, token_text(t, p->i) + 1);
	habit_report(p, here(p), "`.0` does not reach an element; use an index", NULL, text);
	return true;
}

/* `println!(…)` */
static bool macro_call(struct parser *p)
{
	if (!p->i || !adjacent(p, p->i - 1) || kind_at(p, p->i + 1) != TOK_LPAREN || kind_at(p, p->i - 1) != TOK_NAME)
		return false;
	const struct tokens *t = &p->t->tokens;
	if (token_is(t, p->i - 1, "println") || token_is(t, p->i - 1, "print") || token_is(t, p->i - 1, "eprintln"))
		habit_report(p, between(p, p->i - 1, p->i),
			     "`print` is not a macro; leave the `!` out, and use an f-string for values: `print(f\"n = {n}\")`", NULL,
			     "print");
	else
		habit_report(p, here(p), "macros are not supported; leave the `!` out and call a function", NULL, "");
	return true;
}

/* `{"x": 1}`, `Point { x: 1 }` */
static bool brace_pairs(struct parser *p)
{
	token_id i = p->i;
	if (p->k == TOK_COLON && i > 1 && kind_at(p, i - 2) == TOK_LBRACE && !newline_at(p, i - 1)) {
		habit_report(p, between(p, i - 2, i), "a dictionary is not supported",
			     "use names, `let a = 1`, tuples `(a, b)` or lists `[a, b]`", NULL);
		return true;
	}
	if (p->k != TOK_LBRACE || kind_at(p, i + 1) != TOK_NAME || kind_at(p, i + 2) != TOK_COLON)
		return false;
	habit_report(p, here(p), "`{ name: value }` is not an expression",
		     "group values in a tuple, `(a, b)`; parameters and layers belong to a `layer`", NULL);
	return true;
}

/* `[+, 0, -]` */
static bool sign_as_trit(struct parser *p)
{
	enum token_kind sign = p->i > 1 ? kind_at(p, p->i - 1) : TOK_EOF, before = p->i > 1 ? kind_at(p, p->i - 2) : TOK_EOF;
	if ((sign != TOK_PLUS && sign != TOK_MINUS) ||
	    (before != TOK_LBRACKET && before != TOK_LPAREN && before != TOK_COMMA && before != TOK_ASSIGN))
		return false;
	habit_report(p, token_span(&p->t->tokens, p->i - 1), "a sign alone is not a trit; use -1, 0 or 1", NULL,
		     sign == TOK_PLUS ? "1" : "-1");
	return true;
}

/* `...` for what a document leaves out: a body, a value, arguments. */
static void left_out(struct parser *p)
{
	struct diag *g = habit_report(p, here(p), "`...` is no code",
				      "write what it leaves out; in an index it means all dimensions: `x[..., 0]`", NULL);
	if (g)
		diag_cause(p->diags, g, "...");
}

/* Single tokens that cannot go on here. */
static bool habit_token(struct parser *p)
{
	bool line = !after_newline(p);
	switch ((enum token_kind)p->k) {
	case TOK_FLOAT: return line && numbered_member(p);
	case TOK_BANG: return line && macro_call(p);
	case TOK_COLON:
	case TOK_LBRACE: return line && brace_pairs(p);
	case TOK_FN:
		if (!line || kind_at(p, p->i + 1) != TOK_LPAREN || kind_at(p, p->i - 1) == TOK_MAIN)
			return false;
		habit_report(p, here(p), "a function needs a name: define a `fn` at the top level of the file, and call it by its name",
			     NULL, NULL);
		return true;
	case TOK_TYPE:
		if (!line || kind_at(p, p->i + 1) != TOK_LPAREN)
			return false;
		habit_report(p, here(p), "`type` is not a function; use `x.dtype` for the element type", NULL, NULL);
		return true;
	case TOK_LET:
		if (kind_at(p, p->i - 1) != TOK_IF && kind_at(p, p->i - 1) != TOK_WHILE)
			return false;
		habit_report(p, here(p), "a condition declares no variable", "write `if x != none { … }`", NULL);
		return true;
	case TOK_AS:
		if (!line)
			return false;
		habit_report(p, here(p), "`as` is not a cast; call the type: `float32(x)`", NULL, NULL);
		return true;
	case TOK_IN:
		if (!line || p->in_for)
			return false;
		habit_report(p, here(p), "`in` is not an operator: it belongs to `for`", "compare: `n == 1 || n == 2`", NULL);
		return true;
	case TOK_FOR:
		if (!line)
			return false;
		habit_report(p, here(p), "a comprehension needs brackets; write `[f(x) for x in xs]`", NULL, NULL);
		return true;
	case TOK_STAR:
	case TOK_STAR2:
		if (kind_at(p, p->i - 1) != TOK_LPAREN && kind_at(p, p->i - 1) != TOK_COMMA)
			return false;
		habit_report(p, here(p), "`*` does not unpack or collect arguments; write them one by one",
			     "a list is passed as it is: `concat(xs)`", NULL);
		return true;
	case TOK_ARROW:
		if (!line || p->in_signature)
			return false;
		habit_report(p, here(p), "`->` does not chain calls; write `f(x)` or `x.f()`", NULL, NULL);
		return true;
	case TOK_DOT3:
		if (p->in_signature && peek(p) == TOK_NAME) {
			habit_report(p, here(p), "`...` does not collect arguments; pass a list as one argument", NULL, "");
			return true;
		}
		left_out(p);
		return true;
	default: return false;
	}
}

/* `lambda x: …`, `new T(…)`, `match (x) {`: a word before or at the current token, or before the parentheses before it. */
static bool word_in_expression(struct parser *p)
{
	token_id open = p->k == TOK_LBRACE && p->i && kind_at(p, p->i - 1) == TOK_RPAREN ? matching(p, p->i - 1) : TOKEN_NONE;
	for (token_id i = open == TOKEN_NONE ? p->i : open, back = 0; back < 2; i--, back++) {
		const struct habit_word *w = kind_at(p, i) == TOK_NAME ? habit_word_at(p, i, HABIT_EXPR) : NULL;
		if (w) {
			struct diag *g = habit_report(p, token_span(&p->t->tokens, i), w->message, w->help, NULL);
			if (w->edit)
				edit(p, g, (span){p->t->tokens.src->id, p->t->tokens.starts[i], p->t->tokens.starts[i + 1]}, w->edit);
			return true;
		}
		if (!i)
			break;
	}
	return false;
}

bool habit_expected(struct parser *p)
{
	if (p->panic || p->k == TOK_ERROR)
		return false;
	if (word_in_expression(p))
		return true;
	return comment_sign(p) || sign_as_trit(p) || habit_pair(p, p->i) || (p->i && habit_pair(p, p->i - 1)) ||
	       conditional_expression(p) || habit_token(p);
}
