/* The tokens of one source as dense arrays. White space and comments are the gaps between tokens; a newline is a bit on the token after
 * it. */
#ifndef TRIB_FRONTEND_SYNTAX_TOKEN_H
#define TRIB_FRONTEND_SYNTAX_TOKEN_H
#include <stdbool.h>
#include <stdint.h>
#include "base/source.h"

enum token_kind {
#define TOKEN(id, text, class) TOK_##id,
#include "frontend/syntax/tokens.def"
#undef TOKEN
	TOK_COUNT
};
enum token_class { TOKEN_SPECIAL, TOKEN_LITERAL, TOKEN_KEYWORD, TOKEN_PUNCT };

/* Help for a quote behind a name, which the lexer finds if no other quote follows on the line, else the parser. */
#define QUOTE_HELP "write `S2` for the name `S'`, and `x.transpose(-2, -1)` for the transposed `x'`; a string has a `'` at both ends"

typedef uint32_t token_id;
#define TOKEN_NONE UINT32_MAX
#define TOKEN_NEWLINE 0x80u /* bit of kinds[i]: a newline (or the start of the file) precedes the token */

struct tokens {
	const struct source *src;
	uint8_t *kinds;    /* enum token_kind, with TOKEN_NEWLINE */
	uint32_t *starts;  /* byte offsets */
	uint32_t *ends;    /* exclusive */
	uint32_t len, cap; /* the last token is TOK_EOF */
	uint32_t lines;    /* lines of the source */
};

static inline enum token_kind token_kind(const struct tokens *t, token_id i) { return (enum token_kind)(t->kinds[i] & 0x7f); }
static inline bool token_after_newline(const struct tokens *t, token_id i) { return t->kinds[i] >= TOKEN_NEWLINE; }
static inline const char *token_text(const struct tokens *t, token_id i) { return t->src->text + t->starts[i]; } /* not NUL-terminated */
static inline uint32_t token_len(const struct tokens *t, token_id i) { return t->ends[i] - t->starts[i]; }
static inline span token_span(const struct tokens *t, token_id i) { return (span){t->src->id, t->starts[i], t->ends[i]}; }
/* True if its text is exactly `word`. */
bool token_is(const struct tokens *t, token_id i, const char *word);

/* The spelling of the kind ("->"), or a description ("name"). */
const char *token_kind_text(enum token_kind k);
const char *token_kind_id(enum token_kind k); /* "ARROW" */
extern const uint8_t token_classes[TOK_COUNT];
static inline enum token_class token_class(enum token_kind k) { return (enum token_class)token_classes[k]; }
void tokens_free(struct tokens *t);
#endif
