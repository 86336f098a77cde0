/* A command of the user that runs in a process group of its own. It is restarted after builds, and ended with SIGTERM, later with SIGKILL. */
#ifndef TRIB_BUILDER_WATCH_COMMAND_H
#define TRIB_BUILDER_WATCH_COMMAND_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define COMMAND_GRACE_NS 2000000000

struct command {
	const char *const *argv; /* of the running or the next process; NULL before the first */
	bool quiet_stdout;       /* its output goes to standard error */
	pid_t pid;               /* 0 if it does not run */
	bool ending;             /* SIGTERM was sent */
	bool start_next;         /* start argv when nothing runs */
	int64_t kill_at;
};
enum command_event { COMMAND_NO_CHANGE, COMMAND_STARTED, COMMAND_FAILED_TO_START, COMMAND_EXITED, COMMAND_SIGNALLED };
struct command_change {
	enum command_event event;
	int value;      /* exit code, signal, or errno */
	bool requested; /* after command_end or a restart */
};

/* Starts argv when the running process has ended. argv must stay valid. */
void command_start(struct command *c, const char *const *argv);
/* Sends SIGTERM to the running process. */
void command_end(struct command *c);
/* Takes the next step. Call it until it returns COMMAND_NO_CHANGE, and again after SIGCHLD and at command_next_step_at. */
struct command_change command_step(struct command *c);
/* INT64_MAX: only after SIGCHLD. */
int64_t command_next_step_at(const struct command *c);
#endif
