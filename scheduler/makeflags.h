/* Parses MAKEFLAGS, as a child of GNU make finds it (GNU make manual: "POSIX Jobserver Interaction"). */
#ifndef TRIB_SCHEDULER_MAKEFLAGS_H
#define TRIB_SCHEDULER_MAKEFLAGS_H
#include <stdbool.h>

struct arena;

enum jobserver_kind { JOBSERVER_NONE, JOBSERVER_PIPE, JOBSERVER_FIFO };
struct makeflags {
	enum jobserver_kind kind; /* NONE: no jobserver, or one with negative descriptors, which children must not use */
	int read_fd, write_fd;    /* PIPE */
	const char *path;         /* FIFO, in `a` */
	bool dry_run;             /* make -n */
};

/* `text` may be NULL. The last --jobserver-auth (before make 4.2: --jobserver-fds) wins. Those inside the values of variables are ignored. */
struct makeflags makeflags_parse(struct arena *a, const char *text);
#endif
