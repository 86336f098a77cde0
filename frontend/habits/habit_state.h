/* What the recognisers of habits share. */
#ifndef TRIB_FRONTEND_HABITS_HABIT_STATE_H
#define TRIB_FRONTEND_HABITS_HABIT_STATE_H
#include "frontend/syntax/parse_state.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

typedef enum habit habit_fn(struct parser *p, token_id first, node_id *node);
/* starts.c */
habit_fn habit_item, habit_member, habit_statement, habit_let;
/* operators.c */
habit_fn habit_else, habit_operand, habit_less, habit_operator, habit_expected, habit_for;
/* declarations.c */
habit_fn habit_pattern, habit_attribute, habit_import, habit_argument, habit_generics, habit_assign, habit_type, habit_union, habit_dim;

/* True if `token` is a word of words.def that an expression does not expect: `lambda`, `yield`. Reports it. */
bool habit_word_in_expression(struct parser *p, token_id i);

/* constructor.c */
habit_fn habit_layer;

/* Reports a habit; `advice` and the edit to `instead` may be NULL. NULL: the report is dropped. */
struct diag *habit_report(struct parser *p, span at, const char *message, const char *advice, const char *instead);

static inline enum token_kind kind_at(const struct parser *p, token_id i)
{
	return i < p->t->tokens.len ? token_kind(&p->t->tokens, i) : TOK_EOF;
}
static inline bool newline_at(const struct parser *p, token_id i) { return i >= p->t->tokens.len || token_after_newline(&p->t->tokens, i); }
static inline bool adjacent(const struct parser *p, token_id i) { return p->t->tokens.ends[i] == p->t->tokens.starts[i + 1]; }
static inline bool word_at(const struct parser *p, token_id i, const char *word)
{
	return kind_at(p, i) == TOK_NAME && token_is(&p->t->tokens, i, word);
}
/* The empty span before token i. */
static inline span before(const struct parser *p, token_id i)
{
	return (span){p->t->tokens.src->id, p->t->tokens.starts[i], p->t->tokens.starts[i]};
}
#endif
