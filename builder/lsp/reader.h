/* The protocol's framing: `Content-Length: N`, an empty line, N bytes. Reads any bytes in any pieces. */
#ifndef TRIB_BUILDER_LSP_READER_H
#define TRIB_BUILDER_LSP_READER_H
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

/* Longer messages are skipped, and are errors. */
#define LSP_MAX_MESSAGE ((uint64_t)256 << 20)

struct lsp_reader { /* zeroed at first */
	struct buf in;
	size_t at;     /* what lies before has been taken */
	uint64_t skip; /* bytes of a message that is too long */
};
enum lsp_frame {
	LSP_FRAME_NONE, /* more input is needed */
	LSP_FRAME_MESSAGE,
	LSP_FRAME_BAD, /* a wrong header; reading goes on behind it */
	LSP_FRAME_LONG,
};

void lsp_reader_feed(struct lsp_reader *r, const char *bytes, size_t n);
/* The next message, valid until the next feed. */
enum lsp_frame lsp_reader_next(struct lsp_reader *r, const char **text, size_t *len);
void lsp_reader_free(struct lsp_reader *r);
#endif
