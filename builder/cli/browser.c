#include "builder/cli/browser.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"
#include "builder/cli/print.h"

extern char **environ;

#define WAIT_NS 1500000000 /* a program that has not failed by then shows the page */
#define STEP_US 20000

/* Its output is not the command's, and it outlives the command. */
static bool browser_start(const char *program, const char *target, pid_t *pid)
{
	posix_spawn_file_actions_t io;
	posix_spawnattr_t attr;
	char *argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)target, NULL};
	posix_spawn_file_actions_init(&io);
	posix_spawnattr_init(&attr);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&io, fd, "/dev/null", O_RDWR, 0);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	bool ok = posix_spawnp(pid, program, &io, &attr, argv, environ) == 0;
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&io);
	return ok;
}

static bool browser_show(const char *program, const char *target)
{
	pid_t pid;
	int64_t end = os_now_ns() + WAIT_NS;
	if (!browser_start(program, target, &pid))
		return false;
	for (int status; os_now_ns() < end; usleep(STEP_US))
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return true;
}

enum status browser_open(const char *target)
{
	const char *list = getenv("BROWSER");
	struct arena *a = arena_new(0);
	bool shown = false;
	for (const char *at = list && *list ? list : "xdg-open"; *at && !shown;) {
		size_t n = strcspn(at, ":");
		shown = n && browser_show(arena_strndup(a, at, n), target);
		at += n + (at[n] == ':');
	}
	arena_free(a);
	if (!shown)
		return fail_environment("no browser could be started: set BROWSER to one, or open %s yourself", target);
	return STATUS_OK;
}
