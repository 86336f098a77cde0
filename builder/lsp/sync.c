/* What the editor opens, edits, saves and closes. */
#include "base/arena.h"
#include "builder/lsp/notification.h"

static struct document *sync_find_document(const struct notification *n)
{
	const char *uri = params_uri(n->params);
	return uri ? document_of_uri(n->state, uri) : NULL;
}

void note_did_open(struct notification *n)
{
	const json_t *item = json_object_get(n->params, "textDocument"), *text = json_object_get(item, "text");
	const char *uri = params_text(item, "uri");
	if (!uri || !json_is_string(text) || json_string_length(text) >= INT32_MAX)
		return;
	const char *path = uri_path(n->scratch, uri);
	document_open(n->state, uri, path, json_integer_value(json_object_get(item, "version")), json_string_value(text),
		      json_string_length(text));
	editor_state_file_changed(n->state, path);
}

/* One change: a range's new text, or the whole text. */
static void apply_change(struct document *document, const json_t *event, bool utf8)
{
	const json_t *range = json_object_get(event, "range"), *text = json_object_get(event, "text");
	struct lsp_position from, to;
	if (!json_is_string(text) || json_string_length(text) + document->text.len >= INT32_MAX)
		return;
	if (!json_is_object(range)) {
		document_set_text(document, json_string_value(text), json_string_length(text));
		return;
	}
	if (!params_range(range, &from, &to))
		return;
	const char *old = document->text.at ? document->text.at : "";
	size_t start = position_offset(old, document->text.len, from, utf8), end = position_offset(old, document->text.len, to, utf8);
	document_splice(document, start, end < start ? start : end, json_string_value(text), json_string_length(text));
}

void note_did_change(struct notification *n)
{
	struct document *d = sync_find_document(n);
	const json_t *event;
	size_t i;
	if (!d)
		return;
	d->version = json_integer_value(json_object_get(json_object_get(n->params, "textDocument"), "version"));
	json_array_foreach(json_object_get(n->params, "contentChanges"), i, event) apply_change(d, event, n->state->client.utf8);
	editor_state_file_changed(n->state, d->path);
}

void note_did_close(struct notification *n)
{
	struct document *d = sync_find_document(n);
	if (!d)
		return;
	const char *path = arena_strdup(n->scratch, d->path);
	document_close(n->state, d);
	editor_state_file_changed(n->state, path);
}

void note_did_save(struct notification *n)
{
	const char *uri = params_uri(n->params);
	if (uri)
		editor_state_file_changed(n->state, uri_path(n->scratch, uri));
}

void note_did_change_files(struct notification *n)
{
	const json_t *event;
	size_t i;
	json_array_foreach(json_object_get(n->params, "changes"), i, event)
	{
		const char *uri = params_text(event, "uri");
		if (uri)
			editor_state_file_changed(n->state, uri_path(n->scratch, uri));
	}
}
