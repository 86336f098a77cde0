/* The syntax tree of one source as dense arrays. nodes.def lists the kinds and their operands. The parser builds it; nothing changes it
 * later. */
#ifndef TRIB_FRONTEND_SYNTAX_AST_H
#define TRIB_FRONTEND_SYNTAX_AST_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/source.h"
#include "frontend/syntax/token.h"

enum node_kind {
#define NODE(id, text, a, b) NODE_##id,
#include "frontend/syntax/nodes.def"
#undef NODE
	NODE_COUNT
};
/* What an operand holds: the columns of nodes.def. */
enum node_operand {
	OPERAND_NIL,
	OPERAND_NODE,
	OPERAND_OPT,
	OPERAND_TOKEN,
	OPERAND_CLOSE,
	OPERAND_LIST,
	OPERAND_CLOSED,
	OPERAND_WORDS,
	OPERAND_PAIR,
	OPERAND_TRIPLE,
	OPERAND_FN,
	OPERAND_CHAIN,
	OPERAND_FSTR,
	OPERAND_FLAG,
};

typedef uint32_t node_id;
#define AST_ROOT 0u
#define AST_NONE 0u /* no node: the root is never an operand */
/* The greatest height of a tree: recursive walks are safe. */
#define AST_MAX_HEIGHT 4000

struct ast_operands {
	uint32_t a, b;
};
struct ast {
	struct tokens tokens; /* owned */
	uint8_t *kinds;       /* enum node_kind */
	token_id *mains;
	struct ast_operands *operands;
	uint32_t len, cap;
	uint32_t *extra; /* extra[0] is 0, the empty list */
	uint32_t n_extra, cap_extra;
	token_id *firsts, *lasts; /* of each node except the root, after ast_note_spans; else NULL */
	bool borrowed;            /* ast_free leaves the arrays alone */
};
void ast_free(struct ast *t);

static inline enum node_kind ast_kind(const struct ast *t, node_id n) { return (enum node_kind)t->kinds[n]; }
static inline token_id ast_token(const struct ast *t, node_id n) { return t->mains[n]; } /* the main token */
static inline enum token_kind ast_token_kind(const struct ast *t, node_id n) { return token_kind(&t->tokens, t->mains[n]); }
static inline uint32_t ast_a(const struct ast *t, node_id n) { return t->operands[n].a; }
static inline uint32_t ast_b(const struct ast *t, node_id n) { return t->operands[n].b; }

/* The list at an extra index: its elements, their count into *n. */
static inline const uint32_t *ast_list(const struct ast *t, uint32_t idx, uint32_t *n)
{
	*n = t->extra[idx];
	return t->extra + idx + 1;
}
/* Operand b of a kind with a PAIR. */
static inline node_id ast_first(const struct ast *t, node_id n) { return t->extra[t->operands[n].b]; }
static inline node_id ast_second(const struct ast *t, node_id n) { return t->extra[t->operands[n].b + 1]; }

struct ast_nodes {
	const uint32_t *at;
	uint32_t n;
};
static inline struct ast_nodes ast_nodes(const struct ast *t, uint32_t idx)
{
	return (struct ast_nodes){t->extra + idx + 1, t->extra[idx]};
}

/* FN and LAYER. */
struct ast_fn {
	token_id name;
	struct ast_nodes attrs, generics, params, where; /* ATTR; GENERIC; ARG_DECL; WHERE_TRAIT or expressions */
	node_id result;                                  /* type, or AST_NONE */
	node_id body;                                    /* BLOCK, or ERROR */
	bool module_form;                                /* LAYER only */
};
struct ast_fn ast_fn(const struct ast *t, node_id n);

/* CONST (type may be AST_NONE), PARAM (type and value may be), STATE (value may be). */
struct ast_const {
	token_id name;
	struct ast_nodes attrs;
	node_id type, value;
};
struct ast_const ast_const(const struct ast *t, node_id n);

struct ast_alias {
	token_id name;
	struct ast_nodes attrs, generics;
	node_id type;
};
struct ast_alias ast_alias(const struct ast *t, node_id n);

struct ast_let {
	node_id pattern, type, value; /* type may be AST_NONE */
};
struct ast_let ast_let(const struct ast *t, node_id n);

struct ast_if {
	node_id cond, then, otherwise; /* otherwise: BLOCK, IF or AST_NONE */
};
struct ast_if ast_if(const struct ast *t, node_id n); /* IF and TERNARY */

struct ast_for {
	struct ast_nodes attrs;
	node_id pattern, iter, body;
};
struct ast_for ast_for(const struct ast *t, node_id n);

struct ast_range {
	node_id from, to, step; /* RANGE: step may be AST_NONE; SLICE: each may */
	bool inclusive;
};
struct ast_range ast_range(const struct ast *t, node_id n); /* RANGE and SLICE */

/* a < b <= c: ops[i] is between operands i and i + 1. */
struct ast_chain {
	const node_id *operands;
	const token_id *ops;
	uint32_t n; /* operands */
};
struct ast_chain ast_chain(const struct ast *t, node_id n);

/* f"text0{exprs[0]}text1": texts[i] precedes exprs[i]; texts[n] is the last. Decode them with literal_string. */
struct ast_fstring {
	const node_id *exprs;
	const token_id *texts;
	uint32_t n; /* expressions; there are n + 1 texts */
};
struct ast_fstring ast_fstring(const struct ast *t, node_id n);

/* The name token of an item or member (CONST ALIAS FN LAYER PARAM STATE; MAIN: the keyword), else TOKEN_NONE. */
token_id ast_item_name(const struct ast *t, node_id n);
/* The attributes (ATTR) of an item, a member or a FOR. */
struct ast_nodes ast_attributes(const struct ast *t, node_id n);
/* Token hash of an item: kinds and texts of its tokens and its attributes', not white space, comments, positions, `;`, or optional
 * trailing commas. A line break counts only where it ends a statement, as `;` would. */
hash128 ast_item_tokens(const struct ast *t, node_id n);
/* The hash of the item's tokens before one of its parts. */
hash128 ast_tokens_before(const struct ast *t, node_id n, node_id part);

/* First and last token of a node, and the text they span. Attributes are not part of an item's span. */
token_id ast_first_token(const struct ast *t, node_id n);
token_id ast_last_token(const struct ast *t, node_id n);
span ast_span(const struct ast *t, node_id n);
/* Computes them for all nodes except the root, into arrays of t->len. */
void ast_spans(const struct ast *t, token_id *firsts, token_id *lasts);
/* Stores them in the tree, where the functions above look them up. */
void ast_note_spans(struct ast *t);

const char *node_kind_text(enum node_kind k);
enum node_operand node_operand_a(enum node_kind k);
enum node_operand node_operand_b(enum node_kind k);
#endif
