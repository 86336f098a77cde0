/* A running server: its socket, its session, its memory. */
#include "builder/serve/server_state.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/os.h"
#include "builder/build/fragments.h"
#include "builder/build/warm.h"

enum { MEMORY_PART = 4 };

static void start_session(struct session *s)
{
	s->fragments = fragments_new();
	s->warm = warm_new();
}

static char *program_path(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	return n > 0 ? strndup(path, (size_t)n) : NULL;
}

static void watch_files(struct server *s)
{
	s->program = program_path();
	s->watcher = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (s->watcher < 0)
		return;
	bool ok = inotify_add_watch(s->watcher, SERVER_FOLDER, IN_DELETE | IN_MOVE | IN_DELETE_SELF | IN_MOVE_SELF) >= 0;
	ok = ok && s->program && inotify_add_watch(s->watcher, s->program, IN_ATTRIB | IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF) >= 0;
	if (!ok) {
		close(s->watcher);
		s->watcher = -1;
	}
}

void server_clear_file_events(const struct server *s)
{
	char events[4096];
	while (s->watcher >= 0 && read(s->watcher, events, sizeof events) > 0)
		continue;
}

bool server_is_current(const struct server *s)
{
	struct file_stamp now;
	return s->socket_inode && server_socket_inode() == s->socket_inode && s->program && os_stamp(s->program, &now) &&
	       os_stamp_eq(&now, &s->here.program.trib);
}

/* Closes the other inherited descriptors: another process may wait for their end. */
static void close_above(int last) { syscall(SYS_close_range, (unsigned)last + 1, ~0u, 0u); }

bool server_open(struct server *s)
{
	bool inherited = server_socket_inherit(&s->socket);
	close_above(inherited ? INHERITED_FOLDER : STDERR_FILENO);
	if (!inherited && !server_socket_open(&s->socket))
		return false;
	s->socket_inode = server_socket_inode();
	process_context_read(&s->here);
	watch_files(s);
	start_session(&s->session);
	return true;
}

void server_leave(struct server *s)
{
	if (s->socket.listener >= 0 && server_socket_inode() == s->socket_inode)
		unlink(SERVER_SOCKET);
	server_socket_close(&s->socket);
	s->has_left = true;
}

void server_close(struct server *s)
{
	server_leave(s);
	warmup_join(s);
	session_free(&s->session);
	if (s->watcher >= 0)
		close(s->watcher);
	if (s->connection >= 0)
		close(s->connection);
	free(s->program);
}

uint64_t server_resident_memory(void)
{
	char *text;
	size_t len;
	unsigned long long pages = 0;
	if (!os_read_file("/proc/self/statm", 4096, &text, &len))
		return 0;
	char *second = strchr(text, ' ');
	if (second)
		pages = strtoull(second, NULL, 10);
	free(text);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void server_trim_memory(struct server *s)
{
	uint64_t available = os_available_memory();
	if (s->warm && available && server_resident_memory() > available / MEMORY_PART) {
		fragments_free(s->session.fragments);
		warm_free(s->session.warm);
		start_session(&s->session);
	}
	malloc_trim(0);
	s->memory_trimmed = true;
}
