#include "backend/text/c/literal.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/foreign.h"

/* Bytes that are no letters, digits or common signs are octal; so no trigraph and no end of the literal comes up. */
const char *c_literal(struct arena *a, const char *text)
{
	struct buf safe = {0}, out = {0};
	foreign_puts(&safe, FOREIGN_TEXT, text);
	buf_putc(&out, '"');
	for (size_t i = 0; i < safe.len; i++) {
		unsigned char c = (unsigned char)safe.at[i];
		if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '?')
			buf_printf(&out, "\\%03o", c);
		else
			buf_putc(&out, (char)c);
	}
	buf_putc(&out, '"');
	text = arena_strdup(a, out.at);
	buf_free(&safe);
	buf_free(&out);
	return text;
}
