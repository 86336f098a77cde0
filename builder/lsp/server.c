/* Handles messages in order. Each request sees the state that the messages before it left. */
#include "base/buf.h"
#include "builder/json_read.h"
#include "builder/lsp/server.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "builder/lsp/frame.h"
#include "builder/lsp/notification.h"
#include "builder/lsp/query.h"

enum method_kind { METHOD_QUERY, METHOD_CONTROL, METHOD_NOTIFICATION };
static const struct method {
	const char *name;
	enum method_kind kind;
	query_handler *query;
	enum query_needs needs;
	notification_handler *change;
} methods[] = {
#define QUERY(method, handler, needs) {method, METHOD_QUERY, query_##handler, NEEDS_##needs, NULL},
#define CONTROL(method, handler) {method, METHOD_CONTROL, NULL, 0, control_##handler},
#define NOTIFICATION(method, handler) {method, METHOD_NOTIFICATION, NULL, 0, note_##handler},
#include "builder/lsp/methods.def"
#undef QUERY
#undef CONTROL
#undef NOTIFICATION
};

struct queued_message {
	json_t *json;
	bool cancelled;
};
struct lsp_server {
	struct editor_state state;
	struct frame_reader input;
	VEC(struct queued_message) queue;
	struct buf outbox;
};

static const struct method *find_method(const char *name)
{
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

struct lsp_server *server_new(const struct lsp_host *host)
{
	struct lsp_server *s = alloc_zeroed(sizeof *s);
	s->state.host = host;
	return s;
}

void server_free(struct lsp_server *s)
{
	for (uint32_t i = 0; i < s->queue.len; i++)
		json_decref(s->queue.at[i].json);
	vec_free(&s->queue);
	for (uint32_t i = 0; i < s->state.workspaces.len; i++)
		analysis_free(s->state.workspaces.at[i]->analysis);
	editor_state_free(&s->state);
	frame_reader_free(&s->input);
	buf_free(&s->outbox);
	free(s);
}

uint32_t server_n_queued(const struct lsp_server *s) { return s->queue.len; }
struct buf *server_output(struct lsp_server *s) { return &s->outbox; }
bool server_has_exited(const struct lsp_server *s) { return s->state.has_exited; }
bool server_is_shut_down(const struct lsp_server *s) { return s->state.phase == CONNECTION_SHUT_DOWN; }

/* ---- answers ---- */

static void open_answer(struct json_writer *w, const json_t *id)
{
	json_open(w, '{');
	json_member_str(w, "jsonrpc", "2.0");
	if (json_is_integer(id))
		json_member_int(w, "id", json_integer_value(id));
	else
		json_member_str(w, "id", json_string_value(id));
}

static void send_error(struct lsp_server *s, const json_t *id, enum lsp_error code, const char *message)
{
	struct buf body = {0};
	struct json_writer w = {.out = &body};
	open_answer(&w, id);
	json_member_open(&w, "error", '{');
	json_member_int(&w, "code", code);
	json_member_str(&w, "message", message);
	json_close(&w, '}');
	json_close(&w, '}');
	frame_write(&s->outbox, &body);
}

/* ---- dispatch ---- */

/* Brings the analysis up to date that the request reads. */
static void refresh_for(struct lsp_server *s, const struct method *method, const json_t *params)
{
	if (method->needs == NEEDS_WORKSPACES) {
		for (uint32_t i = 0; i < s->state.workspaces.len; i++)
			if (workspace_document(&s->state, s->state.workspaces.at[i]))
				workspace_refresh(&s->state, s->state.workspaces.at[i], &s->outbox);
		return;
	}
	const char *uri = params_uri(params);
	const struct document *d = uri ? document_of_uri(&s->state, uri) : NULL;
	if (d)
		workspace_refresh(&s->state, d->workspace, &s->outbox);
}

static void run_change(struct lsp_server *s, const struct method *method, const json_t *params, struct json_writer *result)
{
	struct arena *scratch = arena_new(0);
	method->change(&(struct notification){&s->state, params, scratch, &s->outbox, result});
	arena_free(scratch);
}

static void run_request(struct lsp_server *s, const struct method *method, const json_t *id, const json_t *params)
{
	struct buf body = {0};
	struct json_writer w = {.out = &body};
	struct query q = {.state = &s->state, .params = params, .scratch = arena_new(0), .out = &w};
	open_answer(&w, id);
	json_key(&w, "result");
	size_t empty = body.len;
	if (method->kind == METHOD_CONTROL) {
		run_change(s, method, params, &w);
	} else {
		refresh_for(s, method, params);
		if (query_resolve(&q, method->needs))
			method->query(&q);
	}
	if (q.error) {
		buf_free(&body);
		send_error(s, id, q.error, q.message);
	} else {
		if (body.len == empty)
			json_none(&w);
		json_close(&w, '}');
		frame_write(&s->outbox, &body);
	}
	arena_free(q.scratch);
}

/* Why the request cannot run now; NULL if it can. */
static const char *refusal(const struct lsp_server *s, const struct method *method, enum lsp_error *code)
{
	bool initialize = method && method->change == control_initialize;
	*code = LSP_INVALID_REQUEST;
	if (s->state.phase == CONNECTION_SHUT_DOWN)
		return "the server is shutting down";
	if (s->state.phase == CONNECTION_RUNNING && initialize)
		return "the server is initialized already";
	*code = LSP_NOT_INITIALIZED;
	if (s->state.phase == CONNECTION_NEW && !initialize)
		return "the server is not initialized";
	*code = LSP_METHOD_NOT_FOUND;
	return method && method->kind != METHOD_NOTIFICATION ? NULL : "no such method";
}

static void handle_notification(struct lsp_server *s, const struct method *method, const json_t *params)
{
	bool accepted = s->state.phase == CONNECTION_RUNNING || (method && method->change == note_exit);
	if (method && method->kind == METHOD_NOTIFICATION && accepted)
		run_change(s, method, params, NULL);
}

static void handle_request(struct lsp_server *s, const struct method *method, const struct queued_message *message, const json_t *id)
{
	enum lsp_error code;
	const char *why = refusal(s, method, &code);
	if (message->cancelled && !why)
		send_error(s, id, LSP_CANCELLED, "the request was cancelled");
	else if (why)
		send_error(s, id, code, why);
	else
		run_request(s, method, id, json_object_get(message->json, "params"));
}

static void handle(struct lsp_server *s, const struct queued_message *message)
{
	const json_t *json = message->json, *id = json_object_get(json, "id");
	const char *name = params_text(json, "method");
	const struct method *m = name ? find_method(name) : NULL;
	bool is_answer = json_object_get(json, "result") || json_object_get(json, "error");
	if (!name && !is_answer)
		send_error(s, id, LSP_INVALID_REQUEST, "the message is not JSON-RPC");
	else if (name && id)
		handle_request(s, m, message, id);
	else if (name)
		handle_notification(s, m, json_object_get(json, "params"));
}

/* ---- the queue ---- */

/* Marks the queued request that this message cancels. */
static void mark_cancelled(struct lsp_server *s, const json_t *message)
{
	const char *name = params_text(message, "method");
	const json_t *id = json_object_get(json_object_get(message, "params"), "id");
	for (uint32_t i = 0; name && !strcmp(name, "$/cancelRequest") && i < s->queue.len; i++)
		if (id && json_equal(json_object_get(s->queue.at[i].json, "id"), id))
			s->queue.at[i].cancelled = true;
}

static void enqueue(struct lsp_server *s, const char *text, size_t len)
{
	struct buf why = {0};
	buf_puts(&why, "wrong JSON: ");
	json_t *message = json_read(text, len, 0, &why);
	if (!message)
		send_error(s, NULL, LSP_PARSE_ERROR, why.at);
	buf_free(&why);
	if (!message)
		return;
	mark_cancelled(s, message);
	vec_push(&s->queue, ((struct queued_message){.json = message}));
}

void server_feed(struct lsp_server *s, const char *bytes, size_t n)
{
	const char *text;
	size_t len;
	frame_reader_feed(&s->input, bytes, n);
	for (;;) {
		switch (frame_reader_next(&s->input, &text, &len)) {
		case FRAME_NONE: return;
		case FRAME_MESSAGE: enqueue(s, text, len); break;
		case FRAME_BAD: send_error(s, NULL, LSP_PARSE_ERROR, "a message needs a header `Content-Length: N`"); break;
		case FRAME_LONG: send_error(s, NULL, LSP_PARSE_ERROR, "the message is too long"); break;
		}
	}
}

void server_handle_queue(struct lsp_server *s)
{
	for (uint32_t i = 0; i < s->queue.len; i++) {
		if (!s->state.has_exited)
			handle(s, &s->queue.at[i]);
		json_decref(s->queue.at[i].json);
	}
	s->queue.len = 0;
	if (s->state.phase == CONNECTION_RUNNING)
		workspaces_refresh(&s->state, &s->outbox);
}

bool server_has_idle_work(const struct lsp_server *s)
{
	return s->state.phase == CONNECTION_RUNNING && workspaces_have_models_left(&s->state);
}

void server_do_idle_work(struct lsp_server *s) { workspaces_elaborate_next(&s->state, &s->outbox); }
