/* trib profile serve: the page of the project's newest build, at an address of this machine. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/foreign.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/cli/browser.h"
#include "builder/cli/print.h"
#include "builder/cli/profile/profile.h"
#include "builder/profile/page/page.h"
#include "builder/profile/page_server.h"
#include "builder/profile/served.h"

enum { DEFAULT_PORT = 8750, MOST_PORT = 65535, MOST_VERSION = 64 };

/* The last page that was made, and the file that it shows. */
struct served_page {
	char version[MOST_VERSION];
	struct buf page;
	int lock; /* of served_begin */
};

static void find_version(char out[MOST_VERSION])
{
	struct file_stamp s;
	if (os_stamp(SERVED_PROFILE, &s))
		snprintf(out, MOST_VERSION, "%" PRIx64 "-%" PRIx64 "-%" PRIx64, s.mtime_ns, s.size, s.inode);
	else
		snprintf(out, MOST_VERSION, "none");
}

/* A page without data, which loads itself again. Its address may have the name of a tab, with which a browser would not load it. */
static void profile_serve_put_message(const char *text, struct buf *out)
{
	buf_puts(
		out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta http-equiv=\"refresh\" content=\"1; url=/\">\n<link rel=\"icon\" href=\"data:,\">\n<title>trib</title>\n<p>");
	foreign_puts(out, FOREIGN_HTML, text);
	buf_puts(out, "</p>\n</html>\n");
}

static void make_page(struct served_page *s)
{
	struct arena *a = arena_new(0);
	struct buf why = {0};
	const char *error;
	s->page.len = 0;
	struct profile *p = strcmp(s->version, "none") != 0 ? profile_read(SERVED_PROFILE, &why) : NULL;
	struct page_profile shown = {"newest build", p};
	const char *models = p ? profile_setting(p, "models") : NULL;
	struct page_data d = {.title = arena_printf(a, "Newest build%s%s", models ? " of " : "", models ? models : ""),
			      .profiles = &shown,
			      .n_profiles = 1,
			      .live = s->version};
	if (!p)
		profile_serve_put_message(why.len ? why.at : "No build was measured yet. Run trib build or trib watch in this project.",
					  &s->page);
	else if (!page_print(a, &d, &s->page, &error))
		profile_serve_put_message(error, &s->page);
	profile_free(p);
	buf_free(&why);
	arena_free(a);
}

static enum http_status answer(void *ctx, const char *path, struct buf *body, const char **type)
{
	struct served_page *s = ctx;
	char version[MOST_VERSION];
	served_renew(&s->lock);
	find_version(version);
	if (strcmp(path, "/version") == 0) {
		buf_puts(body, version);
		return HTTP_OK;
	}
	if (strcmp(path, "/") != 0)
		return HTTP_NOT_FOUND;
	if (!s->page.len || strcmp(version, s->version) != 0) {
		memcpy(s->version, version, sizeof version);
		make_page(s);
	}
	*type = "text/html";
	buf_put(body, s->page.at, s->page.len);
	return HTTP_OK;
}

static enum status profile_serve_serve(const struct options *o, int lock, int listener, uint16_t port)
{
	struct served_page page = {.version = "", .lock = lock};
	char address[64];
	snprintf(address, sizeof address, "http://127.0.0.1:%u/", port);
	print(stdout, "trib: the page of the newest build is at %s, and follows trib build and trib watch; Ctrl-C ends\n", address);
	fflush(stdout);
	if (o->open)
		browser_open(address);
	page_server_run(listener, port, answer, &page);
	buf_free(&page.page);
	close(page.lock);
	return STATUS_INTERRUPTED;
}

enum status profile_serve(const struct options *o)
{
	uint16_t port = (uint16_t)(o->recording.port < 0 ? DEFAULT_PORT : o->recording.port);
	if (o->recording.port > MOST_PORT)
		return fail_usage("--port wants a number up to %d", MOST_PORT);
	struct file_stamp manifest;
	if (!os_stamp("tri.build", &manifest))
		return fail_usage("`trib profile serve` shows the builds of a project: there is no tri.build here or above");
	int lock = served_begin(), listener = -1;
	if (lock < 0 && errno == EWOULDBLOCK)
		fail_environment("another `trib profile serve` shows this project");
	else if (lock < 0)
		fail_environment("cannot write in .trib: %s", strerror(errno));
	else if ((listener = page_server_open(&port)) < 0)
		fail_environment("cannot listen on port %u: %s; --port 0 chooses a free one", port, strerror(errno));
	else
		return profile_serve_serve(o, lock, listener, port);
	if (lock >= 0)
		close(lock);
	return STATUS_ENVIRONMENT;
}
