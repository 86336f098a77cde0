/* Constructors of other languages: what they take and do belongs to the layer itself. */
#include <string.h>
#include "base/buf.h"
#include "frontend/habits/habit_state.h"

/* A line of a constructor as one of the layer's body: less indented, unless it calls the base's constructor. */
static void put_line(struct buf *out, const char *line, const char *end, uint32_t indent)
{
	const char *word = line;
	while (word < end && (*word == ' ' || *word == '\t'))
		word++;
	if (end - word >= 5 && !memcmp(word, "super", 5))
		return;
	uint32_t n = (uint32_t)(word - line) < indent ? (uint32_t)(word - line) : indent;
	buf_put(out, line + n, (size_t)(end - line) - n);
}

static void put_body(struct parser *p, struct buf *out, token_id open, token_id close)
{
	const struct tokens *t = &p->t->tokens;
	const char *line = t->src->text + t->ends[open], *end = t->src->text + t->starts[close];
	while (line < end && (*line == ' ' || *line == '\t'))
		line++;
	line += line < end && *line == '\n';
	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop + 1 : end;
		put_line(out, line, stop, indent_of(p, close));
		line = stop;
	}
	while (out->len && strchr(" \t\n", out->at[out->len - 1]))
		out->len--;
}

/* From the layer's arguments at `open` to the end of the constructor: its arguments, what stands before it, its statements. */
static void edit_layer(struct parser *p, struct diag *g, token_id open, token_id keyword, token_id block)
{
	const struct tokens *t = &p->t->tokens;
	token_id head = kind_at(p, open) == TOK_LPAREN ? matching(p, open) : TOKEN_NONE, args = keyword + 2, close = matching(p, args),
		 last = matching(p, block);
	struct buf out = {0};
	uint32_t line = t->starts[keyword];
	if (head == TOKEN_NONE || close == TOKEN_NONE || last == TOKEN_NONE)
		return;
	uint32_t n = t->ends[close] - t->starts[args], n_head = t->ends[head] - t->starts[open];
	bool same = n == n_head && !memcmp(token_text(t, args), token_text(t, open), n), none = close == args + 1;
	if (head != open + 1 && !same && !none)
		return; /* both have arguments */
	while (line > t->ends[head] && t->src->text[line - 1] != '\n')
		line--;
	buf_put(&out, token_text(t, none ? open : args), none ? n_head : n);
	buf_put(&out, t->src->text + t->ends[head], line - t->ends[head]);
	put_body(p, &out, block, last);
	buf_puts(&out, "");
	edit(p, g, (span){t->src->id, t->starts[open], t->ends[last]}, out.at);
	buf_free(&out);
}

/* `__init__`; or a function of a usual name that ends with a declaration, and so computes nothing. */
static bool constructs(const struct parser *p, node_id function)
{
	static const char *const names[] = {"init", "new", "setup", "constructor", "build", "initialize"};
	token_id name = ast_token(p->t, function) + 1;
	if (token_is(&p->t->tokens, name, "__init__"))
		return true;
	node_id body = ast_fn(p->t, function).body;
	struct ast_nodes list = ast_kind(p->t, body) == NODE_BLOCK ? ast_nodes(p->t, ast_a(p->t, body)) : (struct ast_nodes){0};
	enum node_kind last = list.n ? ast_kind(p->t, list.at[list.n - 1]) : NODE_ERROR;
	for (size_t i = 0; (last == NODE_LET || last == NODE_ASSIGN) && i < COUNT(names); i++)
		if (token_is(&p->t->tokens, name, names[i]))
			return true;
	return false;
}

void habit_constructors(struct parser *p, node_id body, token_id open)
{
	const struct tokens *t = &p->t->tokens;
	struct ast_nodes list = ast_nodes(p->t, ast_a(p->t, body));
	for (uint32_t i = 0; i < list.n && !p->panic; i++) {
		token_id keyword = ast_token(p->t, list.at[i]);
		if (ast_kind(p->t, list.at[i]) != NODE_FN || !constructs(p, list.at[i]) || kind_at(p, keyword + 2) != TOK_LPAREN)
			continue;
		struct diag *g = habit_report(p, token_span(t, keyword + 1), "there are no constructors",
					      "the arguments are the layer's, `layer Net(n: int) { … }`, the statements its body's: "
					      "`let fc = nn.Linear(n, 10)`",
					      NULL);
		node_id block = ast_fn(p->t, list.at[i]).body;
		if (g && ast_kind(p->t, block) == NODE_BLOCK && kind_at(p, ast_token(p->t, block)) == TOK_LBRACE)
			edit_layer(p, g, open, keyword, ast_token(p->t, block));
		recovered(p, g);
	}
}
