/* The protocol of `trib build` and the build server: whole messages over a Unix socket.
 *
 *     client                               server
 *     request (build, argv, environment) →
 *                                        ← answer: accepted, or why not
 *     go, with descriptors               →
 *                                        ← result
 *
 * The server starts a build only after `go`. A client that gets no answer in time builds itself. */
#ifndef TRIB_BUILDER_SERVE_MESSAGE_H
#define TRIB_BUILDER_SERVE_MESSAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "builder/serve/process_context.h"

struct arena;
struct buf;

enum request_kind { REQUEST_BUILD, REQUEST_STATUS, REQUEST_STOP };
struct request {
	uint32_t kind, argc, envc;
	struct process_context from;
	char **argv, **env; /* NULL at their ends */
};
enum answer { ANSWER_ACCEPTED, ANSWER_DECLINED, ANSWER_OUTDATED };
struct result {
	int32_t status;      /* of the build, as exit code */
	int32_t write_errno; /* of standard output; 0: none; negative: an earlier write failed */
};
struct server_state {
	int64_t pid;
	uint64_t served, resident; /* builds; bytes */
	int64_t idle_ns, limit_ns; /* since the last build; the server ends after limit_ns */
	bool warm;
};
/* The descriptors that `go` passes. */
enum { GO_STDIN, GO_STDOUT, GO_STDERR, GO_LOCK, GO_FDS };

void request_encode(const struct request *r, struct buf *out);
/* Everything in `a`. False: not a request of this version. */
bool request_decode(struct arena *a, const char *bytes, size_t len, struct request *out);

/* One message each, within `ms` milliseconds, without SIGPIPE. False: errno, or 0 if the peer has gone. A caught signal ends the wait
 * (EINTR). */
bool message_send(int fd, const void *bytes, size_t len);
bool message_send_fds(int fd, const int fds[GO_FDS]);
bool message_receive(int fd, struct buf *out, int ms);
bool message_receive_fds(int fd, int fds[GO_FDS], int ms); /* ours, closed on exec */
bool message_receive_exactly(int fd, void *out, size_t len, int ms);
/* True if the peer is a process of this user. `pid` may be NULL. */
bool message_peer(int fd, int64_t *pid);
#endif
