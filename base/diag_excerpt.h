/* Prints lines of one source with marked spans underlined, for diagnostics on a terminal. */
#ifndef TRIB_BASE_DIAG_EXCERPT_H
#define TRIB_BASE_DIAG_EXCERPT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/canvas.h"
#include "base/source.h"

struct buf;

struct excerpt_mark {
	span at;
	const char *text; /* may be "" */
	bool primary;
};
struct excerpt_format {
	const struct sources *sources;
	struct buf *out;
	uint32_t gutter;    /* columns for line numbers */
	enum style primary; /* of the main underline */
	bool colour;
};

/* Prints the lines of the marks, which are all in one source. */
void excerpt_print(const struct excerpt_format *format, const struct excerpt_mark *marks, uint32_t n);
/* Prints the lines that the edit changes, old ones with '-' and new ones with '+'. */
void excerpt_print_edit(const struct excerpt_format *format, span at, const char *replacement);

/* Prints only the gutter's bar. */
void excerpt_print_bar(const struct excerpt_format *format);
/* The line of the last byte of a span, for the width of the gutter. */
uint32_t excerpt_last_line(const struct sources *s, span at);
#endif
