/* One request on its way through its handler: what it asks about, and where its result goes. */
#ifndef TRIB_BUILDER_LSP_QUERY_H
#define TRIB_BUILDER_LSP_QUERY_H
#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "base/json.h"
#include "base/source.h"
#include "builder/lsp/analysis.h"
#include "builder/lsp/editor_state.h"
#include "builder/lsp/params.h"
#include "frontend/index/index.h"
#include "frontend/syntax/token.h"

struct arena;
struct diag;

/* ---- cursor.c: The tokens around the cursor, also in text that does not parse. ---- */
struct cursor {
	struct sources *sources;
	struct diags *ignored;
	struct tokens tokens;
	token_id at; /* the first token that ends behind the offset */
};
void cursor_open(struct cursor *c, const char *text, size_t len, size_t offset);
void cursor_close(struct cursor *c);

/* Completes the text with a name at the offset, so that the parser and the checker find a name there. *name_at: where it starts.
 * False: no name can be there, as in a comment, a string or a number. */
bool cursor_insert_name(const char *text, size_t len, size_t offset, struct buf *out, size_t *name_at);

/* The innermost call whose argument list contains the cursor. */
struct cursor_call {
	token_id callee;   /* the name before the bracket */
	uint32_t argument; /* its number */
	token_id name;     /* of a named argument, or TOKEN_NONE */
	bool is_empty;     /* the argument has nothing but the inserted name */
};
bool cursor_call(const struct cursor *c, struct cursor_call *out);

/* What is resolved before a handler runs; each after SOURCE includes SOURCE. */
enum query_needs {
	NEEDS_WORKSPACES, /* every workspace is analysed */
	NEEDS_SOURCE,     /* textDocument: document, analysis, source. Not for manifests */
	NEEDS_POSITION,   /* and position: offset, use, symbol. Also for manifests */
	NEEDS_SYMBOL,     /* the same, but only where there is a symbol */
	NEEDS_RANGE,      /* and range: first, last. Also for manifests */
};
struct query {
	const struct editor_state *state;
	const json_t *params;
	struct arena *scratch;
	struct json_writer *out; /* the result goes there; if nothing is written, it is null */
	enum lsp_error error;
	const char *message; /* of the error */

	const struct document *document;
	struct analysis *analysis; /* of the document's workspace */
	const struct source *source;
	uint32_t offset;
	const struct index_use *use; /* the name at the offset; NULL if there is none */
	const struct symbol *symbol; /* what it means; NULL if that is unknown */
	size_t first, last;          /* the range in bytes */
};
typedef void query_handler(struct query *q);
#define QUERY(method, name, needs) query_handler query_##name;
#define CONTROL(method, name)
#define NOTIFICATION(method, name)
#include "builder/lsp/methods.def"
#undef QUERY
#undef CONTROL
#undef NOTIFICATION

/* Fills in what the handler needs. False: an error was set, or the result is null. The document's workspace must be analysed. */
bool query_resolve(struct query *q, enum query_needs needs);
void query_fail(struct query *q, enum lsp_error code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Inserts a name at the cursor and checks the document. `answer` gets the query for that text, and the tokens around the cursor.
 * Its source is NULL if the check did not load the document. False: no name can be there, and nothing was done. */
bool query_at_cursor(struct query *q, void (*answer)(struct query *edited, const struct cursor *c));

/* ---- results ---- */
void put_position(struct query *q, const char *key, span at); /* of its start */
void put_range(struct query *q, const char *key, span at);
void put_location(struct query *q, span at);
void put_diagnostic(struct query *q, const struct diag *g);
const char *uri_of_source(const struct query *q, uint32_t source);

/* ---- texts of a source, in the scratch arena ---- */
/* The text of a span. White space is replaced by single blanks. */
const char *source_text(struct query *q, span at);
/* The comment lines above a definition, without their marks; NULL if there are none. */
const char *source_comment(struct query *q, span whole);
/* The comment at the start of a file; NULL if there is none. */
const char *module_comment(struct query *q, uint32_t source);
/* A definition in one line: "fn f(x: int) -> float32[N]". */
const char *symbol_signature(struct query *q, const struct symbol *s);
#endif
