#include "builder/git/ssh.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "builder/git/child.h"

static const char *const schemes[] = {"ssh", "ssh+git", "git+ssh"};
enum { N_SCHEMES = sizeof schemes / sizeof *schemes, MAX_WORDS = 10 };

/* A connection: for libgit2 a transport and a stream. */
struct ssh_connection {
	git_smart_subtransport transport;
	git_smart_subtransport_stream stream;
	const struct ssh_setup *setup;
	struct child child;
	bool open;
};
struct address {
	char host[512], port[8], path[2048]; /* host: with `user@` */
};

static int ssh_fail(const char *text)
{
	git_error_set_str(GIT_ERROR_SSH, text);
	return -1;
}

/* ---- addresses ---- */

static bool ssh_copy(char *to, size_t size, const char *from, size_t len)
{
	if (len >= size)
		return false;
	memcpy(to, from, len);
	to[len] = 0;
	return true;
}

/* An IPv6 address is in brackets: `[::1]`. */
static bool copy_host(struct address *a, const char *from, size_t len)
{
	const char *open = memchr(from, '[', len), *close = open ? memchr(open, ']', len - (size_t)(open - from)) : NULL;
	if (!close)
		return ssh_copy(a->host, sizeof a->host, from, len);
	int n = snprintf(a->host, sizeof a->host, "%.*s%.*s", (int)(open - from), from, (int)(close - open - 1), open + 1);
	return n > 0 && (size_t)n < sizeof a->host;
}

static bool parse_address(const char *url, struct address *a)
{
	const char *host = strstr(url, "://"), *bracket = strchr(url, ']');
	*a = (struct address){0};
	if (!host) { /* host:path */
		const char *colon = strchr(bracket ? bracket : url, ':');
		return colon && copy_host(a, url, (size_t)(colon - url)) && ssh_copy(a->path, sizeof a->path, colon + 1, strlen(colon + 1));
	}
	host += 3;
	size_t len = strcspn(host, "/");
	const char *path = host + len, *from = bracket && bracket < path ? bracket : host, *port = memchr(from, ':', (size_t)(path - from));
	if (port && !ssh_copy(a->port, sizeof a->port, port + 1, (size_t)(path - port - 1)))
		return false;
	path += path[0] == '/' && path[1] == '~'; /* ssh://host/~user/path */
	return copy_host(a, host, port ? (size_t)(port - host) : len) && ssh_copy(a->path, sizeof a->path, path, strlen(path));
}

/* Host and path must not look like options of ssh or of the remote shell. */
static bool ssh_is_safe(const struct address *a)
{
	return *a->host && *a->host != '-' && *a->path && *a->path != '-' && strspn(a->port, "0123456789") == strlen(a->port);
}

/* Writes the command for the remote shell, with the path quoted. False: too long. */
static bool quote_command(const char *path, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "git-upload-pack '");
	for (const char *s = path; *s && n + 6 < size; s++) {
		if (*s == '\'' || *s == '!')
			n += (size_t)snprintf(out + n, size - n, "'\\%c'", *s);
		else
			out[n++] = *s;
	}
	if (n + 6 >= size)
		return false;
	memcpy(out + n, "'", 2);
	return true;
}

/* ---- callbacks of libgit2 ---- */

static int start_ssh(struct ssh_connection *s, const char *url)
{
	struct address a;
	char shell[2048], command[4096], text[256];
	const char *argv[MAX_WORDS];
	int n = 0;
	if (!parse_address(url, &a) || !ssh_is_safe(&a) || !quote_command(a.path, command, sizeof command))
		return ssh_fail("an address for ssh must be ssh://USER@HOST/PATH or USER@HOST:PATH");
	if (s->setup->command) {
		if ((size_t)snprintf(shell, sizeof shell, "%s \"$@\"", s->setup->command) >= sizeof shell)
			return ssh_fail("the command in GIT_SSH_COMMAND is too long");
		argv[n++] = "sh";
		argv[n++] = "-c";
		argv[n++] = shell;
	}
	argv[n++] = s->setup->program;
	if (*a.port) {
		argv[n++] = "-p";
		argv[n++] = a.port;
	}
	argv[n++] = a.host;
	argv[n++] = command;
	argv[n] = NULL;
	s->open = child_start(&s->child, argv, NULL, s->setup->stopped);
	if (s->open)
		return 0;
	snprintf(text, sizeof text, "cannot start `%s`: %s", argv[0], strerror(errno));
	return ssh_fail(text);
}

/* Ends ssh and fails with its error message, or with `closed` if it has none. */
static int fail_closed(struct ssh_connection *s, const char *closed)
{
	char message[480];
	s->open = false;
	bool ok = child_end(&s->child, message, sizeof message);
	return ssh_fail(*message ? message : ok ? closed : "ssh failed without a message");
}

static int stream_read(git_smart_subtransport_stream *stream, char *to, size_t size, size_t *got)
{
	struct ssh_connection *s = (struct ssh_connection *)stream->subtransport;
	ssize_t n = s->open ? child_read(&s->child, to, size) : -1;
	*got = n > 0 ? (size_t)n : 0;
	if (n > 0 || !s->open)
		return n > 0 ? 0 : ssh_fail("the connection is closed");
	return fail_closed(s, "the server closed the connection");
}

static int stream_write(git_smart_subtransport_stream *stream, const char *text, size_t len)
{
	struct ssh_connection *s = (struct ssh_connection *)stream->subtransport;
	return s->open && child_write(&s->child, text, len) ? 0 : fail_closed(s, "the server accepts no more data");
}

static void stream_free(git_smart_subtransport_stream *stream) { (void)stream; }

static int action(git_smart_subtransport_stream **out, git_smart_subtransport *transport, const char *url, git_smart_service_t what)
{
	struct ssh_connection *s = (struct ssh_connection *)transport;
	*out = &s->stream;
	if (what == GIT_SERVICE_UPLOADPACK_LS)
		return start_ssh(s, url);
	return what == GIT_SERVICE_UPLOADPACK && s->open ? 0 : ssh_fail("only fetching is supported");
}

static int close_connection(git_smart_subtransport *transport)
{
	struct ssh_connection *s = (struct ssh_connection *)transport;
	if (s->open)
		child_end(&s->child, NULL, 0);
	s->open = false;
	return 0;
}

static void free_connection(git_smart_subtransport *transport)
{
	close_connection(transport);
	free(transport);
}

static int create_connection(git_smart_subtransport **out, git_transport *owner, void *setup)
{
	struct ssh_connection *s = calloc(1, sizeof *s);
	(void)owner;
	if (!s)
		abort();
	s->transport = (git_smart_subtransport){action, close_connection, free_connection};
	s->stream = (git_smart_subtransport_stream){&s->transport, stream_read, stream_write, stream_free};
	s->setup = setup;
	*out = &s->transport;
	return 0;
}

/* ---- registration ---- */

static char *copy_text(const char *text) { return text && *text ? strdup(text) : NULL; }

void ssh_register(struct ssh_setup *s, git_config *config, bool (*stopped)(void))
{
	git_buf set = {0};
	const char *program = secure_getenv("GIT_SSH");
	*s = (struct ssh_setup){.command = copy_text(secure_getenv("GIT_SSH_COMMAND")),
				.program = program && *program ? program : "ssh",
				.stopped = stopped};
	if (!s->command && config && git_config_get_string_buf(&set, config, "core.sshCommand") == 0)
		s->command = copy_text(set.ptr);
	git_buf_dispose(&set);
	s->definition = (git_smart_subtransport_definition){create_connection, 0, s};
	for (size_t i = 0; i < N_SCHEMES; i++)
		git_transport_register(schemes[i], git_transport_smart, &s->definition);
}

void ssh_unregister(struct ssh_setup *s)
{
	for (size_t i = 0; i < N_SCHEMES; i++)
		git_transport_unregister(schemes[i]);
	free(s->command);
}
