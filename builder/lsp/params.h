/* Reading the parameters of a message, and the protocol's error codes. */
#ifndef TRIB_BUILDER_LSP_PARAMS_H
#define TRIB_BUILDER_LSP_PARAMS_H
#include <stdbool.h>
#include <jansson.h>
#include "builder/lsp/position.h"

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
#endif
