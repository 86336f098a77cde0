/* Comments of the source. */
#ifndef TRIB_BACKEND_PYTORCH_COMMENT_H
#define TRIB_BACKEND_PYTORCH_COMMENT_H
#include <stdint.h>
#include "base/source.h"

struct buf;
struct printer;

/* Returns the comment in the lines above a place, its lines without `#`, in `p->a`; "" if there is none. */
const char *comment_above(struct printer *p, span at);
/* Returns the comment as lines of Python, each after `# `. */
const char *comment_lines(struct printer *p, const char *comment);
/* Returns it as a docstring with its newline, each line indented by `indent` spaces; "" of an empty one. */
const char *docstring(struct printer *p, uint32_t indent, const char *comment);
/* The number of a place's line in the sources, to compare; UINT32_MAX: it has none. */
uint32_t line_of(struct printer *p, span at);
#endif
