/* A server of pages for the browsers of this machine. It answers one request for each connection, and reads no file that a request names. */
#ifndef TRIB_BUILDER_PROFILE_PAGE_SERVER_H
#define TRIB_BUILDER_PROFILE_PAGE_SERVER_H
#include <stdint.h>
#include "builder/profile/http_request.h"

struct buf;

/* Appends the answer for a path, HTML or plain text as *type says. */
typedef enum http_status page_answer_fn(void *ctx, const char *path, struct buf *body, const char **type);

/* Listens on 127.0.0.1; *port 0: a free one, which is stored there. -1: errno. */
int page_server_open(uint16_t *port);
/* Answers requests until the process is interrupted. Closes the listener. */
void page_server_run(int listener, uint16_t port, page_answer_fn *answer, void *ctx);
#endif
