#include "builder/lib/builder_process.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "builder/lib/host.h"
#include "builder/module.h"

enum { ABOVE_STANDARD = 3, READ_BYTES = 1 << 16 };

/* The program may have closed its standard streams: then a new descriptor has one of their numbers. */
static void builder_process_move_up(int *fd)
{
	int low = *fd;
	if (low < 0 || low >= ABOVE_STANDARD)
		return;
	*fd = fcntl(low, F_DUPFD_CLOEXEC, ABOVE_STANDARD);
	close(low);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The ends of the child. */
struct ends {
	int requests, events;
};

/* False: errno. */
static bool open_channels(struct builder_process *p, struct ends *child)
{
	int socket[2] = {-1, -1}, pipe[2] = {-1, -1};
	bool ok = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socket) == 0 && pipe2(pipe, O_CLOEXEC) == 0;
	p->requests = socket[0];
	p->events = pipe[0];
	*child = (struct ends){socket[1], pipe[1]};
	p->messages = ok ? host_open_nameless(NULL, 0) : -1;
	int *all[] = {&p->requests, &p->events, &p->messages, &child->requests, &child->events};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		builder_process_move_up(all[i]);
		ok = ok && *all[i] >= 0;
	}
	return ok;
}

/* The pid may be reaped by the program, so only the descriptor names the process. */
static int open_handle(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	builder_process_move_up(&fd);
	return fd;
}

static const char *lib_builder_process_start(struct builder_process *p, struct arena *a, const char *folder)
{
	const char *argv[] = {module_program(a), "server", "embed", "-C", folder, NULL};
	struct ends child;
	pid_t pid;
	if (!argv[0])
		return "libtrib.so does not find trib, which belongs two folders above it";
	int why = os_stamp(argv[0], &p->program) && open_channels(p, &child) ? 0 : errno;
	if (!why)
		why = host_spawn(&pid, argv, &(struct host_streams){child.requests, child.events, p->messages, .own_group = true});
	close_fd(&child.requests);
	close_fd(&child.events);
	if (why)
		return arena_printf(a, "cannot run %s: %s", argv[0], strerror(why));
	p->handle = open_handle(pid);
	return NULL;
}

bool builder_process_start(struct builder_process *p, struct arena *a, const char *folder, const char **error)
{
	const char *line;
	size_t len;
	*p = NO_BUILDER_PROCESS;
	*error = lib_builder_process_start(p, a, folder);
	if (!*error && builder_process_read(p, &line, &len)) /* it is ready */
		return true;
	if (!*error)
		*error = builder_process_messages(p, a);
	builder_process_stop(p);
	return false;
}

/* P_PIDFD, which older headers lack. */
#define BY_HANDLE ((idtype_t)3)

void builder_process_stop(struct builder_process *p)
{
	siginfo_t how;
	close_fd(&p->requests);
	close_fd(&p->events);
	while (p->handle >= 0 && waitid(BY_HANDLE, (id_t)p->handle, &how, WEXITED) != 0 && errno == EINTR)
		continue;
	close_fd(&p->handle);
	close_fd(&p->messages);
	buf_free(&p->unread);
	p->at = 0;
}

bool builder_process_is_usable(const struct builder_process *p)
{
	struct pollfd end = {.fd = p->requests, .events = POLLRDHUP};
	struct file_stamp now;
	struct arena *a = arena_new(0);
	const char *program = module_program(a);
	bool ok = p->requests >= 0 && poll(&end, 1, 0) == 0 && program && os_stamp(program, &now) && os_stamp_eq(&now, &p->program);
	arena_free(a);
	return ok;
}

bool builder_process_send(const struct builder_process *p, const void *bytes, size_t len)
{
	return send(p->requests, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Waits for bytes of the process and appends them. False: it has ended. */
static bool builder_process_read_more(struct builder_process *p)
{
	ssize_t n;
	buf_reserve(&p->unread, READ_BYTES);
	while ((n = read(p->events, p->unread.at + p->unread.len, READ_BYTES)) < 0 && errno == EINTR)
		continue;
	p->unread.len += n > 0 ? (size_t)n : 0;
	return n > 0;
}

static void drop_read(struct builder_process *p)
{
	size_t rest = p->unread.len - p->at;
	if (rest)
		memmove(p->unread.at, p->unread.at + p->at, rest);
	p->unread.len = rest;
	p->at = 0;
}

bool builder_process_read(struct builder_process *p, const char **line, size_t *len)
{
	size_t searched = p->at;
	for (;;) {
		const char *from = p->unread.at + searched;
		const char *end = p->unread.len > searched ? memchr(from, '\n', p->unread.len - searched) : NULL;
		if (end) {
			*line = p->unread.at + p->at;
			*len = (size_t)(end - *line);
			p->at += *len + 1;
			return true;
		}
		drop_read(p);
		searched = p->unread.len;
		if (!builder_process_read_more(p))
			return false;
	}
}

const char *builder_process_messages(const struct builder_process *p, struct arena *a) { return host_content(a, p->messages); }
