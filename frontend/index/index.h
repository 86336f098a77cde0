/* Answers for editors about checked sources: the definition of a name, the type of its value, completions. A front end with an index
 * fills it while it loads and checks files. */
#ifndef TRIB_FRONTEND_INDEX_INDEX_H
#define TRIB_FRONTEND_INDEX_INDEX_H
#include <stdbool.h>
#include <stdint.h>
#include "base/map.h"
#include "base/source.h"
#include "base/vec.h"

struct arena;

enum symbol_kind {
	SYMBOL_UNKNOWN,
	SYMBOL_MODULE, /* an import of a whole module; `target` is its first byte */
	SYMBOL_ALIAS,  /* `from m import x as y`; `target` is x's name */
	SYMBOL_FN,
	SYMBOL_LAYER,
	SYMBOL_CONST,
	SYMBOL_TYPE,
	SYMBOL_MAIN,
	SYMBOL_METHOD, /* a function of a layer */
	SYMBOL_PARAM,
	SYMBOL_STATE,
	SYMBOL_MEMBER, /* a `let` or `const` of a layer */
	SYMBOL_ARG,
	SYMBOL_LOCAL,
	SYMBOL_GENERIC,
	SYMBOL_DIM,
	SYMBOL_CAPACITY, /* T of `cap T`: one for all states of the workspace */
	SYMBOL_BUILTIN,  /* of the prelude: its spans are empty */
	SYMBOL_KIND_COUNT
};
#define SYMBOL_NONE UINT32_MAX

struct symbol {
	enum symbol_kind kind;
	const char *name;
	span at;     /* its name where it is defined */
	span header; /* the definition up to its body */
	span whole;
	span target;        /* of an import: the definition; else SPAN_NONE */
	uint32_t parent;    /* the definition it belongs to, or SYMBOL_NONE */
	bool typed;         /* a type or result was declared */
	bool std;           /* defined in the standard library, or a builtin */
	const char *type;   /* inferred: "float32[N, 64]"; of a function, its result; NULL: not known */
	const char *params; /* of a builtin: "x, dim=-1"; NULL: not a function, or not known */
	const char *doc;    /* of a builtin: one line, or NULL */
};
struct index_use { /* a name in the source, definitions included */
	span at;
	uint32_t symbol;
	const char *type; /* of its value there; "A | B" if it changes in a loop; NULL: not known */
	uint32_t seen;    /* number of values in `type` */
};
struct index_call {      /* a call whose callee is known */
	span callee;     /* the callee's last name */
	uint32_t symbol; /* the function, layer or builtin that takes the arguments */
	bool method;     /* x.f(…): the first argument precedes the dot */
};

/* The kind of completion that an editor asks for. */
enum ask_context { ASK_NOTHING, ASK_NAME, ASK_TYPE, ASK_MEMBER, ASK_ATTRIBUTE, ASK_IMPORT };
struct candidate {
	const char *name, *detail; /* detail: a type or signature, or NULL */
	enum symbol_kind kind;
	uint32_t symbol; /* SYMBOL_NONE: none */
};

struct index {
	struct arena *arena;
	VEC(struct symbol) symbols;
	VEC(struct index_use) uses;   /* one for each position; sorted by source and start in index_finish */
	VEC(struct index_call) calls; /* likewise */
	struct map by_name;           /* position of a symbol's name to its index */
	struct map by_builtin;        /* a name of the prelude to its symbol's index */
	struct map by_use;            /* position of a use to its index, while recording */
	struct map by_call;
	uint32_t n_builtins; /* the first symbols are the prelude's */
	span asked;          /* the position of the completion; SPAN_NONE: none is wanted */
	enum ask_context context;
	VEC(struct candidate) candidates;
};

struct index *index_new(void);
void index_free(struct index *ix); /* NULL is accepted */
/* Asks for completions of the name that covers byte `offset` of the source. Call it before the check. */
void index_ask(struct index *ix, uint32_t source, uint32_t offset);
/* Sorts the tables. Call it after the check and before the look-ups below. */
void index_finish(struct index *ix);

/* The name that covers the byte or ends there; NULL: none. */
const struct index_use *index_use_at(const struct index *ix, uint32_t source, uint32_t offset);
/* The uses within a source, *n of them. */
const struct index_use *index_uses_in(const struct index *ix, uint32_t source, uint32_t *n);
/* The call whose callee has its name at that span, or NULL. */
const struct index_call *index_call_of(const struct index *ix, span callee);
/* The symbol whose name is defined at that span, or SYMBOL_NONE. */
uint32_t index_symbol_at(const struct index *ix, span name);
/* The next child of `parent` after symbol `from` (SYMBOL_NONE: the first one), or SYMBOL_NONE. */
uint32_t index_next_child(const struct index *ix, uint32_t parent, uint32_t from);

/* The builtin or type of the prelude with that name, or SYMBOL_NONE. */
uint32_t index_builtin(const struct index *ix, const char *name);
const char *symbol_kind_text(enum symbol_kind k); /* "function" */
#endif
