/* One running server. Private to server.c, served_build.c and preheat.c. */
#ifndef TRIB_BUILDER_SERVE_SERVER_STATE_H
#define TRIB_BUILDER_SERVE_SERVER_STATE_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "builder/build/session.h"
#include "builder/manifest/options.h"
#include "builder/serve/server.h"
#include "builder/serve/socket.h"
#include "builder/serve/surroundings.h"

struct request;

struct server {
	const struct server_options *o;
	struct surroundings here;
	struct session session;
	struct server_socket socket;
	int watcher; /* inotify; -1 where there is none */
	uint64_t socket_inode;
	char *program; /* path of the executable; NULL: unknown */
	uint64_t served;
	int64_t last;      /* when the last build ended */
	int connection;    /* that is being served, or asked for the end; -1: none */
	bool tidy, ending; /* tidy: memory was given back since the last build */
	pthread_t warmer;
	bool warming; /* warmer is to be joined */
	_Atomic bool warm;
};

/* served_build.c: may that request be served? Then *o is what it asks for, in `a`. */
bool served_build_accept(struct server *s, struct arena *a, const struct request *r, struct options *o);
/* Builds for the client of that connection, once it says so, and tells it the result. */
void served_build_run(struct server *s, int connection, const struct request *r, const struct options *o);
/* preheat.c: opens what a build will want, on a thread of low priority. */
void preheat_begin(struct server *s);
void preheat_end(struct server *s); /* waits for it */
#endif
