/* The process of a builder: `trib server embed`. builder/serve/embedded.c runs in it and describes the messages. */
#ifndef TRIB_BUILDER_LIB_BUILDER_PROCESS_H
#define TRIB_BUILDER_LIB_BUILDER_PROCESS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "base/os.h"

struct arena;

struct builder_process {
	int handle;                /* pidfd; -1: no process, or a kernel without them */
	int requests, events;      /* a socket and a pipe; -1: there is no process */
	int messages;              /* a file without a name with its standard error */
	struct file_stamp program; /* the executable */
	struct buf unread;         /* of events */
	size_t at;                 /* the next line in `unread` */
};

#define NO_BUILDER_PROCESS ((struct builder_process){.handle = -1, .requests = -1, .events = -1, .messages = -1})

/* Starts it in this folder. False: *error, in `a`. */
bool builder_process_start(struct builder_process *p, struct arena *a, const char *folder, const char **error);
/* Ends it and waits. Without a process it does nothing. */
void builder_process_stop(struct builder_process *p);
/* False once it has ended, or its executable was replaced: it must not compile for another trib. */
bool builder_process_is_usable(const struct builder_process *p);
/* Sends a packet. False: errno. */
bool builder_process_send(const struct builder_process *p, const void *bytes, size_t len);
/* The next line, valid until the next call. False: the process has ended. */
bool builder_process_read(struct builder_process *p, const char **line, size_t *len);
/* Returns the standard error of the process so far, in `a`. */
const char *builder_process_messages(const struct builder_process *p, struct arena *a);
#endif
