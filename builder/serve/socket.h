/* The socket of the current folder's server, and the lock that says that there is one. Who starts a server opens both and hands them on: when it has been started, it can be found, and it
 * makes no file any more that could be in the way of removing the project. */
#ifndef TRIB_BUILDER_SERVE_SOCKET_H
#define TRIB_BUILDER_SERVE_SOCKET_H
#include <stdbool.h>
#include <stdint.h>

#define SERVER_FOLDER ".trib"
#define SERVER_SOCKET ".trib/server.sock"

struct server_socket {
	int listener, folder; /* folder: holds the lock */
};
/* Under which numbers a started server finds them. */
enum { INHERITED_LISTENER = 3, INHERITED_FOLDER = 4 };

/* Both are closed on exec. False: another has them (errno 0), or they cannot be had. */
bool server_socket_open(struct server_socket *s);
/* What whoever started us has opened. False: nobody did. */
bool server_socket_inherit(struct server_socket *s);
/* The file's inode; 0: there is none. */
uint64_t server_socket_inode(void);
void server_socket_close(struct server_socket *s);
#endif
