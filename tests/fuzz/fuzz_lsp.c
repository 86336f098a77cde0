/* Any messages to the language server, one a line. It must not crash or hang, and must answer in frames. A line that starts with `!` is
 * sent as it is. One that starts with `~` is a message in short form (fuzz.h). Others get a header. A first line `?N` sets the
 * client's capabilities. Files are the open documents, and two on a fake disk. */
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "builder/lsp/server.h"
#include "tests/fuzz/fuzz.h"

static const char *const disk[][2] = {
	{"/p/tri.build", "project p\n    version = 1.0\n\nmodel m\n    sources = *.tri\n    entry = Net\n"},
	{"/p/lib.tri",
	 "layer Block(c: int) {\n    param gain: Tensor<float32, [c]>\n    fn forward(x: Tensor<float32, [N, c]>) { return x * gain }\n}\n"},
};
enum { N_FILES = 2 };

static bool read_file(void *ctx, const char *path, char **text, size_t *len)
{
	(void)ctx;
	for (int i = 0; i < N_FILES; i++) {
		if (strcmp(path, disk[i][0]) != 0)
			continue;
		*text = strdup(disk[i][1]);
		*len = strlen(disk[i][1]);
		return *text != NULL;
	}
	return false;
}

static bool exists(void *ctx, const char *path)
{
	(void)ctx;
	return !strcmp(path, disk[0][0]) || !strcmp(path, disk[1][0]);
}

static const char *const *expand(void *ctx, struct arena *a, const char *dir, const char *pattern, uint32_t *n)
{
	static const char *const found[] = {"/p/lib.tri"};
	(void)ctx, (void)a, (void)pattern;
	*n = !strcmp(dir, "/p");
	return found;
}

static bool write_file(void *ctx, const char *path, const char *text, size_t len)
{
	(void)ctx, (void)text, (void)len;
	return path[0] == '/';
}

static void check_frames(const struct buf *out)
{
	for (size_t at = 0; at < out->len;) {
		static const char head[] = "Content-Length: ";
		char *end;
		BUG_ON(strncmp(out->at + at, head, sizeof head - 1) != 0);
		size_t n = strtoull(out->at + at + sizeof head - 1, &end, 10);
		BUG_ON(strncmp(end, "\r\n\r\n", 4) != 0);
		at = (size_t)(end + 4 - out->at);
		BUG_ON(n > out->len - at);
		json_t *body = json_loadb(out->at + at, n, 0, NULL);
		BUG_ON(!body);
		json_decref(body);
		at += n;
	}
}

static void frame(const struct buf *message, struct buf *in)
{
	buf_printf(in, "Content-Length: %zu\r\n\r\n", message->len);
	buf_put(in, message->at, message->len);
}

static void put_line(const uint8_t *line, size_t n, uint32_t id, struct buf *in)
{
	struct buf message = {0};
	if (!n)
		return;
	if (*line == '!') {
		buf_put(in, line + 1, n - 1);
		return;
	}
	if (*line == '~')
		grow_message(line + 1, n - 1, id, &message);
	else
		buf_put(&message, line, n);
	frame(&message, in);
	buf_free(&message);
}

static void feed(struct lsp_server *s, struct buf *in)
{
	server_feed(s, in->at, in->len);
	server_handle_queue(s);
	for (int i = 0; i < 4 && server_has_idle_work(s); i++)
		server_do_idle_work(s);
	buf_clear(in);
}

static const uint8_t *say_hello(const uint8_t *data, const uint8_t *end, struct buf *in)
{
	struct buf message = {0};
	bool given = end - data >= 2 && *data == '?';
	grow_hello(given ? data[1] - '0' : 0, &message);
	frame(&message, in);
	buf_free(&message);
	return given ? data + 2 : data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct lsp_host host = {.read = read_file, .exists = exists, .expand = expand, .write = write_file, .std_dir = "/cache/std"};
	struct lsp_server *s = server_new(&host);
	struct buf in = {0};
	uint32_t id = 1;
	const uint8_t *end = data + size;
	for (const uint8_t *line = say_hello(data, end, &in); line < end; id++) {
		const uint8_t *stop = memchr(line, '\n', (size_t)(end - line));
		size_t n = (size_t)((stop ? stop : end) - line);
		put_line(line, n, id, &in);
		feed(s, &in);
		line += n + 1;
	}
	check_frames(server_output(s));
	buf_free(&in);
	server_free(s);
	return 0;
}
