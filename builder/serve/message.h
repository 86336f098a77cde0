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
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include "base/hash.h"
#include "base/os.h"

struct arena;
struct buf;

/* ---- process_context.c: what a build depends on besides its inputs. In equal contexts, builds are equal. ---- */
struct program {
	struct file_stamp trib, codegen; /* the running files; zero: none */
};
/* Compared byte by byte: every member is set, and there is no padding. */
struct process_context {
	struct program program;
	uint64_t device, folder; /* the current folder */
	uint64_t root[2];        /* device and inode of / */
	uint64_t namespaces[2];  /* the namespaces of mounts and of users; 0: unknown */
	uint64_t uid, gid, umask, nice;
	struct rlimit limits[RLIM_NLIMITS];
	cpu_set_t cpus;
	hash128 variables; /* environment variables that libraries read once */
};

/* Reads the context of this process in its current folder. */
void process_context_read(struct process_context *s);
bool process_context_eq(const struct process_context *a, const struct process_context *b);
bool program_eq(const struct program *a, const struct program *b);

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

/* ---- socket.c: The socket of the current folder's server, and the lock that marks a running server. The process that starts a server opens both and
 * passes them on. So the server can be found at once, and it creates no file that could disturb the removal of the project. ---- */
#define SERVER_FOLDER ".trib"
#define SERVER_SOCKET ".trib/server.sock"

struct server_socket {
	int listener, folder; /* folder: holds the lock */
};
/* The descriptors of a started server. */
enum { INHERITED_LISTENER = 3, INHERITED_FOLDER = 4 };

/* Both are closed on exec. False: another process has them (errno 0), or errno. */
bool server_socket_open(struct server_socket *s);
/* Takes the descriptors of the parent process. False: it passed none. */
bool server_socket_inherit(struct server_socket *s);
/* The inode of the socket file; 0 if there is none. */
uint64_t server_socket_inode(void);
void server_socket_close(struct server_socket *s);
#endif
