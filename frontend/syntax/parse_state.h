/* The parser's state, shared by its files: the cursor, node building, reports and recovery.
 *
 * Newlines: a token has a newline bit. While `newlines` is set (not within ( ) or [ ]), an expression that could end before a token with
 * the bit ends there, unless the token is `.`, or an operator that starts no statement. Code that needs a further token, as after `=` or
 * `,`, ignores the bit. That is the whole newline rule.
 *
 * Errors: the first report sets `panic`, and later ones are dropped. Recovery skips to a token where parsing can continue, and clears
 * it: the end of the list element (if its bracket is closed), of the statement, of the item.
 *
 * Height: each parse function leaves the height of its tree in `height`. Left-leaning trees grow in loops, not by recursion, so both
 * depth and height are bounded. */
#ifndef TRIB_FRONTEND_SYNTAX_PARSE_STATE_H
#define TRIB_FRONTEND_SYNTAX_PARSE_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/diag.h"
#include "frontend/syntax/ast.h"
#include "frontend/syntax/habit_hooks.h"
#include "frontend/syntax/parser.h"

struct parser {
	struct ast *t;
	struct diags *diags;
	const uint8_t *kinds; /* of the tokens */
	token_id i;           /* current token */
	uint8_t k;            /* its kind, without the newline bit; `=` after the `>` of a `>=` was taken */
	bool newlines;        /* a newline may end a statement here */
	bool panic;           /* reports are dropped */
	bool fatal;           /* nesting limit: panic stays until the next item */
	bool failed;
	bool no_step; /* `..` takes no `:step` here: the colon belongs to a ternary or a slice */
	bool in_loop, in_main;
	bool reported_indentation;  /* a body without braces was reported in this item, or needs no report */
	bool in_signature;          /* in arguments and result */
	bool in_state;              /* in the type of a state, which may have a capacity */
	uint64_t reported_keywords; /* keywords whose use as a name was reported: further uses are names */
	uint32_t depth, height;
	uint32_t *scratch; /* stack of list elements */
	uint32_t n_scratch, cap_scratch;
	uint32_t *match;      /* per token, its partner bracket or TOKEN_NONE; made on the first error */
	token_id last_stray;  /* with `match`: the last `}` without a partner, or TOKEN_NONE */
	token_id unclosed_at; /* where an unclosed block was reported: enclosing ones may end here, too */
	uint32_t attr_end;    /* look-ahead for attributes: `@` before this token … */
	bool attr_result;     /* … begins an attribute, or not */
};

typedef node_id (*parse_fn)(struct parser *p);

static inline void advance(struct parser *p) { p->k = p->kinds[++p->i] & 0x7f; }
static inline bool after_newline(const struct parser *p) { return p->kinds[p->i] >= TOKEN_NEWLINE; }
static inline enum token_kind peek(const struct parser *p) /* the token after the current one, unless that is the last */
{
	return (enum token_kind)(p->k == TOK_EOF ? TOK_EOF : p->kinds[p->i + 1] & 0x7f);
}
static inline bool accept(struct parser *p, enum token_kind k)
{
	if (p->k != k)
		return false;
	advance(p);
	return true;
}

/* Changes the kind of the current token. */
static inline void read_token_as(struct parser *p, enum token_kind k)
{
	p->t->tokens.kinds[p->i] = (uint8_t)((p->kinds[p->i] & TOKEN_NEWLINE) | k);
	p->k = (uint8_t)k;
}

enum let_place { LET_AT_TOP, LET_IN_LAYER, LET_IN_BLOCK };
node_id parse_let(struct parser *p, enum let_place place);
node_id parse_alias(struct parser *p, uint32_t attrs);
/* soft_keywords.c: makes names of the words that are keywords only where an item begins. */
void soften_keywords(struct tokens *t);
void parse_grow_nodes(struct parser *p);
void parse_grow_extra(struct parser *p, uint32_t need);
void parse_grow_scratch(struct parser *p);

static inline node_id new_node(struct parser *p, enum node_kind kind, token_id main, uint32_t a, uint32_t b)
{
	struct ast *t = p->t;
	if (t->len == t->cap)
		parse_grow_nodes(p);
	node_id n = t->len++;
	t->kinds[n] = (uint8_t)kind;
	t->mains[n] = main;
	t->operands[n] = (struct ast_operands){a, b};
	return n;
}

/* A node without children. */
static inline node_id new_leaf(struct parser *p, enum node_kind kind, token_id main)
{
	p->height = 1;
	return new_node(p, kind, main, 0, 0);
}

/* A leaf of the current token, which it takes. */
static inline node_id take_leaf(struct parser *p, enum node_kind kind)
{
	advance(p);
	return new_leaf(p, kind, p->i - 1);
}

static inline uint32_t *new_extra(struct parser *p, uint32_t n, uint32_t *idx)
{
	struct ast *t = p->t;
	if (t->cap_extra - t->n_extra < n)
		parse_grow_extra(p, n);
	*idx = t->n_extra;
	t->n_extra += n;
	return t->extra + *idx;
}

static inline uint32_t new_pair(struct parser *p, uint32_t first, uint32_t second)
{
	uint32_t idx, *words = new_extra(p, 2, &idx);
	words[0] = first;
	words[1] = second;
	return idx;
}

static inline void push(struct parser *p, uint32_t v)
{
	if (p->n_scratch == p->cap_scratch)
		parse_grow_scratch(p);
	p->scratch[p->n_scratch++] = v;
}
/* Pops the words above `base` into a list, with room for `more` words after it. Returns its extra index. */
uint32_t pop_list(struct parser *p, uint32_t base, uint32_t more);
/* The same, followed by a closing token. */
uint32_t pop_closed(struct parser *p, uint32_t base, token_id close);

static inline void raise_height(uint32_t *height, const struct parser *p)
{
	if (p->height > *height)
		*height = p->height;
}

/* parse_error.c: reports. NULL: the report is dropped (panic, or the lexer has reported the token). */
struct diag *error_at(struct parser *p, enum diag_code code, span at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* "expected WHAT, found `let`" at the current token; `what` is "an expression", "`)`". */
struct diag *error_expected(struct parser *p, enum diag_code code, const char *what);
/* An ERROR node at the current token, after a report. */
node_id error_node(struct parser *p);
/* Describes token i in a message: "`let`", "a string", "the end of the line". */
const char *describe_token(struct parser *p, token_id i, char out[64]);
span current_span(const struct parser *p);
span span_after_previous(const struct parser *p); /* empty: where something is missing */
span token_range(const struct parser *p, token_id first, token_id last);
void add_help(struct parser *p, struct diag *g, const char *text);
void suggest_edit(struct parser *p, struct diag *g, span at, const char *replacement);
void suggest_edit_as(struct parser *p, struct diag *g, span at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void add_label(struct parser *p, struct diag *g, span at, const char *text);
/* Parsing continues after a report, as if the text were right. */
static inline void resume(struct parser *p, const struct diag *g)
{
	if (g)
		p->panic = false;
}
/* The same if the tree is what was meant, so that later steps may use it. */
static inline void resume_corrected(struct parser *p, struct diag *g)
{
	if (g)
		g->is_recovered = true;
	resume(p, g);
}
/* Reports too deep nesting, and skips to the next item at the start of a line. */
node_id error_too_deep(struct parser *p);

/* Skips a statement with its block or the lines that are indented further. */
void skip_statement(struct parser *p, token_id start);
/* parse_recover.c */
void skip_token(struct parser *p); /* one token, or a whole bracket */
token_id matching_bracket(struct parser *p, token_id bracket);
/* Skips to the next comma or the end of the list opened at `open`. False: the list is not closed, and panic remains. */
bool recover_element(struct parser *p, token_id open, enum token_kind close);
/* Reports that neither a comma nor `close` follows an element, and skips as recover_element does. False: the list is not closed. */
bool recover_missing_comma(struct parser *p, token_id open, enum token_kind close);
/* Skips to the next statement of the block opened at `open`. */
void recover_statement(struct parser *p, token_id start, token_id open);
/* After an error in a signature: skips to the `{` of the body, if it is near. */
void recover_signature(struct parser *p);
void recover_item(struct parser *p, token_id start);
bool starts_item(enum token_kind k);
/* Takes the bracket that closes `open`, or reports that it is missing. Returns its token, or TOKEN_NONE. */
token_id expect_close(struct parser *p, token_id open, enum token_kind close);
/* Reports that the block opened at `open` is not closed, with the brace that is probably meant, by indentation. */
void error_unclosed_block(struct parser *p, token_id open);
void jump_to(struct parser *p, token_id i);
uint32_t indent_of(const struct parser *p, token_id i); /* of its line */
bool is_first_on_line(const struct parser *p, token_id i);

/* parser.c. Takes a token of kind k or reports it missing. */
bool expect(struct parser *p, enum token_kind k, const char *what);
/* Takes a name and returns its token, or reports it missing and returns TOKEN_NONE. */
token_id expect_name(struct parser *p, const char *what);
bool keyword_as_name(const struct parser *p); /* true for a keyword that was declared as a name */
/* `open elem, elem, … close` with the newline rule off; the current token is `open`. Elements are pushed on the scratch stack; sets
 * *commas to their number. Returns the closing token or TOKEN_NONE. */
token_id parse_elements(struct parser *p, enum token_kind close, parse_fn element, uint32_t *commas);
/* Enters a nested construct. False: too deep, and the caller returns error_too_deep(). */
static inline bool enter_nesting(struct parser *p)
{
	if (p->depth == PARSE_MAX_NESTING)
		return false;
	p->depth++;
	return true;
}
static inline void leave_nesting(struct parser *p) { p->depth--; }

/* parse_item.c */
void parse_root(struct parser *p);
node_id parse_const(struct parser *p, uint32_t attrs);
uint32_t new_triple(struct parser *p, uint32_t attrs, uint32_t second, uint32_t third);
node_id parse_loop_with_attributes(struct parser *p);        /* in a block, at the `@` */
bool is_loop_attribute(const struct parser *p, token_id at); /* true if the `@` there is followed by the name of one */
bool is_at_attribute(struct parser *p);                      /* true if the `@` here, at the start of a line, begins an attribute */
node_id parse_member(struct parser *p);                      /* attributes, then fn, param, const or let in a layer */
/* parse_fn.c: at the keyword, after the attributes; also a layer */
node_id parse_function(struct parser *p, uint32_t attrs);
node_id parse_main(struct parser *p);
/* parse_import.c: at their keywords */
node_id parse_import(struct parser *p);
node_id parse_from(struct parser *p);
/* parse_type.c */
node_id parse_type(struct parser *p);
uint32_t parse_generics(struct parser *p); /* <T: Numeric, M>; extra index of the list, 0: none */
uint32_t parse_traits(struct parser *p);   /* Numeric + Float */
/* The `>` that closes the type arguments at token i, on its line; TOKEN_NONE: these are none. */
token_id closing_angle(const struct parser *p, token_id i);
/* parse_stmt.c */
node_id parse_statement(struct parser *p, bool layer); /* of a block, or of a layer's body */
node_id parse_if(struct parser *p);
node_id parse_for(struct parser *p, uint32_t attrs);
static inline bool is_assign(unsigned k) { return k >= TOK_ASSIGN && k <= TOK_SHR_EQ; }
_Static_assert(TOK_SHR_EQ - TOK_ASSIGN == 10, "the assignment operators stand together");
/* parse_block.c */
node_id parse_body(struct parser *p, token_id head, bool layer); /* of the construct at token `head`; reports a missing `{` */
node_id parse_block(struct parser *p);                           /* at its `{` */
/* Pushes statements up to a `}`; if `indented`, only those indented further than the head. Returns their height. */
uint32_t parse_statements(struct parser *p, token_id head, token_id open, bool layer, bool indented);
/* parse_indented.c: a body without braces, which is reported */
node_id parse_indented(struct parser *p, token_id head, bool layer);
/* parse_pattern.c */
node_id parse_pattern(struct parser *p); /* also a bare `a, b` */
/* parse_brackets.c: at their first token */
node_id parse_paren(struct parser *p);
node_id parse_list_literal(struct parser *p);
node_id parse_fstring(struct parser *p);
/* parse_expr.c */
node_id parse_expr(struct parser *p);
node_id parse_expr_or_tuple(struct parser *p); /* also a bare `a, b` */
uint32_t parse_arguments(struct parser *p);    /* (a, b, name=c); CLOSED list's extra index */
node_id parse_condition(struct parser *p);     /* reports `=` for `==` */
node_id parse_negation(struct parser *p);      /* at its operator; the operand may be a comparison, as that of Python's `not` */
#endif
