/* trib lsp: connects the standard streams with the language server. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/cache/config.h"
#include "builder/cli/command.h"
#include "builder/lsp/server.h"
#include "builder/manifest/glob.h"
#include "builder/version.h"

enum { MAX_QUEUED = 1000, IDLE_MS = 150 };

static bool lsp_is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool lsp_read_file(void *ctx, const char *path, char **text, size_t *len)
{
	(void)ctx;
	return os_read_file(path, INT32_MAX, text, len);
}

static bool exists(void *ctx, const char *path)
{
	(void)ctx;
	return lsp_is_file(path);
}

static const char *const *lsp_expand(void *ctx, struct arena *a, const char *dir, const char *pattern, uint32_t *n)
{
	(void)ctx;
	return glob_expand_in(a, dir, pattern, n);
}

static bool lsp_write_std(void *ctx, const char *path, const char *text, size_t len)
{
	struct arena *a = arena_new(0);
	(void)ctx;
	bool ok = os_mkdirs(path_dir(a, path)) && os_write_if_changed(path, text, len, 0444, false);
	arena_free(a);
	return ok;
}

static bool input_within(int ms)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	return poll(&in, 1, ms) != 0;
}

/* Waits for input, then reads all that is available. False at the end of the input. */
static bool lsp_read_input(struct lsp_server *server)
{
	char bytes[65536];
	do {
		ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
		if (n < 0 && errno == EINTR && !os_interrupted())
			continue;
		if (n <= 0)
			return false;
		server_feed(server, bytes, (size_t)n);
	} while (server_n_queued(server) < MAX_QUEUED && input_within(0));
	return true;
}

/* The folder for the standard library's sources of this version. */
static char *std_dir(struct arena *a)
{
	const char *user = cache_default_dir(a);
	return path_normal(a, path_join(a, *user == '/' ? user : "/tmp/trib", "std-" TRIB_VERSION));
}

enum status cmd_lsp(const struct options *o)
{
	struct arena *a = arena_new(0);
	struct lsp_host host = {
		.read = lsp_read_file, .exists = exists, .expand = lsp_expand, .write = lsp_write_std, .std_dir = std_dir(a)};
	struct lsp_server *s = server_new(&host);
	bool open = true, sent = true;
	int idle_ms = IDLE_MS;
	(void)o;
	while (open && sent && !server_has_exited(s)) {
		if (server_has_idle_work(s) && !input_within(idle_ms)) {
			server_do_idle_work(s);
			idle_ms = 0;
		} else {
			open = lsp_read_input(s);
			server_handle_queue(s);
			idle_ms = IDLE_MS;
		}
		sent = os_write_fd(STDOUT_FILENO, server_output(s)->at, server_output(s)->len);
		buf_clear(server_output(s));
	}
	enum status code = server_is_shut_down(s) ? STATUS_OK : STATUS_FAILED;
	server_free(s);
	arena_free(a);
	return code;
}
