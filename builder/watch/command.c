#include "builder/watch/watch_state.h"
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/os.h"

extern char **environ;

/* Returns 0 or errno. */
static int command_spawn(struct command *c)
{
	posix_spawn_file_actions_t io;
	posix_spawnattr_t attr;
	sigset_t none, pipe;
	sigemptyset(&none);
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigaddset(&pipe, SIGXFSZ);
	posix_spawn_file_actions_init(&io);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addopen(&io, STDIN_FILENO, "/dev/null", O_RDONLY,
					 0); /* a group in the background may not read the terminal */
	if (c->quiet_stdout)
		posix_spawn_file_actions_adddup2(&io, STDERR_FILENO, STDOUT_FILENO);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &pipe);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int e = posix_spawnp(&c->pid, c->argv[0], &io, &attr, (char *const *)(uintptr_t)c->argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&io);
	if (e)
		c->pid = 0;
	return e;
}

void command_start(struct command *c, const char *const *argv)
{
	if (c->pid)
		command_end(c);
	c->argv = argv;
	c->start_next = true;
}

void command_end(struct command *c)
{
	c->start_next = false;
	if (!c->pid || c->ending)
		return;
	c->ending = true;
	c->kill_at = os_now_ns() + COMMAND_GRACE_NS;
	kill(-c->pid, SIGTERM);
}

/* Kills the group before it reaps the leader: until then no other group can get the same number. */
static struct command_change reap(struct command *c)
{
	siginfo_t info = {0};
	struct command_change r = {COMMAND_NO_CHANGE, 0, c->ending};
	if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || !info.si_pid)
		return r;
	if (c->ending)
		kill(-c->pid, SIGKILL);
	r.event = info.si_code == CLD_EXITED ? COMMAND_EXITED : COMMAND_SIGNALLED;
	r.value = info.si_status;
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
	c->ending = false;
	return r;
}

struct command_change command_step(struct command *c)
{
	struct command_change r = {0};
	if (c->pid)
		r = reap(c);
	if (c->pid && c->ending && os_now_ns() >= c->kill_at) {
		c->kill_at = INT64_MAX;
		kill(-c->pid, SIGKILL);
	}
	if (c->pid || r.event != COMMAND_NO_CHANGE || !c->start_next)
		return r;
	c->start_next = false;
	r.value = command_spawn(c);
	r.event = r.value ? COMMAND_FAILED_TO_START : COMMAND_STARTED;
	return r;
}

int64_t command_next_step_at(const struct command *c) { return c->pid && c->ending ? c->kill_at : INT64_MAX; }
