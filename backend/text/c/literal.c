#include "backend/text/c/literal.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/foreign.h"

enum { MOST_OF_A_LITERAL = 4095 }; /* C11, 5.2.4.1 */

/* Bytes that are no letters, digits or common signs are octal; so no trigraph and no end of the literal comes up. */
static void put_literal(struct buf *out, const struct buf *text)
{
	buf_putc(out, '"');
	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->at[i];
		if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '?')
			buf_printf(out, "\\%03o", c);
		else
			buf_putc(out, (char)c);
	}
	buf_putc(out, '"');
}

static void literal_put_characters(struct buf *out, const struct buf *text)
{
	buf_putc(out, '{');
	for (size_t i = 0; i < text->len; i++)
		buf_printf(out, "'\\%03o', ", (unsigned char)text->at[i]);
	buf_puts(out, "0}");
}

static const char *literal_of(struct arena *a, const char *text, size_t most)
{
	struct buf safe = {0}, out = {0};
	foreign_puts(&safe, FOREIGN_TEXT, text);
	(safe.len > most ? literal_put_characters : put_literal)(&out, &safe);
	text = arena_strdup(a, out.at);
	buf_free(&safe);
	buf_free(&out);
	return text;
}

const char *c_literal(struct arena *a, const char *text) { return literal_of(a, text, SIZE_MAX); }

const char *c_initializer(struct arena *a, const char *text) { return literal_of(a, text, MOST_OF_A_LITERAL); }
