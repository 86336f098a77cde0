/* Constructors of PyTorch's classes, `__init__`: their arguments and statements belong to the layer itself. */
#include <string.h>
#include "base/buf.h"
#include "frontend/habits/habit_state.h"

/* Puts a line of a constructor into the layer's body, with less indentation. Leaves out the call of the base's constructor. */
static void constructor_put_line(struct buf *out, const char *line, const char *end, uint32_t indent)
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
		constructor_put_line(out, line, stop, indent_of(p, close));
		line = stop;
	}
	while (out->len && strchr(" \t\n", out->at[out->len - 1]))
		out->len--;
}

/* The edit from the layer's arguments at `open` to the end of the constructor: its arguments, the members before it, its statements. */
static void edit_layer(struct parser *p, struct diag *g, token_id open, token_id keyword, token_id block)
{
	const struct tokens *t = &p->t->tokens;
	token_id head = kind_at(p, open) == TOK_LPAREN ? matching_bracket(p, open) : TOKEN_NONE, args = keyword + 2,
		 close = matching_bracket(p, args), last = matching_bracket(p, block);
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
	suggest_edit(p, g, (span){t->src->id, t->starts[open], t->ends[last]}, out.at);
	buf_free(&out);
}

enum habit habit_layer(struct parser *p, token_id first, node_id *node)
{
	const struct tokens *t = &p->t->tokens;
	struct ast_nodes list = ast_nodes(p->t, ast_a(p->t, *node));
	for (uint32_t i = 0; i < list.n && !p->panic; i++) {
		token_id keyword = ast_token(p->t, list.at[i]);
		if (ast_kind(p->t, list.at[i]) != NODE_FN || !word_at(p, keyword + 1, "__init__") || kind_at(p, keyword + 2) != TOK_LPAREN)
			continue;
		struct diag *g =
			habit_report(p, token_span(t, keyword + 1), "there are no constructors",
				     "its arguments belong to the layer, `layer Net(n: int) { … }`, its statements to the layer's body: "
				     "`let fc = nn.Linear(n, 10)`",
				     NULL);
		node_id block = ast_fn(p->t, list.at[i]).body;
		if (g && ast_kind(p->t, block) == NODE_BLOCK && kind_at(p, ast_token(p->t, block)) == TOK_LBRACE)
			edit_layer(p, g, first, keyword, ast_token(p->t, block));
		resume(p, g);
	}
	return HABIT_NONE;
}
