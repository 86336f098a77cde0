/* One running server. Private to builder/serve. */
#ifndef TRIB_BUILDER_SERVE_SERVER_STATE_H
#define TRIB_BUILDER_SERVE_SERVER_STATE_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "builder/build/session/session.h"
#include "builder/manifest/options.h"
#include "builder/serve/message.h"
#include "builder/serve/server.h"

struct request;

struct server {
	const struct server_options *options;
	struct process_context here;
	struct session session;
	struct server_socket socket;
	int watcher; /* inotify; -1: none */
	uint64_t socket_inode;
	char *program; /* path of the executable; NULL: unknown */
	uint64_t served;
	int64_t last_build_at; /* its end */
	int connection;        /* of the current client; -1: none */
	bool memory_trimmed;   /* since the last build */
	bool has_left;         /* another server may run */
	pthread_t warmup;
	bool warmup_runs; /* must be joined */
	_Atomic bool warm;
};

/* served_build.c. True if the request can be served; *o is then its options, in `a`. */
bool served_build_accept(struct server *s, struct arena *a, const struct request *request, struct options *o);
/* Builds for the client when it sends `go`, and sends the result. */
void served_build_run(struct server *s, int connection, const struct request *request, const struct options *o);
/* warmup.c. Opens what the first build needs, on a thread of low priority. */
void warmup_start(struct server *s);
void warmup_join(struct server *s);
#endif
