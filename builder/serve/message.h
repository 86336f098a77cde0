/* What `trib build` and the warm process of a project say to each other: whole messages over a Unix socket.
 *
 *     client                               server
 *     request (build, argv, environment) →
 *                                        ← answer: accepted, or why not
 *     go, with descriptors               →
 *                                        ← result
 *
 * Nothing is begun before the client knows that the server is awake, and whoever hears nothing more builds itself. */
#ifndef TRIB_BUILDER_SERVE_MESSAGE_H
#define TRIB_BUILDER_SERVE_MESSAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "builder/serve/surroundings.h"

struct arena;
struct buf;

enum request_kind { REQUEST_BUILD, REQUEST_STATUS, REQUEST_STOP };
struct request {
	uint32_t kind, argc, envc;
	struct surroundings from;
	char **argv, **env; /* NULL at their ends */
};
enum answer { ANSWER_ACCEPTED, ANSWER_DECLINED, ANSWER_OUTDATED };
struct result {
	int32_t status;      /* of the build, as exit code */
	int32_t write_errno; /* 0: all that it said could be written to standard output; negative: something before its end could not */
};
struct server_state {
	int64_t pid;
	uint64_t served, resident; /* builds; bytes */
	int64_t idle_ns, limit_ns; /* since the last build; after which it ends */
	bool warm;
};
/* What go brings along. */
enum { GO_STDIN, GO_STDOUT, GO_STDERR, GO_LOCK, GO_FDS };

void request_encode(const struct request *r, struct buf *out);
/* Everything in `a`. False: it is none of this version. */
bool request_decode(struct arena *a, const char *bytes, size_t len, struct request *out);

/* Within ms milliseconds, one message each, without SIGPIPE. False: errno; 0: the other end is gone. A signal that is caught ends the waiting (EINTR). */
bool message_send(int fd, const void *bytes, size_t len);
bool message_send_fds(int fd, const int fds[GO_FDS]);
bool message_receive(int fd, struct buf *out, int ms);
bool message_receive_fds(int fd, int fds[GO_FDS], int ms); /* ours, closed on exec */
bool message_receive_exactly(int fd, void *out, size_t len, int ms);
/* Is the other end of a connection a process of this user? `pid` may be NULL. */
bool message_peer(int fd, int64_t *pid);
#endif
