#include "builder/serve/message.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"

#define MAGIC 0x74726231u /* of this version of the protocol */
enum { MAX_MESSAGE = 1 << 18, SPIN_NS = 100000 };

struct head {
	uint32_t magic, kind, argc, envc;
	struct process_context from;
};

void request_encode(const struct request *r, struct buf *out)
{
	struct head h;
	memset(&h, 0, sizeof h);
	h.magic = MAGIC;
	h.kind = r->kind;
	h.argc = r->argc;
	h.envc = r->envc;
	h.from = r->from;
	buf_put(out, &h, sizeof h);
	for (uint32_t i = 0; i < r->argc; i++)
		buf_put(out, r->argv[i], strlen(r->argv[i]) + 1);
	for (uint32_t i = 0; i < r->envc; i++)
		buf_put(out, r->env[i], strlen(r->env[i]) + 1);
}

static char **read_strings(struct arena *a, char **at, const char *end, uint32_t n)
{
	if (n > (uint64_t)(end - *at))
		return NULL;
	char **list = ARENA_ARRAY(a, char *, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		char *zero = memchr(*at, 0, (size_t)(end - *at));
		if (!zero)
			return NULL;
		list[i] = *at;
		*at = zero + 1;
	}
	list[n] = NULL;
	return list;
}

bool request_decode(struct arena *a, const char *bytes, size_t len, struct request *out)
{
	struct head h;
	if (len < sizeof h)
		return false;
	memcpy(&h, bytes, sizeof h);
	if (h.magic != MAGIC)
		return false;
	size_t n = len - sizeof h;
	char *at = arena_alloc(a, n + 1, 1);
	memcpy(at, bytes + sizeof h, n);
	const char *end = at + n;
	*out = (struct request){.kind = h.kind, .argc = h.argc, .envc = h.envc, .from = h.from};
	out->argv = read_strings(a, &at, end, h.argc);
	out->env = out->argv ? read_strings(a, &at, end, h.envc) : NULL;
	return out->env && at == end;
}

bool message_send(int fd, const void *bytes, size_t len) { return send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len; }

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int[GO_FDS]))];
};

bool message_send_fds(int fd, const int fds[GO_FDS])
{
	char go = 'g';
	union control control;
	struct iovec text = {&go, 1};
	struct msghdr m = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	memset(&control, 0, sizeof control);
	control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int[GO_FDS])), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.head), fds, sizeof(int[GO_FDS]));
	return sendmsg(fd, &m, MSG_NOSIGNAL) == 1;
}

/* Polls for a short time first: most answers come sooner than a sleeping process wakes up. */
static bool message_wait_for(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int64_t until = os_now_ns() + SPIN_NS;
	int n;
	while ((n = poll(&p, 1, 0)) == 0 && os_now_ns() < until)
		sched_yield();
	if (n == 0)
		n = poll(&p, 1, ms);
	if (n == 0)
		errno = ETIMEDOUT;
	return n > 0;
}

bool message_receive(int fd, struct buf *out, int ms)
{
	if (!message_wait_for(fd, ms))
		return false;
	buf_reserve(out, MAX_MESSAGE);
	ssize_t n = recv(fd, out->at + out->len, MAX_MESSAGE, MSG_TRUNC);
	bool is_whole = n > 0 && n <= MAX_MESSAGE;
	if (is_whole)
		out->len += (size_t)n;
	else if (n >= 0)
		errno = n ? EMSGSIZE : 0;
	return is_whole;
}

bool message_receive_exactly(int fd, void *out, size_t len, int ms)
{
	if (!message_wait_for(fd, ms))
		return false;
	ssize_t n = recv(fd, out, len, MSG_TRUNC);
	if (n >= 0 && (size_t)n != len)
		errno = n ? EPROTO : 0;
	return n >= 0 && (size_t)n == len;
}

bool message_receive_fds(int fd, int fds[GO_FDS], int ms)
{
	char go;
	union control control;
	struct iovec text = {&go, 1};
	struct msghdr m = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	if (!message_wait_for(fd, ms))
		return false;
	if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC) != 1)
		return false;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return false;
	size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(c), (n < GO_FDS ? n : GO_FDS) * sizeof(int));
	for (size_t i = 0; n != GO_FDS && i < n; i++)
		close(fds[i]);
	return n == GO_FDS;
}

bool message_peer(int fd, int64_t *pid)
{
	struct ucred peer;
	socklen_t len = sizeof peer;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return false;
	if (pid)
		*pid = peer.pid;
	return peer.uid == geteuid();
}
