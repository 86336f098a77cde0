/* The client of the project's build server: asks for a build, starts and stops the server. */
#ifndef TRIB_BUILDER_SERVE_CLIENT_H
#define TRIB_BUILDER_SERVE_CLIENT_H
#include <stdbool.h>
#include "builder/build/build.h"
#include "builder/serve/message.h"

struct options;

enum server_presence { SERVER_ABSENT, SERVER_PRESENT }; /* PRESENT: it may not answer */
struct client {
	char **argv;                   /* the whole command line, with a NULL at its end */
	enum server_presence presence; /* at the last request */
};

/* True if a server may do this build. It cannot do traces, dry runs, and builds with make's jobserver. */
bool client_can_use_server(const struct options *o);
/* Lets the server build, with our standard streams. `lock`: the project's lock, which we hold. False: build here, because the server did
 * not finish a build. */
bool client_build(struct client *c, int lock, enum status *s);
/* Stops the server of the current folder and waits for its end. False: there is none, or it does not answer (errno). */
bool client_stop(void);
bool client_state(struct server_state *out);
/* Starts a server for the current folder unless there is one. It outlives this process. `jobs`: as options.jobs. False: errno. */
bool client_start_server(int jobs);
#endif
