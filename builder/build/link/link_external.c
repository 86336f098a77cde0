#include "builder/build/link/link_external.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "backend/link/elf/link.h"
#include "backend/link/elf/link_system.h"
#include "backend/link/elf/object.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/build/session/status.h"

extern char **environ;
enum { MOST_SHOWN = 2000 };

struct job {
	struct arena *a;
	const struct link_request *r;
	const char *dir;
	const char **error;
};

static bool link_external_fail(struct job *j, const char *what, const char *why)
{
	*j->error = arena_printf(j->a, "%s: %s", what, why);
	return false;
}

static bool put_file(struct job *j, const char *path, struct buf *content)
{
	bool ok = os_write_atomic(path, content->at, content->len, 0600, false);
	buf_free(content);
	return ok || link_external_fail(j, path, strerror(errno));
}

static bool put_objects(struct job *j, const char **paths)
{
	for (uint32_t i = 0; i < j->r->n_objects; i++) {
		struct buf bytes = {0};
		object_write(j->r->objects[i], &bytes);
		paths[i] = arena_printf(j->a, "%s/%u.o", j->dir, i);
		if (!put_file(j, paths[i], &bytes))
			return false;
	}
	return true;
}

/* The output of the command, cut to a readable length. */
static const char *read_log(struct job *j, const char *log)
{
	char *text;
	size_t len;
	if (!os_read_file(log, 0, &text, &len))
		return "it failed";
	const char *shown = arena_strndup(j->a, text, len < MOST_SHOWN ? len : MOST_SHOWN);
	free(text);
	return *shown ? shown : "it failed without a message";
}

static bool link_external_run(struct job *j, const char *const *argv, const char *log)
{
	posix_spawn_file_actions_t io;
	pid_t child;
	int status = 0;
	posix_spawn_file_actions_init(&io);
	posix_spawn_file_actions_addopen(&io, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&io, 1, 2);
	int e = posix_spawnp(&child, argv[0], &io, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&io);
	if (e)
		return link_external_fail(j, argv[0], strerror(e));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return status == 0 || link_external_fail(j, argv[0], read_log(j, log));
}

static bool link_in(struct job *j, const char *command, struct buf *out)
{
	const char **objects = ARENA_ARRAY(j->a, const char *, j->r->n_objects + 1);
	const char *script = arena_printf(j->a, "%s/exports", j->dir), *library = arena_printf(j->a, "%s/out.so", j->dir);
	struct buf exports = {0};
	char *bytes;
	size_t len;
	link_version_script(j->r, &exports);
	if (!put_file(j, script, &exports) || !put_objects(j, objects))
		return false;
	const char *const *argv = link_system_command(j->a, j->r, command, objects, script, library);
	if (!link_external_run(j, argv, arena_printf(j->a, "%s/log", j->dir)))
		return false;
	if (!os_read_file(library, 0, &bytes, &len))
		return link_external_fail(j, library, strerror(errno));
	buf_put(out, bytes, len);
	free(bytes);
	return true;
}

bool link_external(struct arena *a, const struct link_request *request, const char *command, const char *scratch, struct buf *out,
		   const char **error)
{
	struct job j = {a, request, scratch, error};
	bool ok = os_mkdirs(scratch) ? link_in(&j, command, out) : link_external_fail(&j, scratch, strerror(errno));
	os_remove_tree(scratch);
	return ok;
}
