/* What the lexer's files share. The hot loop is in lexer.c; everything here is called for text that is rare or wrong. */
#ifndef TRIB_FRONTEND_SYNTAX_LEX_STATE_H
#define TRIB_FRONTEND_SYNTAX_LEX_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/diag.h"
#include "frontend/syntax/token.h"

#define LEX_FSTR_DEPTH 8 /* f-strings within each other */

struct lexer {
	const struct source *src;
	struct diags *diags;
	const char *text, *end;     /* *end is the NUL after the source */
	uint32_t bad_text;          /* reports of unreadable bytes so far */
	const char *reported_until; /* end of the line on which a habit was reported last */
	bool failed;
	uint32_t n_fstr;
	struct {
		const char *start; /* of the f-string, for messages */
		uint32_t braces;   /* open { } ( ) [ ] within its interpolation */
		uint32_t choices;  /* `?` without their `:` */
		char quote;
	} fstr[LEX_FSTR_DEPTH];
};

/* One scanned piece of text: its kind and where it ends. */
struct lexeme {
	enum token_kind kind;
	const char *end;
	const char *resume; /* where scanning goes on; NULL: at the end */
};
/* What is neither a token nor an error: TOK_EOF stands for it. */
#define LEX_NO_TOKEN TOK_EOF

struct diag *lex_error(struct lexer *lx, enum diag_code code, const char *from, const char *to, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Byte class helpers for the slow paths. */
static inline bool lex_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool lex_is_word(char c) { return lex_is_digit(c) || c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }

/* Steps over a byte >= 0x80 or a NUL at p inside a comment or string, reporting it if it may not stand there. */
const char *lex_special_byte(struct lexer *lx, const char *p);
/* Text that starts no token: reports it and returns its end. */
struct lexeme lex_bad_character(struct lexer *lx, const char *p);
/* A number that is more than plain decimal digits. p at its first byte. */
struct lexeme lex_number(struct lexer *lx, const char *p);
/* A string; p at the quote. */
struct lexeme lex_string(struct lexer *lx, const char *p);
/* An f-string's text up to `{` or its end; p at its first byte (`f`), which opens it. */
struct lexeme lex_fstring(struct lexer *lx, const char *p);
/* The same after an interpolation; p at the `}`. */
struct lexeme lex_fstring_more(struct lexer *lx, const char *p);
/* The format after an interpolation's expression; p at the `:`. */
struct lexeme lex_fstring_spec(struct lexer *lx, const char *p);
/* A newline or the end of the file inside an interpolation: reports it and leaves all f-strings. */
void lex_fstring_cut(struct lexer *lx);
/* habits/lex_habits.c: what Python users write that starts no token: triple quotes (p at a quote), or an operator or character. Reports what to write
 * instead. False: none of these. */
bool lex_habit(struct lexer *lx, const char *p, struct lexeme *out);
/* Length of the UTF-8 sequence at p, 0 if it is not one. */
uint32_t lex_utf8(const char *p, const char *end);
#endif
