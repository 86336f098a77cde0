/* What the files of other languages' habits share. */
#ifndef TRIB_FRONTEND_HABITS_HABIT_STATE_H
#define TRIB_FRONTEND_HABITS_HABIT_STATE_H
#include "frontend/syntax/parse_state.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* A row of habit_words.def. */
struct habit_word {
	const char *text;
	uint8_t follow, where, read;
	const char *message, *help, *edit;
};
/* The word at token i, if it stands for a habit in one of the places `where`; else NULL. */
const struct habit_word *habit_word_at(struct parser *p, token_id i, uint8_t where);
/* Reports a habit; help_text and the edit to `instead` may be NULL. NULL: the report is dropped. */
struct diag *habit_report(struct parser *p, span at, const char *message, const char *help_text, const char *instead);

/* Two tokens from i that are an operator of other languages: reports it. False: they are none. */
bool habit_pair(struct parser *p, token_id i);

static inline enum token_kind kind_at(const struct parser *p, token_id i)
{
	return i < p->t->tokens.len ? token_kind(&p->t->tokens, i) : TOK_EOF;
}
static inline bool newline_at(const struct parser *p, token_id i) { return i >= p->t->tokens.len || token_after_newline(&p->t->tokens, i); }
static inline bool adjacent(const struct parser *p, token_id i) { return p->t->tokens.ends[i] == p->t->tokens.starts[i + 1]; }
#endif
