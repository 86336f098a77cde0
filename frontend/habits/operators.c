/* Habits within a statement: word operators, choices, types in calls, signs. The parser asks only if the grammar has no use for the token. */
#include <string.h>
#include "frontend/habits/habit_state.h"

enum habit habit_else(struct parser *p, token_id first, node_id *node)
{
	(void)first, (void)node;
	if (!word_at(p, p->i, "elif"))
		return HABIT_NONE;
	if (p->reported_indentation)
		p->failed = true;
	else
		resume_corrected(p, habit_report(p, current_span(p), "`elif` does not continue an `if`; use `else if`", NULL, "else if"));
	read_token_as(p, TOK_IF);
	return HABIT_READ;
}

enum habit habit_operand(struct parser *p, token_id first, node_id *node)
{
	token_id not = p->i;
	(void)first;
	if (!word_at(p, not, "not") || newline_at(p, not+1))
		return HABIT_NONE;
	struct diag *g = habit_report(p, current_span(p), "`not` is not an operator; use `!`", NULL, NULL);
	resume_corrected(p, g);
	read_token_as(p, TOK_BANG);
	*node = parse_negation(p);
	node_id operand = p->panic ? AST_NONE : ast_a(p->t, *node);
	enum node_kind k = ast_kind(p->t, operand);
	span at = {p->t->tokens.src->id, p->t->tokens.starts[not], p->t->tokens.starts[not+1]};
	if (k != NODE_BINARY && k != NODE_CHAIN) {
		suggest_edit(p, g, at, "!");
		return HABIT_READ;
	}
	span of = ast_span(p->t, operand);
	suggest_edit_as(p, g, (span){of.source, at.start, of.end}, "!(%.*s)", (int)(of.end - of.start), p->t->tokens.src->text + of.start);
	return HABIT_READ;
}

/* ---- and, or, is, a if c else b ---- */

static bool read_word_operator(struct parser *p)
{
	static const struct {
		const char *text, *message, *instead;
		uint8_t kind;
	} operators[] = {
		{"and", "`and` is not an operator; use `&&`", "&&", TOK_AND},
		{"or", "`or` is not an operator; use `||`", "||", TOK_OR},
		{"is", "`is` is not an operator; use `==`", "==", TOK_EQ},
		{"is not", "`is not` is not an operator; use `!=`", "!=", TOK_NE},
	};
	size_t i = 0;
	while (i < 3 && !word_at(p, p->i, operators[i].text))
		i++;
	if (i == 3)
		return false;
	bool is_not = operators[i].kind == TOK_EQ && word_at(p, p->i + 1, "not");
	i += is_not;
	resume_corrected(p, habit_report(p, token_range(p, p->i, p->i + is_not), operators[i].message, NULL, operators[i].instead));
	if (is_not)
		advance(p);
	read_token_as(p, (enum token_kind)operators[i].kind);
	return true;
}

/* True if an `else` follows the `if` here before the expression ends. */
static bool has_else(const struct parser *p)
{
	enum { MOST = 256 }; /* so that many of them take linear time */
	const struct tokens *t = &p->t->tokens;
	uint32_t depth = 0;
	for (token_id i = p->i + 1;; i++) {
		enum token_kind k = token_kind(t, i);
		if (i > p->i + MOST || k == TOK_EOF || k == TOK_LBRACE || k == TOK_RBRACE || (p->newlines && token_after_newline(t, i)))
			return false;
		if (!depth && (k == TOK_ELSE || k == TOK_COMMA || k == TOK_RPAREN || k == TOK_RBRACKET))
			return k == TOK_ELSE;
		depth += k == TOK_LPAREN || k == TOK_LBRACKET;
		depth -= k == TOK_RPAREN || k == TOK_RBRACKET;
	}
}

/* `then if cond else otherwise`, at its `if`: the tree of `cond ? then : otherwise`. */
static node_id operators_read_choice(struct parser *p, node_id then)
{
	const char *text = p->t->tokens.src->text;
	token_id keyword = p->i;
	uint32_t height = p->height;
	advance(p);
	node_id cond = parse_expr(p);
	raise_height(&height, p);
	if (p->panic || !accept(p, TOK_ELSE))
		return error_node(p);
	token_id first = p->i; /* of what may be another choice, whose parts are in this order, too */
	node_id otherwise = parse_expr(p);
	raise_height(&height, p);
	struct diag *g = habit_report(p, token_span(&p->t->tokens, keyword), "`a if c else b` is not an expression; use `c ? a : b`",
				      "or `if c { a } else { b }`", NULL);
	span a = ast_span(p->t, then), c = ast_span(p->t, cond), b = token_range(p, first, p->i - 1);
	suggest_edit_as(p, g, (span){a.source, a.start, b.end}, "%.*s ? %.*s : %.*s", (int)(c.end - c.start), text + c.start,
			(int)(a.end - a.start), text + a.start, (int)(b.end - b.start), text + b.start);
	resume_corrected(p, g);
	p->height = height + 1;
	return new_node(p, NODE_TERNARY, keyword, cond, new_pair(p, then, otherwise));
}

/* `x not in xs`, at its `not`. */
static bool read_not_in(struct parser *p)
{
	if (!word_at(p, p->i, "not") || kind_at(p, p->i + 1) != TOK_IN)
		return false;
	resume_corrected(
		p, habit_report(p, token_range(p, p->i, p->i + 1), "`not in` is not an operator", "negate the whole: `!(x in xs)`", NULL));
	advance(p);
	return true;
}

enum habit habit_operator(struct parser *p, token_id first, node_id *node)
{
	(void)first;
	if (p->k == TOK_NAME)
		return read_not_in(p) || read_word_operator(p) ? HABIT_READ : HABIT_NONE;
	if (!has_else(p))
		return HABIT_NONE;
	*node = operators_read_choice(p, *node);
	return HABIT_READ;
}

/* ---- types in expressions ---- */

enum habit habit_less(struct parser *p, token_id first, node_id *node)
{
	enum node_kind k = ast_kind(p->t, *node);
	(void)first;
	if ((k != NODE_NAME && k != NODE_MEMBER) || !adjacent(p, p->i - 1) || !adjacent(p, p->i))
		return HABIT_NONE;
	token_id close = closing_angle(p, p->i), name = ast_token(p->t, *node);
	bool tensor = word_at(p, name, "Tensor") || word_at(p, name, "TernaryTensor");
	bool called = close != TOKEN_NONE && adjacent(p, close) && kind_at(p, close + 1) == TOK_LPAREN;
	if (close == TOKEN_NONE || !(called || tensor))
		return HABIT_NONE;
	struct diag *g;
	if (tensor)
		g = habit_report(
			p, token_range(p, name, close), "a type is not a value",
			"a tensor is made by `zeros([3, 4])` or `tensor([[1, 2], [3, 4]])`; a type follows a name, `let x: Tensor<float32, "
			"[3, 4]> = …`",
			NULL);
	else
		g = habit_report(
			p, token_range(p, p->i, close), "a call takes no type arguments; leave them out",
			"types and dimensions are inferred from the arguments; an element type is given by `dtype=float32`, a cast is "
			"`float32(x)`",
			NULL);
	if (g && !tensor)
		diag_guess(p->diags, g, token_range(p, p->i, close), "");
	resume(p, g);
	jump_to(p, close + 1);
	return HABIT_READ;
}

/* ---- for (int i = 0; i < n; i++) ---- */

static token_id find_in(const struct parser *p, token_id from, token_id end, enum token_kind k)
{
	while (from < end && kind_at(p, from) != k)
		from++;
	return from;
}

/* True for `i++`, `++i` and `i += 1` between the tokens. */
static bool counts_up(const struct parser *p, token_id from, token_id end)
{
	const struct tokens *t = &p->t->tokens;
	if (end - from != 3)
		return false;
	if (kind_at(p, from + 1) == TOK_PLUS_EQ)
		return token_is(t, from + 2, "1");
	return kind_at(p, from + 1) == TOK_PLUS && (kind_at(p, from) == TOK_PLUS) != (kind_at(p, from + 2) == TOK_PLUS);
}

enum habit habit_for(struct parser *p, token_id first, node_id *node)
{
	const struct tokens *t = &p->t->tokens;
	token_id open = p->i, close = matching_bracket(p, open);
	token_id test = close == TOKEN_NONE ? close : find_in(p, open, close, TOK_SEMICOLON) + 1;
	token_id assign = close == TOKEN_NONE ? close : find_in(p, open, test, TOK_ASSIGN), name = assign - 1;
	if (close == TOKEN_NONE || test > close || assign == test || kind_at(p, name) != TOK_NAME)
		return HABIT_NONE;
	struct diag *g = habit_report(p, token_range(p, first, close), "`for` iterates over a list or a range",
				      "write `for i in 0..n { … }`; other loops are written with `while`", NULL);
	token_id step = find_in(p, test, close, TOK_SEMICOLON) + 1;
	if (step < close && kind_at(p, test + 1) == TOK_LT && counts_up(p, step, close))
		suggest_edit_as(p, g, token_range(p, open, close), "%.*s in %.*s..%.*s", (int)token_len(t, name), token_text(t, name),
				(int)(t->ends[test - 2] - t->starts[assign + 1]), token_text(t, assign + 1),
				(int)(t->ends[step - 2] - t->starts[test + 2]), token_text(t, test + 2));
	resume(p, g);
	jump_to(p, name);
	*node = take_leaf(p, NODE_PAT_NAME);
	jump_to(p, close + 1);
	return HABIT_READ;
}

/* ---- signs where something else is expected ---- */

/* x **= e at the operator's token i, on a line of its own: x = x ** e. */
static void spell_assignment(struct parser *p, struct diag *g, token_id i)
{
	const struct tokens *t = &p->t->tokens;
	token_id name = i - 1, last = i + 2;
	if (!i || kind_at(p, name) != TOK_NAME || !newline_at(p, name))
		return;
	if (kind_at(p, i) == TOK_COLON) { /* x := e */
		suggest_edit_as(p, g, token_range(p, name, i + 1), "let %.*s =", (int)token_len(t, name), token_text(t, name));
		return;
	}
	while (!newline_at(p, last + 1) && kind_at(p, last + 1) != TOK_SEMICOLON && kind_at(p, last + 1) != TOK_RBRACE &&
	       kind_at(p, last + 1) != TOK_EOF)
		last++;
	bool one = last == i + 2;
	suggest_edit_as(p, g, token_range(p, i, last), "= %.*s %.*s %s%.*s%s", (int)token_len(t, name), token_text(t, name),
			(int)token_len(t, i), token_text(t, i), one ? "" : "(", (int)(t->ends[last] - t->starts[i + 2]),
			token_text(t, i + 2), one ? "" : ")");
}

/* Two tokens from i that are one operator of Python. */
static bool operators_read_pair(struct parser *p, token_id i)
{
	static const struct {
		uint8_t first, second;
		const char *message, *advice;
	} pairs[] = {
		{TOK_SLASH2, TOK_ASSIGN, "there is no `//=`", "write `x = x // …`"},
		{TOK_STAR2, TOK_ASSIGN, "there is no `**=`", "write `x = x ** …`"},
		{TOK_PERCENT, TOK_ASSIGN, "there is no `%=`", "write `x = x % …`"},
		{TOK_COLON, TOK_ASSIGN, "`:=` does not declare a variable; use `let x = …`", NULL},
		{TOK_PIPE, TOK_GT, "`|>` is not an operator", "call the function: `relu(x)` or `x.relu()`"},
	};
	if (i + 1 >= p->t->tokens.len || !adjacent(p, i))
		return false;
	for (size_t n = 0; n < COUNT(pairs); n++) {
		if (kind_at(p, i) != pairs[n].first || kind_at(p, i + 1) != pairs[n].second)
			continue;
		struct diag *g = habit_report(p, token_range(p, i, i + 1), pairs[n].message, pairs[n].advice, NULL);
		if (pairs[n].second == TOK_ASSIGN)
			spell_assignment(p, g, i);
		return true;
	}
	return false;
}

/* Single tokens of Python that cannot follow here. */
static bool read_sign(struct parser *p)
{
	enum token_kind previous = p->i ? kind_at(p, p->i - 1) : TOK_EOF;
	bool line = !after_newline(p), in_brackets = previous == TOK_LPAREN || previous == TOK_COMMA;
	span at = current_span(p);
	const char *message, *advice;
	if (p->k == TOK_COLON && line && p->i > 1 && kind_at(p, p->i - 2) == TOK_LBRACE && !newline_at(p, p->i - 1)) { /* {"x": 1} */
		at = token_range(p, p->i - 2, p->i);
		message = "a dictionary is not supported";
		advice = "use names, `let a = 1`, tuples `(a, b)` or lists `[a, b]`";
	} else if (p->k == TOK_FOR && line) {
		message = "a comprehension needs brackets; write `[f(x) for x in xs]`";
		advice = NULL;
	} else if ((p->k == TOK_STAR || p->k == TOK_STAR2) && in_brackets) {
		message = "`*` does not unpack or collect arguments; write them one by one";
		advice = "a list is passed as it is: `concat(xs)`";
	} else if (p->k == TOK_PIPE) {
		message = "`|a| …` is not a function; define one with `fn` and call it by its name";
		advice = NULL;
	} else if (p->k == TOK_DOT3) {
		message = "`...` is not an expression";
		advice = "write the missing code here; in an index `...` means all other dimensions: `x[..., 0]`";
	} else {
		return false;
	}
	struct diag *g = habit_report(p, at, message, advice, NULL);
	if (p->k == TOK_DOT3)
		diag_cause(p->diags, g, "...");
	return true;
}

/* A' @ B', as in mathematics: between its quotes the text is a string directly after a name or a bracket. */
static bool read_transposed(struct parser *p)
{
	token_id i = p->i - 1;
	bool operand = p->i && (kind_at(p, i) == TOK_NAME || kind_at(p, i) == TOK_RPAREN || kind_at(p, i) == TOK_RBRACKET);
	uint32_t at = p->t->tokens.starts[p->i];
	if (p->k != TOK_STRING || !operand || !adjacent(p, i) || p->t->tokens.src->text[at] != '\'')
		return false;
	habit_report(p, (span){p->t->tokens.src->id, at, at + 1}, "a name cannot contain `'`", QUOTE_HELP, NULL);
	return true;
}

/* x: Tensor @ y */
static bool read_type_operator(struct parser *p)
{
	enum token_kind previous = p->i > 1 ? kind_at(p, p->i - 1) : TOK_EOF, before = p->i > 1 ? kind_at(p, p->i - 2) : TOK_EOF;
	bool sign = p->k == TOK_AT || p->k == TOK_PLUS || p->k == TOK_MINUS || p->k == TOK_STAR || p->k == TOK_SLASH;
	bool type = previous == TOK_GT || (previous == TOK_NAME && (before == TOK_COLON || before == TOK_ARROW));
	if (!sign || !type || after_newline(p))
		return false;
	habit_report(p, current_span(p), "a type has no operators",
		     "the type of an argument ends at `,` or `)`, that of a result at `{`; operators compute values in the body", NULL);
	return true;
}

enum habit habit_expected(struct parser *p, token_id first, node_id *node)
{
	(void)first, (void)node;
	if (p->k == TOK_ERROR)
		return HABIT_NONE;
	bool found = habit_word_in_expression(p, p->i) || (p->i && habit_word_in_expression(p, p->i - 1)) || operators_read_pair(p, p->i) ||
		     (p->i && operators_read_pair(p, p->i - 1)) || read_sign(p) || read_transposed(p) || read_type_operator(p);
	return found ? HABIT_SKIPPED : HABIT_NONE;
}
