/* Requests through the server to their handlers, against a project in memory. Results are compared as short texts: a range is `line:column-line:column` from 0. */
#include "builder/lsp/server.h"
#include "tests/unit/unit.h"
#include <fnmatch.h>
#include <jansson.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/lsp/frame.h"

#define MANIFEST "project p\n    version = 1.0\n\nmodel net\n    sources = *.tri\n    entry = Net\n"
#define LAYERS "# Doubles.\nfn twice(x: Tensor<float32, [M, K]>, times: int = 2) { return x * float(times) }\n"
#define NET                                              \
	"import layers\nfrom layers import twice\n\n"    \
	"layer Net() {\n"                                \
	"    fn forward(x: Tensor<float32, [2, 8]>) {\n" \
	"        let y = twice(x)\n"                     \
	"        return y + twice(y, times=3)\n"         \
	"    }\n"                                        \
	"}\n"
#define NET_URI "file:///p/net.tri"

static const char *const files[][2] = {{"/p/tri.build", MANIFEST}, {"/p/layers.tri", LAYERS}, {"/p/net.tri", NET}};
enum { N_FILES = sizeof files / sizeof *files };

struct fixture {
	struct lsp_host host;
	struct lsp_server *server;
	struct buf said; /* the last result, or error */
	struct arena *a;
	bool cannot_write;
	char written[64]; /* the last file of the standard library */
};

/* ---- the disk ---- */

static const char *handlers_text_of(const char *path)
{
	for (uint32_t i = 0; i < N_FILES; i++)
		if (!strcmp(files[i][0], path))
			return files[i][1];
	return NULL;
}

static bool handlers_exists(void *fixture, const char *path) { return handlers_text_of(path); }

static bool handlers_read(void *fixture, const char *path, char **text, size_t *len)
{
	const char *from = handlers_text_of(path);
	if (!from)
		return false;
	*text = strdup(from);
	*len = strlen(from);
	return true;
}

static const char *const *handlers_expand(void *fixture, struct arena *a, const char *dir, const char *pattern, uint32_t *n)
{
	const char **found = ARENA_ARRAY(a, const char *, N_FILES);
	*n = 0;
	for (uint32_t i = 0; i < N_FILES && !strcmp(dir, "/p"); i++)
		if (fnmatch(pattern, files[i][0] + 3, 0) == 0)
			found[(*n)++] = files[i][0];
	return found;
}

static bool handlers_write(void *fixture, const char *path, const char *text, size_t len)
{
	struct fixture *f = fixture;
	snprintf(f->written, sizeof f->written, "%s", path);
	return !f->cannot_write && len;
}

/* ---- messages ---- */

static void put_value(struct buf *b, const json_t *v);

static void put_members(struct buf *b, const json_t *object)
{
	const char *key, *before = "";
	json_t *v;
	buf_putc(b, '{');
	json_object_foreach((json_t *)(uintptr_t)object, key, v)
	{
		buf_printf(b, "%s%s ", before, key);
		put_value(b, v);
		before = ", ";
	}
	buf_putc(b, '}');
}

static void put_value(struct buf *b, const json_t *v)
{
	const json_t *start = json_object_get(v, "start"), *line = json_object_get(v, "line");
	if (start) {
		put_value(b, start);
		buf_putc(b, '-');
		put_value(b, json_object_get(v, "end"));
	} else if (line) {
		buf_printf(b, "%d:%d", (int)json_integer_value(line), (int)json_integer_value(json_object_get(v, "character")));
	} else if (json_is_object(v)) {
		put_members(b, v);
	} else if (json_is_array(v)) {
		for (size_t i = 0; i < json_array_size(v); i++) {
			buf_puts(b, i ? "; " : "");
			put_value(b, json_array_get(v, i));
		}
	} else if (json_is_string(v)) {
		buf_puts(b, json_string_value(v));
	} else if (json_is_integer(v)) {
		buf_printf(b, "%d", (int)json_integer_value(v));
	} else {
		buf_puts(b, json_is_null(v) ? "null" : json_is_true(v) ? "yes" : "no");
	}
}

static void handlers_send(struct fixture *f, const char *method, const char *params, bool has_answer)
{
	struct buf body = {0}, frame = {0};
	buf_printf(&body, "{\"jsonrpc\":\"2.0\",%s\"method\":\"%s\",\"params\":%s}", has_answer ? "\"id\":7," : "", method, params);
	frame_write(&frame, &body);
	server_feed(f->server, frame.at, frame.len);
	server_handle_queue(f->server);
	buf_free(&frame);
}

/* Sends a request. Returns its result, or the error's message, until the next one. */
static const char *ask(struct fixture *f, const char *method, const char *params)
{
	struct frame_reader reader = {0};
	const char *text;
	size_t len;
	buf_clear(server_output(f->server));
	handlers_send(f, method, params, true);
	buf_clear(&f->said);
	frame_reader_feed(&reader, server_output(f->server)->at, server_output(f->server)->len);
	while (frame_reader_next(&reader, &text, &len) == FRAME_MESSAGE) {
		json_t *answer = json_loadb(text, len, 0, NULL);
		const json_t *error = json_object_get(answer, "error");
		if (json_object_get(answer, "id"))
			put_value(&f->said, error ? json_object_get(error, "message") : json_object_get(answer, "result"));
		json_decref(answer);
	}
	frame_reader_free(&reader);
	return f->said.at ? f->said.at : "";
}

#define IN_NET "\"textDocument\":{\"uri\":\"" NET_URI "\"}"

/* `more`: members besides the document and the position, each with a comma before it. */
static const char *ask_at(struct fixture *f, const char *method, int line, int character, const char *more)
{
	return ask(f, method, arena_printf(f->a, "{" IN_NET ",\"position\":{\"line\":%d,\"character\":%d}%s}", line, character, more));
}

static const char *ask_in(struct fixture *f, const char *method, int first, int last, const char *more)
{
	return ask(f, method,
		   arena_printf(f->a,
				"{" IN_NET ",\"range\":{\"start\":{\"line\":%d,\"character\":0},\"end\":{\"line\":%d,\"character\":0}}%s}",
				first, last, more));
}

static void change(struct fixture *f, const char *text)
{
	json_t *s = json_string(text);
	char *quoted = json_dumps(s, JSON_ENCODE_ANY);
	handlers_send(
		f, "textDocument/didChange",
		arena_printf(f->a, "{\"textDocument\":{\"uri\":\"" NET_URI "\",\"version\":2},\"contentChanges\":[{\"text\":%s}]}", quoted),
		false);
	free(quoted);
	json_decref(s);
}

static void open_net(struct fixture *f)
{
	json_t *s = json_string(NET);
	char *quoted = json_dumps(s, JSON_ENCODE_ANY);
	handlers_send(
		f, "textDocument/didOpen",
		arena_printf(f->a, "{\"textDocument\":{\"uri\":\"" NET_URI "\",\"languageId\":\"tri\",\"version\":1,\"text\":%s}}", quoted),
		false);
	free(quoted);
	json_decref(s);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	f->host = (struct lsp_host){handlers_read, handlers_exists, handlers_expand, handlers_write, "/std", f};
	f->server = server_new(&f->host);
	f->a = arena_new(0);
	ask(f, "initialize",
	    "{\"capabilities\":{\"textDocument\":{\"codeAction\":{\"codeActionLiteralSupport\":{}},\"hover\":{\"contentFormat\":[\"plaintext\"]}}}}");
	open_net(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	server_free(f->server);
	buf_free(&f->said);
	arena_free(f->a);
	free(f);
	return 0;
}

/* ---- names ---- */

static void hover_shows_the_definition_and_its_comment(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(
		ask_at(f, "textDocument/hover", 6, 20, ""),
		"{contents {kind plaintext, value fn twice(x: Tensor<float32, [M, K]>, times: int = 2) -> float32[M, K]\nDoubles.}, "
		"range 6:19-6:24}");
	assert_string_equal(ask_at(f, "textDocument/hover", 7, 0, ""), "null");
}

static void names_lead_to_their_definition(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(ask_at(f, "textDocument/definition", 6, 20, ""), "{uri file:///p/layers.tri, range 1:3-1:8}");
	assert_string_equal(ask_at(f, "textDocument/definition", 5, 12, ""), "{uri " NET_URI ", range 5:12-5:13}");
	assert_string_equal(ask_at(f, "textDocument/definition", 7, 0, ""), "null");
}

static void standard_library_is_written_for_the_editor(void **state)
{
	struct fixture *f = *state;
	change(f, "from std.nn import Linear\n");
	assert_string_equal(ask_at(f, "textDocument/definition", 0, 20, ""), "{uri file:///std/nn.tri, range 5:6-5:12}");
	assert_string_equal(f->written, "/std/nn.tri");
	f->cannot_write = true;
	assert_string_equal(ask_at(f, "textDocument/definition", 0, 20, ""), "the standard library cannot be written to `/std`");
}

static void references_with_and_without_the_definition(void **state)
{
	struct fixture *f = *state;
#define USES "{uri " NET_URI ", range 1:19-1:24}; {uri " NET_URI ", range 5:16-5:21}; {uri " NET_URI ", range 6:19-6:24}"
	assert_string_equal(ask_at(f, "textDocument/references", 6, 20, ""), USES);
	assert_string_equal(ask_at(f, "textDocument/references", 6, 20, ",\"context\":{\"includeDeclaration\":true}"),
			    "{uri file:///p/layers.tri, range 1:3-1:8}; " USES);
}

static void highlights_tell_writing_from_reading(void **state)
{
	assert_string_equal(ask_at(*state, "textDocument/documentHighlight", 6, 15, ""),
			    "{range 5:12-5:13, kind 3}; {range 6:15-6:16, kind 2}; {range 6:25-6:26, kind 2}");
}

static void symbols_of_a_document_and_of_the_workspace(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(ask(f, "textDocument/documentSymbol", "{" IN_NET "}"),
			    "{name layers, kind 2, range 0:0-0:13, selectionRange 0:7-0:13, children }; "
			    "{name Net, detail layer Net(), kind 5, range 3:0-8:1, selectionRange 3:6-3:9, children "
			    "{name forward, detail float32[2, 8], kind 6, range 4:4-7:5, selectionRange 4:7-4:14, children }}");
	assert_string_equal(ask(f, "workspace/symbol", "{\"query\":\"TwC\"}"),
			    "{name twice, kind 12, location {uri file:///p/layers.tri, range 1:3-1:8}}");
	assert_string_equal(ask(f, "workspace/symbol", "{\"query\":\"ctw\"}"), "");
}

/* ---- renaming ---- */

static void rename_edits_every_use(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(ask_at(f, "textDocument/prepareRename", 6, 15, ""), "{range 6:15-6:16, placeholder y}");
	assert_string_equal(ask_at(f, "textDocument/rename", 5, 12, ",\"newName\":\"z\""),
			    "{changes {" NET_URI
			    " {range 5:12-5:13, newText z}; {range 6:15-6:16, newText z}; {range 6:25-6:26, newText z}}}");
	assert_string_equal(ask_at(f, "textDocument/rename", 6, 20, ",\"newName\":\"thrice\""),
			    "{changes {file:///p/layers.tri {range 1:3-1:8, newText thrice}, " NET_URI
			    " {range 1:19-1:24, newText thrice}; "
			    "{range 5:16-5:21, newText thrice}; {range 6:19-6:24, newText thrice}}}");
}

static void rename_refuses_what_would_change_the_meaning(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(ask_at(f, "textDocument/rename", 5, 12, ",\"newName\":\"x\""), "`x` is used in net.tri, line 5");
	assert_string_equal(ask_at(f, "textDocument/rename", 5, 12, ",\"newName\":\"1\""), "`1` is not a name of the language");
	assert_string_equal(ask_at(f, "textDocument/rename", 5, 12, ",\"newName\":\"relu\""), "`relu` is the name of a builtin");
	assert_string_equal(ask_at(f, "textDocument/prepareRename", 4, 8, ""), "`forward` is the function that a call of the layer runs");
	assert_string_equal(ask_at(f, "textDocument/prepareRename", 0, 8, ""),
			    "`layers` is the module's own name: give it another with `as`");
	assert_string_equal(ask_at(f, "textDocument/prepareRename", 7, 0, ""), "there is no name here that could be renamed");
}

/* ---- typing ---- */

static void help_for_the_parameter_at_the_cursor(void **state)
{
	struct fixture *f = *state;
#define TWICE                                                                                     \
	"{signatures {label twice(x: Tensor<float32, [M, K]>, times: int = 2) -> float32[M, K], " \
	"documentation Doubles., parameters {label x: Tensor<float32, [M, K]>}; {label times: int = 2}}, activeSignature 0, activeParameter "
	assert_non_null(strstr(ask_at(f, "textDocument/signatureHelp", 6, 25, ""), "activeParameter 0}"));
	assert_string_equal(ask_at(f, "textDocument/signatureHelp", 6, 34, ""), TWICE "1}");
	assert_string_equal(ask_at(f, "textDocument/signatureHelp", 6, 10, ""), "null");
	change(f, "from layers import twice\n\nfn f(x: Tensor<float32, [2, 8]>) {\n    return twice(times=3, x=x)\n}\n");
	assert_non_null(strstr(ask_at(f, "textDocument/signatureHelp", 3, 24, ""), "activeParameter 1}")); /* by its name */
}

static void completion_lists_locals_first(void **state)
{
	struct fixture *f = *state;
	const char *items = ask_at(f, "textDocument/completion", 6, 26, "");
	assert_non_null(strstr(items, "{label y, kind 6, detail let y: float32[2, 8], sortText 1y}; {label x, "));
	assert_non_null(strstr(items, "sortText 2twice"));
	assert_non_null(strstr(items, "sortText 3relu"));
	assert_non_null(strstr(items, "sortText 4return"));
	items = ask_at(f, "textDocument/completion", 0, 7, "");
	assert_non_null(strstr(items, "{label layers, kind 9, detail layers.tri, "));
	assert_null(strstr(items, "label y,"));
}

static void completion_names_the_arguments_of_a_call(void **state)
{
	struct fixture *f = *state;
	change(f, "from layers import twice\n\nfn f(x: Tensor<float32, [2, 8]>) {\n    return twice(x, )\n}\n");
	assert_non_null(
		strstr(ask_at(f, "textDocument/completion", 3, 20, ""), "{label times=, kind 5, detail times: int = 2, sortText 0times=}"));
}

static void hints_show_inferred_types(void **state)
{
	struct fixture *f = *state;
#define RESULT "{position 4:42, label -> float32[2, 8], kind 1, paddingLeft yes}"
	assert_string_equal(ask_in(f, "textDocument/inlayHint", 0, 9, ""),
			    RESULT "; {position 5:13, label : float32[2, 8], kind 1, paddingLeft no}");
	assert_string_equal(ask_in(f, "textDocument/inlayHint", 0, 5, ""), RESULT);
}

/* ---- the text ---- */

static void brackets_imports_and_comments_fold(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(ask(f, "textDocument/foldingRange", "{" IN_NET "}"),
			    "{startLine 4, endLine 6}; {startLine 3, endLine 7}; {startLine 0, endLine 1, kind imports}");
	change(f, "# one\n# two\n\n# three\nfn f() { return 1 }\n");
	assert_string_equal(ask(f, "textDocument/foldingRange", "{" IN_NET "}"), "{startLine 0, endLine 1, kind comment}");
}

/* Of each name: lines and columns from the last one, its length, its type in the legend, its modifiers. */
static void tokens_have_the_types_of_their_symbols(void **state)
{
	struct fixture *f = *state;
	change(f, "fn f(x: Tensor<float32, [2, 8]>) { return relu(x) }\n");
	assert_string_equal(ask(f, "textDocument/semanticTokens/full", "{" IN_NET "}"),
			    "{data 0; 3; 1; 7; 1; 0; 2; 1; 4; 1; 0; 3; 6; 1; 2; 0; 7; 7; 1; 2; 0; 27; 4; 7; 2; 0; 5; 1; 4; 0}");
}

static void formatting_gives_the_lines_that_change(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(ask(f, "textDocument/formatting", "{" IN_NET "}"), "");
	change(f, "fn f() {\n  return 1\n}\n\nfn g() {\n    return  2\n}\n");
	assert_string_equal(ask(f, "textDocument/formatting", "{" IN_NET "}"),
			    "{range 1:0-2:0, newText     return 1\n}; {range 5:0-6:0, newText     return 2\n}");
	assert_string_equal(ask_in(f, "textDocument/rangeFormatting", 4, 6, ""), "{range 5:0-6:0, newText     return 2\n}");
	change(f, "fn f( {\n");
	assert_string_equal(ask(f, "textDocument/formatting", "{" IN_NET "}"), "null");
}

static void actions_are_the_edits_of_diagnostics(void **state)
{
	struct fixture *f = *state;
	const char *const edit = "edit {changes {" NET_URI " {range 0:9-0:9, newText ()}}}}";
	assert_string_equal(ask_in(f, "textDocument/codeAction", 4, 5, ",\"context\":{\"only\":[\"quickfix\"]}"), "");
	change(f, "layer Net {\n    fn forward(x: Tensor<float32, [2, 8]>) { return x }\n}\n");
	const char *all = ask_in(f, "textDocument/codeAction", 0, 1, ",\"context\":{\"diagnostics\":[]}");
	assert_memory_equal(all, "{title insert `()`, kind quickfix, diagnostics {range 0:9-0:9, severity 1, ", 75);
	assert_non_null(strstr(all, "{title apply all suggestions, kind source.fixAll, "));
	assert_non_null(strstr(all, edit));
	assert_string_equal(ask_in(f, "textDocument/codeAction", 1, 2, ",\"context\":{\"only\":[\"quickfix\"]}"), "");
	assert_string_equal(ask_in(f, "textDocument/codeAction", 1, 2, ",\"context\":{\"only\":[\"source\"]}"),
			    arena_printf(f->a, "{title apply all suggestions, kind source.fixAll, %s", edit));
}

/* ---- the connection ---- */

static void wrong_requests_get_errors(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(ask(f, "textDocument/hover", "{\"textDocument\":{\"uri\":\"file:///p/layers.tri\"}}"),
			    "`file:///p/layers.tri` is not open");
	assert_string_equal(ask(f, "textDocument/hover", "{}"), "textDocument.uri is missing");
	assert_string_equal(ask(f, "textDocument/hover", "{" IN_NET "}"), "position is missing or wrong");
	assert_string_equal(ask(f, "textDocument/inlayHint", "{" IN_NET "}"), "range is missing or wrong");
	assert_string_equal(ask(f, "textDocument/didOpen", "{}"), "no such method");
	assert_string_equal(ask(f, "initialize", "{}"), "the server is initialized already");
	assert_string_equal(ask(f, "shutdown", "{}"), "null");
	assert_string_equal(ask(f, "textDocument/hover", "{}"), "the server is shutting down");
	assert_true(server_is_shut_down(f->server) && !server_has_exited(f->server));
}

int test_handlers(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {TEST(hover_shows_the_definition_and_its_comment),
					   TEST(names_lead_to_their_definition),
					   TEST(standard_library_is_written_for_the_editor),
					   TEST(references_with_and_without_the_definition),
					   TEST(highlights_tell_writing_from_reading),
					   TEST(symbols_of_a_document_and_of_the_workspace),
					   TEST(rename_edits_every_use),
					   TEST(rename_refuses_what_would_change_the_meaning),
					   TEST(help_for_the_parameter_at_the_cursor),
					   TEST(completion_lists_locals_first),
					   TEST(completion_names_the_arguments_of_a_call),
					   TEST(hints_show_inferred_types),
					   TEST(brackets_imports_and_comments_fold),
					   TEST(tokens_have_the_types_of_their_symbols),
					   TEST(formatting_gives_the_lines_that_change),
					   TEST(actions_are_the_edits_of_diagnostics),
					   TEST(wrong_requests_get_errors)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
