/* Python's constructors: what they take and do belongs to the layer itself. */
#include <string.h>
#include "base/buf.h"
#include "frontend/foreign_state.h"

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

/* From the layer's `()` at `open` to the end of the constructor: its arguments, what stands before it, its statements. */
static void edit_layer(struct parser *p, struct diag *g, token_id open, token_id keyword, token_id block)
{
	const struct tokens *t = &p->t->tokens;
	token_id args = keyword + 2, close = matching(p, args), last = matching(p, block);
	struct buf out = {0};
	uint32_t line = t->starts[keyword];
	if (kind_at(p, open) != TOK_LPAREN || kind_at(p, open + 1) != TOK_RPAREN || close == TOKEN_NONE || last == TOKEN_NONE)
		return;
	while (line > t->ends[open + 1] && t->src->text[line - 1] != '\n')
		line--;
	buf_put(&out, t->src->text + t->starts[args], t->ends[close] - t->starts[args]);
	buf_put(&out, t->src->text + t->ends[open + 1], line - t->ends[open + 1]);
	put_body(p, &out, block, last);
	buf_puts(&out, "");
	edit(p, g, (span){t->src->id, t->starts[open], t->ends[last]}, out.at);
	buf_free(&out);
}

void foreign_constructors(struct parser *p, node_id body, token_id open)
{
	const struct tokens *t = &p->t->tokens;
	struct ast_nodes list = ast_nodes(p->t, ast_a(p->t, body));
	for (uint32_t i = 0; i < list.n && !p->panic; i++) {
		token_id keyword = ast_token(p->t, list.at[i]);
		if (ast_kind(p->t, list.at[i]) != NODE_FN || !token_is(t, keyword + 1, "__init__") || kind_at(p, keyword + 2) != TOK_LPAREN)
			continue;
		struct diag *g = foreign_at(p, token_span(t, keyword + 1), "there are no constructors",
					    "the arguments are the layer's, `layer Net(n: int) { … }`, the statements its body's: "
					    "`let fc = nn.Linear(n, 10)`",
					    NULL);
		node_id block = ast_fn(p->t, list.at[i]).body;
		if (g && ast_kind(p->t, block) == NODE_BLOCK && kind_at(p, ast_token(p->t, block)) == TOK_LBRACE)
			edit_layer(p, g, open, keyword, ast_token(p->t, block));
		recovered(p, g);
	}
}
