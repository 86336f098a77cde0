/* Lines of the manifest and of the user's configuration. `#` at the start of a line or after a blank starts a comment. `$name` and
 * `${name}` expand variables. `$$` is a dollar, `$ ` a blank that does not separate words. `$` at the end of a line joins the next one. */
#ifndef TRIB_BUILDER_MANIFEST_MANIFEST_LINE_H
#define TRIB_BUILDER_MANIFEST_MANIFEST_LINE_H
#include <stdbool.h>
#include <stdint.h>

struct source;

/* A line with the lines joined to it, without indentation and comment, as offsets into its source. */
struct manifest_line {
	const struct source *src;
	uint32_t start, end, next; /* next: the start of the following line */
	bool indented, ended;      /* ended: by a newline, which the last line may lack */
};

/* Returns the offset of the first line, after a byte order mark. */
uint32_t manifest_first_line(const struct source *src);
/* Returns the line at offset `at`, which is below the source's length. A line of blanks or a comment is empty: start == end. */
struct manifest_line manifest_line_at(const struct source *src, uint32_t at);
/* Returns the end of the word of letters, digits and `_.-` at `at`. */
uint32_t manifest_line_word_end(const struct manifest_line *l, uint32_t at);
uint32_t manifest_line_skip_blanks(const struct manifest_line *l, uint32_t at);
#endif
