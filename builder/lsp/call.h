/* Requests and notifications on their way to their functions, and what these share. */
#ifndef TRIB_BUILDER_LSP_CALL_H
#define TRIB_BUILDER_LSP_CALL_H
#include "base/json.h"
#include "base/source.h"
#include "builder/lsp/analysis.h"
#include "builder/lsp/position.h"
#include "builder/lsp/server.h"
#include "frontend/index/index.h"

struct arena;

enum lsp_error {
	LSP_OK = 0,
	LSP_PARSE_ERROR = -32700,
	LSP_INVALID_REQUEST = -32600,
	LSP_METHOD_NOT_FOUND = -32601,
	LSP_INVALID_PARAMS = -32602,
	LSP_NOT_INITIALIZED = -32002,
	LSP_CANCELLED = -32800,
	LSP_FAILED = -32803,
};
struct call {
	struct server *s;
	const json_t *params;
	struct arena *scratch;
	struct json_writer *out; /* the result goes there; nothing written: null */
	enum lsp_error error;
	const char *message;
};
typedef void lsp_handler(struct call *c);
#define REQUEST(method, name) lsp_handler request_##name;
#define NOTIFICATION(method, name) lsp_handler note_##name;
#include "builder/lsp/methods.def"
#undef REQUEST
#undef NOTIFICATION

void call_fail(struct call *c, enum lsp_error code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* A place in an open document and the analysis of its workspace. */
struct place {
	struct document *document;
	struct analysis *a;
	const struct source *source;
	uint32_t offset;
	const struct index_use *use; /* NULL: no name is there */
	const struct symbol *symbol; /* NULL: none, or unknown */
};
/* From textDocument and position. False: an error was set, or the document is not part of what is checked (the result is null then). */
bool call_place(struct call *c, struct place *out);
/* The same without a position; manifests are left out. */
bool call_source(struct call *c, struct place *out);
/* A document and its range from `range`, as bytes. */
bool call_range(struct call *c, struct place *out, size_t *first, size_t *last);
bool json_position(const json_t *position, struct lsp_position *out);
/* params.KEY as a string, or NULL. */
const char *json_text(const json_t *object, const char *key);

/* ---- results ---- */
void put_position(struct call *c, const struct analysis *a, const char *key, span at); /* of its start */
void put_range(struct call *c, const struct analysis *a, const char *key, span at);    /* key NULL: no key */
void put_location(struct call *c, const struct analysis *a, span at);
const char *uri_of_source(struct server *s, const struct analysis *a, uint32_t source);
/* The source under a span, blanks and line breaks folded into single blanks. */
const char *source_text(struct call *c, const struct analysis *a, span at);
/* The comment lines above a definition, without their marks; NULL: none. */
const char *source_comment(struct call *c, const struct analysis *a, span whole);
struct diag;
void put_diagnostic(struct call *c, const struct analysis *a, const struct diag *g);
/* The comment that a file begins with; NULL: none. */
const char *module_comment(struct call *c, const struct analysis *a, uint32_t source);
/* A definition in one line: "fn f(x: int) -> float32[N]". */
const char *symbol_signature(struct call *c, const struct analysis *a, const struct symbol *s);
#endif
