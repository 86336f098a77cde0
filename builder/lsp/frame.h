/* The protocol's framing: `Content-Length: N`, an empty line, N bytes. The input may come in pieces of any size. */
#ifndef TRIB_BUILDER_LSP_FRAME_H
#define TRIB_BUILDER_LSP_FRAME_H
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

/* A longer message is skipped and reported as an error. */
#define FRAME_MAX_MESSAGE ((uint64_t)256 << 20)

struct frame_reader { /* zero-initialised */
	struct buf in;
	size_t at;     /* start of the unread input */
	uint64_t skip; /* bytes left of a message that is too long */
};
enum frame_kind {
	FRAME_NONE, /* more input is needed */
	FRAME_MESSAGE,
	FRAME_BAD, /* a wrong header; reading continues behind it */
	FRAME_LONG,
};

void frame_reader_feed(struct frame_reader *r, const char *bytes, size_t n);
/* Returns the next message, valid until the next feed. */
enum frame_kind frame_reader_next(struct frame_reader *r, const char **text, size_t *len);
void frame_reader_free(struct frame_reader *r);

/* Appends a message with its header to `out`, and frees `body`. */
void frame_write(struct buf *out, struct buf *body);
#endif
