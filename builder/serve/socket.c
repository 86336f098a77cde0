#include "builder/serve/message.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 8 };

uint64_t server_socket_inode(void)
{
	struct stat st;
	return lstat(SERVER_SOCKET, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* Only this user may connect, from the creation of the file on. */
static int open_listener(void)
{
	const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SERVER_SOCKET};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	unlink(SERVER_SOCKET);
	mode_t mask = umask(0177);
	bool ok = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
	umask(mask);
	if (ok && listen(fd, BACKLOG) == 0)
		return fd;
	int why = errno;
	close(fd);
	errno = why;
	return -1;
}

bool server_socket_open(struct server_socket *socket)
{
	*socket = (struct server_socket){-1, -1};
	if (!os_mkdirs(SERVER_FOLDER))
		return false;
	socket->folder = open(SERVER_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (socket->folder < 0)
		return false;
	if (flock(socket->folder, LOCK_EX | LOCK_NB) == 0)
		socket->listener = open_listener();
	else if (errno == EWOULDBLOCK)
		errno = 0;
	int why = errno;
	if (socket->listener < 0)
		server_socket_close(socket);
	errno = why;
	return socket->listener >= 0;
}

/* listen() again makes this process the peer that clients see. */
bool server_socket_inherit(struct server_socket *socket)
{
	struct sockaddr_un address = {0};
	socklen_t len = sizeof address;
	bool inherited = getsockname(INHERITED_LISTENER, (struct sockaddr *)&address, &len) == 0 && address.sun_family == AF_UNIX &&
			 strncmp(address.sun_path, SERVER_SOCKET, sizeof address.sun_path) == 0 && listen(INHERITED_LISTENER, BACKLOG) == 0;
	if (!inherited || fcntl(INHERITED_FOLDER, F_SETFD, FD_CLOEXEC) != 0 || fcntl(INHERITED_LISTENER, F_SETFD, FD_CLOEXEC) != 0)
		return false;
	*socket = (struct server_socket){INHERITED_LISTENER, INHERITED_FOLDER};
	return true;
}

void server_socket_close(struct server_socket *socket)
{
	if (socket->listener >= 0)
		close(socket->listener);
	if (socket->folder >= 0)
		close(socket->folder);
	*socket = (struct server_socket){-1, -1};
}
