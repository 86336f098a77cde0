/* Standard input is a socket of packets. A packet is a request, the words of a command line with a zero byte after each, or one byte that
 * cancels the running build. Standard output gets the lines of --message-format=json, `ready` at the start, and `ended` after each build.
 * After a fault in a damaged store, crash_guard starts the process again, and the program repeats its request. */
#include "builder/serve/embedded.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/build/build.h"
#include "builder/build/session/fragments.h"
#include "builder/build/session/session.h"
#include "builder/build/session/status.h"
#include "builder/build/session/warm.h"
#include "builder/manifest/options.h"
#include "builder/manifest/single_file.h"
#include "builder/serve/message.h"

enum { RETAINED_BYTES = 32 << 20, TRIM_MS = 10000, RECEIVE_MS = 1000 };

struct embedded {
	struct session session;
	parse_build_fn *parse;
	bool cancelled; /* the running build */
};

/* A packet or the end of the connection is there. */
static bool is_readable(int ms)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN | POLLRDHUP};
	return poll(&p, 1, ms) > 0;
}

/* During a build every packet cancels. The end of the connection stays readable. */
static bool is_cancelled(void *embedded, const struct inputs *read, bool failed)
{
	struct embedded *e = embedded;
	struct buf packet = {0};
	(void)read, (void)failed;
	if (!e->cancelled && is_readable(0)) {
		message_receive(STDIN_FILENO, &packet, 0);
		e->cancelled = true;
	}
	buf_free(&packet);
	return e->cancelled;
}

static int embedded_split_words(struct arena *a, const struct buf *packet, char ***out)
{
	char *text = arena_strndup(a, packet->at, packet->len);
	int n = 0;
	for (size_t i = 0; i < packet->len; i++)
		n += !packet->at[i];
	*out = ARENA_ARRAY(a, char *, n + 1);
	for (int i = 0; i < n; i++, text += strlen(text) + 1)
		(*out)[i] = text;
	return n;
}

/* From now on the peak of the memory is that of the next build. */
static void reset_peak_memory(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	os_write_fd(fd, "5", 1);
	close(fd);
}

static void embedded_build(struct embedded *e, const struct buf *packet)
{
	struct arena *a = arena_new(0);
	struct options o;
	char **argv;
	int argc = embedded_split_words(a, packet, &argv);
	enum status s = STATUS_USAGE;
	e->cancelled = false;
	e->session.earlier_cpu_ns = os_cpu_ns();
	reset_peak_memory();
	if (e->parse(a, argc, argv, &o) && !single_file_requested(&o))
		s = build_run_in(&e->session, &o, stdout, stderr);
	print(stdout, "{\"type\":\"ended\",\"status\":%d}\n", (int)s);
	fflush(stdout);
	arena_free(a);
}

/* Closes what the program did not mark close-on-exec, because this process outlives many of its files. Make's jobserver may be among it. */
static void close_inherited(void)
{
	if (!secure_getenv("MAKEFLAGS"))
		syscall(SYS_close_range, STDERR_FILENO + 1u, ~0u, 0u);
}

enum status embedded_run(parse_build_fn *parse)
{
	struct embedded e = {.parse = parse};
	struct buf packet = {0};
	e.session = (struct session){.fragments = fragments_new(), .warm = warm_new(), .superseded = is_cancelled, .ctx = &e};
	close_inherited();
	mallopt(M_TRIM_THRESHOLD, RETAINED_BYTES); /* the next build needs no new pages */
	print(stdout, "{\"type\":\"ready\"}\n");
	fflush(stdout);
	while (!os_interrupted()) {
		if (!is_readable(TRIM_MS))
			malloc_trim(0);
		while (!is_readable(-1) && !os_interrupted())
			continue;
		buf_clear(&packet);
		if (!message_receive(STDIN_FILENO, &packet, RECEIVE_MS))
			break;
		if (packet.len > 1) /* else it would cancel a build that has ended */
			embedded_build(&e, &packet);
	}
	buf_free(&packet);
	session_free(&e.session);
	return STATUS_OK;
}
