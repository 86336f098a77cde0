/* The parameters of a message: members, positions, file:// URIs; and the protocol's error codes. */
#ifndef TRIB_BUILDER_LSP_PARAMS_H
#define TRIB_BUILDER_LSP_PARAMS_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A position of the protocol, from 0. Characters are UTF-16 units, or bytes if UTF-8 was negotiated. */
struct lsp_position {
	int64_t line, character;
};

/* Returns the byte offset. A position beyond the end of its line or text, or inside a character, is moved back. */
size_t position_offset(const char *text, size_t len, struct lsp_position p, bool utf8);
/* Returns the number of characters in the first bytes of a line. */
uint32_t position_width(const char *line, size_t bytes, bool utf8);

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

/* A member that is a string; NULL if it is absent, no string, or contains a NUL. */
const char *params_text(const json_t *object, const char *key);
/* textDocument.uri, or NULL. */
const char *params_uri(const json_t *params);
bool params_position(const json_t *position, struct lsp_position *out);
bool params_range(const json_t *range, struct lsp_position *start, struct lsp_position *end);

/* Returns the normalised path of a file URI, and any other URI (untitled:1) unchanged. */
const char *uri_path(struct arena *a, const char *uri);
/* Returns the URI of an absolute path, and any other path unchanged. */
const char *uri_of_path(struct arena *a, const char *path);
#endif
