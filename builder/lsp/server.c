/* Messages in, in order; what is asked is answered from the state that the messages before it left. A check runs when a request needs it, or when
 * nothing more is waiting. */
#include "builder/lsp/server.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/diag.h"
#include "builder/lsp/call.h"

enum { MOST_ID = 256 };

static const struct method {
	const char *name;
	lsp_handler *run;
	bool request;
} methods[] = {
#define REQUEST(method, name) {method, request_##name, true},
#define NOTIFICATION(method, name) {method, note_##name, false},
#include "builder/lsp/methods.def"
#undef REQUEST
#undef NOTIFICATION
};

static const struct method *find_method(const char *name)
{
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

struct server *server_new(const struct lsp_host *host)
{
	struct server *s = calloc(1, sizeof *s);
	if (!s)
		bug_no_memory();
	s->host = host;
	return s;
}

static void free_workspace(struct workspace *ws)
{
	analysis_free(ws->now);
	for (uint32_t i = 0; i < ws->published.len; i++)
		free(ws->published.at[i]);
	vec_free(&ws->published);
	free(ws->root);
	free(ws);
}

void server_free(struct server *s)
{
	for (uint32_t i = 0; i < s->queue.len; i++)
		json_decref(s->queue.at[i].message);
	for (uint32_t i = 0; i < s->documents.len; i++) {
		free((char *)(uintptr_t)s->documents.at[i]->uri);
		free((char *)(uintptr_t)s->documents.at[i]->path);
		buf_free(&s->documents.at[i]->text);
		free(s->documents.at[i]);
	}
	for (uint32_t i = 0; i < s->workspaces.len; i++)
		free_workspace(s->workspaces.at[i]);
	vec_free(&s->queue);
	vec_free(&s->documents);
	vec_free(&s->workspaces);
	lsp_reader_free(&s->reader);
	buf_free(&s->out);
	free(s);
}

/* ---- answers ---- */

void server_send(struct server *s, struct buf *body)
{
	buf_printf(&s->out, "Content-Length: %zu\r\n\r\n", body->len);
	buf_put(&s->out, body->at, body->len);
	buf_free(body);
}

static void put_id(struct json_writer *w, const json_t *id)
{
	json_key(w, "id");
	if (json_is_integer(id))
		json_int(w, json_integer_value(id));
	else if (json_is_string(id))
		json_str(w, json_string_value(id));
	else
		json_none(w);
}

static void open_answer(struct json_writer *w, const json_t *id)
{
	json_open(w, '{');
	json_member_str(w, "jsonrpc", "2.0");
	put_id(w, id);
}

static void send_error(struct server *s, const json_t *id, enum lsp_error code, const char *message)
{
	struct buf body = {0};
	struct json_writer w = {.out = &body};
	open_answer(&w, id);
	json_member_open(&w, "error", '{');
	json_member_int(&w, "code", code);
	json_member_str(&w, "message", message);
	json_close(&w, '}');
	json_close(&w, '}');
	server_send(s, &body);
}

/* ---- one message ---- */

static void run_request(struct server *s, const struct method *m, const json_t *id, const json_t *params)
{
	struct buf body = {0};
	struct json_writer w = {.out = &body};
	struct call c = {.s = s, .params = params, .scratch = arena_new(0), .out = &w};
	open_answer(&w, id);
	json_key(&w, "result");
	size_t empty = body.len;
	m->run(&c);
	if (c.error) {
		buf_free(&body);
		send_error(s, id, c.error, c.message);
	} else {
		if (body.len == empty)
			json_none(&w);
		json_close(&w, '}');
		server_send(s, &body);
	}
	arena_free(c.scratch);
}

static void run_notification(struct server *s, const struct method *m, const json_t *params)
{
	struct call c = {.s = s, .params = params, .scratch = arena_new(0)};
	m->run(&c);
	arena_free(c.scratch);
}

static const char *refusal(const struct server *s, const struct method *m, enum lsp_error *code)
{
	bool initialize = m && m->run == request_initialize;
	*code = LSP_INVALID_REQUEST;
	if (s->state == SERVER_SHUT_DOWN)
		return "the server is shutting down";
	if (s->state == SERVER_RUNNING && initialize)
		return "the server is initialized already";
	*code = LSP_NOT_INITIALIZED;
	if (s->state == SERVER_NEW && !initialize)
		return "the server is not initialized";
	*code = LSP_METHOD_NOT_FOUND;
	return m && m->request ? NULL : "no such method";
}

static void handle(struct server *s, const struct pending *p)
{
	const json_t *message = p->message, *id = json_object_get(message, "id"), *params = json_object_get(message, "params");
	const char *name = json_text(message, "method");
	enum lsp_error code;
	if (!json_is_object(message) || (!name && !json_object_get(message, "result") && !json_object_get(message, "error"))) {
		send_error(s, id, LSP_INVALID_REQUEST, "this is no JSON-RPC message");
		return;
	}
	if (!name)
		return; /* an answer of the client */
	const struct method *m = find_method(name);
	if (!id) {
		bool lively = s->state == SERVER_RUNNING || (m && m->run == note_exit);
		if (m && !m->request && lively)
			run_notification(s, m, params);
		return;
	}
	const char *why = refusal(s, m, &code);
	if (p->cancelled && !why)
		send_error(s, id, LSP_CANCELLED, "the request was cancelled");
	else if (why)
		send_error(s, id, code, why);
	else
		run_request(s, m, id, params);
}

/* ---- the queue ---- */

/* A request that still waits when its cancellation comes is not run. */
static void cancel(struct server *s, const json_t *message, uint32_t before)
{
	const char *name = json_text(message, "method");
	const json_t *id = json_object_get(json_object_get(message, "params"), "id");
	for (uint32_t i = 0; name && !strcmp(name, "$/cancelRequest") && i < before; i++)
		if (id && json_equal(json_object_get(s->queue.at[i].message, "id"), id))
			s->queue.at[i].cancelled = true;
}

static void take(struct server *s, const char *text, size_t len)
{
	json_error_t error;
	json_t *message = json_loadb(text, len, 0, &error);
	if (!message) {
		char why[JSON_ERROR_TEXT_LENGTH + 32];
		snprintf(why, sizeof why, "wrong JSON: %s", error.text);
		send_error(s, NULL, LSP_PARSE_ERROR, why);
		return;
	}
	cancel(s, message, s->queue.len);
	vec_push(&s->queue, ((struct pending){.message = message}));
}

void server_feed(struct server *s, const char *bytes, size_t n)
{
	const char *text;
	size_t len;
	lsp_reader_feed(&s->reader, bytes, n);
	for (;;) {
		switch (lsp_reader_next(&s->reader, &text, &len)) {
		case LSP_FRAME_NONE: return;
		case LSP_FRAME_MESSAGE: take(s, text, len); break;
		case LSP_FRAME_BAD: send_error(s, NULL, LSP_PARSE_ERROR, "a message needs a header `Content-Length: N`"); break;
		case LSP_FRAME_LONG: send_error(s, NULL, LSP_PARSE_ERROR, "the message is too long"); break;
		}
	}
}

/* Folders in which nothing is open any more show nothing. */
static bool retire(struct server *s, struct workspace *ws)
{
	for (uint32_t i = 0; i < s->documents.len; i++)
		if (s->documents.at[i]->ws == ws)
			return false;
	analysis_free(ws->now);
	ws->now = NULL;
	server_publish(s, ws);
	free_workspace(ws);
	return true;
}

static void settle(struct server *s)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->workspaces.len; i++)
		if (!retire(s, s->workspaces.at[i]))
			s->workspaces.at[kept++] = s->workspaces.at[i];
	s->workspaces.len = kept;
	for (uint32_t i = 0; i < s->documents.len; i++)
		server_analysis(s, s->documents.at[i]);
}

void server_work(struct server *s)
{
	for (uint32_t i = 0; i < s->queue.len; i++) {
		if (!s->ended)
			handle(s, &s->queue.at[i]);
		json_decref(s->queue.at[i].message);
	}
	s->queue.len = 0;
	if (s->state == SERVER_RUNNING)
		settle(s);
}

static struct workspace *unfinished(const struct server *s)
{
	for (uint32_t i = 0; i < s->workspaces.len; i++) {
		struct workspace *ws = s->workspaces.at[i];
		if (ws->now && !ws->dirty && analysis_unfinished(ws->now))
			return ws;
	}
	return NULL;
}

bool server_has_rest(const struct server *s) { return s->state == SERVER_RUNNING && unfinished(s); }

void server_rest(struct server *s)
{
	struct workspace *ws = unfinished(s);
	uint32_t before = diags_count(ws->now->diags);
	analysis_continue(ws->now);
	if (diags_count(ws->now->diags) != before)
		server_publish(s, ws);
}
