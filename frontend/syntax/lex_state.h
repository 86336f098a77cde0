/* The state that the lexer's files share. lexer.c has the hot loop; the functions here handle rare or wrong text. */
#ifndef TRIB_FRONTEND_SYNTAX_LEX_STATE_H
#define TRIB_FRONTEND_SYNTAX_LEX_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/diag.h"
#include "frontend/syntax/token.h"

#define LEX_FSTR_DEPTH 8 /* nesting of f-strings */

struct lexer {
	const struct source *src;
	struct diags *diags;
	const struct tokens *tokens; /* so far */
	const char *text, *end;      /* *end is the NUL after the source */
	uint32_t bad_text;           /* reports of unreadable bytes so far */
	const char *reported_until;  /* end of the line on which a habit was reported last */
	bool failed;
	uint32_t n_fstr;
	struct {
		const char *start; /* of the f-string, for messages */
		uint32_t braces;   /* open { } ( ) [ ] within its interpolation */
		uint32_t choices;  /* `?` without a `:` yet */
		char quote;
	} fstr[LEX_FSTR_DEPTH];
};

/* A scanned piece of text. */
struct lexeme {
	enum token_kind kind;
	const char *end;
	const char *resume; /* where scanning continues; NULL: at `end` */
};
/* The kind of skipped text, which is neither a token nor an error. */
#define LEX_NO_TOKEN TOK_EOF

struct diag *lex_error(struct lexer *lx, enum diag_code code, const char *from, const char *to, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Byte class helpers for the slow paths. */
static inline bool lex_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool lex_is_word(char c) { return lex_is_digit(c) || c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }

/* Skips a byte >= 0x80 or a NUL at p in a comment or string, and reports it if it is not allowed. */
const char *lex_special_byte(struct lexer *lx, const char *p);
/* Reports text that starts no token. */
struct lexeme lex_bad_character(struct lexer *lx, const char *p);
/* Scans a number at p that is more than decimal digits. */
struct lexeme lex_number(struct lexer *lx, const char *p);
/* Scans a string; p is at its quote. */
struct lexeme lex_string(struct lexer *lx, const char *p);
/* Scans the text of an f-string, from its `f` at p up to a `{` or its end. */
struct lexeme lex_fstring(struct lexer *lx, const char *p);
/* Scans its text after an interpolation; p is at the `}`. */
struct lexeme lex_fstring_more(struct lexer *lx, const char *p);
/* Scans the format in an interpolation; p is at the `:`. */
struct lexeme lex_fstring_spec(struct lexer *lx, const char *p);
/* Reports the end of the line or file in an interpolation, and closes all f-strings. */
void lex_fstring_cut(struct lexer *lx);
/* habits/lex_habits.c: reports what Python users write where no token starts: triple quotes (p is at a quote), `//` comments (p is at a
 * slash), operators, characters.
 * False: none of these. */
bool lex_habit(struct lexer *lx, const char *p, struct lexeme *out);
/* Length of the UTF-8 sequence at p; 0: it is not valid. */
uint32_t lex_utf8(const char *p, const char *end);
#endif
