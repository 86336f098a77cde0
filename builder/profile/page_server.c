#include "builder/profile/page_server.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/os.h"

enum { BACKLOG = 16, MOST_CONNECTIONS = 32, SEND_SECONDS = 5, POLL_MS = 1000 };
#define IDLE_NS 10000000000 /* browsers open connections before they have a request */

struct connection {
	int fd;
	int64_t end;
	size_t len;
	char head[HTTP_MOST_HEAD];
};
struct page_server {
	uint16_t port;
	page_answer_fn *answer;
	void *ctx;
	struct connection *list[MOST_CONNECTIONS];
	uint32_t n;
};

int page_server_open(uint16_t *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof address;
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, BACKLOG) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &len) == 0) {
		*port = ntohs(address.sin_port);
		return fd;
	}
	int why = errno;
	close(fd);
	errno = why;
	return -1;
}

static const char *reason(enum http_status s)
{
	switch (s) {
	case HTTP_OK: return "OK";
	case HTTP_FORBIDDEN: return "Forbidden";
	case HTTP_NOT_FOUND: return "Not Found";
	case HTTP_NOT_ALLOWED: return "Method Not Allowed";
	case HTTP_TOO_LARGE: return "Request Header Fields Too Large";
	case HTTP_FAILED: return "Internal Server Error";
	default: return "Bad Request";
	}
}

static void send_all(int fd, const char *text, size_t len)
{
	struct timeval limit = {.tv_sec = SEND_SECONDS};
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	for (ssize_t n; len; text += n, len -= (size_t)n)
		if ((n = send(fd, text, len, MSG_NOSIGNAL)) <= 0)
			return;
}

static void reply(const struct page_server *s, int fd, enum http_status status, const char *path)
{
	struct buf body = {0}, head = {0};
	const char *type = "text/plain";
	if (status == HTTP_OK)
		status = s->answer(s->ctx, path, &body, &type);
	if (!body.len)
		buf_printf(&body, "%s\n", reason(status));
	buf_printf(&head,
		   "HTTP/1.1 %d %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\nConnection: close\r\n"
		   "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
		   "Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n%s\r\n",
		   (int)status, reason(status), type, body.len, status == HTTP_NOT_ALLOWED ? "Allow: GET\r\n" : "");
	send_all(fd, head.at, head.len);
	send_all(fd, body.at, body.len);
	buf_free(&body);
	buf_free(&head);
}

/* False: the connection has ended. */
static bool page_server_read_more(const struct page_server *s, struct connection *c)
{
	char path[HTTP_MOST_PATH];
	ssize_t n = recv(c->fd, c->head + c->len, sizeof c->head - c->len, MSG_DONTWAIT);
	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	c->len += (size_t)n;
	enum http_status status = http_request_judge(c->head, c->len, s->port, path);
	if (status == HTTP_INCOMPLETE)
		return true;
	reply(s, c->fd, status, path);
	return false;
}

static void end_connection(struct page_server *s, uint32_t i)
{
	char rest[1024];
	shutdown(s->list[i]->fd, SHUT_WR);
	while (recv(s->list[i]->fd, rest, sizeof rest, MSG_DONTWAIT) >
	       0) /* unread bytes would reset the connection, and the answer with it */
		;
	close(s->list[i]->fd);
	free(s->list[i]);
	s->list[i] = s->list[--s->n];
}

static void accept_one(struct page_server *s, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return;
	if (s->n == MOST_CONNECTIONS)
		end_connection(s, 0);
	struct connection *c = s->list[s->n++] = alloc_zeroed(sizeof *c);
	*c = (struct connection){.fd = fd, .end = os_now_ns() + IDLE_NS};
}

static void page_server_step(struct page_server *s, int listener)
{
	struct pollfd wait[MOST_CONNECTIONS + 1] = {{.fd = listener, .events = POLLIN}};
	uint32_t n = s->n;
	for (uint32_t i = 0; i < n; i++)
		wait[i + 1] = (struct pollfd){.fd = s->list[i]->fd, .events = POLLIN};
	if (poll(wait, n + 1, POLL_MS) < 0)
		return;
	for (uint32_t i = n; i-- > 0;) {
		bool is_open = !wait[i + 1].revents || page_server_read_more(s, s->list[i]);
		if (!is_open || os_now_ns() > s->list[i]->end)
			end_connection(s, i);
	}
	if (wait[0].revents)
		accept_one(s, listener);
}

void page_server_run(int listener, uint16_t port, page_answer_fn *answer, void *ctx)
{
	struct page_server s = {.port = port, .answer = answer, .ctx = ctx};
	while (!os_interrupted())
		page_server_step(&s, listener);
	while (s.n)
		end_connection(&s, 0);
	close(listener);
}
