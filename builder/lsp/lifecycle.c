/* From `initialize` to `exit`: reads the capabilities of the client and writes those of the server. */
#include <string.h>
#include "builder/lsp/notification.h"
#include "builder/lsp/frame.h"
#include "builder/version.h"

static const json_t *at(const json_t *object, const char *a, const char *b, const char *c)
{
	object = json_object_get(json_object_get(object, a), b);
	return c ? json_object_get(object, c) : object;
}

static bool lifecycle_contains(const json_t *array, const char *word)
{
	size_t i;
	const json_t *v;
	json_array_foreach(array, i, v) if (json_is_string(v) && !strcmp(json_string_value(v), word)) return true;
	return false;
}

static void read_client(struct client_capabilities *k, const json_t *caps)
{
	const json_t *text = json_object_get(caps, "textDocument"), *publish = json_object_get(text, "publishDiagnostics");
	const json_t *hover = at(text, "hover", "contentFormat", NULL);
	k->utf8 = lifecycle_contains(at(caps, "general", "positionEncodings", NULL), "utf-8");
	k->markdown = !hover || lifecycle_contains(hover, "markdown");
	k->document_changes = json_is_true(at(caps, "workspace", "workspaceEdit", "documentChanges"));
	k->related_information = json_is_true(json_object_get(publish, "relatedInformation"));
	k->tags = json_object_get(publish, "tagSupport") && !json_is_false(json_object_get(publish, "tagSupport"));
	k->code_action_literals = at(text, "codeAction", "codeActionLiteralSupport", NULL) != NULL;
	k->watches_files = json_is_true(at(caps, "workspace", "didChangeWatchedFiles", "dynamicRegistration"));
}

static void lifecycle_put_words(struct json_writer *w, const char *key, const char *const *words, size_t n)
{
	json_member_open(w, key, '[');
	for (size_t i = 0; i < n; i++)
		json_str(w, words[i]);
	json_close(w, ']');
}

static void put_sync(struct json_writer *w)
{
	json_member_open(w, "textDocumentSync", '{');
	json_member_bool(w, "openClose", true);
	json_member_int(w, "change", 2); /* incremental */
	json_member_bool(w, "save", true);
	json_close(w, '}');
}

static void put_options(struct json_writer *w)
{
	static const char *const dots[] = {"."}, *const calls[] = {"(", ","}, *const actions[] = {"quickfix", "source.fixAll"};
	static const char *const token_types[] = {
#define TOKEN_TYPE(id, name) name,
#include "builder/lsp/token_types.def"
#undef TOKEN_TYPE
	};
	static const char *const token_modifiers[] = {"declaration", "defaultLibrary"};
	json_member_open(w, "completionProvider", '{');
	lifecycle_put_words(w, "triggerCharacters", dots, 1);
	json_close(w, '}');
	json_member_open(w, "signatureHelpProvider", '{');
	lifecycle_put_words(w, "triggerCharacters", calls, 2);
	json_close(w, '}');
	json_member_open(w, "codeActionProvider", '{');
	lifecycle_put_words(w, "codeActionKinds", actions, 2);
	json_close(w, '}');
	json_member_open(w, "renameProvider", '{');
	json_member_bool(w, "prepareProvider", true);
	json_close(w, '}');
	json_member_open(w, "semanticTokensProvider", '{');
	json_member_open(w, "legend", '{');
	lifecycle_put_words(w, "tokenTypes", token_types, sizeof token_types / sizeof *token_types);
	lifecycle_put_words(w, "tokenModifiers", token_modifiers, 2);
	json_close(w, '}');
	json_member_bool(w, "full", true);
	json_close(w, '}');
}

void control_initialize(struct notification *n)
{
	static const char *const providers[] = {
		"hoverProvider",
		"definitionProvider",
		"referencesProvider",
		"documentHighlightProvider",
		"documentSymbolProvider",
		"workspaceSymbolProvider",
		"inlayHintProvider",
		"foldingRangeProvider",
		"documentFormattingProvider",
		"documentRangeFormattingProvider",
	};
	struct json_writer *w = n->result;
	read_client(&n->state->client, json_object_get(n->params, "capabilities"));
	n->state->phase = CONNECTION_RUNNING;
	json_open(w, '{');
	json_member_open(w, "capabilities", '{');
	json_member_str(w, "positionEncoding", n->state->client.utf8 ? "utf-8" : "utf-16");
	put_sync(w);
	for (size_t i = 0; i < sizeof providers / sizeof *providers; i++)
		json_member_bool(w, providers[i], true);
	put_options(w);
	json_close(w, '}');
	json_member_open(w, "serverInfo", '{');
	json_member_str(w, "name", "trib");
	json_member_str(w, "version", TRIB_VERSION);
	json_close(w, '}');
	json_close(w, '}');
}

/* Asks the client to report changed files, if it can. */
void note_initialized(struct notification *n)
{
	struct buf body = {0};
	if (!n->state->client.watches_files)
		return;
	buf_puts(
		&body,
		"{\"jsonrpc\":\"2.0\",\"id\":\"watch\",\"method\":\"client/registerCapability\",\"params\":{\"registrations\":[{\"id\":\"watch\","
		"\"method\":\"workspace/didChangeWatchedFiles\",\"registerOptions\":{\"watchers\":[{\"globPattern\":\"**/*.tri\"},"
		"{\"globPattern\":\"**/tri.build\"}]}}]}}");
	frame_write(n->outbox, &body);
}

void control_shutdown(struct notification *n) { n->state->phase = CONNECTION_SHUT_DOWN; }

void note_exit(struct notification *n) { n->state->has_exited = true; }

/* The cancelled request was marked when this message was received. */
void note_cancel(struct notification *n) { (void)n; }
