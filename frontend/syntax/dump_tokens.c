#include "base/buf.h"
#include "frontend/syntax/dump.h"
#include "frontend/syntax/token.h"

void dump_tokens(const struct tokens *t, struct buf *out)
{
	const char *text = t->src->text;
	uint32_t line = 1, line_start = 0, at = 0;
	for (token_id i = 0; i < t->len; i++) {
		for (; at < t->starts[i]; at++)
			if (text[at] == '\n') {
				line++;
				line_start = at + 1;
			}
		buf_printf(out, "%u:%u %s%s", line, at - line_start + 1, token_after_newline(t, i) ? "⏎ " : "",
			   token_kind_id(token_kind(t, i)));
		enum token_class class = token_class(token_kind(t, i));
		if ((class == TOKEN_LITERAL || class == TOKEN_SPECIAL) && token_len(t, i)) {
			buf_putc(out, ' ');
			buf_put(out, token_text(t, i), token_len(t, i));
		}
		buf_putc(out, '\n');
	}
}
