#include "builder/git/child.h"
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char **environment(const char *extra)
{
	size_t n = 0;
	while (environ[n])
		n++;
	char **all = calloc(n + 2, sizeof *all);
	if (!all)
		abort();
	memcpy(all, environ, n * sizeof *all);
	if (extra)
		memcpy(&all[n], &extra, sizeof extra);
	return all;
}

/* The child gets its own session: it has no terminal, and Ctrl-C reaches only trib. */
static int child_spawn(struct child *c, int peer, const char *const *argv, const char *extra)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t a;
	sigset_t none, pipes;
	char **args, **all = environment(extra);
	memcpy(&args, &argv, sizeof args); /* posix_spawnp does not change them */
	sigemptyset(&none);
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	sigaddset(&pipes, SIGXFSZ);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, peer, 0);
	posix_spawn_file_actions_adddup2(&files, peer, 1);
	posix_spawn_file_actions_adddup2(&files, c->stderr_file, 2);
	posix_spawnattr_init(&a);
	posix_spawnattr_setsigmask(&a, &none);
	posix_spawnattr_setsigdefault(&a, &pipes);
	posix_spawnattr_setflags(&a, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int failed = posix_spawnp(&c->pid, argv[0], &files, &a, args, all);
	posix_spawnattr_destroy(&a);
	posix_spawn_file_actions_destroy(&files);
	free(all);
	return failed;
}

bool child_start(struct child *c, const char *const *argv, const char *extra, bool (*stopped)(void))
{
	int ends[2];
	*c = (struct child){.socket = -1, .stderr_file = memfd_create("stderr", MFD_CLOEXEC), .stopped = stopped};
	if (c->stderr_file < 0)
		return false;
	int failed = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ? errno : 0;
	if (!failed) {
		c->socket = ends[0];
		failed = child_spawn(c, ends[1], argv, extra);
		close(ends[1]);
	}
	if (!failed)
		return true;
	c->pid = 0;
	child_end(c, NULL, 0);
	errno = failed;
	return false;
}

bool child_write(struct child *c, const char *text, size_t len)
{
	while (len) {
		ssize_t n = send(c->socket, text, len, MSG_NOSIGNAL);
		if (n < 0 && (errno != EINTR || c->stopped()))
			return false;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return true;
}

ssize_t child_read(struct child *c, char *to, size_t size)
{
	ssize_t n;
	do
		n = recv(c->socket, to, size, 0);
	while (n < 0 && errno == EINTR && !c->stopped());
	return n;
}

/* Reads the end of the file: the last lines have the error, the first are banners. */
static void read_message(int fd, char *message, size_t size)
{
	char tail[512];
	off_t end = lseek(fd, 0, SEEK_END);
	ssize_t n = end > 0 ? pread(fd, tail, sizeof tail - 1, end > (off_t)sizeof tail - 1 ? end - (off_t)sizeof tail + 1 : 0) : 0;
	while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == '\r'))
		n--;
	tail[n > 0 ? n : 0] = 0;
	size_t k = 0;
	for (const char *s = tail; *s && k + 3 < size; s++) {
		if (*s == '\n')
			message[k++] = ';';
		if ((unsigned char)*s >= ' ' || *s == '\n')
			message[k++] = *s == '\n' ? ' ' : *s;
	}
	message[k] = 0;
}

bool child_end(struct child *c, char *message, size_t size)
{
	int status = 0;
	if (c->socket >= 0)
		close(c->socket);
	if (c->pid > 0 && c->stopped())
		kill(c->pid, SIGTERM);
	while (c->pid > 0 && waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		if (c->stopped())
			kill(c->pid, SIGTERM);
	if (message && size)
		read_message(c->stderr_file, message, size);
	if (c->stderr_file >= 0)
		close(c->stderr_file);
	bool ok = c->pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	*c = (struct child){.socket = -1, .stderr_file = -1};
	return ok;
}
