#include "builder/lsp/query.h"
#include "base/arena.h"

void query_fail(struct query *q, enum lsp_error code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	q->error = code;
	q->message = arena_vprintf(q->scratch, fmt, ap);
	va_end(ap);
}

static bool query_find_document(struct query *q)
{
	const char *uri = params_uri(q->params);
	q->document = uri ? document_of_uri(q->state, uri) : NULL;
	if (!q->document) {
		query_fail(q, LSP_INVALID_PARAMS, uri ? "`%s` is not open" : "textDocument.uri is missing", uri);
		return false;
	}
	q->analysis = q->document->workspace->analysis;
	q->source = analysis_source(q->analysis, q->document->path);
	return q->source != NULL;
}

static size_t query_offset_of(const struct query *q, struct lsp_position p)
{
	return position_offset(q->source->text, q->source->len, p, q->state->client.utf8);
}

static bool find_symbol(struct query *q)
{
	struct lsp_position p;
	if (!params_position(json_object_get(q->params, "position"), &p)) {
		query_fail(q, LSP_INVALID_PARAMS, "position is missing or wrong");
		return false;
	}
	q->offset = (uint32_t)query_offset_of(q, p);
	q->use = index_use_at(q->analysis->index, q->source->id, q->offset);
	if (q->use && q->use->symbol != SYMBOL_NONE)
		q->symbol = &q->analysis->index->symbols.at[q->use->symbol];
	return true;
}

static bool find_range(struct query *q)
{
	struct lsp_position start, end;
	if (!params_range(json_object_get(q->params, "range"), &start, &end)) {
		query_fail(q, LSP_INVALID_PARAMS, "range is missing or wrong");
		return false;
	}
	q->first = query_offset_of(q, start);
	q->last = query_offset_of(q, end);
	return true;
}

bool query_resolve(struct query *q, enum query_needs needs)
{
	if (needs == NEEDS_WORKSPACES)
		return true;
	if (!query_find_document(q))
		return false;
	switch (needs) {
	case NEEDS_POSITION: return find_symbol(q);
	case NEEDS_SYMBOL: return find_symbol(q) && q->symbol;
	case NEEDS_RANGE: return find_range(q);
	default: return !document_is_manifest(q->document);
	}
}

bool query_at_cursor(struct query *q, void (*answer)(struct query *edited, const struct cursor *c))
{
	struct buf text = {0};
	size_t at;
	bool inserted = cursor_insert_name(q->source->text, q->source->len, q->offset, &text, &at);
	if (inserted) {
		struct edited_document document = {q->document, text.at, text.len, at};
		struct analysis *a = analysis_new(q->state, q->document->workspace, &document);
		struct query edited = *q;
		struct cursor cursor;
		edited.analysis = a;
		edited.source = analysis_source(a, q->document->path);
		cursor_open(&cursor, text.at, text.len, at);
		answer(&edited, &cursor);
		cursor_close(&cursor);
		analysis_free(a);
	}
	buf_free(&text);
	return inserted;
}

/* ---- results ---- */

void put_position(struct query *q, const char *key, span at)
{
	struct position p = source_position(q->analysis->sources, at.source, at.start);
	const char *line;
	uint32_t len;
	source_line(q->analysis->sources, at.source, p.line, &line, &len);
	json_member_open(q->out, key, '{');
	json_member_int(q->out, "line", p.line - 1);
	json_member_int(q->out, "character", position_width(line, p.col - 1 < len ? p.col - 1 : len, q->state->client.utf8));
	json_close(q->out, '}');
}

void put_range(struct query *q, const char *key, span at)
{
	json_member_open(q->out, key, '{');
	put_position(q, "start", at);
	put_position(q, "end", (span){at.source, at.end, at.end});
	json_close(q->out, '}');
}

const char *uri_of_source(const struct query *q, uint32_t source)
{
	const char *path = analysis_path(q->analysis, source);
	const struct document *d = document_of_path(q->state, path);
	return d ? d->uri : uri_of_path(q->analysis->arena, path);
}

void put_location(struct query *q, span at)
{
	json_open(q->out, '{');
	json_member_str(q->out, "uri", uri_of_source(q, at.source));
	put_range(q, "range", at);
	json_close(q->out, '}');
}
