/* Unreadable text: bytes that are not UTF-8, NUL, byte order marks, characters that start no token. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "frontend/syntax/lex_state.h"

#define MAX_BAD_TEXT 20 /* most reports for one file, which may be binary */

struct diag *lex_error(struct lexer *lx, enum diag_code code, const char *from, const char *to, const char *fmt, ...)
{
	char message[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(message, sizeof message, fmt, ap);
	va_end(ap);
	lx->failed = true;
	span at = {lx->src->id, (uint32_t)(from - lx->text), (uint32_t)(to - lx->text)};
	return diag_add(lx->diags, code, at, "%s", message);
}

uint32_t lex_utf8(const char *p, const char *end)
{
	const unsigned char *u = (const unsigned char *)p;
	uint32_t n = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : u[0] < 0xf5 ? 4 : 0;
	if (n > (size_t)(end - p))
		return 0;
	for (uint32_t i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) || (u[0] == 0xf0 && u[1] < 0x90) ||
	    (u[0] == 0xf4 && u[1] > 0x8f))
		return 0; /* overlong, a surrogate, beyond U+10FFFF */
	return n;
}

static const char *bad_utf8(struct lexer *lx, const char *p)
{
	const char *q = p + 1;
	while (q < lx->end && (*q & 0x80) && !lex_utf8(q, lx->end))
		q++;
	if (lx->bad_text++ < MAX_BAD_TEXT) {
		struct diag *g =
			lex_error(lx, DIAG_NOT_UTF8, p, q, "the source is not valid UTF-8 at byte offset %zu", (size_t)(p - lx->text));
		diag_label_primary(lx->diags, g, "byte 0x%02X", (unsigned char)*p);
		diag_help(lx->diags, g, "save the file as UTF-8");
	}
	lx->failed = true;
	return q;
}

static const char *nul(struct lexer *lx, const char *p)
{
	const char *q = p;
	while (q < lx->end && *q == 0)
		q++;
	if (lx->bad_text++ < MAX_BAD_TEXT)
		lex_error(lx, DIAG_NUL_BYTE, p, q, "NUL byte at byte offset %zu", (size_t)(p - lx->text));
	lx->failed = true;
	return q;
}

static const char *stray_bom(struct lexer *lx, const char *p)
{
	if (lx->bad_text++ < MAX_BAD_TEXT) {
		struct diag *g = lex_error(lx, DIAG_STRAY_BOM, p, p + 3, "byte order mark in the middle of the file, at byte offset %zu",
					   (size_t)(p - lx->text));
		diag_note(lx->diags, g, "it is allowed at the start of a file only; joining files can leave one in the middle");
		diag_edit(lx->diags, g, g->primary.at, "");
	}
	lx->failed = true;
	return p + 3;
}

static bool is_bom(const char *p, const char *end) { return end - p >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0; }

const char *lex_special_byte(struct lexer *lx, const char *p)
{
	if (*p == 0)
		return nul(lx, p);
	uint32_t n = lex_utf8(p, lx->end);
	if (!n)
		return bad_utf8(lx, p);
	return is_bom(p, lx->end) ? stray_bom(lx, p) : p + n;
}

static void bad_character(struct lexer *lx, const char *p, uint32_t n)
{
	if (lx->bad_text++ >= MAX_BAD_TEXT) {
		lx->failed = true;
		return;
	}
	bool visible = n > 1 || (*p > ' ' && *p < 0x7f);
	struct diag *g = visible ? lex_error(lx, DIAG_BAD_CHARACTER, p, p + n, "unexpected character `%.*s`", (int)n, p)
				 : lex_error(lx, DIAG_BAD_CHARACTER, p, p + n, "unexpected control character 0x%02X", (unsigned char)*p);
	if (*p == '$')
		diag_help(lx->diags, g, "names consist of letters, digits and `_`");
	else if (n > 1)
		diag_note(lx->diags, g,
			  "outside strings and comments the language is written in ASCII; names consist of letters, digits and `_`");
}

struct lexeme lex_bad_character(struct lexer *lx, const char *p)
{
	uint32_t n = lex_utf8(p, lx->end);
	if (*p == 0 || !n || is_bom(p, lx->end))
		return (struct lexeme){TOK_ERROR, lex_special_byte(lx, p), NULL};
	struct lexeme known;
	if (lex_habit(lx, p, &known))
		return known;
	const char *q = p + n; /* one report for a word of another script, or a run of one character */
	bool word = n > 1;
	while (!word && *q == *p)
		q++;
	while (word && q < lx->end && (*q & 0x80) && (n = lex_utf8(q, lx->end)) && !is_bom(q, lx->end))
		q += n;
	while (word && lex_is_word(*q))
		q++;
	uint32_t len = (uint32_t)(q - p);
	bad_character(lx, p, len > 60 ? lex_utf8(p, lx->end) : len);
	return (struct lexeme){TOK_ERROR, q, NULL};
}
