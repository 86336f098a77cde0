/* The command's side: a build that the project's warm process does, and starting one. */
#ifndef TRIB_BUILDER_SERVE_CLIENT_H
#define TRIB_BUILDER_SERVE_CLIENT_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/build/build.h"
#include "builder/serve/message.h"

struct options;

enum presence { SERVER_NONE, SERVER_THERE }; /* THERE: also one that does not answer */
struct client {
	char **argv;            /* the whole command line, with a NULL at its end */
	enum presence presence; /* as the last request found it */
};

/* Could a server of the current folder build what these ask for? Not what only one process can do: traces, dry runs, other workers, make's jobs. */
bool client_may_ask(const struct options *o);
/* Has the server build, with our standard streams. `lock`: the project's, which we hold. False: it did not, or not to its end: build. True: *s. */
bool client_build(struct client *c, int lock, enum status *s);
/* Tells the server of the current folder to end, and waits until it has. False: there is none, or it does not answer (errno). */
bool client_stop(void);
bool client_state(struct server_state *out);
/* Starts a server for the current folder, which outlives this process, if there is none; it can be found at once. `jobs`: as options.jobs. False: errno. */
bool client_start_server(int jobs);
#endif
