/* A command that runs beside the watching, in a process group of its own: started again after builds, ended with SIGTERM, after a grace with SIGKILL. */
#ifndef TRIB_BUILDER_WATCH_COMMAND_H
#define TRIB_BUILDER_WATCH_COMMAND_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define COMMAND_GRACE_NS 2000000000

struct command {
	const char *const *argv; /* of what runs, or is to run next; NULL: nothing yet */
	bool quiet_stdout;       /* its output goes to standard error */
	pid_t pid;               /* 0: it does not run */
	bool ending, again;      /* it was told to end; and is then started */
	int64_t kill_at;
};
/* What a step saw. */
enum command_news { COMMAND_NOTHING, COMMAND_STARTED, COMMAND_FAILED_TO_START, COMMAND_EXITED, COMMAND_SIGNALLED };
struct command_report {
	enum command_news news;
	int value;  /* exit code, signal, or errno */
	bool asked; /* it was told to end */
};

/* Starts argv, once what runs has ended. argv must stay. */
void command_start(struct command *c, const char *const *argv);
/* Tells what runs to end. */
void command_end(struct command *c);
/* Does what is due; call until it says COMMAND_NOTHING, and again when a child has ended or command_due has come. */
struct command_report command_step(struct command *c);
/* When it wants to be called; INT64_MAX: when a child has ended. */
int64_t command_due(const struct command *c);
#endif
