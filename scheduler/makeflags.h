/* MAKEFLAGS as a child of GNU make finds it (GNU make manual: "POSIX Jobserver Interaction"). */
#ifndef TRIB_SCHEDULER_MAKEFLAGS_H
#define TRIB_SCHEDULER_MAKEFLAGS_H
#include <stdbool.h>

struct arena;

enum jobserver_kind { JOBSERVER_NONE, JOBSERVER_PIPE, JOBSERVER_FIFO };
struct makeflags {
	enum jobserver_kind kind; /* NONE: no jobserver, or one that is not for us (negative descriptors) */
	int read_fd, write_fd;    /* PIPE */
	const char *path;         /* FIFO, in `a` */
	bool dry_run;             /* make -n */
};

/* `text` may be NULL. The last --jobserver-auth (or, before make 4.2, --jobserver-fds) counts; one inside a variable's value does not. */
struct makeflags makeflags_parse(struct arena *a, const char *text);
#endif
