/* trib lsp: carries bytes between an editor and the server. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/cache/config.h"
#include "builder/cli/command.h"
#include "builder/lsp/server.h"
#include "builder/manifest/glob.h"
#include "builder/version.h"

enum { MOST_WAITING = 1000, PAUSE_MS = 150 };

static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode); /* reading a pipe might wait for ever */
}

static bool read_file(void *ctx, const char *path, char **text, size_t *len)
{
	(void)ctx;
	return is_file(path) && os_read_file(path, INT32_MAX, text, len);
}

static bool exists(void *ctx, const char *path)
{
	(void)ctx;
	return is_file(path);
}

static const char *const *expand(void *ctx, struct arena *a, const char *dir, const char *pattern, uint32_t *n)
{
	(void)ctx;
	return glob_expand_in(a, dir, pattern, n);
}

static bool write_std(void *ctx, const char *path, const char *text, size_t len)
{
	struct arena *a = arena_new(0);
	(void)ctx;
	bool ok = os_mkdirs(path_dir(a, path)) && os_write_if_changed(path, text, len, 0444, false);
	arena_free(a);
	return ok;
}

static bool write_all(const char *text, size_t n)
{
	while (n) {
		ssize_t done = write(STDOUT_FILENO, text, n);
		if (done < 0 && errno != EINTR)
			return false;
		text += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return true;
}

static bool input_within(int ms)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	return poll(&in, 1, ms) != 0;
}

/* Takes all that can be had without waiting, but waits for the first of it. False: the input has ended. */
static bool read_input(struct server *s)
{
	char bytes[65536];
	do {
		ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
		if (n < 0 && errno == EINTR && !os_interrupted())
			continue;
		if (n <= 0)
			return false;
		server_feed(s, bytes, (size_t)n);
	} while (s->queue.len < MOST_WAITING && input_within(0));
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
	struct lsp_host host = {.read = read_file, .exists = exists, .expand = expand, .write = write_std, .std_dir = std_dir(a)};
	struct server *s = server_new(&host);
	bool open = true, sent = true;
	int pause = PAUSE_MS;
	(void)o;
	while (open && sent && !s->ended) {
		if (server_has_rest(s) && !input_within(pause)) {
			server_rest(s);
			pause = 0;
		} else {
			open = read_input(s);
			server_work(s);
			pause = PAUSE_MS;
		}
		sent = write_all(s->out.at, s->out.len);
		buf_clear(&s->out);
	}
	enum status code = server_clean(s) ? STATUS_OK : STATUS_FAILED;
	server_free(s);
	arena_free(a);
	return code;
}
