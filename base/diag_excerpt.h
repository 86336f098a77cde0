/* Lines of one source with the marked places underlined. Part of the diagnostics' rendering for people. */
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
struct excerpt_look {
	const struct sources *sources;
	struct buf *out;
	uint32_t gutter;    /* columns for line numbers */
	enum style primary; /* of the main underline */
	bool colour;
};

/* All marks lie in one source. */
void excerpt_print(const struct excerpt_look *look, const struct excerpt_mark *marks, uint32_t n);
/* The lines that the edit changes, old with '-' and new with '+'. */
void excerpt_print_edit(const struct excerpt_look *look, span at, const char *replacement);

/* The gutter's bar alone. */
void excerpt_print_bar(const struct excerpt_look *look);
/* The line of the last byte of a span: what the gutter must have room for. */
uint32_t excerpt_last_line(const struct sources *s, span at);
#endif
