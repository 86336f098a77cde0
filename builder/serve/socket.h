/* The socket of the current folder's server, and the lock that marks a running server. The process that starts a server opens both and
 * passes them on. So the server can be found at once, and it creates no file that could disturb the removal of the project. */
#ifndef TRIB_BUILDER_SERVE_SOCKET_H
#define TRIB_BUILDER_SERVE_SOCKET_H
#include <stdbool.h>
#include <stdint.h>

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
