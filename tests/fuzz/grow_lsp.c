#include "tests/fuzz/fuzz.h"
#include <stdbool.h>
#include <string.h>
#include "base/buf.h"
#include "base/json.h"

static const struct {
	const char *name;
	bool request;
} methods[] = {
#define QUERY(method, name, needs) {method, true},
#define CONTROL(method, name) {method, true},
#define NOTIFICATION(method, name) {method, false},
#include "builder/lsp/methods.def"
#undef QUERY
#undef CONTROL
#undef NOTIFICATION
};
static const char *const documents[] = {"file:///p/main.tri",  "file:///p/lib.tri", "file:///p/tri.build",
					"file:///q/alone.tri", "untitled:1",        "file:///cache/std/nn.tri"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

struct short_line {
	const uint8_t *at, *end;
	uint32_t numbers[4], n_numbers;
	const char *document;
};

static uint8_t take(struct short_line *l) { return l->at < l->end ? *l->at++ : 0; }

static uint32_t number(struct short_line *l)
{
	uint32_t v = 0;
	while (l->at < l->end && *l->at >= '0' && *l->at <= '9')
		v = v * 10 + *l->at++ - '0';
	return v;
}

static void read_numbers(struct short_line *l)
{
	for (l->n_numbers = 0; l->n_numbers < 4; l->n_numbers++) {
		while (l->at < l->end && *l->at == ' ')
			l->at++;
		if (l->at == l->end || *l->at < '0' || *l->at > '9')
			break;
		l->numbers[l->n_numbers] = number(l);
	}
	if (l->at < l->end && *l->at == ':')
		l->at++;
}

static void put_text(struct json_writer *w, const char *key, const struct short_line *l)
{
	struct buf text = {0};
	for (const uint8_t *p = l->at; p < l->end; p++)
		buf_putc(&text, *p == '|' ? '\n' : (char)*p);
	json_key(w, key);
	json_strn(w, text.len ? text.at : "", text.len);
	buf_free(&text);
}

static void put_position(struct json_writer *w, const char *key, const uint32_t *numbers)
{
	json_member_open(w, key, '{');
	json_member_int(w, "line", numbers[0]);
	json_member_int(w, "character", numbers[1]);
	json_close(w, '}');
}

static void put_range(struct json_writer *w, const struct short_line *l)
{
	json_member_open(w, "range", '{');
	put_position(w, "start", l->numbers);
	put_position(w, "end", l->n_numbers < 4 ? l->numbers : l->numbers + 2);
	json_close(w, '}');
}

static void put_document(struct json_writer *w, const struct short_line *l, uint32_t version)
{
	json_member_open(w, "textDocument", '{');
	json_member_str(w, "uri", l->document);
	json_member_str(w, "languageId", "tri");
	json_member_int(w, "version", version);
	put_text(w, "text", l);
	json_close(w, '}');
}

/* What any method asks for: the change of a document, of the whole of it without numbers, or of a file; the context of references and of
 * actions. */
static void put_lists(struct json_writer *w, const struct short_line *l)
{
	json_member_open(w, "contentChanges", '[');
	json_open(w, '{');
	if (l->n_numbers)
		put_range(w, l);
	put_text(w, "text", l);
	json_close(w, '}');
	json_close(w, ']');
	json_member_open(w, "changes", '[');
	json_open(w, '{');
	json_member_str(w, "uri", l->document);
	json_member_int(w, "type", l->numbers[0]);
	json_close(w, '}');
	json_close(w, ']');
	json_member_open(w, "context", '{');
	json_member_bool(w, "includeDeclaration", l->at == l->end);
	if (l->at < l->end) {
		json_member_open(w, "only", '[');
		json_strn(w, (const char *)l->at, (size_t)(l->end - l->at));
		json_close(w, ']');
	}
	json_close(w, '}');
}

void grow_message(const uint8_t *line, size_t n, uint32_t id, struct buf *out)
{
	struct short_line l = {.at = line, .end = line + n};
	struct json_writer w = {.out = out};
	size_t method = (size_t)(take(&l) - 'a') % COUNT(methods);
	l.document = documents[(size_t)(take(&l) - '0') % COUNT(documents)];
	read_numbers(&l);
	json_open(&w, '{');
	json_member_str(&w, "jsonrpc", "2.0");
	if (methods[method].request)
		json_member_int(&w, "id", id);
	json_member_str(&w, "method", methods[method].name);
	json_member_open(&w, "params", '{');
	put_document(&w, &l, id);
	put_position(&w, "position", l.numbers);
	put_range(&w, &l);
	put_lists(&w, &l);
	put_text(&w, "newName", &l);
	put_text(&w, "query", &l);
	json_member_int(&w, "id", l.numbers[0]);
	json_close(&w, '}');
	json_close(&w, '}');
}

void grow_hello(unsigned bits, struct buf *out)
{
	static const char yes[] = "true", no[] = "false";
	buf_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"capabilities\":{");
	buf_printf(out, "\"general\":{\"positionEncodings\":[\"%s\"]},", bits & 1 ? "utf-8" : "utf-16");
	buf_printf(out, "\"workspace\":{\"workspaceEdit\":{\"documentChanges\":%s},", bits & 2 ? yes : no);
	buf_printf(out, "\"didChangeWatchedFiles\":{\"dynamicRegistration\":%s}},", bits & 4 ? yes : no);
	buf_printf(out, "\"textDocument\":{\"hover\":{\"contentFormat\":[\"%s\"]},", bits & 8 ? "plaintext" : "markdown");
	buf_printf(out, "\"publishDiagnostics\":{\"relatedInformation\":%s,\"tagSupport\":{}}", bits & 16 ? no : yes);
	buf_puts(out, bits & 32 ? "}}}}" : ",\"codeAction\":{\"codeActionLiteralSupport\":{}}}}}}");
}
